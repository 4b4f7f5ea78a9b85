#include "trace/pytorch_et/host_link.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

namespace orrery {
namespace {

constexpr std::size_t kLookAhead = 64;  // events to skip at most where two sequences differ
constexpr std::size_t kInCommon = 3;    // names that must agree to go on

// Names of nodes and events as the same numbers.
class Names {
 public:
  std::uint32_t operator()(std::string_view text) { return texts_.intern(text); }

 private:
  TextTable texts_;
};

bool can_have_event(const HostNode& node) {
  return !node.is_thread() && !node.is_process() &&
         node.name.find("process_group:init") == std::string::npos;
}

std::size_t count_found(const HostTraceLink& link) {
  return static_cast<std::size_t>(
      std::ranges::count_if(link.event, [](std::uint32_t event) { return event != kNoEvent; }));
}

// Events by an identifier; of two with the same, the first.
using EventsById = std::unordered_map<std::int64_t, std::uint32_t>;

// Each node by its record function id and an offset; `fits(node, event)` says which may be one.
template <class Fits>
HostTraceLink by_identifier(const HostTrace& host, LinkMethod method, const EventsById& events,
                            std::int64_t offset, const Fits& fits) {
  HostTraceLink link;
  link.method = method;
  link.event.assign(host.nodes.size(), kNoEvent);
  for (std::size_t i = 0; i < host.nodes.size(); ++i) {
    const HostNode& node = host.nodes[i];
    if (node.record_function_id == 0 || !can_have_event(node)) continue;
    const auto it = events.find(node.record_function_id + offset);
    if (it != events.end() && fits(node, it->second)) link.event[i] = it->second;
  }
  return link;
}

HostTraceLink by_record_function(const HostTrace& host, const EventsById& events) {
  return by_identifier(host, LinkMethod::record_function_id, events, 0,
                       [](const HostNode&, std::uint32_t) { return true; });
}

HostTraceLink by_external_id(const HostTrace& host, const RecordedTrace& recorded,
                             const EventsById& events) {
  HostTraceLink best;
  for (std::int64_t offset = 0; offset <= 3; ++offset) {
    HostTraceLink link = by_identifier(host, LinkMethod::external_id, events, offset,
                                       [&](const HostNode& node, std::uint32_t event) {
                                         return recorded.name_of(event) == node.name;
                                       });
    if (best.event.empty() || count_found(link) > count_found(best)) best = std::move(link);
  }
  return best;
}

struct Sequence {
  std::vector<std::uint32_t> names;
  std::vector<std::uint32_t> members;  // nodes or events
};

bool agree(const Sequence& a, std::size_t i, const Sequence& b, std::size_t j) {
  for (std::size_t k = 0; k < kInCommon; ++k) {
    if (i + k >= a.names.size() || j + k >= b.names.size()) return k > 0;
    if (a.names[i + k] != b.names[j + k]) return false;
  }
  return true;
}

// Pairs (node, event) of the same name in the same order.
std::vector<std::pair<std::uint32_t, std::uint32_t>> aligned(const Sequence& nodes,
                                                             const Sequence& events) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> out;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < nodes.names.size() && j < events.names.size()) {
    if (nodes.names[i] == events.names[j]) {
      out.emplace_back(nodes.members[i++], events.members[j++]);
      continue;
    }
    bool resumed = false;
    for (std::size_t skip = 1; skip <= kLookAhead && !resumed; ++skip) {
      if (agree(nodes, i, events, j + skip)) {
        j += skip;
        resumed = true;
      } else if (agree(nodes, i + skip, events, j)) {
        i += skip;
        resumed = true;
      }
    }
    if (!resumed) {
      ++i;
      ++j;
    }
  }
  return out;
}

HostTraceLink by_order(const HostTrace& host, const RecordedTrace& recorded,
                       const std::vector<std::uint32_t>& candidates) {
  Names names;
  std::map<std::int64_t, Sequence> threads;
  std::map<std::uint32_t, Sequence> lanes;
  for (std::size_t i = 0; i < host.nodes.size(); ++i) {
    if (!can_have_event(host.nodes[i])) continue;
    Sequence& thread = threads[host.nodes[i].thread];
    thread.names.push_back(names(host.nodes[i].name));
    thread.members.push_back(static_cast<std::uint32_t>(i));
  }
  for (const std::uint32_t event : candidates) {
    Sequence& lane = lanes[recorded.lane[event]];
    lane.names.push_back(names(recorded.name_of(event)));
    lane.members.push_back(event);
  }
  HostTraceLink link;
  link.method = LinkMethod::order;
  link.event.assign(host.nodes.size(), kNoEvent);
  std::vector<std::uint32_t> taken;
  for (const auto& [thread, nodes] : threads) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> best;
    std::uint32_t best_lane = kNoEvent;
    for (const auto& [lane, events] : lanes) {
      if (std::ranges::find(taken, lane) != taken.end()) continue;
      auto pairs = aligned(nodes, events);
      if (pairs.size() > best.size()) {
        best = std::move(pairs);
        best_lane = lane;
      }
    }
    if (best_lane == kNoEvent) continue;
    taken.push_back(best_lane);
    for (const auto& [node, event] : best) link.event[node] = event;
  }
  return link;
}

}  // namespace

EnumNames<LinkMethod> names_of(LinkMethod) {
  using enum LinkMethod;
  static constexpr auto kNames = std::to_array<EnumName<LinkMethod>>({
      {record_function_id, "record function id"},
      {external_id, "External id"},
      {order, "order"},
  });
  return kNames;
}

bool is_host_operator(const RecordedTrace& trace, std::size_t event) {
  return trace.kind[event] == EventKind::cpu_operator || trace.kind[event] == EventKind::annotation;
}

Result<HostTraceLink> link_host(const HostTrace& host, const RecordedTrace& recorded) {
  std::vector<std::uint32_t> candidates;
  EventsById by_function;
  EventsById by_external;
  for (std::size_t i = 0; i < recorded.size(); ++i) {
    if (!is_host_operator(recorded, i)) continue;
    const auto event = static_cast<std::uint32_t>(i);
    candidates.push_back(event);
    if (recorded.external_id[i] != kNotRecorded)
      by_external.emplace(recorded.external_id[i], event);
    const std::uint32_t details = recorded.details[i];
    if (details == kNoDetails) continue;
    const std::int64_t id = recorded.operators[details].record_function_id;
    if (id != kNotRecorded) by_function.emplace(id, event);
  }
  const auto operators =
      static_cast<std::size_t>(std::ranges::count_if(host.nodes, can_have_event));

  HostTraceLink link = by_function.empty() ? by_external_id(host, recorded, by_external)
                                           : by_record_function(host, by_function);
  link.found = count_found(link);
  if (2 * link.found < operators) {
    HostTraceLink ordered = by_order(host, recorded, candidates);
    ordered.found = count_found(ordered);
    if (ordered.found > link.found) link = std::move(ordered);
  }
  link.operators = operators;
  if (2 * link.found < operators) {
    return bad_input("only " + std::to_string(link.found) + " of its " + std::to_string(operators) +
                         " operators are found in " + recorded.file,
                     host.file, "are both files of the same rank and run?");
  }
  return link;
}

}  // namespace orrery
