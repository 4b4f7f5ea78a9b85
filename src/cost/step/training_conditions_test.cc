#include "cost/step/training_conditions.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numbers>

namespace orrery {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kFile = R"(
source: a test
fit: {data: none, date: 2026-01-01, rows: 10, median_error: 0.1, p90_error: 0.2}
kernel_gap: 2 us
rank_spread: 0.02
accelerators:
  - {accelerator: a100-80gb-sxm, architecture: ampere, matrix_share: 0.8, memory_share: 0.9, scale_up_share: 0.7, rows: 10}
  - {accelerator: "*", architecture: ampere, matrix_share: 0.82, memory_share: 0.92, scale_up_share: 0.75}
  - {accelerator: "*", matrix_share: 0.85, memory_share: 0.95, scale_up_share: 0.75}
attention:
  - {kernel: flash-2, architecture: ampere, share: 0.7, rows: 10}
  - {kernel: flash-2, architecture: "*", share: 0.9}
networks:
  - {technology: infiniband, share: 0.6}
  - {technology: omni-path, share: 0.2}
  - {technology: carried by hosts, share: 0.3}
  - {technology: "*", share: 0.5}
)";

TrainingConditions conditions() {
  return *read_training_conditions(*parse_yaml(kFile, "test.yaml"));
}

std::string error(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  text.replace(at, from.size(), to);
  return read_training_conditions(*parse_yaml(text, "test.yaml")).error().text();
}

TEST(ExpectedMaximum, MeetsItsClosedForms) {
  const double root = std::sqrt(std::numbers::pi);
  EXPECT_EQ(expected_maximum(1), 0);
  EXPECT_NEAR(expected_maximum(2), 1 / root, 1e-6);
  EXPECT_NEAR(expected_maximum(3), 1.5 / root, 1e-6);
  // Tabulated: Harter 1961, Biometrika 48.
  EXPECT_NEAR(expected_maximum(10), 1.53875, 1e-5);
  EXPECT_NEAR(expected_maximum(100), 2.50759, 1e-5);
}

TEST(ExpectedMaximum, GrowsEverSlower) {
  double last = 0;
  double gain = HUGE_VAL;
  for (double n = 2; n < 1e7; n *= 2) {
    const double now = expected_maximum(n);
    EXPECT_GT(now, last) << n;
    EXPECT_LT(now - last, gain) << n;
    EXPECT_LT(now, std::sqrt(2 * std::log(n))) << n;  // its bound
    gain = now - last;
    last = now;
  }
}

TEST(TrainingConditions, ServeAnAcceleratorByNameThenArchitectureThenAll) {
  const TrainingConditions c = conditions();
  const Catalog& catalog = Catalog::built_in();
  EXPECT_EQ(conditions_of(c, *load_accelerator(catalog, "a100-80gb-sxm")).matrix_share, 0.8);
  EXPECT_EQ(conditions_of(c, *load_accelerator(catalog, "a40")).matrix_share, 0.82);
  EXPECT_EQ(conditions_of(c, *load_accelerator(catalog, "h100-sxm")).matrix_share, 0.85);
  FabricLevel level;
  level.name = "infiniband-ndr";
  EXPECT_EQ(network_of(c, level).share, 0.6);
  level.name = "infinibandish-200g";
  EXPECT_EQ(network_of(c, level).share, 0.5);
  level.name = "spine";
  level.fabric = "infiniband-hdr";
  EXPECT_EQ(network_of(c, level).share, 0.6);
  level.fabric = "roce-400g";
  EXPECT_EQ(network_of(c, level).share, 0.5);
}

// What is known of measured accelerators serves every other one of their architecture.
TEST(TrainingConditions, OfTheCatalogServeEveryMeasuredArchitecture) {
  const TrainingConditions c = *load_training_conditions(Catalog::built_in());
  for (const AcceleratorConditions& a : c.accelerators) {
    if (a.rows == 0) continue;
    Accelerator other;
    other.name = "not measured";
    other.architecture = a.architecture;
    EXPECT_EQ(conditions_of(c, other).architecture, a.architecture) << a.accelerator;
    EXPECT_NEAR(conditions_of(c, other).matrix_share / a.matrix_share, 1, 0.15) << a.accelerator;
  }
}

TEST(TrainingConditions, KnowNetworksThatHostsCarry) {
  const TrainingConditions c = conditions();
  const auto share = [&](const char* name) {
    FabricLevel level;
    level.name = name;
    return network_of(c, level).share;
  };
  EXPECT_EQ(share("omni-path-100g"), 0.2);
  EXPECT_EQ(share("tcpx-200g"), 0.3);
  EXPECT_EQ(share("ethernet-25g-datacentre"), 0.3);
  EXPECT_EQ(share("datacentre-ethernet"), 0.3);
  EXPECT_EQ(share("tcpxo-200g"), 0.5);  // its adapter acknowledges
  EXPECT_EQ(share("efa-v2"), 0.5);
}

