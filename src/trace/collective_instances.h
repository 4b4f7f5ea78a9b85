// Which kernels of different ranks are one communication, and how long each of them waited.
//
// A communication kernel runs from its rank's arrival until all have exchanged their data, so its
// recorded duration includes waiting for the last rank. Over the members i of one instance
//
//   transfer     = min_i duration_i              the last rank to arrive waits for nobody
//   waiting_i    = duration_i - transfer_i
//
// and, where the volumes of the ranks differ (all-to-all-v, point-to-point), so that the shortest
// duration is no common transfer time,
//
//   transfer_i   = end_i - max_j start_j         within 0 and duration_i
//
// Matching. Kernels are matched inside one group: the recorded process group (its name and its
// ranks), for point-to-point the pair of ranks and the direction, and without either the stream.
// Where a sequence number is recorded it decides. Otherwise the k-th kernel of one rank is the k-th
// of another; recordings are cut at different moments, though, so the lists are aligned
// (Needleman-Wunsch, one rank after the other): only kernels of one collective and one volume
// match, as many as possible, and of these alignments the one whose kernels end together. Where
// order alone is no proof (no recorded arguments, or other numbers of kernels), kernels match only
// if they ran at one time, to 2 ms on clocks put right by the offset at which most matches end
// together: nobody leaves before the last has come. Broadcasts, reductions to one rank and gathers
// are free of that rule.
//
// Point-to-point. The k-th send of one rank to another of a group is the k-th receive there; the
// sequence numbers of sends and receives count on each rank apart and decide nothing. A kernel that
// carries several messages (trace/point_to_point.h) is an instance of its own, as are those it
// exchanges with: `partners` are the kernels it has to meet,
//
//   transfer     = end - max(start, max over partners of their start)     within 0 and duration
//
// A send that ended before its receive began went through a buffer: it waited for nobody.
//
// Source: validation/traces/README.md; NCCL arguments of PyTorch's profiler (record_param_comms).
// Valid: clocks aligned to better than the distance of two collectives where counts differ.
// Not modelled: skew along a ring and contention, which stay in the transfer time; without recorded
// arguments, different groups on one stream. Time and memory: the kernels of two ranks multiplied,
// at most 64 M; beyond, kernels x 8192 and 16 MB, where ranks that begin 2,000 communications apart
// within a second are matched wrongly.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trace/recorded_trace.h"

namespace orrery {

struct CollectiveMember {
  std::uint32_t trace = 0;  // index into the traces given
  std::uint32_t event = 0;  // the kernel
  std::int64_t transfer_ns = 0;
  std::int64_t waiting_ns = 0;  // transfer + waiting = duration
  bool waits = true;            // for the others; not a buffered send
  bool sends = false;           // of two that send and receive
};

// A kernel that another gets one message of a batch from, or gives one to.
struct ExchangePartner {
  std::uint32_t trace = 0;
  std::uint32_t event = 0;
  bool awaited = true;  // by that other
  bool sends = false;   // to that other
};

struct CollectiveInstance {
  std::string group;       // what the kernels were matched by: "13", "stream 20", "13: 0 to 1"
  std::string collective;  // as recorded, "allreduce"; without arguments the kernel's name
  std::vector<CollectiveMember> members;  // ascending by trace
  std::vector<ExchangePartner> partners;  // of the only member, where messages were batched
  std::int64_t ranks = kNotRecorded;      // that take part, recorded or not; kNotRecorded: unknown
  std::int64_t transfer_ns = 0;           // the shortest of the members
  std::uint32_t last = 0;                 // the member that started last
  std::int64_t lateness_ns = 0;           // of that member behind the next to last; one member: 0
  bool point_to_point = false;
};

// Whether a communication is a send or receive of two ranks.
bool is_point_to_point(const RecordedTrace& trace, std::size_t event);

// Every communication kernel belongs to exactly one instance; sorted by the start of the first
// member, then by its trace and event.
std::vector<CollectiveInstance> collective_instances(std::span<const RecordedTrace> traces);

}  // namespace orrery
