// A timeline as Chrome Trace Event JSON, which the Perfetto UI (ui.perfetto.dev) and
// chrome://tracing open.
//
//   {"displayTimeUnit": "ms", "otherData": {...}, "traceEvents": [...]}
//
// A stage is a process, a stream a thread (in order of first use), a span a complete event ("X"),
// an arrow a flow ("s" to "f"). `ts` is microseconds with up to six decimals, so that no picosecond is
// lost; `dur` is rounded down to nanoseconds (a picosecond less where that is not enough), so that a
// span never ends after the next begins, whether a reader takes the decimals exactly, as doubles, or
// as nanoseconds. Events are sorted by process, thread and start.
// Source: "Trace Event Format" (Chromium project), sections "JSON Object Format", "Complete
// Events", "Flow Events", "Metadata Events".
// Not modelled: nested spans of one thread (a stream runs one operation at a time). O(n log n).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "timeline/timeline_span.h"

namespace orrery {

// `title` names what was simulated ("llama-3.1-405b on h100-sxm:16384").
std::string chrome_json(std::span<const TimelineSpan> spans, std::string_view title);

}  // namespace orrery
