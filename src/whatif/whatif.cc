#include "whatif/whatif.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "whatif/edit_language.h"
#include "whatif/edit_verb.h"
#include "whatif/edited_run.h"
#include "whatif/step_outcomes.h"

namespace orrery {
namespace {

// Every edit against those before it, for edits that count from what was recorded.
Result<void> check_conflicts(const std::vector<Edit>& edits) {
  for (std::size_t i = 0; i < edits.size(); ++i) {
    const Edit& edit = edits[i];
    for (std::size_t k = 0; k < i && edit.verb->conflict != nullptr; ++k) {
      const auto conflict = edit.verb->conflict(edits[k], edit);
      if (!conflict) continue;
      return bad_input(fmt::format("stands behind '{}'{}", to_text(edits[k]), conflict->why),
                       to_text(edit), conflict->hint);
    }
  }
  return {};
}

}  // namespace

Result<void> check_graph_edits(const std::vector<Edit>& edits) {
  for (const Edit& edit : edits) {
    if (edit.verb->reach == EditReach::durations) continue;
    return unsupported(
        "needs the launches, shapes and passes of a recording", to_text(edit),
        "change the plan or the cluster and estimate again; the durations of a graph's "
        "operations can be edited with scale, set, remove, bandwidth, latency, accelerator "
        "and price");
  }
  return {};
}

Result<WhatIf> what_if(std::span<const RecordedTrace> traces, const RunGraph& graph,
                       const std::vector<Edit>& edits, const Catalog& catalog,
                       const KnownDivision& known, const PredictedOperations* operations) {
  ORRERY_RETURN_IF_ERROR(check_conflicts(edits));
  WhatIf out;
  const ReplayedRun recorded = replayed_run(graph);
  EditedRun run(traces, graph);
  EditContext context{catalog, known, nullptr, operations};
  out.predicted = operations != nullptr;
  for (const Edit& edit : edits) {
    AppliedEdit applied{edit, to_text(edit), 0, {}};
    if (!out.edits.empty() && out.edits.back().edit.verb != edit.verb) context.alike.reset();
    ORRERY_RETURN_IF_ERROR(edit.verb->apply(run, applied, context));
    out.edits.push_back(std::move(applied));
  }
  out.graph = std::move(run.graph());
  out.timeline = replayed_run(out.graph);
  const std::vector<StepOutcome> outcomes_before = step_outcomes(traces, graph, recorded);
  out.replay_error = mean_error(
      step_outcomes(traces, graph, recorded_times(traces, graph), recorded), outcomes_before);
  for (const StepOutcome& step : outcomes_before) out.earlier = std::max(out.earlier, step.earlier);
  const std::vector<StepOutcome> outcomes_after = step_outcomes(traces, out.graph, out.timeline);
  out.before = mean_time(graph.steps, outcomes_before);
  out.after = mean_time(out.graph.steps, outcomes_after);
  out.waiting_before = mean_waiting(outcomes_before);
  out.waiting_after = mean_waiting(outcomes_after);
  // A step of an edited run is one of the recorded rank it was made of.
  std::map<std::pair<std::uint32_t, std::int64_t>, std::size_t> recorded_step;
  for (std::size_t s = 0; s < graph.steps.size(); ++s) {
    recorded_step[{graph.steps[s].trace, graph.steps[s].start_ns}] = s;
  }
  for (std::size_t s = 0; s < out.graph.steps.size(); ++s) {
    const RunStep& step = out.graph.steps[s];
    const StepOutcome& before = outcomes_before[recorded_step.at({step.trace, step.start_ns})];
    out.steps.push_back({step.trace, traces[step.trace].rank, step.stage, step.name, before.time,
                         outcomes_after[s].time, before.parts, outcomes_after[s].parts,
                         before.waiting, outcomes_after[s].waiting});
    out.staged = out.staged || step.stage > 0;
  }
  return out;
}

}  // namespace orrery
