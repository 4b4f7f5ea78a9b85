#include "whatif/training_passes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>

#include "trace/repeats.h"

namespace orrery {
namespace {

constexpr std::size_t kShortestLayer = 3;  // operators

// A piece of device work, by when the host launched it.
struct Launch {
  std::int64_t at_ns = 0;    // replayed start of the call
  std::int64_t ends_ns = 0;  // replayed end of the call
  std::int64_t recorded_ns = 0;
  std::uint32_t call = 0;
  std::uint32_t work = 0;
  std::uint32_t op = kNoEvent;     // innermost, an event
  std::uint32_t outer = kNoEvent;  // outermost
  bool backward = false;
  bool optimizes = false;
  bool communicates = false;
  bool multiplies = false;  // matrix products, attention, convolutions
};

// Launches [begin, end) of one kind.
struct Run {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool backward = false;
};

// A pass and the launches at which its pieces begin; as many as pieces, ascending.
struct Pass {
  bool backward = false;
  std::size_t end = 0;
  std::vector<std::size_t> begins;
};

using Step = std::vector<Pass>;

// What one rank recorded.
class RankPasses {
 public:
  RankPasses(const EditedRun& run, const ReplayedRun& replayed, std::uint32_t trace,
             const std::vector<std::uint32_t>& calls)
      : run_(run), replayed_(replayed), trace_(trace) {
    collect(calls);
  }

  [[nodiscard]] const std::vector<Launch>& launches() const { return launches_; }
  [[nodiscard]] std::size_t layers() const { return layers_; }
  [[nodiscard]] const std::vector<Step>& steps() const { return steps_; }

  Result<void> find() {
    for (const RunStep& step : run_.graph().steps) {
      if (step.trace != trace_) continue;
      ORRERY_RETURN_IF_ERROR(find_in(step));
    }
    if (!steps_.empty()) return {};
    return refuse("no layers are found in its passes",
                  "operators of at least two layers in a row that are alike, with their shapes");
  }

 private:
  [[nodiscard]] const RecordedTrace& trace() const { return run_.traces()[trace_]; }

  [[nodiscard]] Failure refuse(std::string what, std::string hint) const {
    return bad_input(std::move(what), trace().file, std::move(hint));
  }

  void collect(const std::vector<std::uint32_t>& calls) {
    const RunGraph& graph = run_.graph();
    const LaunchLinks& links = run_.links(trace_);
    std::unordered_map<std::uint32_t, std::pair<std::size_t, std::size_t>> lanes;
    for (std::uint32_t w = 0; w < graph.works.size(); ++w) {
      const RunWork& work = graph.works[w];
      if (work.trace != trace_ || calls[w] == kNoEvent) continue;
      Launch launch;
      launch.call = calls[w];
      launch.work = w;
      launch.at_ns = replayed_.start_ns[launch.call];
      launch.ends_ns = replayed_.end_ns[launch.call];
      launch.recorded_ns = trace().start_ns[graph.nodes[launch.call].event];
      launch.communicates = run_.communicates(work);
      launch.op = links.inner_operator[work.event];
      std::string_view op;
      std::string_view outer;
      if (launch.op != kNoEvent) {
        launch.outer = links.outer_operator(work.event);
        op = trace().name_of(launch.op);
        outer = trace().name_of(launch.outer);
      }
      launch.backward = outer.starts_with("autograd::engine") || outer.ends_with("Backward") ||
                        outer.ends_with("Backward0");
      if (!launch.communicates) {
        const KernelClass c = kernel_class(trace().name_of(work.event), op, outer);
        launch.optimizes = c == KernelClass::optimizer;
        launch.multiplies = c == KernelClass::matrix_product || c == KernelClass::attention ||
                            c == KernelClass::convolution;
      }
      auto& [all, of_backward] = lanes[graph.nodes[launch.call].lane];
      ++all;
      of_backward += launch.backward ? 1U : 0U;
      launches_.push_back(launch);
    }
    for (Launch& launch : launches_) {
      const auto& [all, of_backward] = lanes[graph.nodes[launch.call].lane];
      if (2 * of_backward > all) launch.backward = true;
    }
    std::ranges::sort(launches_, [](const Launch& a, const Launch& b) {
      return a.at_ns != b.at_ns ? a.at_ns < b.at_ns : a.work < b.work;
    });
  }

