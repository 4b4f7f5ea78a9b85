#include "whatif/stragglers.h"

#include <fmt/format.h>

#include <set>

#include "trace/kernel_class.h"
#include "whatif/edit_language.h"
#include "whatif/edited_run.h"
#include "whatif/even_edit.h"
#include "whatif/known_edits.h"
#include "whatif/step_outcomes.h"

namespace orrery {
namespace {

// One run asked many times.
class EvenRuns {
 public:
  EvenRuns(std::span<const RecordedTrace> traces, const RunGraph& graph)
      : recorded_(traces, graph), stretches_(aligned_stretches(recorded_)) {}

  [[nodiscard]] const EditedRun& recorded() const { return recorded_; }

  // Steps with those selections even.
  [[nodiscard]] std::vector<StepOutcome> with(const std::vector<Selection>& even) const {
    EditedRun run = recorded_;
    for (const Selection& where : even) {
      AppliedEdit applied;
      applied.edit.verb = &kEvenEdit;
      applied.edit.where = where;
      apply_even(run, applied, stretches_);
    }
    const ReplayedRun replayed = replayed_run(run.graph());
    return step_outcomes(run.traces(), run.graph(), replayed);
  }
  [[nodiscard]] Seconds time(const std::vector<Selection>& even) const {
    return mean_time(recorded_.graph().steps, with(even));
  }

 private:
  EditedRun recorded_;
  AlignedStretches stretches_;
};

struct Suspect {
  std::string what;
  Selection where;
};

std::vector<StragglerGain> gains_of(const EvenRuns& runs, const std::vector<Suspect>& suspects,
                                    Seconds before, Seconds even) {
  std::vector<StragglerGain> out;
  for (const Suspect& suspect : suspects) {
    std::vector<Selection> others;
    for (const Suspect& other : suspects) {
      if (other.what != suspect.what) others.push_back(other.where);
    }
    Edit edit;
    edit.verb = &kEvenEdit;
    edit.where = suspect.where;
    out.push_back({to_text(edit), suspect.what, before - runs.time({suspect.where}),
                   runs.time(others) - even});
  }
  return out;
}

}  // namespace

Result<Stragglers> stragglers(std::span<const RecordedTrace> traces, const RunGraph& graph) {
  if (traces.size() < 2) {
    return bad_input("a single rank cannot be slower than others",
                     traces.empty() ? "" : traces[0].file, "give the recordings of all ranks");
  }
  std::vector<Suspect> ranks;
  for (const RecordedTrace& trace : traces) {
    if (trace.rank == kNotRecorded) {
      return bad_input("the recording does not state its rank", trace.file);
    }
    Selection where;
    where.rank = trace.rank;
    ranks.push_back({fmt::format("rank {}", trace.rank), where});
  }
  const EvenRuns runs(traces, graph);
  std::set<KernelClass> classes;
  for (const RunWork& work : graph.works) {
    if (!runs.recorded().communicates(work)) {
      classes.insert(runs.recorded().subject(work).kernel_class);
    }
  }
  Selection host;
  host.host = true;
  std::vector<Suspect> kinds = {{"host", host}};
  for (const KernelClass c : classes) {
    if (c == KernelClass::communication) continue;
    Selection where;
    where.kernel_class = to_text(c);
    kinds.push_back({std::string(to_text(c)), where});
  }
  const std::vector<StepOutcome> recorded = runs.with({});
  const std::vector<StepOutcome> even = runs.with({Selection{}});
  Stragglers out;
  out.before = mean_time(graph.steps, recorded);
  out.even = mean_time(graph.steps, even);
  out.waiting_before = mean_waiting(recorded);
  out.waiting_even = mean_waiting(even);
  out.waiting = waiting_causes(graph, replayed_run(graph), traces.size());
  out.ranks = gains_of(runs, ranks, out.before, out.even);
  out.kinds = gains_of(runs, kinds, out.before, out.even);
  return out;
}

}  // namespace orrery
