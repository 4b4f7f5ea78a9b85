// What a step of a recommendation model launches, against a recording of TorchRec
// (validation/traces/torchrec/sst_long_a2a_optimizer_4, rank 0, steps 5 and 6).
#include <gtest/gtest.h>

#include <cstdint>
#include <tuple>

#include "lower/model_costs.h"
#include "lower/priced_model.h"
#include "model/recommendation/recommendation.h"
#include "model/recommendation/recommender.h"

namespace orrery {
namespace {

// The model of the recording: 64 features, seven layers of a bottom MLP, two of a top MLP.
Recommender recorded_model() {
  Recommender r;
  r.name = "recorded";
  r.num_tables = 64;
  r.rows_per_table = 100'000;
  r.embedding_dim = 128;
  r.pooling = 1;
  r.table_sharding = TableSharding::table;
  r.bottom_mlp = {13, 512, 512, 256, 256, 256, 128, 128};
  r.top_mlp = {128 + 65 * 64 / 2, 512, 1};
  return r;
}

struct Launched {
  Picoseconds forward, backward;
};

// Host time of one pass over all layers and the loss, of a profile in which only one thing takes any.
Launched launched(const Recommender& r, const HostCosts& only) {
  SoftwareProfile software = *load_software(Catalog::built_in(), "torchrec");
  software.host.kernel = only.kernel;
  software.host.dispatch = only.dispatch;
  software.host.product = only.product;
  software.host.collective = only.collective;
  PricedModel priced(*build_model(r), "v100-16gb-sxm2:4", "ep=4", 1, NumberFormat::fp32, software);
  const ModelCosts& costs = priced.costs(Backward::fused);
  Launched sum{costs.head.forward.host, costs.head.backward.host};
  for (const std::uint16_t layer : priced.cache->model().layers) {
    sum.forward += costs.blocks[layer].forward.host;
    sum.backward += costs.blocks[layer].backward.host;
  }
  return sum;
}

constexpr Seconds kOne{1e-6};
const HostCosts kKernels{
    .kernel = kOne, .dispatch = {}, .product = {}, .collective = {}, .work = {}};
const HostCosts kDispatched{
    .kernel = {}, .dispatch = kOne, .product = {}, .collective = {}, .work = {}};

double count(Picoseconds time) { return time.seconds() / kOne; }

// 95 launches of the main thread and 113 of the backward's, of which nine are collectives and 16
// memsets around products that the library splits.
TEST(TableLaunches, AreThoseOfTheRecordedStep) {
  const Launched kernels = launched(recorded_model(), kKernels);
  EXPECT_NEAR(count(kernels.forward + kernels.backward), 95 + 113 - 9 - 16, 1e-6);
  EXPECT_NEAR(count(kernels.forward), 95 - 4 - 2 - 10 - 8, 1e-6);
}

// What is done for each kind of division is done twice for two: 29 kernels and 56 operators forward,
// 22 and 1 backward.
TEST(TableLaunches, AreRepeatedForEachDivision) {
  Recommender mixed = recorded_model();
  mixed.table_shardings.assign(64, TableSharding::table);
  mixed.table_shardings.back() = TableSharding::row;
  for (const auto& [only, forward, backward] :
       {std::tuple{kKernels, 29, 22}, {kDispatched, 56, 1}}) {
    const Launched one = launched(recorded_model(), only);
    const Launched two = launched(mixed, only);
    EXPECT_NEAR(count(two.forward - one.forward), forward, 1e-6);
    EXPECT_NEAR(count(two.backward - one.backward), backward, 1e-6);
  }
}

// Lengths that are read back take the lead: what the forward waits for its launches, a backward with
// time to spare does not make up for.
TEST(TableLaunches, TakeTheLeadOfTheHost) {
  int later = 0;
  for (double microseconds = 0.5; microseconds < 20; microseconds *= 1.2) {
    const auto step = [&](bool reads_counts) {
      SoftwareProfile software = *load_software(Catalog::built_in(), "torchrec");
      software.host.kernel = software.host.product = Seconds(microseconds * 1e-6);
      software.host.reads_counts = reads_counts;
      PricedModel priced(*build_model(recorded_model()), "v100-16gb-sxm2:4", "ep=4", 1,
                         NumberFormat::fp32, software);
      const BlockCost& tables = priced.costs(Backward::fused).blocks.front();
      return tables.forward.time + tables.backward.time;
    };
    EXPECT_GE(step(true), step(false));
    if (step(true) > step(false)) ++later;
  }
  EXPECT_GT(later, 0);
}

}  // namespace
}  // namespace orrery
