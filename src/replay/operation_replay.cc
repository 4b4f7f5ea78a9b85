#include "replay/operation_replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

namespace orrery {
namespace {

constexpr double kClocksDisagreePs = -0.01 * 1e12;

double picoseconds(Seconds s) { return std::nearbyint(s.value() * 1e12); }

// A transfer that ends 10 ms or more before its last participant begins, on its clock, takes 0.
OperationStep step_of(const OperationGraph& graph, std::int32_t step,
                      const std::vector<double>& start, const std::vector<double>& end) {
  OperationStep out;
  out.step = step;
  const double begin = *std::ranges::min_element(start);
  out.recorded = *std::ranges::max_element(end) - begin;
  const std::size_t slots = graph.slots.size();
  for (std::size_t at = 0; at < start.size(); ++at) {
    const OperationSlot& slot = graph.slots[at % slots];
    const std::size_t own = at / slots;
    double ready = begin;
    if (!slot.after.empty()) ready = -1e300;
    for (const std::uint32_t before : slot.after) {
      ready = std::max(ready, end[own * slots + before]);
    }
    out.delay.push_back(start[at] - ready);
    if (!is_communication(slot.type)) {
      out.duration.push_back(end[at] - start[at]);
      continue;
    }
    double met = start[at];
    const std::size_t first = slot.across_ranks ? 0 : own;
    const std::size_t last =
        slot.across_ranks ? static_cast<std::size_t>(graph.data_parallel_ranks) - 1 : first;
    for (std::size_t rank = first; rank <= last; ++rank) {
      for (const std::uint32_t member : slot.group) {
        met = std::max(met, start[rank * slots + member]);
      }
    }
    const double transfer = end[at] - met;
    out.duration.push_back(transfer <= kClocksDisagreePs ? 0 : transfer);
  }
  return out;
}

// The parts of a job, by the name they have in the result.
std::string type_part(OperationType type) {
  if (type == OperationType::forward_send || type == OperationType::forward_recv) {
    return "forward-pp-comm";
  }
  if (type == OperationType::backward_send || type == OperationType::backward_recv) {
    return "backward-pp-comm";
  }
  return std::string(to_text(type));
}

class Replayer {
 public:
  Replayer(const OperationTimeline& timeline, const OperationGraph& graph)
      : timeline_(timeline), graph_(graph), places_(graph.delay_node.size()) {}

  Result<OperationReplay> replayed() {
    steps_ = recorded_operations(timeline_, graph_);
    if (steps_.empty()) {
      return bad_input("no step has all operations of the first", "",
                       "whole steps of every stage and data-parallel rank");
    }
    find_ideal();
    OperationReplay result;
    std::set<std::int32_t> all;
    for (const TimedOperation& o : timeline_.operations) all.insert(o.step);
    result.incomplete_steps = all.size() - steps_.size();
    result.negative_durations = timeline_.negative_durations.size();
    for (const OperationStep& step : steps_) {
      result.steps.push_back({step.step, seconds(step.recorded), seconds(base(step)),
                              seconds(makespan(step.duration)), seconds(ideal_makespan_)});
      no_delay_ += result.steps.back().no_delay.value();
      base_ += result.steps.back().base.value();
    }
    const auto count = static_cast<double>(steps_.size());
    result.slowdown = no_delay_ / count / seconds(ideal_makespan_).value();
    result.launch_slowdown = base_ / no_delay_;
    result.by_data_parallel_rank =
        attributed([&](std::size_t at) { return std::to_string(rank_of(at)); });
    result.by_stage = attributed([&](std::size_t at) { return std::to_string(slot(at).stage); });
    result.by_worker = attributed([&](std::size_t at) {
      return fmt::format("rank {}, stage {}", rank_of(at), slot(at).stage);
    });
    result.by_type = attributed([&](std::size_t at) { return type_part(slot(at).type); });
    return result;
  }

 private:
  static Seconds seconds(double ps) { return Seconds(ps * 1e-12); }
  [[nodiscard]] std::size_t rank_of(std::size_t at) const { return at / graph_.slots.size(); }
  [[nodiscard]] const OperationSlot& slot(std::size_t at) const {
    return graph_.slots[at % graph_.slots.size()];
  }

