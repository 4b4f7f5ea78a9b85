// Traces of PyTorch's profiler. Chrome's trace-event format allows the list of events without an
// object around it.
#include "trace/kineto/kineto.h"
#include "trace/known_formats.h"

namespace orrery {

const TraceFormat kKineto{
    .key = "kineto",
    .name = "a trace of the PyTorch profiler",
    .plural = "traces of the PyTorch profiler",
    .one_file_a_rank = true,
    .may_be_cut = true,
    .chrome_events = true,
    .told_at =
        [](std::string_view beginning) {
          if (is_list(beginning)) return beginning.find("\"ph\"");
          return first_key(beginning,
                           {"\"traceEvents\"", "\"deviceProperties\"", "\"distributedInfo\"",
                            "\"baseTimeNanoseconds\"", "\"schemaVersion\"", "\"orreryRanks\""});
        },
    .recording = read_kineto_ranks};

}  // namespace orrery
