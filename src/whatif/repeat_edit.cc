// More or fewer layers: what repeats N times in a row does so M times.
//
// The kernels that one thread launches are a sequence of (kernel, shapes); stretches that hold
// exactly N copies of a period (trace/repeats.h) are what the edit means: forward and backward of
// each microbatch of each step on their own. Fewer: the last copies and what the host did for them
// take no time. More: the last copy is inserted again behind itself, with its host work, launches,
// communications, and its dependencies as they were on the copy before, so that the pattern goes on
// (Lumos, arXiv 2504.09307, section 3.5).
//
// Assumed: every further copy takes the mean of the recorded ones, work by work, and their mean on
// the host. Not modelled: the optimizer and reductions of gradients, which grow with the layers as
// well; what pipelines send between stages.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "trace/repeats.h"
#include "whatif/edit_language.h"
#include "whatif/edited_run.h"
#include "whatif/known_edits.h"
#include "whatif/whatif.h"

namespace orrery {
namespace {

constexpr std::size_t kShortestPeriod = 3;

// Device work in the order in which one lane of the host launched it.
struct LaunchSequence {
  std::uint32_t lane = 0;                 // into RunGraph::lanes
  std::vector<std::uint32_t> works;       // by launch
  std::vector<std::size_t> positions;     // of their launch in the lane
  std::vector<std::uint32_t> identities;  // what they are
};

// A stretch of one sequence: copies [0, count) of it.
struct Region {
  const LaunchSequence* sequence = nullptr;
  Repeat repeat;

  // The work with which a copy begins; the copy after the last begins where it would.
  [[nodiscard]] std::size_t begin_of(std::size_t copy) const {
    return repeat.begin + copy * repeat.period;
  }
  // Positions in the host's lane.
  [[nodiscard]] std::size_t host_begin(std::size_t copy) const {
    return sequence->positions[begin_of(copy)];
  }
  [[nodiscard]] std::size_t host_end() const {
    const std::size_t next = begin_of(repeat.count);
    return next < sequence->positions.size() ? sequence->positions[next]
                                             : sequence->positions.back() + 1;
  }
};

std::vector<LaunchSequence> launch_sequences(const EditedRun& run) {
  const RunGraph& graph = run.graph();
  const std::vector<std::uint32_t> calls = run.launching_nodes();
  std::vector<std::vector<std::uint32_t>> works_of_call(graph.nodes.size());
  for (std::uint32_t w = 0; w < graph.works.size(); ++w) {
    if (calls[w] != kNoEvent) works_of_call[calls[w]].push_back(w);
  }
  std::vector<LaunchSequence> out;
  std::unordered_map<std::string, std::uint32_t> identities;
  for (std::uint32_t l = 0; l < graph.lanes.size(); ++l) {
    if (graph.lanes[l].device) continue;
    LaunchSequence sequence{l, {}, {}, {}};
    for (std::size_t i = 0; i < graph.lanes[l].nodes.size(); ++i) {
      for (const std::uint32_t w : works_of_call[graph.lanes[l].nodes[i]]) {
        const WorkSubject s = run.subject(graph.works[w]);
        const auto id = static_cast<std::uint32_t>(identities.size());
        sequence.works.push_back(w);
        sequence.positions.push_back(i);
        sequence.identities.push_back(
            identities.emplace(fmt::format("{}\n{}", s.kernel, s.shapes), id).first->second);
      }
    }
    if (!sequence.works.empty()) out.push_back(std::move(sequence));
  }
  return out;
}

// Copies of one group of regions (the same on each rank), put behind the originals.
class Copier {
 public:
  Copier(EditedRun& run, const std::vector<Region>& regions, std::size_t copies)
      : run_(run), regions_(regions), copies_(copies) {}

  void copy() {
    choose();
    take_means();
    for (std::size_t c = 0; c < copies_; ++c) add_copy();
    close();
    insert_into_lanes();
  }

