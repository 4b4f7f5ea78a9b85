#include "trace/chakra/call_tree.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "trace/launch_links.h"

namespace orrery {
namespace {

// The tree without devices: what becomes of each host node, in the order of identifiers.
std::vector<CallTreeNode> from_host_trace(const HostTrace& host, const HostTraceLink& link) {
  std::vector<CallTreeNode> out;
  out.reserve(host.nodes.size() + 1);
  // The root of the process comes first, whatever its identifier.
  std::unordered_map<std::uint64_t, std::uint32_t> index;
  index.reserve(host.nodes.size());
  const auto add = [&](std::uint32_t i) {
    index.emplace(host.nodes[i].id, static_cast<std::uint32_t>(out.size()));
    out.push_back({.host = i, .event = link.event[i]});
  };
  for (std::uint32_t i = 0; i < host.nodes.size(); ++i) {
    if (host.nodes[i].is_process()) add(i);
  }
  if (out.empty()) out.emplace_back();
  for (std::uint32_t i = 0; i < host.nodes.size(); ++i) {
    if (!host.nodes[i].is_process()) add(i);
  }
  for (std::uint32_t n = 1; n < out.size(); ++n) {
    const HostNode& node = host.nodes[out[n].host];
    const auto it = index.find(node.parent);
    out[n].parent = it == index.end() || it->second == n ? 0 : it->second;
  }
  return out;
}

std::vector<CallTreeNode> from_nesting(const RecordedTrace& recorded) {
  std::vector<CallTreeNode> out(1);
  std::vector<std::uint32_t> thread_of(recorded.lanes.size(), kNoNode);
  std::vector<std::vector<std::uint32_t>> open(recorded.lanes.size());
  for (std::uint32_t e = 0; e < recorded.size(); ++e) {
    if (!is_host_operator(recorded, e)) continue;
    const std::uint32_t lane = recorded.lane[e];
    if (thread_of[lane] == kNoNode) {
      thread_of[lane] = static_cast<std::uint32_t>(out.size());
      out.push_back({.parent = 0, .lane = lane});
    }
    std::vector<std::uint32_t>& stack = open[lane];
    while (!stack.empty() && recorded.end_ns(out[stack.back()].event) < recorded.end_ns(e)) {
      stack.pop_back();
    }
    // An operator of no duration at the end of another one follows it.
    while (!stack.empty() && recorded.end_ns(out[stack.back()].event) <= recorded.start_ns[e] &&
           recorded.start_ns[out[stack.back()].event] < recorded.start_ns[e]) {
      stack.pop_back();
    }
    const std::uint32_t parent = stack.empty() ? thread_of[lane] : stack.back();
    stack.push_back(static_cast<std::uint32_t>(out.size()));
    out.push_back({.parent = parent, .event = e});
  }
  return out;
}

// Finds the operator that launched an event.
class Launches {
 public:
  Launches(const RecordedTrace& recorded, const std::vector<CallTreeNode>& nodes)
      : recorded_(recorded),
        links_(launch_links(recorded)),
        operators_(recorded.lanes.size()),
        node_of_event_(recorded.size(), kNoNode) {
    for (std::uint32_t n = 0; n < nodes.size(); ++n) {
      if (nodes[n].event != kNoEvent) node_of_event_[nodes[n].event] = n;
    }
    for (std::uint32_t e = 0; e < recorded.size(); ++e) {
      if (node_of_event_[e] == kNoNode || !is_host_operator(recorded, e)) continue;
      if (recorded.external_id[e] != kNotRecorded) {
        by_external_id_.emplace(recorded.external_id[e], node_of_event_[e]);
      }
      if (recorded.name_of(e).find("ProfilerStep") == std::string_view::npos) {
        operators_[recorded.lane[e]].push_back(e);
      }
    }
  }

  [[nodiscard]] const std::vector<std::uint32_t>& node_of_event() const { return node_of_event_; }

  // The node of the launching operator, or kNoNode.
  [[nodiscard]] std::uint32_t find(std::uint32_t event, LaunchingOperator launching) const {
    const std::uint32_t call = links_.call[event];
    if (call == kNoEvent) return kNoNode;
    if (launching == LaunchingOperator::external_id &&
        recorded_.external_id[event] != kNotRecorded &&
        recorded_.external_id[event] != recorded_.correlation[event]) {
      const auto named = by_external_id_.find(recorded_.external_id[event]);
      if (named != by_external_id_.end()) return named->second;
    }
    const std::vector<std::uint32_t>& on_thread = operators_[recorded_.lane[call]];
    const std::int64_t when = recorded_.start_ns[call];
    auto it = std::ranges::lower_bound(on_thread, when, {},
                                       [&](std::uint32_t e) { return recorded_.start_ns[e]; });
    const bool nccl = is_communication_kernel(recorded_.name_of(event));
    while (it != on_thread.begin()) {
      --it;
      if (nccl && recorded_.name_of(*it) == "nccl:coalesced") continue;
      return node_of_event_[*it];
    }
    return kNoNode;
  }

 private:
  const RecordedTrace& recorded_;
  LaunchLinks links_;
  std::vector<std::vector<std::uint32_t>> operators_;  // of each lane, by start
  std::vector<std::uint32_t> node_of_event_;
  std::unordered_map<std::int64_t, std::uint32_t> by_external_id_;
};

}  // namespace

CallTree call_tree(const RecordedTrace& recorded, const HostTrace* host, const HostTraceLink* link,
                   LaunchingOperator launching, Fills fills) {
  const std::vector<CallTreeNode> hosts =
      host == nullptr ? from_nesting(recorded) : from_host_trace(*host, *link);
  const Launches launches(recorded, hosts);
  CallTree out;

  // (operator, event) of all work on devices; events are sorted by start already.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> work;
  for (std::uint32_t e = 0; e < recorded.size(); ++e) {
    if (!is_device_work(recorded.kind[e])) continue;
    if (recorded.kind[e] == EventKind::fill && fills == Fills::leave_out) continue;
    const std::uint32_t by = launches.find(e, launching);
    if (by == kNoNode) {
      ++out.without_launch;
    } else {
      work.emplace_back(by, e);
    }
  }
  std::ranges::stable_sort(work, [](const auto& a, const auto& b) { return a.first < b.first; });

  out.nodes.reserve(hosts.size() + work.size());
  out.node_of_event.assign(recorded.size(), kNoNode);
  std::vector<std::uint32_t> renumbered(hosts.size());
  std::size_t next = 0;
  for (std::uint32_t h = 0; h < hosts.size(); ++h) {
    renumbered[h] = static_cast<std::uint32_t>(out.nodes.size());
    out.nodes.push_back(hosts[h]);
    for (; next < work.size() && work[next].first == h; ++next) {
      out.nodes.push_back(
          {.parent = h, .host = hosts[h].host, .event = work[next].second, .device = true});
    }
  }
  for (std::uint32_t n = 0; n < out.nodes.size(); ++n) {
    CallTreeNode& node = out.nodes[n];
    if (node.parent != kNoNode) node.parent = renumbered[node.parent];
    if (node.event != kNoEvent) out.node_of_event[node.event] = n;
  }
  return out;
}

}  // namespace orrery