  void find_ideal() {
    std::array<std::vector<double>, kOperationTypes> by_type;
    for (const OperationStep& step : steps_) {
      for (std::size_t at = 0; at < places_; ++at) {
        by_type[static_cast<std::size_t>(slot(at).type)].push_back(step.duration[at]);
      }
    }
    std::array<double, kOperationTypes> ideal{};
    for (std::size_t t = 0; t < kOperationTypes; ++t) {
      std::vector<double>& all = by_type[t];
      if (all.empty()) continue;
      if (is_communication(static_cast<OperationType>(t))) {
        std::ranges::sort(all);
        const std::size_t n = all.size();
        ideal[t] = (all[(n - 1) / 2] + all[n / 2]) / 2;
      } else {
        ideal[t] = std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
      }
      ideal[t] = std::nearbyint(ideal[t]);
    }
    for (std::size_t at = 0; at < places_; ++at) {
      ideal_.push_back(ideal[static_cast<std::size_t>(slot(at).type)]);
    }
    ideal_makespan_ = makespan(ideal_);
  }

  [[nodiscard]] double simulated(const std::vector<double>& durations,
                                 const std::vector<double>* delays) const {
    std::vector<double> nodes(graph_.run.graph.size(), 0.0);
    for (std::size_t at = 0; at < places_; ++at) {
      nodes[graph_.duration_node[at]] = durations[at];
      if (delays != nullptr) nodes[graph_.delay_node[at]] = (*delays)[at];
    }
    return simulate(graph_.run.graph, nodes).makespan.count();
  }
  [[nodiscard]] double makespan(const std::vector<double>& durations) const {
    return simulated(durations, nullptr);
  }
  [[nodiscard]] double base(const OperationStep& step) const {
    return simulated(step.duration, &step.delay);
  }

  [[nodiscard]] std::vector<PartSlowdown> attributed(
      const std::function<std::string(std::size_t)>& part_of) const {
    std::map<std::string, std::vector<std::size_t>> parts;
    for (std::size_t at = 0; at < places_; ++at) parts[part_of(at)].push_back(at);
    std::vector<PartSlowdown> result;
    for (const auto& [part, places] : parts) {
      double sum = 0;
      for (const OperationStep& step : steps_) {
        std::vector<double> durations = ideal_;
        for (const std::size_t at : places) durations[at] = step.duration[at];
        sum += makespan(durations);
      }
      result.push_back({part, sum / static_cast<double>(steps_.size()) / ideal_makespan_});
    }
    std::ranges::stable_sort(result,
                             [](const auto& a, const auto& b) { return a.slowdown > b.slowdown; });
    return result;
  }

  const OperationTimeline& timeline_;
  const OperationGraph& graph_;
  std::size_t places_;
  std::vector<OperationStep> steps_;
  std::vector<double> ideal_;
  double ideal_makespan_ = 0;
  double no_delay_ = 0;
  double base_ = 0;
};

}  // namespace

std::vector<OperationStep> recorded_operations(const OperationTimeline& timeline,
                                               const OperationGraph& graph) {
  std::map<std::tuple<std::int32_t, OperationType, std::int32_t>, std::size_t> slots;
  for (std::size_t s = 0; s < graph.slots.size(); ++s) {
    slots[{graph.slots[s].stage, graph.slots[s].type, graph.slots[s].sequence}] = s;
  }
  std::vector<OperationStep> out;
  const auto& operations = timeline.operations;
  for (std::size_t from = 0; from < operations.size();) {
    std::size_t to = from;
    std::vector<double> start(graph.delay_node.size(), std::nan(""));
    std::vector<double> end(graph.delay_node.size(), std::nan(""));
    for (; to < operations.size() && operations[to].step == operations[from].step; ++to) {
      const TimedOperation& o = operations[to];
      const auto found = slots.find({o.stage, o.type, o.sequence});
      if (found == slots.end()) continue;
      const std::size_t at =
          static_cast<std::size_t>(o.data_parallel_rank) * graph.slots.size() + found->second;
      start[at] = picoseconds(o.start);
      end[at] = picoseconds(o.end);
    }
    const bool whole = std::ranges::none_of(start, [](double time) { return std::isnan(time); });
    if (whole) out.push_back(step_of(graph, operations[from].step, start, end));
    from = to;
  }
  return out;
}

Result<OperationReplay> replay_operations(const OperationTimeline& timeline) {
  ORRERY_TRY(const OperationGraph graph, operation_graph(timeline));
  return Replayer(timeline, graph).replayed();
}

}  // namespace orrery
