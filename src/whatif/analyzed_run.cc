#include "whatif/analyzed_run.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <variant>

#include "analyze/findings.h"
#include "parallel/parallel_for.h"
#include "replay/graph_from_run.h"
#include "replay/graph_path.h"
#include "replay/step_path.h"
#include "replay/time_slices.h"
#include "whatif/edit_language.h"
#include "whatif/whatif.h"

namespace orrery {
namespace {

// `graph` is that of a recording, which is made if it is not given.
Result<std::vector<StepPath>> paths_of(const SeenRun& seen, const RunGraph* graph,
                                       const AnalysisOptions& options, Incomplete incomplete) {
  if (options.preset == BreakdownPreset::hta) return std::vector<StepPath>();
  const RecordedRun& run = seen.run;
  if (const auto* file = std::get_if<GraphFile>(&seen.made_of)) return step_paths(*file, run);
  if (const auto* traces = std::get_if<ChakraRun>(&seen.made_of)) {
    const auto made = chakra_graph(*traces, chakra_options(incomplete));
    // Start times alone make a recording, but no graph where a communication has no duration.
    return made ? step_paths(*traces, *made, run) : std::vector<StepPath>();
  }
  if (options.critical_annotation.empty()) {
    // Nothing that could be replayed is no reason to withhold the rest.
    return graph != nullptr ? step_paths(run.ranks, *graph) : std::vector<StepPath>();
  }
  std::vector<std::uint32_t> events;
  for (const RecordedTrace& trace : run.ranks) {
    ORRERY_TRY(const std::uint32_t event,
               annotated_event(trace, options.critical_annotation, options.critical_instance));
    events.push_back(event);
  }
  return step_paths(run.ranks, events);
}

// Of every rank, when another process had its device; what is simulated has none beside it.
std::vector<Intervals> other_process_of(const RecordedRun& run, int threads) {
  std::vector<Intervals> turns(run.ranks.size());
  if (!has_calls(run.source)) return turns;
  parallel_for(run.ranks.size(), threads,
               [&](std::size_t i) { turns[i] = other_process_turns(run.ranks[i]); });
  return turns;
}

// What the remedy of exposed communication gains, by the what-if that its finding names; not known
// of what cannot be replayed.
std::optional<FasterNetwork> faster_network(const RecordedRun& run, const RunGraph& graph,
                                            const Catalog& catalog) {
  const auto edits = parse_edits("bandwidth by 2", "--bandwidth");
  if (!edits) return std::nullopt;
  const auto answer = what_if(run.ranks, graph, *edits, catalog);
  if (!answer || answer->before <= Seconds(0)) return std::nullopt;
  return FasterNetwork{answer->before, answer->after};
}

}  // namespace

Result<AnalyzedRun> analyzed_run(const SeenRun& seen, AnalysisOptions options,
                                 Incomplete incomplete, const Catalog& catalog) {
  const RecordedRun& run = seen.run;
  const bool hta = options.preset == BreakdownPreset::hta;
  if (!options.critical_annotation.empty() && !has_calls(run.source) && !hta) {
    return unsupported("only traces of a profiler have the path of one annotation",
                       "--critical-path", "without it the path of the whole step is shown");
  }
  options.other_process = other_process_of(run, options.threads);
  AnalyzedRun out;
  ORRERY_TRY(out.analysis, analyze(run, catalog, options));
  const bool exposed = std::ranges::any_of(findings(out.analysis), [](const Finding& f) {
    return f.kind == FindingKind::communication;
  });
  Result<GraphFromRun> made = unsupported("");
  if (has_calls(run.source) && (exposed || !hta)) made = graph_from_run(run.ranks);
  ORRERY_TRY(out.paths, paths_of(seen, made ? &made->graph : nullptr, options, incomplete));
  if (exposed && made) out.analysis.faster_network = faster_network(run, made->graph, catalog);
  return out;
}

}  // namespace orrery
