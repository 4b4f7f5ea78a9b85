#include "schedule/timed_order.h"

#include <algorithm>
#include <limits>

namespace orrery {
namespace {

constexpr double kNotYet = -1;
constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();

class Timing {
 public:
  Timing(const Pipeline& pipeline, const PipelineTimes& times)
      : pipeline_(pipeline),
        times_(times),
        microbatches_(static_cast<std::size_t>(pipeline.shape.microbatches)),
        ended_(2 * pipeline.stages() * microbatches_, kNotYet),
        first_waiting_(ended_.size(), kNobody),
        next_waiting_(pipeline.order.size(), kNobody),
        next_(pipeline.order.size()),
        free_(pipeline.order.size()) {
    const std::size_t p = pipeline.order.size();
    for (std::size_t a = 0; a < p; ++a) {
      for (std::size_t b = 0; b < p; ++b) {
        hop_.push_back((times.transfer_between(a, b) + times.latency_between(a, b)).count());
      }
    }
    out_.start.resize(p);
    out_.end.resize(p);
    for (std::size_t d = 0; d < p; ++d) {
      out_.start[d].reserve(pipeline.order[d].size());
      out_.end[d].reserve(pipeline.order[d].size());
      runnable_.push_back(static_cast<std::uint32_t>(d));
    }
  }

  Result<TimedOrder> run() {
    while (!runnable_.empty()) {
      const std::uint32_t d = runnable_.back();
      runnable_.pop_back();
      advance(d);
    }
    double makespan = 0;
    for (std::size_t d = 0; d < free_.size(); ++d) {
      if (next_[d] < pipeline_.order[d].size()) {
        return fail(ErrorCode::bad_input, "the order of the operations deadlocks");
      }
      makespan = std::max(makespan, free_[d]);
    }
    out_.makespan = Picoseconds(makespan);
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::size_t event(bool forward, std::size_t s, std::size_t j) const {
    return ((forward ? 0 : pipeline_.stages()) + s) * microbatches_ + j;
  }

  // When what `op` waits for has arrived; if it has not ended yet, the device waits for it.
  bool arrival(std::uint32_t d, const PipelineOperation& op, std::size_t s, double& ready) {
    ready = 0;
    if (op.action == PipelineAction::weight_gradient) return true;
    const bool forward = op.action == PipelineAction::forward;
    if (!forward && wait(d, event(true, s, op.microbatch))) return false;
    if (forward ? s == 0 : s + 1 == pipeline_.stages()) return true;
    const std::size_t from = forward ? s - 1 : s + 1;
    const std::size_t needed = event(forward, from, op.microbatch);
    if (wait(d, needed)) return false;
    ready = ended_[needed] + hop_[pipeline_.seat(op.microbatch, from).device * free_.size() + d];
    return true;
  }

  bool wait(std::uint32_t d, std::size_t needed) {
    if (ended_[needed] != kNotYet) return false;
    next_waiting_[d] = first_waiting_[needed];
    first_waiting_[needed] = d;
    return true;
  }

  void advance(std::uint32_t d) {
    const auto& order = pipeline_.order[d];
    for (; next_[d] < order.size(); ++next_[d]) {
      const PipelineOperation& op = order[next_[d]];
      const std::size_t s = pipeline_.stage_of(d, op.chunk);
      double ready = 0;
      if (!arrival(d, op, s, ready)) return;
      const StageTimes& stage = times_.stage[s];
      const double start = std::max(free_[d], ready);
      out_.start[d].emplace_back(start);
      const Picoseconds time = op.action == PipelineAction::forward    ? stage.forward
                               : op.action == PipelineAction::backward ? stage.backward
                               : op.action == PipelineAction::input_gradient
                                   ? stage.input_gradient
                                   : stage.weight_gradient;
      free_[d] = start + times_.on(d, time).count();
      out_.end[d].emplace_back(free_[d]);
      if (op.action == PipelineAction::weight_gradient) continue;
      const std::size_t done = event(op.action == PipelineAction::forward, s, op.microbatch);
      ended_[done] = free_[d];
      for (std::uint32_t w = first_waiting_[done]; w != kNobody; w = next_waiting_[w]) {
        runnable_.push_back(w);
      }
    }
  }

  const Pipeline& pipeline_;
  const PipelineTimes& times_;
  std::size_t microbatches_;
  std::vector<double> ended_;  // ps, of every forward, then of every input gradient
  std::vector<std::uint32_t> first_waiting_, next_waiting_, runnable_;
  std::vector<std::size_t> next_;
  std::vector<double> free_;  // ps
  std::vector<double> hop_;   // ps, between every two devices
  TimedOrder out_;
};

}  // namespace

Result<TimedOrder> timed_order(const Pipeline& pipeline, const PipelineTimes& times) {
  return Timing(pipeline, times).run();
}

}  // namespace orrery