  Result<void> find_in(const RunStep& step) {
    // Launches of the window; what optimizes, and all between two such launches, is in no pass.
    std::vector<Run> runs;
    for (std::size_t i = 0; i < launches_.size(); ++i) {
      const Launch& launch = launches_[i];
      if (launch.recorded_ns < step.start_ns || launch.recorded_ns >= step.end_ns) continue;
      if (launch.optimizes && !launch.backward) {
        runs.push_back({i, i, false});  // the step ends
        continue;
      }
      const bool goes_on = !runs.empty() && runs.back().end == i &&
                           runs.back().begin < runs.back().end &&
                           runs.back().backward == launch.backward;
      if (!goes_on) runs.push_back({i, i, launch.backward});
      runs.back().end = i + 1;
    }
    Step passes;
    const auto end_step = [&] {
      if (!passes.empty()) steps_.push_back(std::move(passes));
      passes = {};
    };
    for (const Run& run : runs) {
      if (run.begin == run.end) {
        end_step();
        continue;
      }
      if (!run.backward) {
        if (auto pass = forward_pass(run)) {
          if (!passes.empty() && !passes.back().backward && any_backward()) {
            return refuse("two forward passes follow each other in a step",
                          "a run without pipeline, whose microbatches go forward and backward in "
                          "turn");
          }
          passes.push_back(std::move(*pass));
        }
        continue;
      }
      if (passes.empty()) continue;  // its forward pass is not recorded
      if (passes.back().backward) {
        // Launches of the host in between held no layer: the pass goes on.
        passes.back().end = run.end;
        continue;
      }
      ORRERY_TRY(Pass pass, backward_pass(run, passes.back()));
      passes.push_back(std::move(pass));
    }
    end_step();
    return {};
  }

  [[nodiscard]] bool any_backward() const {
    return std::ranges::any_of(launches_, &Launch::backward);
  }

  // Operators of a run in a row, with what they are; and the launch with which each begins.
  struct Operators {
    std::vector<std::uint32_t> identities;
    std::vector<std::size_t> launches;
  };

  Operators operators(const Run& run) {
    Operators out;
    std::uint32_t previous = kNoEvent;
    for (std::size_t i = run.begin; i < run.end; ++i) {
      const Launch& launch = launches_[i];
      if (launch.communicates) continue;
      if (launch.op != kNoEvent && launch.op == previous) continue;
      previous = launch.op;
      const WorkSubject s = run_.subject(run_.graph().works[launch.work]);
      const auto id = static_cast<std::uint32_t>(identities_.size());
      out.identities.push_back(
          identities_.emplace(fmt::format("{}\n{}", s.op.empty() ? s.kernel : s.op, s.shapes), id)
              .first->second);
      out.launches.push_back(i);
    }
    return out;
  }

  // Layers of one pass decide how many layers all have.
  std::optional<Pass> forward_pass(const Run& run) {
    const Operators ops = operators(run);
    std::optional<Repeat> found;
    if (layers_ == 0) {
      const std::vector<Repeat> all = repeats(ops.identities, kShortestLayer);
      // Layers are a good part of a pass, even where there are two.
      if (!all.empty() && 4 * all.front().length() >= ops.identities.size()) found = all.front();
    } else {
      found = repeated_layers(ops);
    }
    if (!found) return std::nullopt;
    // Optimizers repeat as well.
    const auto first = launches_.begin() + static_cast<std::ptrdiff_t>(ops.launches[found->begin]);
    const auto last =
        launches_.begin() + static_cast<std::ptrdiff_t>(ops.launches[found->begin + found->period]);
    if (std::none_of(first, last, [](const Launch& launch) { return launch.multiplies; })) {
      return std::nullopt;
    }
    layers_ = found->count;
    return pass_of(run, ops, *found);
  }

  // What stands before the layers, they and what stands behind them.
  [[nodiscard]] Pass pass_of(const Run& run, const Operators& ops, const Repeat& repeat) const {
    Pass pass{run.backward, run.end, {run.begin}};
    for (std::size_t l = 0; l <= layers_; ++l) {
      const std::size_t at = repeat.begin + l * repeat.period;
      pass.begins.push_back(at < ops.launches.size() ? ops.launches[at] : run.end);
    }
    return pass;
  }

  // The longest stretch that repeats as often as there are layers.
  [[nodiscard]] std::optional<Repeat> repeated_layers(const Operators& ops) const {
    std::optional<Repeat> found;
    for (const Repeat& r : repeats_of_count(ops.identities, layers_, kShortestLayer)) {
      if (!found || r.length() > found->length()) found = r;
    }
    return found;
  }

  Result<Pass> backward_pass(const Run& run, const Pass& forward) {
    if (auto linked = linked_pass(run, forward)) return std::move(*linked);
    const Operators ops = operators(run);
    const std::optional<Repeat> found = repeated_layers(ops);
    if (!found) {
      return refuse(
          fmt::format("its forward passes have {} layers, a backward pass has not", layers_),
          "recordings link backward to forward operators by sequence numbers");
    }
    return pass_of(run, ops, *found);
  }

