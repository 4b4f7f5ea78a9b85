#include "whatif/whatif.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <variant>

#include "whatif/duration_edits.h"
#include "whatif/edit_language.h"
#include "whatif/edited_run.h"
#include "whatif/even_edit.h"
#include "whatif/gradient_edit.h"
#include "whatif/kernel_edits.h"
#include "whatif/microbatch_edit.h"
#include "whatif/network_edits.h"
#include "whatif/pipeline_edit.h"
#include "whatif/repeat_edit.h"
#include "whatif/step_outcomes.h"

namespace orrery {
namespace {

// `alike`: what evens that follow each other compare; any other edit changes what there is to
// compare.
Result<std::monostate> apply(EditedRun& run, AppliedEdit& edit, const Catalog& catalog,
                             const KnownDivision& known, std::optional<AlignedStretches>& alike) {
  if (edit.edit.kind != EditKind::even) alike.reset();
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
      return apply_capture(run, edit);
    case EditKind::even:
      if (!alike) alike = aligned_stretches(run);
      apply_even(run, edit, *alike);
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
      if (edit.edit.where.everything() && lacks_data_parallel_groups(run, edit.edit, known)) {
        return apply_gradient_reductions(run, edit, catalog);
      }
      if (edit.edit.size || edit.edit.rate) {
        return fail(ErrorCode::bad_input, "the run reduces gradients already", edit.text,
                    "leave out 'gradients' and 'link'; bandwidth by FACTOR scales its network");
      }
      return apply_ranks(run, edit, known);
    case EditKind::tensor_ranks:
      return apply_ranks(run, edit, known);
    case EditKind::resize:
      return apply_resize(run, edit, catalog, known);
    case EditKind::pipeline:
      return apply_pipeline(run, edit, catalog);
    case EditKind::microbatches:
      return apply_microbatches(run, edit, catalog);
    case EditKind::repeat:
      return apply_repeat(run, edit);
    case EditKind::accelerator:
      return apply_accelerator(run, edit, catalog);
    case EditKind::price:
      return apply_price(run, edit, catalog);
  }
  // Edits of durations that select nothing are a mistake of the asker.
  if (edit.changed == 0 && edit.assumed.empty()) {
    return fail(ErrorCode::bad_input, "nothing is selected", edit.text,
                "orrery trace analyze lists kernels, operators and communications");
  }
  return std::monostate();
}

// Edits that scale with what was recorded mean the same twice, not one on top of the other.
Result<std::monostate> check_said_once(const std::vector<Edit>& edits) {
  for (std::size_t i = 0; i < edits.size(); ++i) {
    const Edit& edit = edits[i];
    const bool counts = edit.kind == EditKind::data_ranks || edit.kind == EditKind::tensor_ranks ||
                        edit.kind == EditKind::accelerator;
    for (std::size_t k = 0; k < i; ++k) {
      const Edit& before = edits[k];
      const bool same = counts && before.kind == edit.kind && before.where == edit.where;
      const bool again = edit.kind == EditKind::resize && before.kind == EditKind::resize &&
                         (before.from == edit.from || before.count == edit.from);
      if (same || again) {
        return fail(
            ErrorCode::bad_input,
            fmt::format("stands behind '{}': both count from what is recorded", to_text(before)),
            to_text(edit), "write one of them");
      }
      const bool priced_after =
          edit.kind == EditKind::price &&
          (before.kind == EditKind::accelerator || before.kind == EditKind::resize ||
           before.kind == EditKind::tensor_ranks);
      if (priced_after) {
        return fail(
            ErrorCode::bad_input,
            fmt::format("stands behind '{}', which it would undo: recorded shapes are priced "
                        "on the recorded accelerator",
                        to_text(before)),
            to_text(edit), "write price first");
      }
      const bool rebuilt =
          before.kind == EditKind::microbatches || before.kind == EditKind::pipeline;
      if (edit.kind == EditKind::repeat && rebuilt) {
        // What repeats would be their microbatches.
        return fail(ErrorCode::bad_input, fmt::format("stands behind '{}'", to_text(before)),
                    to_text(edit), "write layers before microbatches and pp");
      }
    }
  }
  return std::monostate();
}

}  // namespace

Result<WhatIf> what_if(std::span<const RecordedTrace> traces, const RunGraph& graph,
                       const std::vector<Edit>& edits, const Catalog& catalog,
                       const KnownDivision& known) {
  if (auto once = check_said_once(edits); !once) return fail(once.error());
  WhatIf out;
  const ReplayedRun recorded = replayed_run(graph);
  EditedRun run(traces, graph);
  std::optional<AlignedStretches> alike;
  for (const Edit& edit : edits) {
    AppliedEdit applied{edit, to_text(edit), 0, {}};
    if (auto done = apply(run, applied, catalog, known, alike); !done) return fail(done.error());
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