TEST(TrainingConditions, SlowKernelsByShareGapAndSlowestRank) {
  const Cluster cluster = *parse_cluster_name("a100-80gb-sxm:1024", Catalog::built_in());
  const KernelParameters alone = *load_kernel_parameters(Catalog::built_in(), cluster.accelerator);
  const KernelParameters loaded = under_training(alone, conditions(), cluster);
  const double slowest = 1 + 0.02 * expected_maximum(1024);
  const auto& bf16 = alone.format(NumberFormat::bf16);
  EXPECT_NEAR(loaded.format(NumberFormat::bf16).ceiling / bf16.ceiling, 0.8 / slowest, 1e-12);
  EXPECT_NEAR(loaded.memory_bandwidth / alone.memory_bandwidth, 0.9 / slowest, 1e-12);
  EXPECT_NEAR((loaded.memory_floor - alone.memory_floor).value(), 2e-6, 1e-15);
  const auto levels = under_training(cluster.levels, conditions(), cluster);
  EXPECT_NEAR(levels[0].efficiency / cluster.levels[0].efficiency, 0.7, 1e-12);
  EXPECT_NEAR(levels[1].efficiency / cluster.levels[1].efficiency, 0.6, 1e-12);
}

TEST(TrainingConditions, SlowAttentionByItsKernelOnItsArchitecture) {
  const TrainingConditions c = conditions();
  EXPECT_EQ(attention_share(c, AttentionKernel::flash_2, "ampere"), 0.7);
  EXPECT_EQ(attention_share(c, AttentionKernel::flash_2, "hopper"), 0.9);
  EXPECT_EQ(attention_share(c, AttentionKernel::flash_3, "hopper"), 1);
  const Cluster cluster = *parse_cluster_name("a100-80gb-sxm:1", Catalog::built_in());
  const KernelParameters alone = *load_kernel_parameters(Catalog::built_in(), cluster.accelerator);
  const KernelParameters loaded = under_training(alone, c, cluster);
  const auto rate = [](const KernelParameters& p, AttentionKernel kernel) {
    return p.curve(kernel, Direction::forward).at(128).peak_fraction * p.sustained_fraction;
  };
  EXPECT_NEAR(rate(loaded, AttentionKernel::flash_2) / rate(alone, AttentionKernel::flash_2), 0.7,
              1e-12);
  EXPECT_NEAR(rate(loaded, AttentionKernel::flash_1) / rate(alone, AttentionKernel::flash_1), 1,
              1e-12);
}

TEST(TrainingConditions, NeverPassPeaks) {
  TrainingConditions c = conditions();
  c.rank_spread = 0;
  for (AcceleratorConditions& a : c.accelerators) a.matrix_share = a.memory_share = 1.5;
  const Cluster cluster = *parse_cluster_name("h100-sxm:8", Catalog::built_in());
  const KernelParameters loaded =
      under_training(*load_kernel_parameters(Catalog::built_in(), cluster.accelerator), c, cluster);
  EXPECT_LE(loaded.memory_bandwidth, loaded.memory_peak);
  EXPECT_LE(loaded.sustained_fraction, 1);
  for (const FormatParameters& f : loaded.formats) EXPECT_LE(f.ceiling, f.peak);
}

TEST(TrainingConditions, SayWhatIsBorrowed) {
  const auto said = [](const char* cluster) {
    return assumed_conditions(conditions(), *parse_cluster_name(cluster, Catalog::built_in()));
  };
  EXPECT_THAT(said("a100-80gb-sxm:8"), testing::IsEmpty());
  EXPECT_THAT(said("a100-40gb-sxm:8"),
              ElementsAre("no training step was measured on a100-40gb-sxm: clocks and bandwidths "
                          "under load as on accelerators of its architecture on average"));
  EXPECT_THAT(said("mi300x:8"), ElementsAre(HasSubstr("as on accelerators on average")));
  // An entry of its own that no step was fitted to is drawn to its architecture as well.
  TrainingConditions unmeasured = conditions();
  unmeasured.accelerators.front().rows = 0;
  EXPECT_THAT(
      assumed_conditions(unmeasured, *parse_cluster_name("a100-80gb-sxm:8", Catalog::built_in())),
      ElementsAre(HasSubstr("as on accelerators of its architecture on average")));
}

TEST(TrainingConditions, RefuseWhatCannotBe) {
  const std::string file(kFile);
  EXPECT_THAT(error(file, "matrix_share: 0.8,", "matrix_share: 2.6,"),
              HasSubstr("share of a100-80gb-sxm 2.600000 is out of range (above 0, at most 2)"));
  EXPECT_THAT(error(file, "share: 0.6", "share: 0"), HasSubstr("share of infiniband"));
  EXPECT_THAT(error(file, "2 us", "2 ms"), HasSubstr("0 to 1 ms"));
  EXPECT_THAT(error(file, "rank_spread: 0.02", "rank_spread: 0.3"), HasSubstr("0 to 0.2"));
  EXPECT_THAT(error(file, "{technology: \"*\"", "{technology: roce"), HasSubstr("one named '*'"));
  EXPECT_THAT(error(file, "{accelerator: \"*\", matrix", "{accelerator: b, matrix"),
              HasSubstr("one named '*'"));  // that of an architecture serves no other
}

TEST(TrainingConditions, OfTheCatalogAreSound) {
  const auto c = load_training_conditions(Catalog::built_in());
  ASSERT_TRUE(c) << c.error().text();
  EXPECT_EQ(c->accelerators.back().accelerator, "*");
}

}  // namespace
}  // namespace orrery