  // By the sequence numbers of the operators; nothing where fewer than half of the launches are
  // linked.
  std::optional<Pass> linked_pass(const Run& run, const Pass& forward) {
    const auto number = [&](std::uint32_t event) {
      return event == kNoEvent || trace().details[event] == kNoDetails
                 ? kNotRecorded
                 : trace().operators[trace().details[event]].sequence_number;
    };
    // Forward operators by their time, each in the piece that had begun by then.
    std::vector<std::int64_t> starts;
    for (const std::size_t begin : forward.begins) {
      starts.push_back(begin < launches_.size() && begin < forward.end
                           ? launches_[begin].recorded_ns
                           : launches_[forward.end - 1].recorded_ns + 1);
    }
    const std::uint32_t lane = run_.graph().nodes[launches_[forward.begins[0]].call].lane;
    const std::uint32_t recorded_lane = run_.graph().lanes[lane].lane;
    const std::int64_t until = launches_[run.begin].recorded_ns;
    std::unordered_map<std::int64_t, std::size_t> depth_of;
    const auto from = static_cast<std::size_t>(
        std::lower_bound(trace().start_ns.begin(), trace().start_ns.end(), starts[0]) -
        trace().start_ns.begin());
    for (std::size_t e = from; e < trace().size() && trace().start_ns[e] < until; ++e) {
      if (trace().kind[e] != EventKind::cpu_operator || trace().lane[e] != recorded_lane) continue;
      const std::int64_t n = number(static_cast<std::uint32_t>(e));
      if (n == kNotRecorded || n < 0) continue;
      const auto after = std::upper_bound(starts.begin(), starts.end(), trace().start_ns[e]);
      depth_of[n] =
          static_cast<std::size_t>(after - starts.begin()) - (after == starts.begin() ? 0U : 1U);
    }
    // Of every launch its depth.
    constexpr std::size_t kUnknown = ~std::size_t{0};
    std::vector<std::size_t> depths;
    std::size_t known = 0;
    for (std::size_t i = run.begin; i < run.end; ++i) {
      const auto found = depth_of.find(number(launches_[i].outer));
      depths.push_back(found == depth_of.end() ? kUnknown : found->second);
      known += found == depth_of.end() ? 0U : 1U;
    }
    if (2 * known < depths.size()) return std::nullopt;
    // Where depths above and below a bound are parted with the fewest on the wrong side.
    Pass pass{true, run.end, {run.begin}};
    for (std::size_t index = 1; index < layers_ + 2; ++index) {
      const std::size_t below = layers_ + 2 - index;  // depths below it begin here
      std::size_t wrong = 0;
      for (const std::size_t depth : depths) wrong += depth != kUnknown && depth >= below ? 1U : 0U;
      std::size_t best = wrong;
      std::size_t cut = 0;
      for (std::size_t i = 0; i < depths.size(); ++i) {
        if (depths[i] == kUnknown) continue;
        if (depths[i] >= below) {
          --wrong;
        } else {
          ++wrong;
        }
        if (wrong < best) {
          best = wrong;
          cut = i + 1;
        }
      }
      pass.begins.push_back(std::max(pass.begins.back(), run.begin + cut));
    }
    return pass;
  }

