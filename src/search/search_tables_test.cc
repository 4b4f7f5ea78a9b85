// How embedding tables are divided, searched over.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "estimate/estimate.h"
#include "estimate/predicted_step.h"
#include "estimate/spec.h"
#include "model/recommendation/recommendation.h"
#include "search/search.h"

namespace orrery {
namespace {

// DLRM-A on 128 A100: no plan that divides all tables in one way, with towers or without, is faster
// than what a search of all of them finds, and what it finds is faster than its own planner's.
TEST(SearchTables, IsNeverWorseThanASingleStrategy) {
  const Catalog& catalog = Catalog::built_in();
  Spec spec;
  spec.scenario.model = *load_model("dlrm-a", catalog);
  spec.scenario.cluster = *parse_cluster("a100-80gb-sxm:128", catalog);
  spec.scenario.training.global_batch = 65536;
  choose_software(spec, *load_software(catalog, "torchrec"));
  SearchSpace space;
  space.zero = {0, 2};
  space.recompute = {Recompute::none};
  space.micro_batch = {512};
  SearchOptions options;
  options.top = 1;
  const auto found = search(spec.scenario, space, options, catalog);
  ASSERT_TRUE(found) << found.error().text();
  const double best = found->plans.front().step_time.value();
  for (const TableSharding kind :
       {TableSharding::automatic, TableSharding::table, TableSharding::column, TableSharding::row,
        TableSharding::table_row, TableSharding::data}) {
    for (const std::int64_t towers : {0, 16}) {
      Scenario single = spec.scenario;
      single.plan.table_sharding = kind;
      single.plan.towers = towers;
      const auto step = predict(std::move(single), catalog);
      if (!step || estimate(*step).verdict == Verdict::does_not_fit) continue;
      EXPECT_LE(best, estimate(*step).step_time.value()) << to_text(kind) << towers;
    }
  }
}

// Every plan of a small space, priced one by one: none is faster than what the search finds, and one
// is as fast. Tables of several sizes, with a codec, on two nodes.
TEST(SearchTables, FindsWhatExhaustiveSearchFinds) {
  const Catalog& catalog = Catalog::built_in();
  for (const double network : {50e9, 3e9}) {
    Recommender r = *recommender_of(*load_model("dlrm-criteo-kaggle", catalog));
    r.embedding_dim = 64;
    r.bottom_mlp = {16, 512, 64};
    r.top_mlp = {1728, 512, 256};
    r.interaction = Interaction::concatenation;
    r.lossy = LossyVectors{.ratio = 8,
                           .ratios = {},
                           .compress = BytesPerSecond(60e9),
                           .decompress = BytesPerSecond(60e9)};
    Spec spec;
    spec.scenario.model = *build_model(r);
    spec.scenario.cluster = *parse_cluster("h100-sxm:16", catalog);
    spec.scenario.cluster.levels.back().bandwidth = BytesPerSecond(network);
    spec.scenario.training.global_batch = 32768;
    choose_software(spec, *load_software(catalog, "torchrec"));

    SearchSpace space;
    space.tp = {1, 2};
    space.cp = space.pp = {1};
    space.ep = {8, 16};
    space.zero = {0, 2};
    space.micro_batch = {2048};
    space.recompute = {Recompute::none};
    space.towers = {0, 2};
    space.stated = {"towers"};
    SearchOptions options;
    options.top = 1;
    const auto found = search(spec.scenario, space, options, catalog);
    ASSERT_TRUE(found) << found.error().text();

    double best = HUGE_VAL;
    int priced = 0;
    for (const std::int64_t tp : space.tp) {
      for (const std::int64_t ep : space.ep) {
        for (const std::int64_t zero : space.zero) {
          for (const std::int64_t towers : space.towers) {
            for (const auto& sharding : names_of(TableSharding{})) {
              for (const VectorCodec codec : {VectorCodec::none, VectorCodec::best}) {
                Scenario one = spec.scenario;
                one.plan.tp = tp;
                one.plan.ep = ep;
                one.plan.zero = static_cast<int>(zero);
                one.plan.micro_batch = 2048;
                one.plan.recompute = Recompute::none;
                one.plan.towers = towers;
                one.plan.table_sharding = sharding.value;
                one.plan.codec = codec;
                const auto step = predict(std::move(one), catalog);
                if (!step || estimate(*step).verdict == Verdict::does_not_fit) continue;
                ++priced;
                best = std::min(best, estimate(*step).step_time.value());
              }
            }
          }
        }
      }
    }
    EXPECT_GT(priced, 40);
    EXPECT_DOUBLE_EQ(found->plans.front().step_time.value(), best);
  }
}

}  // namespace
}  // namespace orrery