  [[nodiscard]] static std::size_t nodes_of(const Region& region) {
    const std::size_t last = region.repeat.count - 1;
    return region.host_end() - region.host_begin(last) + 4 * region.repeat.period;
  }

 private:
  void take(std::uint32_t node) { copy_of_.emplace(node, node); }
  [[nodiscard]] bool taken(std::uint32_t node) const { return copy_of_.contains(node); }

  // The nodes of the last copy, and which nodes of the copy before they correspond to.
  void choose() {
    RunGraph& graph = run_.graph();
    for (const Region& region : regions_) {
      const std::size_t last = region.repeat.count - 1;
      const std::vector<std::uint32_t>& lane = graph.lanes[region.sequence->lane].nodes;
      for (std::size_t i = region.host_begin(last); i < region.host_end(); ++i) take(lane[i]);
      for (std::size_t k = 0; k < region.repeat.period; ++k) {
        const std::uint32_t w = region.sequence->works[region.begin_of(last) + k];
        const RunWork& work = graph.works[w];
        const RunWork& before = graph.works[region.sequence->works[region.begin_of(last - 1) + k]];
        for (std::uint32_t n = work.first; n <= work.last; ++n) take(n);
        works_.push_back(w);
        for (std::uint32_t n = before.first; n <= before.last; ++n) {
          counterpart_.emplace(n, std::min(work.last, work.first + (n - before.first)));
        }
        counterpart_[before.last] = work.last;
      }
    }
    for (const RunLane& lane : graph.lanes) {
      if (!lane.device) continue;
      for (std::size_t i = 0; i + 1 < lane.nodes.size(); ++i) {
        if (graph.nodes[lane.nodes[i]].kind == RunNodeKind::dispatch && taken(lane.nodes[i + 1])) {
          take(lane.nodes[i]);
        }
      }
    }
    // Latencies into what is copied, and rendezvous whose arrivals all are.
    std::set<std::uint32_t> latencies;
    std::map<std::uint32_t, bool> rendezvous;
    for (const RunEdge& edge : graph.edges) {
      const RunNode& from = graph.nodes[edge.from];
      if (from.kind == RunNodeKind::latency && from.lane == kNoLane && taken(edge.to)) {
        latencies.insert(edge.from);
      }
      if (graph.nodes[edge.to].kind == RunNodeKind::rendezvous) {
        const auto it = rendezvous.emplace(edge.to, true).first;
        it->second = it->second && taken(edge.from);
      }
    }
    for (const std::uint32_t node : latencies) take(node);
    for (const auto& [node, all] : rendezvous) {
      if (all) take(node);
    }
    for (const RunEdge& edge : graph.edges) {
      if (taken(edge.to)) {
        inner_.push_back(edge);
      } else if (taken(edge.from)) {
        outgoing_.push_back(edge);
      }
    }
    for (const auto& [node, copy] : copy_of_) originals_.push_back(node);
    std::ranges::sort(originals_);
  }

  // What copies take: of each work the mean over the recorded copies, of the host's time in them as
  // much as makes its sum the mean.
  void take_means() {
    const RunGraph& graph = run_.graph();
    for (const Region& region : regions_) {
      const std::size_t count = region.repeat.count;
      for (std::size_t k = 0; k < region.repeat.period; ++k) {
        double sum = 0;
        for (std::size_t c = 0; c < count; ++c) {
          const std::uint32_t w = region.sequence->works[region.begin_of(c) + k];
          sum += static_cast<double>(run_.duration_ns(w));
        }
        const std::uint32_t last = region.sequence->works[region.begin_of(count - 1) + k];
        const auto own = static_cast<double>(run_.duration_ns(last));
        const double factor = own > 0 ? sum / static_cast<double>(count) / own : 1;
        for (std::uint32_t n = graph.works[last].first; n <= graph.works[last].last; ++n) {
          mean_ns_[n] = scaled_ns(graph.nodes[n].duration_ns, factor);
        }
      }
      const std::vector<std::uint32_t>& lane = graph.lanes[region.sequence->lane].nodes;
      double whole = 0;
      double last = 0;
      for (std::size_t i = region.host_begin(0); i < region.host_end(); ++i) {
        const auto ns = static_cast<double>(graph.nodes[lane[i]].duration_ns);
        whole += ns;
        if (i >= region.host_begin(count - 1)) last += ns;
      }
      if (!(last > 0)) continue;
      const double factor = whole / static_cast<double>(count) / last;
      for (std::size_t i = region.host_begin(count - 1); i < region.host_end(); ++i) {
        mean_ns_[lane[i]] = scaled_ns(graph.nodes[lane[i]].duration_ns, factor);
      }
    }
  }

