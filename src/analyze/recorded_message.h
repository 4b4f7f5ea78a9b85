// What a recorded communication moves: which collective, of what type, how many bytes.
//
// From the arguments PyTorch records on NCCL kernels (2024 on); where they are missing, from the
// kernel's name, the operator and the "nccl:..." mark around its launch call, and the shapes
// recorded there. The size is that of the whole message:
//
//   all-reduce, broadcast, reduce        the buffer of one rank
//   all-gather                           what every rank has afterwards
//   reduce-scatter                       what every rank had before
//   all-to-all                           what this rank sends
//   send and receive                     what is sent
//
// Bandwidth of the bus = bytes / time x factor, which makes collectives and group sizes comparable:
// 2 (n-1) / n for all-reduce, (n-1) / n for all-gather, reduce-scatter and all-to-all, else 1.
// Source: NVIDIA nccl-tests, doc/PERFORMANCE.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "outcome/enum_names.h"
#include "trace/launch_links.h"

namespace orrery {

enum class Collective : std::uint8_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  broadcast,
  reduce,
  send_receive,
  other
};
template <>
inline constexpr char kWordSeparator<Collective> = '-';  // "all-reduce"
// Of a name as anyone writes it: "allreduce", "_allgather_base", "ncclDevKernel_AllReduce_Sum_f16".
Collective collective_of(std::string_view text);
double bus_factor(Collective collective, std::int64_t ranks);

struct RecordedMessage {
  Collective collective = Collective::other;
  std::string type;                   // "BFloat16", as NCCL arguments have it; empty: not known
  std::int64_t bytes = kNotRecorded;  // of the whole message
  std::int64_t ranks = kNotRecorded;  // of the group
};

// Of a communication kernel.
RecordedMessage recorded_message(const RecordedTrace& trace, const LaunchLinks& links,
                                 std::size_t kernel);

}  // namespace orrery
