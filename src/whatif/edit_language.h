// The language of what-ifs: one edit a line, or several with ';' between, applied in order.
//
//   scale WHERE by FACTOR             what is selected takes a multiple of its time
//   set WHERE to TIME                 each takes this time
//   remove WHERE                      takes no time and is not launched
//   fuse WHERE [by FACTOR]            neighbours on a stream become one launch
//   capture [WHERE]                   launched by graphs: the host takes no time
//   bandwidth by FACTOR [WHERE]       of the network
//   latency by FACTOR [WHERE]         of the network; or: latency to TIME
//   bucket SIZE [WHERE]               joins communications until they are that large
//   overlap WHERE                     nothing but the end of the step waits for it
//   even [WHERE]                      all ranks take the same time: no stragglers
//   dp N [WHERE]                      ranks of data-parallel groups; where there are none, also
//                                     gradients SIZE, link RATE, latency TIME
//   tp N [WHERE]                      ranks that divide every layer
//   pp N [TERMS]                      stages of a pipeline; terms: schedule NAME, chunks N,
//                                     microbatches N, send SIZE, link RATE, latency TIME
//   resize N to N                     a dimension of tensors
//   layers N to N                     what repeats N times in a row does so more or less often
//   microbatches N to N               of a step, each as large as it was
//   accelerator NAME [WHERE]          kernels as the cost model scales them
//   price WHERE                       matrix products take what the cost model says
//
//   WHERE   any of: kernel PATTERN, class NAME, operator PATTERN, shape PATTERN, collective
//           PATTERN, group PATTERN, rank N, stream N, host; all that are given must hold
//   FACTOR  0.5 or 50%;  TIME  20us;  SIZE  25MiB;  "#" begins a remark; "..." holds blanks
//
// At most kMostEdits edits. Errors name the line, the column of the word, and what would
// be right.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "outcome/result.h"
#include "whatif/edit.h"

namespace orrery {

inline constexpr std::size_t kMostEdits = 1000;
inline constexpr std::int64_t kMostStages = 1024;
inline constexpr std::int64_t kMostMicrobatches = 100'000;

// `name` stands in errors: a file, or the flag the text came from.
Result<std::vector<Edit>> parse_edits(std::string_view text, const std::string& name);

// The edit as the language writes it; reads back to the same.
std::string to_text(const Edit& edit);

// Whether the text fits the pattern, case not counted. O(text x pattern).
bool fits_pattern(std::string_view text, std::string_view pattern);

}  // namespace orrery
