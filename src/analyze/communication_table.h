// Communication of a run: how fast each kind of collective was, who waited, and for whom.
//
// Kernels of all recorded ranks are matched (trace/collective_instances.h). Of an instance, with B
// the bytes of the message and n the ranks of the group:
//
//   bandwidth          = B / transfer
//   bus bandwidth      = bandwidth x factor(collective, n)
//   waiting of a rank  = its duration - its transfer, caused by the rank that arrived last
//
// Where not all ranks of a group are recorded, transfer still contains waiting, and the bandwidths
// are lower bounds; rows say for how many instances all ranks were recorded.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analyze/recorded_message.h"
#include "analyze/spread.h"
#include "trace/collective_instances.h"
#include "trace/launch_links.h"
#include "units/quantity.h"

namespace orrery {

struct CommunicationRow {
  Collective collective = Collective::other;
  std::string type;
  std::string group;                  // what its kernels were matched by
  std::int64_t ranks = kNotRecorded;  // of the group
  std::int64_t bytes = kNotRecorded;  // of the whole message
  std::int64_t instances = 0;
  std::int64_t complete = 0;    // instances of which every rank is recorded
  Spread duration = {};         // of the kernels
  Spread transfer = {};         // one value an instance, the shortest of its ranks
  std::int64_t waiting_ns = 0;  // of all ranks
  std::int64_t longest_lateness_ns = 0;

  // Of all instances together; 0 where the size or the number of ranks is not known.
  [[nodiscard]] BytesPerSecond bandwidth() const;
  [[nodiscard]] BytesPerSecond bus_bandwidth() const;
  // Of the median instance, which one late start does not change.
  [[nodiscard]] BytesPerSecond median_bus_bandwidth() const;
};

struct RankCommunication {
  std::int64_t rank = 0;
  std::int64_t kernels = 0;
  std::int64_t duration_ns = 0;
  std::int64_t transfer_ns = 0;
  std::int64_t waiting_ns = 0;         // duration = transfer + waiting
  std::int64_t arrived_last = 0;       // instances, of those with two or more recorded ranks
  std::int64_t caused_waiting_ns = 0;  // of other ranks, in those instances
};

struct CommunicationTable {
  std::vector<CommunicationRow> rows;    // longest total duration first
  std::vector<RankCommunication> ranks;  // in the order of the traces
  std::int64_t matched = 0;              // instances with two or more recorded ranks
  std::int64_t transfer_ns = 0;          // summed over instances: the floor of communication
};

// `links` has one entry a trace.
CommunicationTable communication_table(std::span<const RecordedTrace> traces,
                                       std::span<const LaunchLinks> links,
                                       std::span<const CollectiveInstance> instances);

}  // namespace orrery
