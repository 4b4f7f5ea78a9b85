#include "validate/step_fit.h"

#include <gmock/gmock.h>

#include <cmath>
#include <map>
#include <numeric>

#include "estimate/predicted_step.h"
#include "measured/scenario_of_row.h"

namespace orrery {
namespace {

using testing::Contains;
using testing::IsSubsetOf;
using testing::Not;

std::vector<MeasuredStep> steps_of(const std::string& source) {
  std::vector<MeasuredStep> out;
  const auto rows = read_measured_rows(std::string(ORRERY_SOURCE_DIR) + "/validation/measured/" +
                                       source + ".csv");
  for (const MeasuredRow& row : rows->rows) {
    auto scenario = scenario_of_row(row, Catalog::built_in());
    if (!scenario || !row.step_time || !predict(scenario->scenario, Catalog::built_in())) continue;
    out.push_back(
        {row.row_id, row.source_id, row.row_id, std::move(scenario->scenario), *row.step_time, 1});
  }
  return out;
}

TEST(StepProblem, ARowDependsOnItsOwnHardwareOnly) {
  const std::vector<Cluster> clusters = {
      *parse_cluster_name("a100-80gb-sxm:16", Catalog::built_in()),
      *parse_cluster_name("h100-sxm:8", Catalog::built_in())};
  const std::vector<AttentionKernel> attention(2, AttentionKernel::flash_2);
  const StepProblem problem(clusters, attention);
  const auto names = [&](const Cluster& cluster) {
    std::vector<std::string> out;
    for (const auto& concerned : problem.concerned(cluster, AttentionKernel::flash_2)) {
      out.push_back(problem.coordinates()[concerned.coordinate].name);
    }
    return out;
  };
  EXPECT_THAT(names(clusters[1]), Contains("matrix share, h100-sxm"));
  EXPECT_THAT(names(clusters[1]), Not(Contains("matrix share, a100-80gb-sxm")));
  EXPECT_THAT(names(clusters[1]), Not(Contains("network share, carried by adapters")));  // one node
  EXPECT_THAT(names(clusters[0]), Contains("network share, carried by adapters"));
}

// What is known of an architecture holds for those of its accelerators that were not measured.
TEST(StepProblem, AnArchitectureMovesAllOfItsAccelerators) {
  const std::vector<Cluster> clusters = {
      *parse_cluster_name("a100-80gb-sxm:8", Catalog::built_in()),
      *parse_cluster_name("a100-40gb-sxm:8", Catalog::built_in()),
      *parse_cluster_name("h100-sxm:8", Catalog::built_in())};
  const std::vector<AttentionKernel> attention(3, AttentionKernel::flash_2);
  const StepProblem problem(clusters, attention);
  std::vector<double> x;
  for (const StepCoordinate& c : problem.coordinates()) x.push_back(c.expected);
  std::vector<double> moved = x;
  for (std::size_t j = 0; j < x.size(); ++j) {
    if (problem.coordinates()[j].name == "memory share, all of ampere") moved[j] -= 0.1;
  }
  const auto shares = [&](const std::vector<double>& at, const char* name) {
    const TrainingConditions conditions = problem.conditions(at);
    for (const AcceleratorConditions& a : conditions.accelerators) {
      if (a.accelerator == name) return a;
    }
    ADD_FAILURE() << name;
    return AcceleratorConditions{};
  };
  for (const char* name : {"a100-80gb-sxm", "a100-40gb-sxm", "h100-sxm"}) {
    const AcceleratorConditions before = shares(x, name);
    const AcceleratorConditions after = shares(moved, name);
    const bool ampere = before.architecture == "ampere";
    EXPECT_NEAR(after.memory_share / before.memory_share, ampere ? std::exp(-0.1) : 1, 1e-12)
        << name;
    EXPECT_DOUBLE_EQ(after.matrix_share, before.matrix_share) << name;
  }
}

TEST(StepFit, AStepChangesWithTheSumsOfItsCoordinatesAndWithNothingElse) {
  const StepFit fit(steps_of("megatron-2020"), Catalog::built_in(), 2);
  std::vector<double> x;
  for (const StepCoordinate& c : fit.problem().coordinates()) x.push_back(c.expected);
  std::vector<std::size_t> all(fit.steps().size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const auto before = fit.predict(x, all);
  ASSERT_TRUE(before) << before.error().text();
  std::size_t alike = 0;
  std::vector<std::map<std::size_t, double>> of_sum(all.size());
  for (std::size_t j = 0; j < x.size(); ++j) {
    std::vector<double> moved = x;
    moved[j] += fit.problem().coordinates()[j].step;
    const auto after = fit.predict(moved, all);
    for (const std::size_t i : all) {
      const auto concerned = fit.problem().concerned(fit.steps()[i].scenario.cluster,
                                                     fit.steps()[i].scenario.plan.attention);
      const auto its = std::ranges::find(concerned, j, &ConcernedCoordinate::coordinate);
      const std::string& name = fit.problem().coordinates()[j].name;
      if (its == concerned.end()) {
        EXPECT_EQ((*after)[i], (*before)[i]) << name;
        continue;
      }
      const auto [found, first] = of_sum[i].try_emplace(its->sum, (*after)[i]);
      EXPECT_NEAR((*after)[i], found->second, 1e-9) << name;
      alike += first ? 0 : 1;
    }
  }
  EXPECT_GT(alike, 5 * all.size());
}

// Steps that the model itself made under known conditions are explained to within a percent, and
// the kernels' share is found.
TEST(StepFit, FindsTheConditionsThatMadeTheSteps) {
  std::vector<MeasuredStep> steps = steps_of("simumax-b200");
  const StepFit before(steps, Catalog::built_in(), 2);
  std::vector<double> truth;
  for (const StepCoordinate& c : before.problem().coordinates()) truth.push_back(c.expected);
  truth[0] -= 0.12;
  std::vector<std::size_t> all(steps.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const auto made = before.predict(truth, all);
  ASSERT_TRUE(made);
  for (const std::size_t i : all) steps[i].measured = Seconds(std::exp((*made)[i]));

  const StepFit fit(std::move(steps), Catalog::built_in(), 2);
  const auto solution = fit.fit_all(3);
  ASSERT_TRUE(solution) << solution.error().text();
  const std::vector<double> x = solution->fit.values();
  for (const std::size_t i : all) {
    EXPECT_NEAR(solution->expansion.log_predicted[i], (*made)[i], 0.01);
  }
  const double share = fit.problem().conditions(x).accelerators.front().matrix_share;
  EXPECT_NEAR(share / before.problem().conditions(truth).accelerators.front().matrix_share, 1,
              0.03);
}

}  // namespace
}  // namespace orrery