  void add_copy() {
    RunGraph& graph = run_.graph();
    const std::unordered_map<std::uint32_t, std::uint32_t> previous = copy_of_;
    for (const std::uint32_t node : originals_) {
      RunNode copy = graph.nodes[node];
      const auto mean = mean_ns_.find(node);
      if (mean != mean_ns_.end()) copy.duration_ns = mean->second;
      graph.nodes.push_back(copy);
      copy_of_[node] = static_cast<std::uint32_t>(graph.nodes.size() - 1);
      all_copies_[node].push_back(copy_of_[node]);
    }
    for (const RunEdge& edge : inner_) {
      std::uint32_t from = edge.from;
      if (taken(from)) {
        from = copy_of_.at(from);
      } else if (const auto shifted = counterpart_.find(from); shifted != counterpart_.end()) {
        from = previous.at(shifted->second);
      }
      graph.edges.push_back({from, copy_of_.at(edge.to), edge.across_streams});
    }
    for (const std::uint32_t w : works_) {
      RunWork work = graph.works[w];
      work.first = copy_of_.at(work.first);
      work.last = copy_of_.at(work.last);
      graph.works.push_back(work);
    }
  }

  // What came after the original comes after the last copy.
  void close() {
    for (const RunEdge& edge : outgoing_) {
      run_.graph().edges.push_back({copy_of_.at(edge.from), edge.to, edge.across_streams});
    }
  }

  void insert_into_lanes() {
    for (RunLane& lane : run_.graph().lanes) {
      std::size_t last = lane.nodes.size();
      std::vector<std::uint32_t> here;
      for (std::size_t i = 0; i < lane.nodes.size(); ++i) {
        if (!taken(lane.nodes[i])) continue;
        here.push_back(lane.nodes[i]);
        last = i;
      }
      if (here.empty()) continue;
      std::vector<std::uint32_t> added;
      added.reserve(here.size() * copies_);
      for (std::size_t c = 0; c < copies_; ++c) {
        for (const std::uint32_t node : here) added.push_back(all_copies_.at(node)[c]);
      }
      lane.nodes.insert(lane.nodes.begin() + static_cast<std::ptrdiff_t>(last) + 1, added.begin(),
                        added.end());
    }
  }

