#include "analyze/communication_table.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace orrery {
namespace {

using CommunicationKey =
    std::tuple<Collective, std::string, std::string, std::int64_t, std::int64_t>;

struct GatheredCommunication {
  CommunicationRow row;
  std::vector<std::int64_t> durations;
  std::vector<std::int64_t> transfers;
};

void add_ranks(CommunicationTable& table, std::span<const RecordedTrace> traces,
               const CollectiveInstance& instance) {
  std::int64_t waiting = 0;
  for (const CollectiveMember& member : instance.members) {
    RankCommunication& rank = table.ranks[member.trace];
    ++rank.kernels;
    rank.duration_ns += traces[member.trace].duration_ns[member.event];
    rank.transfer_ns += member.transfer_ns;
    rank.waiting_ns += member.waiting_ns;
    waiting += member.waiting_ns;
  }
  table.transfer_ns += instance.transfer_ns;
  if (!instance.partners.empty()) {
    const auto start = [&](const ExchangePartner& p) { return traces[p.trace].start_ns[p.event]; };
    const auto last = std::ranges::max_element(
        instance.partners,
        [&](const ExchangePartner& a, const ExchangePartner& b) { return start(a) < start(b); });
    ++table.matched;
    const CollectiveMember& self = instance.members[0];
    const bool self_last = start(*last) <= traces[self.trace].start_ns[self.event];
    ++table.ranks[self_last ? self.trace : last->trace].arrived_last;
    if (!self_last) table.ranks[last->trace].caused_waiting_ns += waiting;
  }
  if (instance.members.size() < 2) return;
  ++table.matched;
  const CollectiveMember& last = instance.members[instance.last];
  ++table.ranks[last.trace].arrived_last;
  table.ranks[last.trace].caused_waiting_ns += waiting - last.waiting_ns;
}

}  // namespace

BytesPerSecond CommunicationRow::bandwidth() const {
  if (bytes == kNotRecorded || transfer.total_ns == 0) return BytesPerSecond(0);
  const Seconds time(static_cast<double>(transfer.total_ns) * 1e-9);
  return Bytes(static_cast<double>(bytes) * static_cast<double>(instances)) / time;
}

BytesPerSecond CommunicationRow::bus_bandwidth() const {
  if (ranks == kNotRecorded) return BytesPerSecond(0);
  return bandwidth() * bus_factor(collective, ranks);
}

BytesPerSecond CommunicationRow::median_bus_bandwidth() const {
  if (bytes == kNotRecorded || ranks == kNotRecorded || transfer.median_ns == 0) {
    return BytesPerSecond(0);
  }
  return Bytes(static_cast<double>(bytes)) /
         Seconds(static_cast<double>(transfer.median_ns) * 1e-9) * bus_factor(collective, ranks);
}

CommunicationTable communication_table(std::span<const RecordedTrace> traces,
                                       std::span<const LaunchLinks> links,
                                       std::span<const CollectiveInstance> instances) {
  CommunicationTable table;
  for (const RecordedTrace& trace : traces) table.ranks.emplace_back().rank = trace.rank;
  std::map<CommunicationKey, GatheredCommunication> rows;
  for (const CollectiveInstance& instance : instances) {
    if (instance.members.empty()) continue;
    add_ranks(table, traces, instance);
    const CollectiveMember& first = instance.members.front();
    const RecordedMessage message =
        recorded_message(traces[first.trace], links[first.trace], first.event);
    const std::int64_t ranks = instance.ranks == kNotRecorded ? message.ranks : instance.ranks;
    GatheredCommunication& group =
        rows[{message.collective, message.type, instance.group, ranks, message.bytes}];
    CommunicationRow& row = group.row;
    ++row.instances;
    if (ranks == static_cast<std::int64_t>(instance.members.size())) ++row.complete;
    group.transfers.push_back(instance.transfer_ns);
    row.longest_lateness_ns = std::max(row.longest_lateness_ns, instance.lateness_ns);
    for (const CollectiveMember& member : instance.members) {
      group.durations.push_back(traces[member.trace].duration_ns[member.event]);
      row.waiting_ns += member.waiting_ns;
    }
  }
  for (auto& [key, group] : rows) {
    CommunicationRow& row = group.row;
    std::tie(row.collective, row.type, row.group, row.ranks, row.bytes) = key;
    row.duration = spread_of(std::move(group.durations));
    row.transfer = spread_of(std::move(group.transfers));
    table.rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(table.rows, [](const CommunicationRow& a, const CommunicationRow& b) {
    return a.duration.total_ns > b.duration.total_ns;
  });
  return table;
}

}  // namespace orrery
