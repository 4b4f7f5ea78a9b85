#include "schedule/gap_filling.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace orrery {
namespace {

constexpr double kNotYet = -1;
constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();

class Filling {
 public:
  Filling(Pipeline pipeline, const PipelineTimes& times, const GapFilling& filling)
      : out_(std::move(pipeline)),
        times_(times),
        filling_(filling),
        microbatches_(static_cast<std::size_t>(out_.shape.microbatches)),
        end_(2 * out_.stages() * microbatches_, kNotYet),
        first_waiting_(end_.size(), kNobody),
        next_waiting_(out_.order.size(), kNobody),
        device_(out_.order.size()),
        hop_(out_.order.size() * out_.order.size()) {
    const std::size_t p = out_.order.size();
    for (std::size_t a = 0; a < p; ++a) {
      for (std::size_t b = 0; b < p; ++b) {
        hop_[a * p + b] = (times.transfer_between(a, b) + times.latency_between(a, b)).count();
      }
    }
    for (std::size_t s = 0; s < out_.stages(); ++s) memory_.push_back(times.memory_of(s));
    for (std::size_t d = 0; d < p; ++d) {
      device_[d].plan = std::move(out_.order[d]);
      out_.order[d].clear();
      out_.order[d].reserve(device_[d].plan.size() * 3 / 2);
      device_[d].pending.reserve(device_[d].plan.size() / 2);
    }
  }

  Result<FilledPipeline> run() {
    std::vector<std::uint32_t> runnable;
    for (std::uint32_t d = 0; d < device_.size(); ++d) runnable.push_back(d);
    while (!runnable.empty()) {
      const std::uint32_t d = runnable.back();
      runnable.pop_back();
      if (!advance(d, runnable)) return fail(over_limit_);
    }
    double makespan = 0;
    for (const Device& device : device_) {
      if (device.next < device.plan.size()) {
        return fail(ErrorCode::bad_input, "the order of forwards and input gradients deadlocks");
      }
      makespan = std::max(makespan, device.free);
    }
    return FilledPipeline{std::move(out_), Picoseconds(makespan)};
  }

 private:
  struct Device {
    std::vector<PipelineOperation> plan;
    std::size_t next = 0;
    std::vector<PipelineOperation> pending;  // weight gradients, the oldest at `oldest`
    std::size_t oldest = 0;
    double free = 0;  // ps
    double held = 0;
  };

  [[nodiscard]] std::size_t event(bool forward, std::size_t s, std::size_t j) const {
    return ((forward ? 0 : out_.stages()) + s) * microbatches_ + j;
  }

  // Runs what device d can; false if the memory limit cannot be kept.
  bool advance(std::uint32_t d, std::vector<std::uint32_t>& runnable) {
    Device& device = device_[d];
    for (; device.next < device.plan.size(); ++device.next) {
      const PipelineOperation& op = device.plan[device.next];
      const std::size_t s = out_.stage_of(d, op.chunk);
      const bool forward = op.action == PipelineAction::forward;
      double ready = 0;
      if (forward ? s > 0 : s + 1 < out_.stages()) {
        const std::size_t from = forward ? s - 1 : s + 1;
        const std::size_t needed = event(forward, from, op.microbatch);
        if (end_[needed] == kNotYet) return wait(d, needed);
        ready = end_[needed] + hop_[out_.seat(op.microbatch, from).device * device_.size() + d];
      }
      if (!forward) {
        const std::size_t own = event(true, s, op.microbatch);
        if (end_[own] == kNotYet) return wait(d, own);
      }
      fill(d, ready);
      if (forward && !make_room(d, s)) return false;
      const StageTimes& stage = times_.stage[s];
      device.free =
          std::max(device.free, ready) + (forward ? stage.forward : stage.input_gradient).count();
      out_.order[d].push_back(op);
      if (forward) {
        device.held += memory_[s].forward;
      } else {
        device.held += memory_[s].weight_gradient - memory_[s].forward;
        device.pending.push_back({PipelineAction::weight_gradient, op.chunk, op.microbatch});
      }
      const std::size_t done = event(forward, s, op.microbatch);
      end_[done] = device.free;
      for (std::uint32_t w = first_waiting_[done]; w != kNobody; w = next_waiting_[w]) {
        runnable.push_back(w);
      }
    }
    while (device.oldest < device.pending.size()) weight_gradient(d);
    return true;
  }

  bool wait(std::uint32_t d, std::size_t needed) {
    next_waiting_[d] = first_waiting_[needed];
    first_waiting_[needed] = d;
    return true;
  }

  void fill(std::uint32_t d, double until) {
    Device& device = device_[d];
    while (device.free < until && device.oldest < device.pending.size()) {
      if (filling_.gaps == Gaps::whole && device.free + oldest_time(d) > until) return;
      weight_gradient(d);
    }
  }

  bool make_room(std::uint32_t d, std::size_t s) {
    Device& device = device_[d];
    while (device.held + memory_[s].forward > filling_.memory_limit) {
      if (device.oldest == device.pending.size()) {
        over_limit_ = {ErrorCode::bad_input,
                       "a memory limit of " + text(filling_.memory_limit) + " is below the " +
                           text(device.held + memory_[s].forward) + " that device " +
                           std::to_string(d) + " must hold",
                       "", ""};
        return false;
      }
      weight_gradient(d);
    }
    return true;
  }

  static std::string text(double units) {
    std::string out = std::to_string(units);
    out.erase(out.find_last_not_of('0') + 1);
    if (out.back() == '.') out.pop_back();
    return out;
  }

  [[nodiscard]] double oldest_time(std::uint32_t d) const {
    const Device& device = device_[d];
    const std::size_t s = out_.stage_of(d, device.pending[device.oldest].chunk);
    return times_.on(d, times_.stage[s].weight_gradient).count();
  }

  void weight_gradient(std::uint32_t d) {
    Device& device = device_[d];
    device.free += oldest_time(d);
    const PipelineOperation& op = device.pending[device.oldest++];
    device.held -= memory_[out_.stage_of(d, op.chunk)].weight_gradient;
    out_.order[d].push_back(op);
  }

  Pipeline out_;
  const PipelineTimes& times_;
  GapFilling filling_;
  std::size_t microbatches_;
  std::vector<double> end_;  // ps, of every forward, then of every input gradient
  std::vector<std::uint32_t> first_waiting_, next_waiting_;
  std::vector<Device> device_;
  std::vector<double> hop_;  // ps, between every two devices
  std::vector<StageMemory> memory_;
  Error over_limit_;
};

}  // namespace

Result<FilledPipeline> with_weight_gradients(Pipeline pipeline, const PipelineTimes& times,
                                             const GapFilling& filling) {
  return Filling(std::move(pipeline), times, filling).run();
}

}  // namespace orrery
