// Measured throughput of recommendation models (validation/recommendation/README.md) beside what is
// predicted. Nothing was fitted to these rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "estimate/estimate.h"
#include "estimate/predicted_step.h"
#include "estimate/spec.h"
#include "lower/step_costs.h"
#include "model/recommendation/recommendation.h"

namespace orrery {
namespace {

// One step of a model on a cluster; precision of products and of gradients alike.
Result<PredictedStep> step_of(const Model& model, const std::string& cluster, std::int64_t batch,
                              const std::string& software, NumberFormat precision,
                              const Plan& plan = {}) {
  const Catalog& catalog = Catalog::built_in();
  Spec spec;
  spec.scenario.model = model;
  ORRERY_TRY(spec.scenario.cluster, parse_cluster(cluster, catalog));
  spec.scenario.training.global_batch = batch;
  spec.scenario.training.precision = precision;
  spec.scenario.training.gradients =
      precision == NumberFormat::tf32 ? NumberFormat::fp32 : precision;
  spec.scenario.plan = plan;
  ORRERY_TRY(SoftwareProfile profile, load_software(catalog, software));
  choose_software(spec, std::move(profile));
  return predict(spec.scenario, catalog);
}

struct MeasuredSamples {
  std::string source, model, cluster, precision, software;
  std::int64_t global_batch = 0;
  double measured = 0;
  double predicted = 0;
};

std::vector<MeasuredSamples> measured_samples() {
  std::ifstream file(std::string(ORRERY_SOURCE_DIR) + "/validation/recommendation/samples.csv");
  std::vector<MeasuredSamples> out;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream cells(line);
    MeasuredSamples row;
    std::string batch, measured, predicted;
    for (std::string* cell : {&row.source, &row.model, &row.cluster, &batch, &row.precision,
                              &row.software, &measured, &predicted}) {
      std::getline(cells, *cell, ',');
    }
    row.global_batch = std::stoll(batch);
    row.measured = std::stod(measured);
    row.predicted = std::stod(predicted);
    out.push_back(std::move(row));
  }
  return out;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

TEST(RecommendationSteps, ThePublishedTableIsWhatIsPredicted) {
  std::vector<double> errors;
  for (const MeasuredSamples& row : measured_samples()) {
    SCOPED_TRACE(row.cluster + " " + std::to_string(row.global_batch));
    const auto model = load_model(row.model, Catalog::built_in());
    ASSERT_TRUE(model) << model.error().text();
    const auto step = step_of(*model, row.cluster, row.global_batch, row.software,
                              *parse_enum<NumberFormat>(row.precision));
    ASSERT_TRUE(step) << step.error().text();
    const double predicted = estimate(*step).tokens_per_second;
    EXPECT_NEAR(predicted, row.predicted, 0.005 * row.predicted);
    if (row.source == "mlperf") errors.push_back(std::abs(predicted / row.measured - 1));
  }
  ASSERT_EQ(errors.size(), 14u);
  EXPECT_LT(median(errors), 0.15);
}

// What is looked up, exchanged and updated does not depend on how many samples one pass has.
TEST(RecommendationSteps, TheStepIsThatOfItsExpandedGraph) {
  const auto model = load_model("dlrm-dcnv2-mlperf", Catalog::built_in());
  for (const char* cluster : {"h100-sxm:8", "h100-sxm:16"}) {
    const auto step = step_of(*model, cluster, 65536, "torchrec", NumberFormat::bf16);
    ASSERT_TRUE(step) << step.error().text();
    const auto expanded = simulated(step->costs, Folding::expanded);
    ASSERT_TRUE(expanded);
    EXPECT_EQ(expanded->time, step->folded.time);
    EXPECT_LE(lower_bound(step->costs), step->folded.time);
    EXPECT_EQ(estimate(*step).breakdown[Category::bubble], Picoseconds(0));
  }
}

// DLRM-A on 128 A100: no division of one kind for all tables is faster than the planner's.
TEST(RecommendationSteps, NoSingleKindOfDivisionIsFaster) {
  const auto model = load_model("dlrm-a", Catalog::built_in());
  const auto time = [&](TableSharding sharding) {
    Recommender r = *recommender_of(*model);
    r.table_sharding = sharding;
    const auto step =
        step_of(*build_model(r), "a100-80gb-sxm:128", 65536, "torchrec", NumberFormat::bf16);
    return step ? step->folded.time.seconds().value() : 1e9;
  };
  const double planned = time(TableSharding::automatic);
  for (const TableSharding kind :
       {TableSharding::table, TableSharding::column, TableSharding::row, TableSharding::data}) {
    EXPECT_LE(planned, time(kind));
  }
}

// Tables are held by the rank, with their optimizer's state, whether or not gradients are.
TEST(RecommendationSteps, TheMemoryOfAStepHoldsTheTables) {
  const auto model = load_model("dlrm-a", Catalog::built_in());
  const auto step = step_of(*model, "a100-80gb-sxm:128", 65536, "torchrec", NumberFormat::bf16);
  ASSERT_TRUE(step) << step.error().text();
  const MemoryReport memory = estimate(*step).stages.front().memory;
  const double tables = 4096.0 / 128 * 2.08e6;  // rows of a rank
  const double dense = 319.1e6;
  EXPECT_NEAR(static_cast<double>(memory.parameters), tables * 94 * 2 + dense * 2, 0.01e9);
  EXPECT_NEAR(static_cast<double>(memory.optimizer_states), tables * 4 + dense * 12, 0.01e9);
}

// Groups of eight ranks with the same tables exchange less far, and average all of them.
TEST(RecommendationSteps, ReplicatedGroupsAverageTheirTables) {
  Recommender r = *recommender_of(*load_model("dlrm-a-small", Catalog::built_in()));
  const auto model = build_model(r);
  const auto exposed = [&](std::int64_t ep) {
    Plan plan;
    plan.ep = ep;
    const auto step = step_of(*model, "h100-sxm:16", 4096, "torchrec", NumberFormat::bf16, plan);
    EXPECT_TRUE(step) << step.error().text();
    return estimate(*step).breakdown[Category::exposed_ep].seconds().value();
  };
  const double tables = 50.05e9 * 2 / 8;  // bytes of a rank
  EXPECT_GT(exposed(8), tables / 100e9);
  EXPECT_LT(exposed(16), exposed(8));
}

TEST(RecommendationSteps, PlansThatCannotRunAreRefusedWithAllReasons) {
  const auto model = load_model("dlrm-f", Catalog::built_in());
  Plan plan;
  plan.cp = 2;
  plan.tp = 3;
  const auto step = step_of(*model, "h100-sxm:24", 65536, "torchrec", NumberFormat::bf16, plan);
  ASSERT_FALSE(step);
  EXPECT_EQ(
      step.error().message,
      "cp 2: samples of dlrm-f are no sequences; the tables and their optimizer's states take "
      "22.0 TiB; 12 GPUs have 960 GiB of memory; tp 3 does not divide the widths of the MLPs, "
      "whose greatest common divisor is 560");
}

}  // namespace
}  // namespace orrery
