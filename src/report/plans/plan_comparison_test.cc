#include "report/plans/plan_comparison.h"

#include <gmock/gmock.h>

#include "document/comma_separated.h"
#include "report/plans/sample_estimate.h"

namespace orrery {
namespace {

using testing::HasSubstr;
using testing::Not;

ComparedCell cell_of(const std::string& plan, double seconds, Verdict verdict = Verdict::fits) {
  ComparedCell out;
  out.values = {"a model", plan};
  out.estimate = sample_estimate();
  out.estimate->step_time = Seconds(seconds);
  out.estimate->verdict = verdict;
  out.accelerator = "GPU";
  return out;
}

ComparedCell refused(const std::string& plan, const std::string& why) {
  return {
      .values = {"a model", plan}, .estimate = {}, .run = {}, .refused = why, .accelerator = {}};
}

PlanComparison three_and_two() {
  return {
      .axes = {{"model", 1}, {"plan", 5}},
      .cells = {cell_of("tp=1", 1, Verdict::does_not_fit), cell_of("tp=2", 3), cell_of("tp=4", 2),
                refused("tp=3", "tp 3, \"no\""), refused("tp=5", "tp 3, \"no\"")}};
}

TEST(PlanComparison, MarksTheBestOfThoseThatFit) {
  const std::string text = plan_comparison_text(three_and_two(), {.width = 100});
  EXPECT_THAT(text, HasSubstr("5 predictions: 5 plans · a model"));
  EXPECT_THAT(text, HasSubstr("* 2.00 s"));
  EXPECT_THAT(text, Not(HasSubstr("* 1.00 s")));
  const Value document = plan_comparison_json(three_and_two());
  EXPECT_EQ(document.find("best")->find("step_time_s")->scalar_text(), "3");
  // There is no run, and so no best one.
  EXPECT_EQ(document.find("best")->find("cost_dollars"), nullptr);
}

TEST(PlanComparison, CallsAcceleratorsWhatTheyAre) {
  PlanComparison c = three_and_two();
  EXPECT_THAT(plan_comparison_text(c, {.width = 100}), HasSubstr("per GPU"));
  c.cells[1].accelerator = "chip";
  EXPECT_THAT(plan_comparison_text(c, {.width = 100}), HasSubstr("per chip"));
  EXPECT_THAT(plan_comparison_html(c), HasSubstr("tokens/s per chip"));
  EXPECT_THAT(plan_comparison_html(c), Not(HasSubstr("GPU")));
}

TEST(PlanComparison, BarsOfThePageHaveAColour) {
  EXPECT_THAT(plan_comparison_html(three_and_two()), HasSubstr("var(--accent);width:100.0%"));
}

TEST(PlanComparison, GathersTheRowsOfAReason) {
  const std::string text = plan_comparison_text(three_and_two(), {.width = 100});
  EXPECT_THAT(text, HasSubstr("4-5   tp 3, \"no\""));
  EXPECT_THAT(text, HasSubstr("does not fit: it needs"));
  EXPECT_THAT(plan_comparison_html(three_and_two()), HasSubstr("tp 3, &quot;no&quot;"));
}

// What CSV says is what the document says.
TEST(PlanComparison, WritesTheDocumentAsCsv) {
  const PlanComparison comparison = three_and_two();
  const auto read = parse_comma_separated(plan_comparison_csv(comparison), "cells");
  ASSERT_TRUE(read) << read.error().text();
  ASSERT_TRUE(read->complete());
  const Value document = plan_comparison_json(comparison);
  const auto& cells = document.find("cells")->items();
  ASSERT_EQ(read->records.size(), cells.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    for (std::size_t k = 0; k < read->columns.size(); ++k) {
      const Value* value = cells[i].find(read->columns[k]);
      EXPECT_EQ(read->records[i].fields[k], value != nullptr ? value->scalar_text() : "")
          << read->columns[k];
    }
  }
}

TEST(PlanComparison, HasNoBestWhereNothingFits) {
  PlanComparison comparison = three_and_two();
  comparison.cells.erase(comparison.cells.begin() + 1, comparison.cells.begin() + 3);
  EXPECT_TRUE(plan_comparison_json(comparison).find("best")->members().empty());
  EXPECT_THAT(plan_comparison_text(comparison, {.width = 100}), Not(HasSubstr("* ")));
}

}  // namespace
}  // namespace orrery