  const EditedRun& run_;
  const ReplayedRun& replayed_;
  std::uint32_t trace_;
  std::vector<Launch> launches_;
  std::map<std::string, std::uint32_t> identities_;
  std::size_t layers_ = 0;
  std::vector<Step> steps_;
};

// From a moment on, the host works for a part.
struct Boundary {
  std::int64_t at_ns = 0;
  std::uint32_t part = 0;
  std::uint32_t call = kNoEvent;  // with which it begins
};

std::vector<Boundary> boundaries(const RankPasses& rank, const TrainingParts& parts) {
  std::vector<Boundary> out;
  const std::vector<Launch>& launches = rank.launches();
  for (std::size_t k = 0; k < rank.steps().size(); ++k) {
    std::size_t microbatch = 0;
    for (std::size_t p = 0; p < rank.steps()[k].size(); ++p) {
      const Pass& pass = rank.steps()[k][p];
      for (std::size_t i = 0; i < pass.begins.size(); ++i) {
        // Pieces that launch nothing begin with the next.
        if (pass.begins[i] >= pass.end) continue;
        if (i + 1 < pass.begins.size() && pass.begins[i + 1] == pass.begins[i]) continue;
        const Launch& first = launches[pass.begins[i]];
        out.push_back({first.at_ns,
                       static_cast<std::uint32_t>(parts.piece(k, microbatch, pass.backward, i)),
                       first.call});
      }
      if (pass.backward || !parts.backward) ++microbatch;
      if (p + 1 == rank.steps()[k].size()) {
        out.push_back(
            {launches[pass.end - 1].ends_ns, static_cast<std::uint32_t>(parts.between(k + 1))});
      }
    }
  }
  return out;
}

// Of what starts then, behind the call that begins the part.
std::uint32_t part_at(const std::vector<Boundary>& boundaries, std::int64_t ns) {
  const auto after = std::ranges::lower_bound(boundaries, ns, {}, &Boundary::at_ns);
  return after == boundaries.begin() ? 0 : std::prev(after)->part;
}

}  // namespace

Result<TrainingPasses> training_passes(const EditedRun& run) {
  const RunGraph& graph = run.graph();
  if (std::ranges::any_of(graph.steps, [](const RunStep& step) { return step.stage > 0; })) {
    return bad_input("an edit before this one made the run a pipeline", "", "write pp last, once");
  }
  const ReplayedRun replayed = replayed_run(graph);
  TrainingPasses out;
  out.launched_by = run.launching_nodes();
  std::vector<RankPasses> ranks;
  for (std::uint32_t t = 0; t < run.traces().size(); ++t) {
    ranks.emplace_back(run, replayed, t, out.launched_by);
    ORRERY_RETURN_IF_ERROR(ranks.back().find());
  }
  TrainingParts& parts = out.parts;
  parts.steps = ranks[0].steps().size();
  parts.layers = ranks[0].layers();
  parts.backward = ranks[0].steps()[0].back().backward;
  parts.microbatches = ranks[0].steps()[0].size() / (parts.backward ? 2 : 1);
  const std::size_t passes = parts.microbatches * (parts.backward ? 2 : 1);
  for (std::size_t t = 0; t < ranks.size(); ++t) {
    const RankPasses& rank = ranks[t];
    if (rank.steps().size() != parts.steps || rank.layers() != parts.layers) {
      return bad_input(fmt::format("{} layers in {} steps; the first rank has {} in {}",
                                   rank.layers(), rank.steps().size(), parts.layers, parts.steps),
                       run.traces()[t].file, "ranks of one run without pipeline");
    }
    for (std::size_t k = 0; k < parts.steps; ++k) {
      if (rank.steps()[k].size() == passes && rank.steps()[k].back().backward == parts.backward) {
        continue;
      }
      return bad_input(fmt::format("step {} has {} passes, the first has {}", k + 1,
                                   rank.steps()[k].size(), passes),
                       run.traces()[t].file, "steps of equal microbatches, each recorded whole");
    }
  }

  out.part_of.assign(graph.nodes.size(), 0);
  std::vector<std::vector<Boundary>> bounds;
  bounds.reserve(ranks.size());
  for (const RankPasses& rank : ranks) bounds.push_back(boundaries(rank, parts));
  std::unordered_map<std::uint32_t, std::uint32_t> begun_by;
  for (const auto& of_rank : bounds) {
    for (const Boundary& b : of_rank) {
      if (b.call != kNoEvent) begun_by[b.call] = b.part;
    }
  }
  for (const RunLane& lane : graph.lanes) {
    if (lane.device) continue;
    std::uint32_t latest = 0;
    for (const std::uint32_t n : lane.nodes) {
      if (const auto begun = begun_by.find(n); begun != begun_by.end()) {
        latest = std::max(latest, begun->second);
      }
      latest = std::max(latest, part_at(bounds[lane.trace], replayed.start_ns[n]));
      out.part_of[n] = latest;
    }
  }
  // Device work follows its launch; without one, the work before it on its stream.
  const std::vector<std::uint32_t> work_of = graph.works_of_nodes();
  for (const RunLane& lane : graph.lanes) {
    if (!lane.device) continue;
    std::uint32_t latest = 0;
    std::size_t pending = 0;  // dispatches before the next work
    for (std::size_t i = 0; i < lane.nodes.size(); ++i) {
      const std::uint32_t w = work_of[lane.nodes[i]];
      if (w == kNoEvent) continue;
      if (out.launched_by[w] != kNoEvent) latest = out.part_of[out.launched_by[w]];
      for (; pending <= i; ++pending) out.part_of[lane.nodes[pending]] = latest;
    }
    for (; pending < lane.nodes.size(); ++pending) out.part_of[lane.nodes[pending]] = latest;
  }
  // What is on no lane goes with what waits for it; a rendezvous, or what an edit added to a
  // device, with what it waits for.
  for (const RunEdge& edge : graph.edges) {
    const RunNode& to = graph.nodes[edge.to];
    if (to.lane != kNoLane && to.event == kNoEvent && graph.lanes[to.lane].device) {
      out.part_of[edge.to] = out.part_of[edge.from];
    }
    if (graph.nodes[edge.from].lane == kNoLane &&
        graph.nodes[edge.from].kind != RunNodeKind::rendezvous) {
      out.part_of[edge.from] = out.part_of[edge.to];
    }
    if (graph.nodes[edge.to].kind == RunNodeKind::rendezvous) {
      out.part_of[edge.to] = out.part_of[edge.from];
    }
  }
  return out;
}

}  // namespace orrery
