// orrery.compare: every combination of the lists that are given.
#include <pybind11/stl.h>

#include <algorithm>

#include "cluster/accelerator_noun.h"
#include "estimate/estimate.h"
#include "failure.h"
#include "forecast/run_costs.h"
#include "long_call.h"
#include "parallel/parallel_for.h"
#include "record.h"
#include "report/plans/plan_comparison.h"
#include "search/default_step.h"
#include "session.h"

namespace py = pybind11;

namespace orrery::python {
namespace {

// The values of an argument that orrery.compare varies: those of a list, or the one given.
std::vector<py::object> values_of(const py::handle& argument) {
  std::vector<py::object> out;
  if (py::isinstance<py::list>(argument) || py::isinstance<py::tuple>(argument)) {
    for (const py::handle one : argument) out.push_back(py::reinterpret_borrow<py::object>(one));
  } else {
    out.push_back(py::reinterpret_borrow<py::object>(argument));
  }
  return out;
}

}  // namespace

py::object Session::compare(py::handle models, py::dict arguments) {
  if (arguments.contains("kernels")) {
    throw_error({ErrorCode::bad_input, "cannot be given to orrery.compare", "kernels",
                 "ask orrery.estimate of each"});
  }
  const std::optional<RunQuestion> run = taken_run(arguments);
  std::vector<ComparisonAxis> axes;
  std::vector<std::vector<py::object>> values;
  const auto add = [&](const std::string& name, const py::handle& argument) {
    values.push_back(values_of(argument));
    axes.push_back({name, values.back().size()});
    if (values.back().empty()) throw_error({ErrorCode::bad_input, "is an empty list", name, ""});
  };
  add("model", models);
  for (const auto& [name, argument] : arguments) {
    if (!argument.is_none()) add(py::str(name).cast<std::string>(), argument);
  }
  std::size_t cells = 1;
  for (const ComparisonAxis& axis : axes) cells = std::min(cells * axis.values, kMostCells + 1);
  // What Python says of each cell is read here, with the interpreter's lock.
  struct Stated {
    std::vector<std::string> values;
    Asked question;
  };
  std::vector<Stated> stated;
  for (std::size_t i = 0; i < cells && cells <= kMostCells; ++i) {
    Stated& cell = stated.emplace_back();
    cell.values.resize(axes.size());
    py::dict chosen;
    py::object model;
    for (std::size_t a = axes.size(), rest = i; a-- > 0; rest /= axes[a].values) {
      const py::object& value = values[a][rest % axes[a].values];
      cell.values[a] = py::str(value).cast<std::string>();
      if (a == 0) {
        model = value;
      } else {
        chosen[py::str(axes[a].name)] = value;
      }
    }
    cell.question = asked("orrery.compare", model, std::move(chosen));
  }
  const Uncertainty* uncertainty = value_or_throw(errors());
  const auto out =
      std::make_shared<const PlanComparison>(value_or_throw(long_call([&](LongCall& call) {
        return compare_plans(
            axes, threads_to_use(threads_), [&](std::size_t i, ComparedCell& cell) -> Result<void> {
              cell.values = stated[i].values;
              if (call.interrupted) return bad_input("interrupted");
              ORRERY_TRY(const Spec spec, specified(stated[i].question));
              ORRERY_TRY(const PredictedStep step, default_step(spec, catalog_, prices_, 1));
              Estimate figures = orrery::estimate(step, *uncertainty);
              cell.accelerator = accelerator_noun(step.cluster());
              figures.stages = {};  // of thousands of cells
              if (run) {
                ORRERY_TRY(cell.run, healthy_run(figures, spec.scenario.cluster, *run, catalog_));
              }
              cell.estimate = std::move(figures);
              return {};
            });
      })));
  Record answer = record(plan_comparison_json(*out), &plan_comparison_document(), "");
  answer.html = [out] { return plan_comparison_html(*out); };
  return to_python(std::move(answer));
}

}  // namespace orrery::python
