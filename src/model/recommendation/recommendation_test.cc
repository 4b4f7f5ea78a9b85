#include "model/recommendation/recommendation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <numeric>

#include "catalog/catalog.h"
#include "model/recommendation/table_placement.h"

namespace orrery {
namespace {

Model catalog_model(const std::string& name) {
  const auto document = Catalog::built_in().find("recommendation", name);
  EXPECT_TRUE(document) << name;
  auto model = read_model(*document);
  EXPECT_TRUE(model) << model.error().text();
  return model.value_or(Model{});
}

Recommender small() {
  Recommender r;
  r.name = "small";
  r.num_tables = 4;
  r.rows_per_table = 1'000'000;
  r.embedding_dim = 64;
  r.pooling = 10;
  r.bottom_mlp = {16, 64};
  r.top_mlp = {320, 64, 1};
  r.interaction = Interaction::concatenation;
  return r;
}

// Sums travel over the links of all ranks of a node.
Division on(std::int64_t ranks, std::int64_t batch) {
  const std::int64_t node = std::gcd(ranks, std::int64_t{8});
  return {.ep = ranks,
          .etp = 1,
          .sequence_length = 1,
          .ranks = ranks,
          .micro_batch = batch,
          .memory = Bytes(80e9),
          .memory_bandwidth = BytesPerSecond(3.35e12),
          .tower_ranks = node,
          .between_all = {BytesPerSecond(50e9), BytesPerSecond(50e9 * static_cast<double>(node))},
          .in_tower = {BytesPerSecond(450e9), BytesPerSecond(450e9)},
          .between_towers = BytesPerSecond(50e9),
          .dense_gradients = BytesPerSecond(25e9),
          .host_memory = Bytes(256e9),
          .storage = Bytes(4e12),
          .host_bandwidth = BytesPerSecond(64e9),
          .storage_bandwidth = BytesPerSecond(1e8)};
}

std::string problem_of(const Recommender& r) {
  const auto model = build_model(r);
  return model ? "" : model.error().text();
}

double tables_parameters(const Recommender& r) {
  double sum = 0;
  for (const EmbeddingTable& t : tables_of(r)) sum += t.rows * t.width;
  return sum;
}

// Published counts, to their printed digits. Those of experts and transformers are MAD-Max's own:
// the entries leave them out.
TEST(RecommendationModels, ParametersAndFlopsAreThePublishedOnes) {
  std::size_t models = 0;
  for (const std::string& name : Catalog::built_in().names("recommendation")) {
    SCOPED_TRACE(name);
    const Model model = catalog_model(name);
    const Recommender& r = *recommender_of(model);
    EXPECT_NEAR(tables_parameters(r) / 1e9, r.embedding_params_b, 0.00051);
    double read = 0;
    for (const EmbeddingTable& t : tables_of(r)) {
      read += t.pooling * row_bytes(r, t.width).value();
    }
    EXPECT_EQ(read, r.lookup_bytes_per_sample);
    if (r.moe || r.transformer) continue;
    ++models;
    EXPECT_NEAR((parameters(model) - tables_parameters(r)) / 1e6, r.dense_params_m, 0.00051);
    EXPECT_NEAR(parameters(model) / 1e9, r.total_params_b, 0.00101);  // a sum of rounded parts
    double flops = 0;
    for (const std::uint16_t layer : model.layers) {
      for (const Operator& op : model.blocks[layer].operators) {
        if (op.kind == OperatorKind::gemm) flops += model_flops(op, Phase::forward, {}).value();
      }
    }
    EXPECT_NEAR(flops / 1e6, r.mlp_mflops_per_sample, 0.00051);
  }
  EXPECT_EQ(models, 10u);
  EXPECT_NEAR(parameters(catalog_model("dlrm-a-moe")) / 1e9, 803.56, 0.005);
  EXPECT_NEAR(parameters(catalog_model("dlrm-b-moe")) / 1e9, 332.34, 0.005);
  EXPECT_NEAR(parameters(catalog_model("dlrm-a-transformer")) / 1e9, 801.18, 0.005);
}

TEST(RecommendationModels, ExpertsAndTransformersWorkAsMuchAsPublished) {
  const auto products = [](const Model& model) {
    double flops = 0;
    for (const std::uint16_t layer : model.layers) {
      for (const Operator& op : model.blocks[layer].operators) {
        const bool router = op.op_class == OperatorClass::router;
        if (is_product(op) && !router) flops += model_flops(op, Phase::forward, {}).value();
      }
    }
    return flops;
  };
  EXPECT_NEAR(products(catalog_model("dlrm-a-moe")), 9.571e8, 0.0005e8);
  EXPECT_NEAR(products(catalog_model("dlrm-b-moe")), 9.006e7, 0.0005e7);
  EXPECT_NEAR(products(catalog_model("dlrm-a-transformer")), 2.651e9, 0.0005e9);
}

TEST(RecommendationModels, AreWrittenAsTheyAreRead) {
  for (const std::string& name : Catalog::built_in().names("recommendation")) {
    const Model model = catalog_model(name);
    const Value written = model.family->write(model);
    const auto again = read_model({"again", written});
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_EQ(*recommender_of(*again), *recommender_of(model));
  }
}

TEST(RecommendationModels, LayersOfEqualWidthShareABlock) {
  const Model model = catalog_model("dlrm-a");
  EXPECT_EQ(model.layers.size(), 11u);
  EXPECT_EQ(model.blocks.size(), 4u);  // look-ups; a layer by columns, one by rows, the last
  EXPECT_EQ(model.tensor_parts, 3994);
}

TEST(RecommendationModels, EveryWrongNumberIsSaidAtOnce) {
  Recommender r = small();
  r.pooling = 0;
  r.column_shards = 7;
  r.top_mlp = {319, 0};
  EXPECT_EQ(problem_of(r),
            "model 'small' cannot be built: pooling 0 is outside 1e-06 to 100000; a width of "
            "top_mlp, 0 is outside 1 to 1000000; top_mlp begins with 319, but the concatenation "
            "interaction gives 320; column_shards 7 does not divide the table width 64");
  r = small();
  r.pooling = 1e9;
  EXPECT_EQ(problem_of(r),
            "model 'small' cannot be built: pooling 1000000000 is outside 1e-06 to 100000");
  r = small();
  r.row_counts = {1, 2, 3};
  EXPECT_EQ(problem_of(r), "model 'small' cannot be built: row_counts has 3 numbers for 4 tables");
  r = small();
  r.interaction = Interaction::cross;
  EXPECT_EQ(problem_of(r),
            "model 'small' cannot be built: interaction: cross needs the field cross");
  r = small();
  r.reuse = RowReuse{{-0.5, 1, 1.5}, {0.2, 0.3, 0.5}};
  EXPECT_EQ(problem_of(r),
            "model 'small' cannot be built: reuse.rows has a share of -0.5; write shares from 0 to "
            "1");
  r = small();
  r.tower_modules = TowerModules{.towers = 3};
  EXPECT_EQ(
      problem_of(r),
      "model 'small' cannot be built: tower_modules: towers 3 x compression 1 does not divide "
      "the 256 elements of all tables; the nearest that does is towers 2 x compression 1");
  r.tower_modules = TowerModules{.towers = 4, .compression = 3};
  r.top_mlp[0] = 256 / 3 + 64;
  EXPECT_EQ(
      problem_of(r),
      "model 'small' cannot be built: tower_modules: towers 4 x compression 3 does not divide "
      "the 256 elements of all tables; the nearest that does is towers 4 x compression 2");
  r.tower_modules->compression = 2;
  r.top_mlp[0] = 256 / 2 + 64;
  EXPECT_EQ(problem_of(r), "");
}

TEST(TablePlacement, TablesThatFitNowhereAreRefusedWithAllReasons) {
  Recommender r = small();
  r.rows_per_table = 10'000'000'000;
  r.table_sharding = TableSharding::table;
  Division d = on(2, 64);
  d.pp = 2;
  const auto problems = table_division_problems(r, d);
  ASSERT_EQ(problems.size(), 3u);
  EXPECT_EQ(problems[0], "pp 2: the layers of small are not a pipeline");
  EXPECT_EQ(problems[1],
            "the tables and their optimizer's states take 9.46 TiB; 2 GPUs have 149 GiB of memory");
  EXPECT_EQ(
      problems[2],
      "table 0 is stated to lie whole on a rank and takes 2.36 TiB; a GPU has 74.5 GiB, as do "
      "3 more");
}

// Equal tables on as many ranks are even, and every way of dividing them reads the same rows.
TEST(TablePlacement, EqualTablesAreEven) {
  const TablePlacement p = place_tables(small(), on(4, 1024));
  EXPECT_TRUE(p.fits);
  EXPECT_DOUBLE_EQ(p.imbalance, 1);
  ASSERT_EQ(p.sends.size(), 1u);
  EXPECT_EQ(p.sends[0].among, VectorExchange::Ranks::all);
  EXPECT_EQ(p.sends[0].elements, 4 * 64);
  EXPECT_EQ(p.bags.weights, Bytes(1e6 * 64 * 4));
  EXPECT_EQ(p.bags.optimizer_state, Bytes(4e6));
}

// Every parameter lies somewhere, once or on every rank.
TEST(TablePlacement, HoldsEveryParameter) {
  Recommender r = *recommender_of(catalog_model("dlrm-dcnv2-mlperf"));
  for (const std::int64_t ranks : {1, 2, 8, 64, 128, 1000}) {
    for (const TableSharding kind :
         {TableSharding::automatic, TableSharding::table, TableSharding::column, TableSharding::row,
          TableSharding::table_row}) {
      r.table_sharding = kind;
      const TablePlacement p = place_tables(r, on(ranks, 1024));
      EXPECT_NEAR(p.sharded_parameters + p.replicated_parameters, tables_parameters(r), 1);
    }
  }
}

TEST(TablePlacement, CutsWhatKeepsOneRankBusy) {
  const Recommender r = *recommender_of(catalog_model("dlrm-dcnv2-mlperf"));
  const Division d = on(8, 6912);
  Recommender whole = r;
  whole.table_sharding = TableSharding::table;
  const TablePlacement planned = place_tables(r, d);
  const TablePlacement uncut = place_tables(whole, d);
  EXPECT_TRUE(planned.fits);
  EXPECT_GT(uncut.imbalance, 1.5);  // one table has half of the look-ups
  EXPECT_LT(planned.imbalance, 1.2);
  EXPECT_EQ(planned.tables[20].reason, "whole it would keep one rank busier than the others");
  EXPECT_NE(planned.tables[20].sharding, TableSharding::table);
  // Three rows cost less to reduce than to exchange.
  EXPECT_EQ(planned.tables[5].sharding, TableSharding::data);
}

TEST(TablePlacement, CutsATableThatIsLargerThanARank) {
  const Recommender r = *recommender_of(catalog_model("dlrm-f"));
  const TablePlacement p = place_tables(r, on(1024, 64));
  EXPECT_TRUE(p.fits);
  for (const PlacedTable& t : p.tables) {
    EXPECT_EQ(t.reason, "it is larger than the memory of a rank");
  }
  EXPECT_FALSE(table_division_problems(r, on(64, 64)).empty());
}

}  // namespace
}  // namespace orrery
