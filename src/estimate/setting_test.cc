#include "estimate/setting.h"

#include <gmock/gmock.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "estimate/predicted_step.h"
#include "estimate/sensitivity.h"
#include "estimate/spec.h"
#include "model/family.h"
#include "model/transformer/architecture.h"

namespace orrery {
namespace {

using testing::HasSubstr;

Scenario small_scenario() {
  const Catalog& catalog = Catalog::built_in();
  Scenario out;
  out.model = load_model("llama-3.1-8b", catalog).value();
  out.cluster = parse_cluster("h100-sxm:16", catalog).value();
  out.training.global_batch = 64;
  out.training.sequence_length = 4096;
  out.plan = parse_plan("tp=2,pp=2,micro_batch=1").value();
  return out;
}

Scenario with(std::string_view setting) {
  Scenario out = small_scenario();
  const auto done = change(out, setting);
  EXPECT_TRUE(done) << setting << ": " << (done ? "" : done.error().message);
  return out;
}

Error refused(std::string_view setting) {
  Scenario out = small_scenario();
  const auto done = change(out, setting);
  return done ? Error{} : done.error();
}

TEST(Setting, MultipliesResources) {
  const Scenario before = small_scenario();
  EXPECT_EQ(with("network=2x").cluster.levels[1].bandwidth, before.cluster.levels[1].bandwidth * 2);
  EXPECT_EQ(with("network=2x").cluster.levels[0], before.cluster.levels[0]);
  EXPECT_EQ(with("scale-up=0.5x").cluster.levels[0].bandwidth,
            before.cluster.levels[0].bandwidth * 0.5);
  EXPECT_EQ(with("hbm=3x").cluster.accelerator.memory.bandwidth,
            before.cluster.accelerator.memory.bandwidth * 3);
  EXPECT_EQ(with("memory=2x").cluster.accelerator.memory.capacity,
            before.cluster.accelerator.memory.capacity * 2);
  for (const std::size_t level : {0U, 1U}) {
    EXPECT_EQ(with("latency=4x").cluster.levels[level].latency,
              before.cluster.levels[level].latency * 4);
  }
  const Accelerator faster = with("compute=2x").cluster.accelerator;
  for (const NumberFormat format : {NumberFormat::bf16, NumberFormat::fp8}) {
    EXPECT_EQ(faster.peak(format)->value(), before.cluster.accelerator.peak(format)->value() * 2);
  }
  EXPECT_EQ(faster.achieved.bf16->value(), before.cluster.accelerator.achieved.bf16->value() * 2);
}

TEST(Setting, ReplacesFieldsByTheirPlaceInTheSpecification) {
  EXPECT_EQ(with("cluster.levels.1.bandwidth=100 GB/s").cluster.levels[1].bandwidth,
            BytesPerSecond(100e9));
  EXPECT_EQ(with("cluster.levels.1.oversubscription=7").cluster.levels[1].oversubscription, 7);
  EXPECT_EQ(with("plan.micro_batch=2x").plan.micro_batch, 2);
  EXPECT_EQ(with("training.global_batch=128").training.global_batch, 128);
  const Scenario renamed = with("cluster.levels.*.efficiency=0.5");
  for (const FabricLevel& level : renamed.cluster.levels) EXPECT_EQ(level.efficiency, 0.5);
}

// The paths of all scalars within a value, and their texts.
using Leaves = std::vector<std::pair<std::string, std::string>>;
void add_leaves(const Value& value, const std::string& path, Leaves& out) {
  for (const auto& [key, member] : value.members()) add_leaves(member, path + "." + key, out);
  for (std::size_t i = 0; i < value.items().size(); ++i) {
    add_leaves(value.items()[i], path + "." + std::to_string(i), out);
  }
  if (value.is_scalar() && value.kind() != Value::Kind::null) {
    out.emplace_back(path, value.scalar_text());
  }
}
template <class T>
Value whole(const T& section) {
  return all_fields(section);
}
Leaves leaves_of(const Scenario& s) {
  Leaves out;
  add_leaves(whole(s.cluster), "cluster", out);
  for (std::size_t i = 0; i < s.cluster.levels.size(); ++i) {
    const std::string level = "cluster.levels." + std::to_string(i);
    std::erase_if(out, [&](const auto& leaf) { return leaf.first.starts_with(level + "."); });
    add_leaves(whole(s.cluster.levels[i]), level, out);
  }
  add_leaves(whole(s.plan), "plan", out);
  add_leaves(whole(s.training), "training", out);
  add_leaves(whole(s.software), "software", out);
  add_leaves(s.model.family->write(s.model), "model", out);
  return out;
}

// Every field that the tables of fields write: as it is and, of numbers, once as much are settings
// that change nothing, whatever list the field is in.
TEST(Setting, KnowsEveryFieldOfASpecification) {
  const Catalog& catalog = Catalog::built_in();
  std::size_t multiplied = 0;
  for (const char* model : {"llama-3.1-8b", "deepseek-v3", "bert-large"}) {
    for (const char* cluster : {"h100-sxm:16", "gb200-nvl72:144"}) {
      Scenario scenario = small_scenario();
      scenario.model = load_model(model, catalog).value();
      scenario.cluster = parse_cluster(cluster, catalog).value();
      scenario.cluster.assumed.clear();
      const Leaves before = leaves_of(scenario);
      ASSERT_GT(before.size(), 100U);
      for (const auto& [path, text] : before) {
        for (const std::string& value : {text, std::string("1x")}) {
          const bool number = !text.empty() && text.find_first_not_of("0123456789.") != 0;
          if (value == "1x" && !number) continue;
          Scenario after = scenario;
          const auto done = change(after, path + "=" + value);
          ASSERT_TRUE(done) << path << "=" << value << ": " << done.error().text();
          after.cluster.assumed.clear();
          EXPECT_EQ(leaves_of(after), before) << path << "=" << value;
          if (value == "1x") ++multiplied;
        }
      }
    }
  }
  EXPECT_GT(multiplied, 100U);
}

void add_described(const Description& d, const std::string& path, std::set<std::string>& out) {
  for (const FieldDescription& f : d.fields) {
    const std::string here = path + "." + f.key;
    if (f.shape.kind == ValueShape::Kind::map) {
      add_described(f.shape.map(), here, out);
    } else {
      out.insert(here);
    }
  }
}
// Also those that no scenario above has, of optional parts and lists: whatever is wrong with a value, the
// reader of its section knows the field.
TEST(Setting, ReachesEveryDescribedField) {
  std::set<std::string> fields;
  add_described(field_table<Cluster>().description(), "cluster", fields);
  add_described(field_table<Plan>().description(), "plan", fields);
  add_described(field_table<Training>().description(), "training", fields);
  add_described(field_table<SoftwareProfile>().description(), "software", fields);
  add_described(field_table<Architecture>().description(), "model", fields);
  ASSERT_GT(fields.size(), 200U);
  const auto unknown = [](const std::string& path) {
    return refused(path + "=1").message.starts_with("unknown field");
  };
  for (const std::string& path : fields) {
    EXPECT_FALSE(unknown(path)) << path << ": " << refused(path + "=1").text();
    EXPECT_TRUE(unknown(path + "y")) << path;
  }
}

// A default that lies within a list is a number like any other.
TEST(Setting, MultipliesDefaultsWithinLists) {
  EXPECT_EQ(small_scenario().cluster.levels[1].oversubscription, 1);
  EXPECT_EQ(with("cluster.levels.1.oversubscription=4x").cluster.levels[1].oversubscription, 4);
}

// What is no longer the cluster of that name is said.
TEST(Setting, SaysWhatItChanged) {
  const Scenario changed = with("hbm=2x");
  EXPECT_THAT(changed.cluster.assumed.back(), HasSubstr("6.7 TB/s instead of 3.35 TB/s"));
  EXPECT_EQ(changed.cluster.assumed.size(), small_scenario().cluster.assumed.size() + 1);
}

TEST(Setting, RefusesInWords) {
  EXPECT_THAT(refused("network").message, HasSubstr("has no value"));
  EXPECT_THAT(refused("netwerk=2x").hint, HasSubstr("network"));
  EXPECT_THAT(refused("cluser.levels.0.latency=1us").hint, HasSubstr("cluster"));
  EXPECT_THAT(refused("cluster.levels.nvlnk.latency=1us").message, HasSubstr("'nvlnk'"));
  EXPECT_THAT(refused("plan.micro_bach=2").message, HasSubstr("micro_bach"));
  EXPECT_THAT(refused("plan.schedule=2x").message, HasSubstr("no number"));
  EXPECT_THAT(refused("cluster.levels=3").message, HasSubstr("more than one value"));
  EXPECT_THAT(refused("hbm=fast").message, HasSubstr("fast"));
  EXPECT_FALSE(refused("network=0x").message.empty());
  EXPECT_FALSE(refused("network=-1x").message.empty());
  EXPECT_FALSE(refused("cluster.levels.1.oversubscription=0.5").message.empty());
  EXPECT_FALSE(refused("plan.tp.inner=2").message.empty());
  EXPECT_FALSE(refused("=2x").message.empty());
  EXPECT_FALSE(refused("plan.=2").message.empty());
}

// More of a resource never makes the step longer, and doing nothing changes nothing.
TEST(Sensitivity, MoreOfAResourceDoesNotHurt) {
  const Catalog& catalog = Catalog::built_in();
  const PredictedStep step = predict(small_scenario(), catalog).value();
  const auto rows = sensitivities(step, catalog).value();
  ASSERT_EQ(rows.size(), 5U);
  for (const Sensitivity& row : rows) {
    EXPECT_GE(row.saved, 0) << row.resource;
    EXPECT_LE(row.saved, kMoreOfAResource) << row.resource;
    EXPECT_LE(row.step_time, step.folded.time.seconds()) << row.resource;
  }
  EXPECT_EQ(rows.front().resource, "compute");
  EXPECT_TRUE(std::ranges::is_sorted(rows, std::greater{}, &Sensitivity::saved));
}

}  // namespace
}  // namespace orrery
