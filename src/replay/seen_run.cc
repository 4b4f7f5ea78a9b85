#include "replay/seen_run.h"

#include <algorithm>
#include <utility>

#include "replay/simulated_recording.h"

namespace orrery {

ChakraGraphOptions chakra_options(Incomplete incomplete) {
  ChakraGraphOptions options;
  // What a cut file lost cannot be waited for.
  if (incomplete == Incomplete::use_what_is_whole) {
    options.absent = AbsentDependencies::count_as_done;
  }
  return options;
}

Result<RecordedRun> with_events(RecordedRun run) {
  const bool empty =
      std::ranges::all_of(run.ranks, [](const RecordedTrace& trace) { return trace.size() == 0; });
  if (empty) {
    return bad_input("holds no events with a start and a duration", run.ranks[0].file,
                     "orrery trace info says what else it holds");
  }
  return run;
}

Result<SeenRun> seen_as_recorded(const TraceSources& sources, const RunOptions& how) {
  if (sources.format->chakra != nullptr) {
    ORRERY_TRY(ChakraRun run, sources.format->chakra(sources.files, how.kineto.incomplete));
    ORRERY_TRY(RecordedRun seen,
               simulated_recording(run, chakra_options(how.kineto.incomplete), how.clocks));
    return SeenRun{std::move(seen), std::move(run)};
  }
  ORRERY_TRY(GraphFile graph, sources.format->graph(sources.files[0]));
  ORRERY_TRY(RecordedRun seen, simulated_recording(graph, sources.files[0]));
  return SeenRun{std::move(seen), std::move(graph)};
}

Result<SeenRun> read_seen_run(const std::vector<std::string>& files, const RunOptions& how) {
  ORRERY_TRY(const TraceSources sources, trace_sources(files));
  if (sources.format->chakra != nullptr || sources.format->graph != nullptr) {
    return seen_as_recorded(sources, how);
  }
  ORRERY_TRY(RecordedRun run, read_run(files, how));
  ORRERY_TRY(run, with_events(std::move(run)));
  return SeenRun{std::move(run), {}};
}

}  // namespace orrery
