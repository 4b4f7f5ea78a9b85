// How embedding tables are divided, searched over.
#include <gtest/gtest.h>

#include "estimate/estimate.h"
#include "estimate/predicted_step.h"
#include "estimate/spec.h"
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

}  // namespace
}  // namespace orrery
