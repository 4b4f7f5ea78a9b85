#include "launch/launch.h"

#include <gmock/gmock.h>

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "estimate/spec.h"
#include "launch/emission.h"
#include "launch/launch_table.h"
#include "model/transformer/transformer.h"
#include "plan/completed_plan.h"
#include "plan/plan_rules.h"
#include "schedule/schedule.h"

namespace orrery {
namespace {

const Catalog& catalog() { return Catalog::built_in(); }

// ---- tables ----

std::set<std::string> fields_of_specifications() {
  std::set<std::string> out = {"model",         "software",
                               "cluster.gpus",  "cluster.gpus_per_node",
                               "cluster.nodes", "cluster.architecture"};
  const auto add = [&](auto& self, const std::string& path, const Description& d) -> void {
    for (const FieldDescription& f : d.fields) {
      out.insert(path + "." + f.key);
      if (f.shape.kind == ValueShape::Kind::map) self(self, path + "." + f.key, f.shape.map());
    }
  };
  add(add, "plan", field_table<Plan>().description());
  add(add, "training", field_table<Training>().description());
  add(add, "model", field_table<Architecture>().description());
  return out;
}

TEST(LaunchTable, NamesOnlyFieldsThatExist) {
  const std::set<std::string> fields = fields_of_specifications();
  ASSERT_EQ(catalog().names("launch").size(), 6U);
  for (const std::string& name : catalog().names("launch")) {
    const auto table = load_launch_table(catalog(), name);
    ASSERT_TRUE(table) << table.error().text();
    EXPECT_TRUE(catalog().contains("software", table->software)) << name;
    for (const LaunchRule& rule : table->rules) {
      for (const LaunchForm& form : rule.forms) {
        for (const auto& [field, pattern] : form.means.all) {
          EXPECT_TRUE(fields.contains(field)) << name << ": " << field;
        }
        for (const auto& [field, pattern] : form.when.all) {
          EXPECT_TRUE(fields.contains(field)) << name << ": " << field;
        }
      }
    }
  }
}

TEST(LaunchTable, SolvesFormulasForTheirOneUnknown) {
  LaunchSettings variables;
  const LaunchSettings settings = {{"plan.pp", "4"}, {"model.num_layers", "96"}};
  const std::string three = "3";
  EXPECT_TRUE(matches("model.num_layers / plan.pp / $n", &three, variables, settings));
  EXPECT_EQ(variables["$n"], "8");
  EXPECT_EQ(filled("$n * plan.pp", variables, settings, nullptr), "32");
  variables.clear();
  const std::string seven = "7";  // 24 / n is never 7
  EXPECT_FALSE(matches("model.num_layers / plan.pp / $n", &seven, variables, settings));
  std::string missing;
  EXPECT_EQ(filled("$x * cluster.gpus", {{"$x", "2"}}, settings, &missing), std::nullopt);
  EXPECT_EQ(missing, "cluster.gpus");
}

TEST(LaunchTable, BindsVariablesWithinATextAndKnowsAlternatives) {
  LaunchSettings variables;
  const std::string layers = "([0]*3+[1]*58)";
  EXPECT_TRUE(matches("([0]*$d+[1]*$n)", &layers, variables, {}));
  EXPECT_EQ(variables["$d"], "3");
  EXPECT_EQ(variables["$n"], "58");
  const std::string word = "false";
  EXPECT_TRUE(matches("null|false", &word, variables, {}));
  EXPECT_TRUE(matches("null|false", nullptr, variables, {}));
  EXPECT_FALSE(matches("true", nullptr, variables, {}));
}

// ---- mistakes ----

Result<ImportedLaunch> import_text(const std::string& text, const std::string& name,
                                   const std::string& cluster = "") {
  auto file = parse_launch_file(text, name);
  if (!file) return fail(file.error());
  LaunchQuestion question;
  question.files.push_back(*std::move(file));
  question.cluster = cluster;
  return import_launch(question, catalog());
}

TEST(Import, ListsAnUnknownFlagAndNeverDropsIt) {
  const auto launch =
      import_text("[model]\nname='llama3'\nflavor='8B'\n[training]\nlocal_batch_size=2\nwarp=9\n",
                  "a.toml", "h100-sxm:8");
  ASSERT_TRUE(launch) << launch.error().text();
  EXPECT_THAT(not_understood(*launch), testing::ElementsAre("training.warp"));
}

TEST(Import, SaysWhatDependsOnTheNumberOfGpus) {
  const auto launch = import_text(
      "[model]\nname='llama3'\nflavor='8B'\n[training]\nlocal_batch_size=2\n", "a.toml");
  ASSERT_TRUE(launch) << launch.error().text();
  EXPECT_EQ(launch->flags.back().what, "depends on the number of GPUs: give --on");
  EXPECT_THAT(launch->unsaid, testing::Contains(testing::HasSubstr("the cluster")));
}

TEST(Import, RefusesFilesOfNoFramework) {
  const auto launch = import_text("x: 1\n", "a.yaml");
  ASSERT_FALSE(launch);
  EXPECT_THAT(launch.error().text(), testing::HasSubstr("no flag of a known framework"));
}

TEST(Import, RefusesARunWithoutAModel) {
  const auto launch = import_text("run --tensor-model-parallel-size 2\n", "a.sh", "h100-sxm:8");
  ASSERT_FALSE(launch);
  EXPECT_THAT(launch.error().text(), testing::HasSubstr("the files do not name the model"));
}

TEST(Import, RefusesAValueThatIsNoNumber) {
  const auto launch = import_text(
      "[model]\nname='llama3'\nflavor='8B'\n[parallelism]\ntensor_parallel_degree='two'\n",
      "a.toml", "h100-sxm:8");
  ASSERT_FALSE(launch);
  EXPECT_THAT(launch.error().text(), testing::HasSubstr("tp: 'two' is not a whole number"));
}

TEST(Import, AsksForTheNumberOfGpusOfAClusterWithoutOne) {
  const auto launch = import_text("[model]\nname='llama3'\nflavor='8B'\n", "a.toml", "h100-sxm");
  ASSERT_FALSE(launch);
  EXPECT_EQ(launch.error().text(),
            "--on: the files do not say the number of GPUs (write --on h100-sxm:64)");
}

TEST(LaunchFiles, ResolveReferencesWithinReferencesAndProducts) {
  const auto file = parse_launch_file(
      "m: {h: 4096, f: '${multiply:4, ${.h}}', g: '${divide_ceil:${m.h}, 3000}', none: null,\n"
      "    off: '${.none}', path: 'a/${m.h}/b', unknown: '${oc.env:HOME}', self: '${m.self}'}\n",
      "a.yaml");
  ASSERT_TRUE(file) << file.error().text();
  std::map<std::string, LaunchFlag> flags;
  for (const LaunchFlag& flag : file->flags) flags[flag.key] = flag;
  EXPECT_EQ(flags["m.f"].value, "16384");
  EXPECT_EQ(flags["m.g"].value, "2");
  EXPECT_EQ(flags["m.path"].value, "a/4096/b");
  EXPECT_FALSE(flags["m.off"].given);
  EXPECT_EQ(flags["m.unknown"].unresolved, "${oc.env:HOME} is not set in the file");
  EXPECT_EQ(flags["m.self"].unresolved, "${m.self} is not set in the file");
}

TEST(LaunchFiles, DoNotGrowBeyondBounds) {
  std::string text = "a0: " + std::string(100, 'x') + "\n";
  for (int i = 1; i < 64; ++i) {
    const std::string before = "${a" + std::to_string(i - 1) + "}";
    text += "a" + std::to_string(i) + ": '" + before + before + "'\n";
  }
  const auto file = parse_launch_file(text, "a.yaml");
  ASSERT_TRUE(file) << file.error().text();
  for (const LaunchFlag& flag : file->flags) EXPECT_LE(flag.value.size(), 4096U);
  EXPECT_FALSE(file->flags.back().unresolved.empty());
}

TEST(LaunchFiles, RefuseBrokenToml) {
  const auto launch = import_text("a = \n", "a.toml");
  ASSERT_FALSE(launch);
  EXPECT_THAT(launch.error().text(), testing::StartsWith("a.toml: line 1: not valid TOML"));
}

// ---- round trip ----

template <class T>
const T& one_of(const std::vector<T>& all, std::mt19937& random) {
  return all[random() % all.size()];
}

Plan random_plan(std::mt19937& random, bool experts) {
  Plan p;
  p.tp = one_of<std::int64_t>({1, 2, 4, 8}, random);
  p.pp = one_of<std::int64_t>({1, 1, 2, 4}, random);
  p.cp = one_of<std::int64_t>({1, 1, 2}, random);
  p.dp = 64 / (p.tp * p.pp * p.cp);
  if (experts) p.ep = one_of<std::int64_t>({1, 2, 4, 8}, random);
  if (p.ep > 1)
    p.dispatch =
        one_of<ExpertDispatch>({ExpertDispatch::all_to_all, ExpertDispatch::deduplicated}, random);
  p.sequence_parallel = random() % 2 == 0;
  p.context_parallel =
      one_of<ContextParallel>({ContextParallel::ring, ContextParallel::all_gather}, random);
  p.chunks = p.pp > 1 ? one_of<std::int64_t>({1, 2, 4}, random) : 1;
  p.micro_batch = one_of<std::int64_t>({1, 2}, random);
  p.zero = static_cast<std::int64_t>(random() % 4);
  if (p.zero == 3 && p.dp >= 4) p.shard_group = one_of<std::int64_t>({0, p.dp * p.cp / 2}, random);
  p.recompute = one_of<Recompute>(
      {Recompute::none, Recompute::selective, Recompute::alternate, Recompute::full}, random);
  if (p.recompute == Recompute::selective && random() % 2 == 0) {
    p.recompute_modules = {RecomputeModule::core_attn, RecomputeModule::layernorm};
  }
  if (p.recompute == Recompute::full) p.recompute_layers = one_of<std::int64_t>({0, 1}, random);
  p.attention =
      one_of<AttentionKernel>({AttentionKernel::library, AttentionKernel::unfused}, random);
  p.overlap.gradient_reduction = random() % 2 == 0;
  p.overlap.parameter_gather = random() % 2 == 0;
  p.overlap.tensor_parallel = random() % 4 == 0;
  p.overlap.pipeline = random() % 2 == 0;
  if (random() % 4 == 0) p.placement = {MeshAxis::tp, MeshAxis::cp, MeshAxis::pp, MeshAxis::dp};
  return p;
}

// What is read back of the file, and the fields that the file says it cannot express.
TEST(RoundTrip, LosesNothingThatIsNotListed) {
  std::mt19937 random(7);
  int plans = 0;
  std::map<std::string, int> files;
  for (int i = 0; i < 100; ++i) {
    Scenario s;
    const std::string name = i % 2 == 0 ? "llama-3.1-8b" : "mixtral-8x7b";
    s.model = *load_model(name, catalog());
    s.cluster = *parse_cluster("h100-sxm:64", catalog());
    s.training.sequence_length = 4096;
    s.training.global_batch = 512;
    s.training.precision = one_of<NumberFormat>({NumberFormat::bf16, NumberFormat::fp8}, random);
    s.training.gradients = one_of<NumberFormat>({NumberFormat::fp32, NumberFormat::bf16}, random);
    const CompletedPlan whole =
        completed_plan(s.model, s.cluster, s.training, random_plan(random, i % 2 == 1));
    if (!plan_problems(s.model, s.cluster, whole.training, whole.plan).empty()) continue;
    ++plans;
    s.training = whole.training;
    s.plan = whole.plan;
    for (const std::string& framework : catalog().names("launch")) {
      files[framework] += expect_nothing_lost_unsaid(s, framework, "h100-sxm:64", name) ? 1 : 0;
    }
  }
  EXPECT_GT(plans, 50);
  for (const char* framework : {"megatron-lm", "megatron-bridge", "nemo", "torchtitan"}) {
    EXPECT_GT(files[framework], 5) << framework;
  }
}

struct Expressible {
  const char* framework;
  const char* model;
  const char* plan;
  NumberFormat precision = NumberFormat::bf16;
  NumberFormat gradients = NumberFormat::fp32;
};

// Plans within what a framework can say: nothing is listed, the model included.
TEST(RoundTrip, IsExactWithinWhatAFrameworkCanSay) {
  using enum NumberFormat;
  const std::vector<Expressible> all = {
      {"megatron-lm", "llama-3.1-8b", "tp=2,pp=4,chunks=4,micro_batch=2", fp8, bf16},
      {"megatron-lm", "llama-3.1-70b",
       "tp=8,pp=4,zero=0,recompute=full,recompute_layers=3,overlap.pipeline=false"},
      {"megatron-lm", "mixtral-8x7b",
       "tp=2,ep=8,dispatch=deduplicated,recompute=selective,recompute_modules=layernorm+moe_act"},
      {"megatron-lm", "deepseek-v3",
       "pp=2,ep=16,cp=2,context_parallel=ring,zero=3,overlap.pipeline=false"},
      {"megatron-lm", "gpt-3-6.7b", "tp=2,sequence_parallel=false,zero=2,attention=unfused", fp16,
       fp16},
      {"torchtitan", "llama-3.1-8b", "zero=3,recompute=alternate"},
      {"torchtitan", "llama-3.1-70b", "tp=8,zero=3,recompute=full,overlap.tensor_parallel=true",
       fp8},
      {"torchtitan", "llama-3.1-8b", "tp=2,cp=2,zero=3,shard_group=8,micro_batch=2"},
      {"torchtitan", "llama-3.1-8b", "pp=4,chunks=2,schedule=zb_v,zero=3"},
      {"torchtitan", "llama-3.1-70b", "pp=8,chunks=5,zero=3,recompute=alternate"},
      {"torchtitan", "llama-3.1-8b", "zero=0,cp=4,context_parallel=ring", bf16, bf16},
      {"nemo", "gpt-3-6.7b", "tp=2,pp=2,chunks=2,recompute=selective"},
      {"megatron-bridge", "llama-3.1-8b", "tp=2,pp=2,chunks=2,cp=2,context_parallel=ring", fp8,
       bf16},
      {"llm-foundry", "gpt-3-6.7b", "zero=3,recompute=full,micro_batch=2", bf16, bf16},
      {"llm-foundry", "gpt-3-1.3b", "zero=2"},
      {"deepspeed", "llama-2-7b", "zero=3,micro_batch=2", bf16, bf16},
      {"deepspeed", "llama-2-7b", "zero=2,tp=2,overlap.parameter_gather=false", fp16, fp16}};
  for (const Expressible& e : all) {
    Scenario s;
    s.model = *load_model(e.model, catalog());
    s.cluster = *parse_cluster("b200-sxm:64", catalog());
    s.training.global_batch = 512;
    s.training.precision = e.precision;
    s.training.gradients = e.gradients;
    s.training.dropout =
        std::string(e.model).starts_with("gpt") && std::string(e.framework) != "llm-foundry";
    const auto plan = parse_plan(e.plan);
    ASSERT_TRUE(plan) << plan.error().text();
    const CompletedPlan whole = completed_plan(s.model, s.cluster, s.training, *plan);
    EXPECT_THAT(plan_problems(s.model, s.cluster, whole.training, whole.plan), testing::IsEmpty())
        << e.plan;
    s.training = whole.training;
    s.plan = whole.plan;
    const auto emitted = emitted_launch(s, e.framework, catalog());
    ASSERT_TRUE(emitted) << emitted.error().text();
    std::vector<std::string> without_model = emitted->not_expressed;
    if (std::string(e.framework) == "deepspeed") {  // its file has no model
      std::erase_if(without_model, [](const std::string& l) { return l.starts_with("model"); });
    }
    EXPECT_THAT(without_model, testing::IsEmpty()) << e.framework << " " << e.plan << "\n"
                                                   << emitted->text;
  }
}

// A framework's table can write each schedule that its software has, and refuses the others, for
// which the file would launch another plan.
TEST(Launch, IsOfSchedulesThatTheSoftwareHas) {
  for (const std::string& framework : catalog().names("launch")) {
    const auto table = load_launch_table(catalog(), framework);
    ASSERT_TRUE(table) << table.error().text();
    const auto software = load_software(catalog(), table->software);
    ASSERT_TRUE(software) << software.error().text();
    for (const Schedule& schedule : schedules()) {
      if (!can_be_searched(schedule)) continue;
      Scenario s;
      s.model = *load_model("llama-3.1-8b", catalog());
      s.cluster = *parse_cluster("h100-sxm:64", catalog());
      s.training.global_batch = 512;
      s.training.sequence_length = 8192;
      s.plan.pp = 4;
      s.plan.chunks = schedule.chunks > 0 ? schedule.chunks : 2;
      s.plan.schedule = schedule.name;
      const CompletedPlan whole = completed_plan(s.model, s.cluster, s.training, s.plan);
      s.training = whole.training;
      s.plan = whole.plan;
      const auto emitted = emitted_launch(s, framework, catalog());
      // DeepSpeed's file says nothing of pipelines, whatever schedule its engine has.
      EXPECT_EQ(emitted.has_value(),
                has_schedule(*software, schedule.name) && framework != "deepspeed")
          << framework << " " << schedule.name;
      if (!emitted) {
        EXPECT_EQ(emitted.error().code, ErrorCode::unsupported);
        if (!has_schedule(*software, schedule.name)) {
          EXPECT_THAT(emitted.error().text(), testing::HasSubstr(software->name));
        }
        continue;
      }
      for (const std::string& lost : emitted->not_expressed) {
        EXPECT_FALSE(lost.starts_with("plan.schedule") || lost.starts_with("plan.chunks"))
            << framework << " " << schedule.name << ": " << lost;
      }
    }
  }
}

}  // namespace
}  // namespace orrery
