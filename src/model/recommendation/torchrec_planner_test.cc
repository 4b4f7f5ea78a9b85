// Costs of torchrec_costs.h in bytes over GiB a second, of 512 samples a rank on two ranks of a node,
// one look-up of 128 fp32 elements:
//
//   on every rank  3 (4096 + 2 x 262144) / 448.5                                  = 3534
//                  and (1 / 25 + 9.22 / 448.5) a byte of the table
//   whole          3 (8192 + 2 x 524288) / 897 + 2 x 524288 / 600                 = 5282
//   by rows        3 (4096 + 262144 + 524288) / 897 + 2 x 524288 / 600
//                  + 2.455 x 524288 / 897                                         = 5827
#include "model/recommendation/torchrec_planner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "catalog/catalog.h"
#include "model/recommendation/recommendation.h"
#include "model/recommendation/table_placement.h"

namespace orrery {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using enum TableSharding;

Recommender with_tables(std::vector<std::int64_t> rows, std::int64_t columns = 128) {
  Recommender r;
  r.name = "tables";
  r.num_tables = static_cast<std::int64_t>(rows.size());
  r.row_counts = std::move(rows);
  r.embedding_dim = columns;
  r.embedding_dtype = NumberFormat::fp32;
  r.table_optimizer = TableOptimizer::sgd;
  r.pooling = 1;
  r.table_sharding = torchrec;
  r.bottom_mlp = {16, columns};
  r.top_mlp = {columns * (r.num_tables + 1), 64, 1};
  r.interaction = Interaction::concatenation;
  return r;
}

Division ranks_of(std::int64_t ranks, std::int64_t micro_batch = 512) {
  const ExchangeRates rates{BytesPerSecond(100e9), BytesPerSecond(100e9)};
  return {.ep = ranks,
          .sequence_length = 1,
          .ranks = ranks,
          .micro_batch = micro_batch,
          .memory = Bytes(80e9),
          .memory_bandwidth = BytesPerSecond(2e12),
          .tower_ranks = std::gcd(ranks, std::int64_t{8}),
          .between_all = rates,
          .in_tower = rates,
          .between_towers = BytesPerSecond(25e9),
          .dense_gradients = BytesPerSecond(25e9),
          .host_memory = Bytes(256e9),
          .host_bandwidth = BytesPerSecond(25e9)};
}

std::vector<TableSharding> divisions(const Recommender& r, const Division& d) {
  std::vector<TableSharding> out;
  for (const PlacedTable& t : place_tables(r, d).tables) out.push_back(t.sharding);
  return out;
}

// Two whole tables, one on each rank, cost 5282; copied they cost 2 x 3534, as any rank does both.
TEST(TorchRecPlanner, TablesThatRanksShareEvenlyAreWhole) {
  EXPECT_THAT(divisions(with_tables({10, 10}), ranks_of(2)), ElementsAre(table, table));
  // As many as have no grid of proposals: two of them on each rank.
  EXPECT_THAT(divisions(with_tables({10, 10, 10, 10}), ranks_of(2)),
              ElementsAre(table, table, table, table));
}

// A third whole table would make one rank cost 2 x 5282; on every rank it costs all of them 3534, and
// 0.06 for each byte of it: 1748 is more than that up to 29 KB, of 512 a row.
TEST(TorchRecPlanner, OneThatIsLeftOverIsCopiedIfItIsSmall) {
  EXPECT_THAT(divisions(with_tables({10, 10, 10}), ranks_of(2)), ElementsAre(data, table, table));
  EXPECT_THAT(divisions(with_tables({1'000'000, 50, 1'000'000}), ranks_of(2)),
              ElementsAre(table, data, table));
  EXPECT_THAT(divisions(with_tables({1'000'000, 1'000, 1'000'000}), ranks_of(2)),
              ElementsAre(table, table, table));
}

// 102 GB on two ranks that give 68 GB to tables.
TEST(TorchRecPlanner, WhatHasNoRoomTakesTheNextKind) {
  const Recommender r = with_tables({200'000'000});
  const TablePlacement placement = place_tables(r, ranks_of(2));
  ASSERT_EQ(placement.tables.size(), 1u);
  EXPECT_EQ(placement.tables[0].sharding, row);
  EXPECT_EQ(placement.tables[0].shards, 2);
  EXPECT_TRUE(placement.fits);
  EXPECT_THAT(placement_in_words(r, ranks_of(2), placement),
              testing::Contains(HasSubstr("as TorchRec's planner chooses")));
  // Where nothing has room, it is said.
  EXPECT_FALSE(place_tables(with_tables({300'000'000}), ranks_of(2)).fits);
}

// Two pieces of 128 columns cost half of the table of 256 each.
TEST(TorchRecPlanner, WideTablesLieInPiecesOf128Columns) {
  const TablePlacement placement = place_tables(with_tables({1'000'000}, 256), ranks_of(2));
  EXPECT_EQ(placement.tables[0].sharding, column);
  EXPECT_EQ(placement.tables[0].shards, 2);
}

TEST(TorchRecPlanner, WhatIsStatedIsKept) {
  Recommender r = with_tables({1'000'000, 1'000'000, 10});
  r.table_shardings = {row, torchrec, torchrec};
  EXPECT_THAT(divisions(r, ranks_of(2)), ElementsAre(row, table, table));
  // Of a plan as of the model.
  r = with_tables({10, 10, 10});
  r.table_sharding = automatic;
  Division d = ranks_of(2);
  d.table_sharding = torchrec;
  EXPECT_THAT(divisions(r, d), ElementsAre(data, table, table));
}

// The tables of MLPerf in one node are whole, but for those with 100 and 27 look-ups, which would keep
// a rank busy alone. Between two nodes a vector costs 48 times as much: for those two, partial sums are
// added up in a node first, and tables are copied whose gradients are small.
TEST(TorchRecPlanner, TablesOfTwoNodesAreDividedInThreeWays) {
  const auto document = Catalog::built_in().find("recommendation", "dlrm-dcnv2-mlperf");
  ASSERT_TRUE(document);
  Recommender r = *recommender_of(*read_model(*document));
  r.table_sharding = torchrec;
  const std::vector<TableSharding> one = divisions(r, ranks_of(8, 6912));
  const std::vector<TableSharding> two = divisions(r, ranks_of(16, 4096));
  const std::vector<EmbeddingTable> tables = tables_of(r);
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const bool busy = tables[i].pooling >= 27;
    EXPECT_EQ(one[i], busy ? row : table) << i;
    EXPECT_EQ(two[i], busy ? table_row : tables[i].rows < 20'000 ? data : table) << i;
  }
}

TEST(TorchRecPlanner, TowersAreRefused) {
  Division d = ranks_of(16);
  d.towers = 2;
  EXPECT_THAT(table_division_problems(with_tables({10, 10}), d),
              ElementsAre(HasSubstr("TorchRec's planner knows no towers, of which there are 2")));
}

}  // namespace
}  // namespace orrery