  EditedRun& run_;
  const std::vector<Region>& regions_;
  std::size_t copies_;
  std::unordered_map<std::uint32_t, std::uint32_t> copy_of_;  // the latest
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> all_copies_;
  std::unordered_map<std::uint32_t, std::uint32_t> counterpart_;
  std::unordered_map<std::uint32_t, std::int64_t> mean_ns_;
  std::vector<std::uint32_t> originals_;
  std::vector<std::uint32_t> works_;
  std::vector<RunEdge> inner_;     // into what is copied
  std::vector<RunEdge> outgoing_;  // out of it
};

void drop_last(EditedRun& run, const Region& region, std::size_t keep) {
  RunGraph& graph = run.graph();
  std::vector<std::uint32_t> works;
  for (std::size_t k = region.begin_of(keep); k < region.begin_of(region.repeat.count); ++k) {
    works.push_back(region.sequence->works[k]);
  }
  run.remove(works);
  const std::vector<std::uint32_t>& lane = graph.lanes[region.sequence->lane].nodes;
  for (std::size_t i = region.host_begin(keep); i < region.host_end(); ++i) {
    if (!run.begins_recording(lane[i])) graph.nodes[lane[i]].duration_ns = 0;
  }
}

// "39 times (14 kernels), 3 times (560 kernels)"
std::string what_repeats(const std::vector<LaunchSequence>& sequences) {
  constexpr std::size_t kMost = 4;
  std::vector<Repeat> all;
  for (const LaunchSequence& sequence : sequences) {
    const auto found = repeats(sequence.identities, kShortestPeriod);
    all.insert(all.end(), found.begin(),
               found.begin() + static_cast<std::ptrdiff_t>(std::min(found.size(), kMost)));
  }
  std::ranges::stable_sort(
      all, [](const Repeat& a, const Repeat& b) { return a.length() > b.length(); });
  std::string out;
  std::set<std::size_t> said;
  for (const Repeat& r : all) {
    if (said.size() == kMost || !said.insert(r.count).second) continue;
    out += fmt::format("{}{} times {} kernels", out.empty() ? "" : ", ", r.count, r.period);
  }
  return out;
}

Result<void> apply_repeat(EditedRun& run, AppliedEdit& edit, EditContext&) {
  const auto from = static_cast<std::size_t>(edit.edit.from);
  const auto to = static_cast<std::size_t>(edit.edit.count);
  const std::vector<LaunchSequence> sequences = launch_sequences(run);
  // Group k holds the k-th region of every rank.
  std::vector<std::vector<Region>> groups;
  std::map<std::uint32_t, std::size_t> regions_of_trace;
  std::size_t period = 0;
  std::size_t cost = 0;
  for (const LaunchSequence& sequence : sequences) {
    const std::uint32_t trace = run.graph().lanes[sequence.lane].trace;
    for (const Repeat& repeat : repeats_of_count(sequence.identities, from, kShortestPeriod)) {
      const std::size_t k = regions_of_trace[trace]++;
      if (groups.size() <= k) groups.resize(k + 1);
      groups[k].push_back({&sequence, repeat});
      period = std::max(period, repeat.period);
      if (to > from) cost += (to - from) * Copier::nodes_of(groups[k].back());
    }
  }
  if (groups.empty()) {
    const std::string known = what_repeats(sequences);
    return bad_input(fmt::format("nothing repeats {} times in a row", from), to_text(edit.edit),
                     known.empty() ? "nothing repeats at all" : "what repeats: " + known);
  }
  if (cost > kMostCopiedNodes) {
    return unsupported(fmt::format("the copies would be {} nodes", cost), to_text(edit.edit),
                       fmt::format("at most {}", kMostCopiedNodes));
  }
  // Later regions first: positions of earlier ones stay.
  std::size_t regions = 0;
  for (auto group = groups.rbegin(); group != groups.rend(); ++group) {
    for (const Region& region : *group) {
      if (to < from) drop_last(run, region, to);
      edit.changed += region.repeat.period * (to > from ? to - from : from - to);
      ++regions;
    }
    if (to > from) Copier(run, *group, to - from).copy();
  }
  edit.assumed.push_back(fmt::format(
      "{} stretches of {} copies of up to {} kernels, on all ranks; {}", regions, from, period,
      to < from ? "the last copies are left out"
                : "each further copy takes the mean of the recorded ones"));
  edit.assumed.emplace_back(
      "the optimizer, reductions of gradients and everything else outside of them stay");
  return {};
}

// What repeats would then be the microbatches.
std::optional<EditConflict> repeated_after_rebuild(const Edit& before, const Edit&) {
  if (!before.verb->rebuilds_passes) return std::nullopt;
  return EditConflict{"", "write layers before microbatches and pp"};
}

}  // namespace

const EditVerb kRepeatEdit{.verb = "layers",
                           .form = "layers N to N",
                           .operand = EditOperand::count_to_count,
                           .least = 2,
                           .conflict = repeated_after_rebuild,
                           .apply = apply_repeat};

}  // namespace orrery
