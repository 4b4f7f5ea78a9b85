#include "trace/point_to_point.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace orrery {
namespace {

using Direction = PointToPointMessage::Direction;

// The other of two ranks that are listed as "[4, 6]"; kNotRecorded for other lists.
std::int64_t other_of_two(std::string_view ranks, std::int64_t self) {
  std::vector<std::int64_t> listed;
  for (const char* at = ranks.data(); at != ranks.data() + ranks.size();) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(at, ranks.data() + ranks.size(), value);
    if (error == std::errc()) listed.push_back(value);
    at = error == std::errc() ? end : at + 1;
  }
  if (listed.size() != 2) return kNotRecorded;
  if (listed[0] == self) return listed[1];
  return listed[1] == self ? listed[0] : kNotRecorded;
}

std::optional<PointToPointMessage> message_of(const RecordedTrace& trace, std::uint32_t event) {
  const std::uint32_t index = trace.communication[event];
  if (index == kNoDetails) return std::nullopt;
  const CommunicationDetails& details = trace.communications[index];
  const std::string_view collective = trace.texts[details.collective];
  if (collective != "send" && collective != "recv") return std::nullopt;
  PointToPointMessage message{.kernel = event, .communication = index};
  message.direction = collective == "send" ? Direction::send : Direction::receive;
  message.peer = message.direction == Direction::send ? details.destination : details.source;
  if (message.peer == kNotRecorded) {
    message.peer = other_of_two(trace.texts[details.group_ranks], trace.rank);
  }
  if (message.peer == kNotRecorded || message.peer == trace.rank) return std::nullopt;
  return message;
}

// Of a host lane, by start: an operator that sends or receives, or a call that launched a kernel.
struct Issued {
  std::uint32_t event = 0;
  std::uint32_t kernel = kNoEvent;
};

// A kernel whose arguments do not say that it is a collective of a group.
bool may_be_batch(const RecordedTrace& trace, std::uint32_t kernel) {
  const std::uint32_t index = trace.communication[kernel];
  if (index == kNoDetails) return true;
  const std::string_view collective = trace.texts[trace.communications[index].collective];
  return collective.empty() || collective == "send" || collective == "recv" ||
         collective == "coalesced";
}

}  // namespace

std::vector<PointToPointMessage> point_to_point_messages(const RecordedTrace& trace) {
  std::vector<PointToPointMessage> messages;
  if (trace.rank == kNotRecorded || trace.communications.empty()) return messages;
  std::unordered_map<std::int64_t, std::uint32_t> kernels;  // by correlation
  std::vector<std::uint32_t> all_kernels;
  std::vector<std::vector<Issued>> lanes(trace.lanes.size());
  bool any = false;
  for (std::uint32_t e = 0; e < trace.size(); ++e) {
    if (trace.kind[e] == EventKind::kernel && is_communication_kernel(trace.name_of(e))) {
      if (trace.correlation[e] != kNotRecorded) kernels.emplace(trace.correlation[e], e);
      all_kernels.push_back(e);
      any = any || message_of(trace, e).has_value();
    } else if (trace.kind[e] == EventKind::cpu_operator && message_of(trace, e)) {
      lanes[trace.lane[e]].push_back({e, kNoEvent});
      any = true;
    }
  }
  if (!any) return messages;
  for (std::uint32_t e = 0; e < trace.size(); ++e) {
    if (trace.kind[e] != EventKind::runtime_call) continue;
    const auto kernel = kernels.find(trace.correlation[e]);
    if (kernel != kernels.end()) lanes[trace.lane[e]].push_back({e, kernel->second});
  }
  std::vector<bool> known(trace.size(), false);
  for (std::vector<Issued>& lane : lanes) {
    // Numbers of events ascend by start, those that enclose first.
    std::ranges::sort(lane, {}, &Issued::event);
    std::vector<std::uint32_t> pending;
    for (const Issued& issued : lane) {
      if (issued.kernel == kNoEvent) {
        pending.push_back(issued.event);
        continue;
      }
      if (may_be_batch(trace, issued.kernel)) {
        for (const std::uint32_t e : pending) {
          PointToPointMessage message = *message_of(trace, e);
          message.kernel = issued.kernel;
          messages.push_back(message);
          known[issued.kernel] = true;
        }
      }
      pending.clear();
    }
  }
  for (const std::uint32_t kernel : all_kernels) {
    if (known[kernel]) continue;
    if (const auto message = message_of(trace, kernel)) messages.push_back(*message);
  }
  std::ranges::stable_sort(messages, {}, &PointToPointMessage::kernel);
  return messages;
}

}  // namespace orrery
