#include "whatif/host_spans.h"

#include <algorithm>

namespace orrery {
namespace {

// How the events of the host nest in a recording.
struct Nesting {
  std::vector<std::uint32_t> parent;  // kNoEvent: none
  std::vector<std::uint32_t> first_child;
};

Nesting nesting_of(const RecordedTrace& trace) {
  Nesting out;
  out.parent.assign(trace.size(), kNoEvent);
  out.first_child.assign(trace.size(), kNoEvent);
  std::vector<std::vector<std::uint32_t>> open(trace.lanes.size());
  for (std::uint32_t e = 0; e < trace.size(); ++e) {
    const EventKind kind = trace.kind[e];
    const bool encloses = kind == EventKind::cpu_operator || kind == EventKind::annotation;
    if (!encloses && kind != EventKind::runtime_call) continue;
    std::vector<std::uint32_t>& around = open[trace.lane[e]];
    while (!around.empty() && trace.end_ns(around.back()) <= trace.start_ns[e]) around.pop_back();
    // What outlasts what it began in is not enclosed by it.
    const auto parent = std::find_if(around.rbegin(), around.rend(), [&](std::uint32_t p) {
      return trace.end_ns(p) >= trace.end_ns(e);
    });
    if (parent != around.rend()) {
      out.parent[e] = *parent;
      if (out.first_child[*parent] == kNoEvent) out.first_child[*parent] = e;
    }
    if (encloses) around.push_back(e);
  }
  return out;
}

// What is open on one lane, and the spans so far.
class Spans {
 public:
  Spans(const RecordedTrace& trace, const Nesting& nesting, std::uint32_t lane,
        std::vector<HostSpan>& out)
      : trace_(trace), nesting_(nesting), lane_(lane), out_(out) {}

  void add(std::uint32_t event, std::uint32_t work, std::int64_t start_ns, std::int64_t end_ns) {
    chain_.clear();
    for (std::uint32_t e = event; e != kNoEvent; e = nesting_.parent[e]) chain_.push_back(e);
    std::reverse(chain_.begin(), chain_.end());
    std::size_t kept = 0;
    while (kept < std::min(open_.size(), chain_.size()) && open_[kept].event == chain_[kept]) {
      ++kept;
    }
    if (work != kNoEvent && kept == chain_.size() && launches(open_[kept - 1])) --kept;
    // A first child after a later one: all of it happens again.
    while (kept > 0 && kept < chain_.size() && repeats(open_[kept - 1], chain_[kept])) --kept;
    open_.resize(kept);
    for (std::size_t i = kept; i < chain_.size(); ++i) {
      if (i > 0) open_[i - 1].last_child = chain_[i];
      open_.push_back({chain_[i], kNoEvent, kNoEvent});
      // Of a mark only its step is written, elsewhere.
      if (trace_.kind[chain_[i]] == EventKind::annotation) continue;
      open_.back().span = static_cast<std::uint32_t>(out_.size());
      out_.push_back({chain_[i], lane_, kNoEvent, start_ns, end_ns});
    }
    for (const Open& open : open_) {
      if (open.span != kNoEvent) out_[open.span].end_ns = std::max(out_[open.span].end_ns, end_ns);
    }
    if (work != kNoEvent && open_.back().span != kNoEvent) out_[open_.back().span].work = work;
  }
  void close() { open_.clear(); }

 private:
  struct Open {
    std::uint32_t event = kNoEvent;
    std::uint32_t last_child = kNoEvent;
    std::uint32_t span = kNoEvent;  // into out_
  };

  [[nodiscard]] bool launches(const Open& open) const {
    return open.span != kNoEvent && out_[open.span].work != kNoEvent;
  }
  [[nodiscard]] bool repeats(const Open& open, std::uint32_t child) const {
    return open.last_child != kNoEvent && child <= open.last_child &&
           nesting_.first_child[open.event] == child;
  }

  const RecordedTrace& trace_;
  const Nesting& nesting_;
  std::uint32_t lane_;
  std::vector<HostSpan>& out_;
  std::vector<Open> open_;
  std::vector<std::uint32_t> chain_;  // outermost first
};

}  // namespace

std::vector<HostSpan> host_spans(std::span<const RecordedTrace> traces, const RunGraph& graph,
                                 const ReplayedRun& times,
                                 const std::vector<std::uint32_t>& launched) {
  std::vector<Nesting> nestings;
  nestings.reserve(traces.size());
  for (const RecordedTrace& trace : traces) nestings.push_back(nesting_of(trace));
  std::vector<HostSpan> out;
  for (std::uint32_t l = 0; l < graph.lanes.size(); ++l) {
    const RunLane& lane = graph.lanes[l];
    if (lane.device) continue;
    Spans spans(traces[lane.trace], nestings[lane.trace], l, out);
    for (const std::uint32_t n : lane.nodes) {
      const RunNode& node = graph.nodes[n];
      const bool of_host = node.kind == RunNodeKind::host || node.kind == RunNodeKind::call;
      if (!of_host || node.duration_ns == 0) continue;
      if (node.event == kNoEvent) {
        spans.close();
        continue;
      }
      spans.add(node.event, launched[n], times.start_ns[n], times.end_ns[n]);
    }
  }
  return out;
}

}  // namespace orrery
