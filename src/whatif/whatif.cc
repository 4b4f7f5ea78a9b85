#include "whatif/whatif.h"

#include <variant>

#include "whatif/duration_edits.h"
#include "whatif/edit_language.h"
#include "whatif/edited_run.h"
#include "whatif/kernel_edits.h"
#include "whatif/network_edits.h"
#include "whatif/repeat_edit.h"
#include "whatif/step_outcomes.h"

namespace orrery {
namespace {

Result<std::monostate> apply(EditedRun& run, AppliedEdit& edit, const Catalog& catalog) {
  switch (edit.edit.kind) {
    case EditKind::scale:
      apply_scale(run, edit);
      break;
    case EditKind::set:
      apply_set(run, edit);
      break;
    case EditKind::remove:
      apply_remove(run, edit);
      break;
    case EditKind::fuse:
      apply_fuse(run, edit);
      break;
    case EditKind::capture:
      apply_capture(run, edit);
      break;
    case EditKind::even:
      apply_even(run, edit);
      break;
    case EditKind::bandwidth:
      return apply_bandwidth(run, edit);
    case EditKind::latency:
      return apply_latency(run, edit);
    case EditKind::bucket:
      return apply_bucket(run, edit);
    case EditKind::overlap:
      return apply_overlap(run, edit);
    case EditKind::data_ranks:
    case EditKind::tensor_ranks:
      return apply_ranks(run, edit);
    case EditKind::resize:
      return apply_resize(run, edit, catalog);
    case EditKind::repeat:
      return apply_repeat(run, edit);
    case EditKind::accelerator:
      return apply_accelerator(run, edit, catalog);
  }
  // Edits of durations that select nothing are a mistake of the asker.
  if (edit.changed == 0 && edit.assumed.empty()) {
    return fail(ErrorCode::bad_input, "nothing is selected", edit.text,
                "orrery trace analyze lists kernels, operators and communications");
  }
  return std::monostate();
}

Seconds mean_time(const std::vector<StepOutcome>& steps) {
  Seconds sum;
  for (const StepOutcome& step : steps) sum += step.time;
  return steps.empty() ? sum : sum / static_cast<double>(steps.size());
}

}  // namespace

Result<WhatIf> what_if(std::span<const RecordedTrace> traces, const RunGraph& graph,
                       const std::vector<Edit>& edits, const Catalog& catalog) {
  WhatIf out;
  const ReplayedRun recorded = replayed_run(graph);
  out.replay_error = replay(traces, graph, recorded).mean_error;
  EditedRun run(traces, graph);
  for (const Edit& edit : edits) {
    AppliedEdit applied{edit, to_text(edit), 0, {}};
    if (auto done = apply(run, applied, catalog); !done) return fail(done.error());
    out.edits.push_back(std::move(applied));
  }
  out.graph = std::move(run.graph());
  out.timeline = replayed_run(out.graph);
  const std::vector<StepOutcome> outcomes_before = step_outcomes(traces, graph, recorded);
  const std::vector<StepOutcome> outcomes_after = step_outcomes(traces, out.graph, out.timeline);
  out.before = mean_time(outcomes_before);
  out.after = mean_time(outcomes_after);
  for (std::size_t s = 0; s < graph.steps.size(); ++s) {
    const RunStep& step = graph.steps[s];
    out.steps.push_back({step.trace, traces[step.trace].rank, step.name, outcomes_before[s].time,
                         outcomes_after[s].time, outcomes_before[s].parts,
                         outcomes_after[s].parts});
  }
  return out;
}

}  // namespace orrery
