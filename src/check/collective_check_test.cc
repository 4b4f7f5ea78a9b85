#include "check/collective_check.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "cost/collective/collective.h"
#include "document/comma_separated.h"
#include "document/value.h"

namespace orrery {
namespace {

// A system of validation/kernels/nccl-multinode-measured.csv.
struct PublishedSystem {
  std::string source;
  std::string cluster;
  CollectiveResults results;
};

std::string cluster_of(const std::string& accelerator, const std::string& ranks) {
  return (accelerator == "a100-40gb-sxm" ? "a100-80gb-sxm" : accelerator) + ":" + ranks;
}

std::vector<PublishedSystem> published_systems() {
  const std::string path = ORRERY_SOURCE_DIR "/validation/kernels/nccl-multinode-measured.csv";
  const auto table = parse_comma_separated(*read_file(path), path);
  const auto column = [&](const CommaSeparated::Record& record, std::string_view name) {
    const auto at = std::ranges::find(table->columns, name) - table->columns.begin();
    return record.fields[static_cast<std::size_t>(at)];
  };
  std::map<std::string, PublishedSystem> systems;
  for (const CommaSeparated::Record& record : table->records) {
    const std::string ranks = column(record, "num_gpus");
    PublishedSystem& system = systems[column(record, "machine")];
    system.source = column(record, "machine");
    system.cluster = cluster_of(column(record, "accelerator"), ranks);
    system.results.ranks = std::stoll(ranks);
    system.results.nodes = std::stoll(column(record, "num_nodes"));
    system.results.sizes.push_back(
        {.line = static_cast<std::size_t>(record.line),
         .payload = Bytes(std::stod(column(record, "bytes"))),
         .time = Seconds(std::stod(column(record, "latency_us")) * 1e-6)});
  }
  std::vector<PublishedSystem> out;
  for (auto& [source, system] : systems) out.push_back(std::move(system));
  return out;
}

bool is_sick(const PublishedSystem& system) {
  return system.source.find("misbehaving") != std::string::npos;
}

CollectiveCheck checked(const CollectiveResults& results, const Cluster& cluster) {
  const auto out = check(results, cluster, Catalog::built_in());
  EXPECT_TRUE(out) << out.error().text();
  return out.value_or(CollectiveCheck{});
}
CollectiveCheck checked(const CollectiveResults& results, const std::string& cluster) {
  return checked(results, *parse_cluster(cluster, Catalog::built_in()));
}

// What an ill system would give: the expected times of `ill`, as if they had been measured.
CollectiveResults measured_on(const Cluster& ill) {
  CollectiveResults out{.ranks = ill.accelerators,
                        .nodes = ill.accelerators / ill.accelerators_per_node};
  for (double bytes = 1024; bytes < 2e10; bytes *= 4) {
    out.sizes.push_back({.payload = Bytes(bytes), .time = Seconds(1)});
  }
  const CollectiveCheck of_it = checked(out, ill);
  for (std::size_t i = 0; i < out.sizes.size(); ++i) out.sizes[i].time = of_it.sizes[i].expected;
  return out;
}

double quantile(std::vector<double> values, double share) {
  std::ranges::sort(values);
  return values[static_cast<std::size_t>(
      std::lround(share * static_cast<double>(values.size() - 1)))];
}

// The intervals are the quantiles of the published rows, those of the sick fabric and an outlier of
// its source apart.
TEST(CollectiveCheck, IntervalsAreThoseOfPublishedSystems) {
  const auto errors =
      read<CollectiveErrors>(*Catalog::built_in().find("step", "collective-errors"));
  ASSERT_TRUE(errors) << errors.error().text();
  for (const CollectiveErrorClass& c : errors->classes) {
    std::vector<double> ratios;
    for (const PublishedSystem& system : published_systems()) {
      if (is_sick(system)) continue;
      const bool several = system.results.nodes > 1;
      if (several != c.several_nodes) continue;
      for (const CheckedSize& s : checked(system.results, system.cluster).sizes) {
        const Bytes n = s.measured.payload;
        const bool outlier = system.cluster == "gb200:128" && n == Bytes(1024.0 * 1024 * 1024);
        const bool of_smaller = std::ranges::any_of(errors->classes, [&](const auto& other) {
          return other.several_nodes == several && other.up_to && n <= *other.up_to &&
                 (!c.up_to || *other.up_to < *c.up_to);
        });
        if (!outlier && !of_smaller && (!c.up_to || n <= *c.up_to)) ratios.push_back(s.ratio());
      }
    }
    ASSERT_FALSE(ratios.empty());
    EXPECT_EQ(std::ssize(ratios), c.rows);
    if (c.several_nodes) {
      EXPECT_NEAR(c.low, std::min(1.0, quantile(ratios, 0.05)), 0.006);
    }
    EXPECT_NEAR(c.high, std::max(1.0, quantile(ratios, 0.95)), 0.006) << c.several_nodes;
  }
}

TEST(CollectiveCheck, FindsTheSickFabricAndPassesTheHealthyPair) {
  for (const PublishedSystem& system : published_systems()) {
    const CollectiveCheck out = checked(system.results, system.cluster);
    if (is_sick(system)) {
      for (const CheckedSize& s : out.sizes) EXPECT_EQ(s.verdict, SizeVerdict::slow);
      ASSERT_FALSE(out.causes.empty());
      EXPECT_LT(out.causes.front().error, 0.05);
    } else if (system.source.find("gj-aion") != std::string::npos) {
      EXPECT_FALSE(out.sick());
      EXPECT_TRUE(out.causes.empty());
    }
  }
}

TEST(CollectiveCheck, NamesWhatIsWrong) {
  const Cluster healthy = *parse_cluster("h100-sxm:64", Catalog::built_in());
  EXPECT_FALSE(checked(measured_on(healthy), healthy).sick());
  EXPECT_NEAR(checked(measured_on(healthy), healthy).error, 0, 1e-12);
  Cluster ill = healthy;
  ill.levels[1].bandwidth *= 0.125;
  const CollectiveCheck one_card = checked(measured_on(ill), healthy);
  ASSERT_FALSE(one_card.causes.empty());
  EXPECT_THAT(one_card.causes.front().what, testing::HasSubstr("as if 1 of the 8 cards of a node"));
  EXPECT_LT(one_card.causes.front().error, 0.02);
  ill = healthy;
  ill.levels[1].latency *= 40;
  const CollectiveCheck sockets = checked(measured_on(ill), healthy);
  ASSERT_FALSE(sockets.causes.empty());
  EXPECT_THAT(sockets.causes.front().what, testing::HasSubstr("a message over the network takes"));
}

TEST(CollectiveCheck, RefusesWhatTheClusterCannotHaveMeasured) {
  const Cluster cluster = *parse_cluster("h100-sxm:16", Catalog::built_in());
  CollectiveResults results{.ranks = 32, .nodes = 4};
  results.sizes.push_back({.payload = Bytes(1e6), .time = Seconds(1e-4)});
  const auto text = [&] {
    const auto out = check(results, cluster, Catalog::built_in());
    return out ? std::string("accepted") : out.error().text();
  };
  EXPECT_THAT(text(), testing::HasSubstr("32 ranks were measured"));
  results.ranks = 16;
  EXPECT_THAT(text(), testing::HasSubstr("4 hosts were measured"));
  results.nodes = 3;
  EXPECT_THAT(text(), testing::HasSubstr("16 ranks on 3 hosts"));
  results.ranks = results.nodes = 1;
  EXPECT_THAT(text(), testing::HasSubstr("one rank"));
}

}  // namespace
}  // namespace orrery
