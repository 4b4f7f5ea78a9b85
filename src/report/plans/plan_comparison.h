// Several predicted steps side by side: a cell for each combination of models, clusters, plans and
// batches, as a table for a terminal, as a page, as JSON and as CSV.
//
// A cell that is refused or does not fit says why and has no part in the choice of the best. The
// best of a column is the best figure of all cells that fit, whatever the cells differ in: the
// shortest step of two batches is that of the smaller one.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "document/description.h"
#include "estimate/estimate.h"
#include "forecast/run_costs.h"
#include "outcome/result.h"
#include "parallel/parallel_for.h"
#include "report/drawing/text_style.h"

namespace orrery {

struct ComparedCell {
  std::vector<std::string> values;  // one for each axis, as asked
  // Both empty: refused.
  std::optional<Estimate> estimate;
  std::optional<HealthyRun> run;  // if its length is given
  std::string refused;            // why
  std::string_view accelerator;   // of an estimate: "GPU" or "chip" (cluster/accelerator_noun.h)
};

struct ComparisonAxis {
  std::string name;  // "plan"
  std::size_t values = 0;
};

struct PlanComparison {
  std::vector<ComparisonAxis> axes;  // what is stated, the last one varying fastest
  std::vector<ComparedCell> cells;
};

// All combinations of the axes. `predict` fills the cell of that index, on any of the threads; what it
// refuses is said in the cell. Errors: more than kMostCells; every cell is refused, with the reason
// of the first.
inline constexpr std::size_t kMostCells = 20'000;
using PredictCell = std::function<Result<void>(std::size_t index, ComparedCell& cell)>;
Result<PlanComparison> compare_plans(std::vector<ComparisonAxis> axes, int threads,
                                     const PredictCell& predict, const Progressed& progressed = {});

// Whether a cell fits, and with it whether there is a best one.
bool fits(const ComparedCell& cell);

std::string plan_comparison_text(const PlanComparison& comparison, const TextStyle& style);
std::string plan_comparison_html(const PlanComparison& comparison);
Value plan_comparison_json(const PlanComparison& comparison);
// A line of column names, which are the keys of the JSON document, and one line for each cell.
std::string plan_comparison_csv(const PlanComparison& comparison);
const Description& plan_comparison_document();

}  // namespace orrery
