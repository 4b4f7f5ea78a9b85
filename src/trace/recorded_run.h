// A run as several ranks recorded it: one trace a rank, on one clock.
//
// Ranks come from the files' headers; a file that does not say its rank takes it from its name
// ("kineto_rank3.json.gz", "rank-3.pt.trace.json", "worker3.json"), and a single file without any
// is rank 0. Refused: two files of one rank, and files of different jobs (another number of ranks,
// recordings more than 10 s apart).
//
// Kineto writes the moment from which times count behind the events, so a cut file has lost it. All
// ranks of a job count from the same one (a multiple of three months): it takes the others'.
//
// Host execution traces beside them are linked to their ranks (host_pairs.h) and give what the
// profiler did not record (host_details.h).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "outcome/result.h"
#include "trace/clock_alignment.h"
#include "trace/kineto/kineto.h"
#include "trace/pytorch_et/host_details.h"
#include "trace/pytorch_et/host_trace.h"
#include "trace/recorded_trace.h"

namespace orrery {

enum class Clocks {
  align,  // where they contradict each other (clock_alignment.h)
  as_recorded,
};

struct RunOptions {
  KinetoOptions kineto;
  Clocks clocks = Clocks::align;
  int threads = 1;  // files read at a time, 0: one a core; the result does not depend on it
  // Called now and then, by one thread at a time: the share that is read, and a file being read.
  std::function<void(double, const std::string&)> progress;
};

// Whose times a run's are.
enum class RunSource : std::uint8_t {
  profiler,      // that recorded it
  replayed_run,  // a recording that was simulated again, edited or not (whatif/edited_recording.h)
  execution_trace,  // the start times of Chakra traces
  predicted_trace,  // the start times of Chakra traces which say that these are simulated
  simulated_trace,  // Chakra traces without start times: nobody recorded any
  simulated_graph,
};
constexpr bool is_simulated(RunSource source) {
  return source != RunSource::profiler && source != RunSource::execution_trace;
}
// Whether the calls of hosts are there, with what they launched, as a profiler records them.
constexpr bool has_calls(RunSource source) {
  return source == RunSource::profiler || source == RunSource::replayed_run;
}

struct RecordedRun {
  std::vector<RecordedTrace> ranks;  // sorted by rank; all with the base_ns of the first
  std::vector<ClockOffset> clocks;   // of each, as it was found; applied with Clocks::align
  std::int64_t world_size = kNotRecorded;
  RunSource source = RunSource::profiler;
  std::vector<std::optional<LinkedHost>> hosts;  // of each rank, the execution trace linked to it
  std::vector<std::int64_t> lost_bases;          // ranks whose cut files took the others' base
};

// The number behind "rank", "rank-" or "rank_" in the name of a file, or else behind "worker" or
// "gpu"; kNotRecorded if there is none.
std::int64_t rank_of_name(const std::string& file);

// Files, or folders of files ("-" is standard input). Memory: of all ranks together.
Result<RecordedRun> read_run(const std::vector<std::string>& files, const RunOptions& options = {});

// Of traces that are in memory already.
Result<RecordedRun> make_run(std::vector<RecordedTrace> traces, const RunOptions& options = {},
                             const std::vector<HostTrace>& hosts = {});

}  // namespace orrery
