#include "schedule/gap_filling.h"

#include <algorithm>
#include <string>
#include <vector>

#include "schedule/linear_order.h"
#include "schedule/order_problem.h"

namespace orrery {
namespace {

class Filling {
 public:
  Filling(Pipeline pipeline, const PipelineTimes& times, Gaps gaps, double memory_limit)
      : out_(std::move(pipeline)),
        times_(times),
        gaps_(gaps),
        memory_limit_(memory_limit),
        microbatches_(static_cast<std::size_t>(out_.shape.microbatches)),
        ended_(2 * out_.stages() * microbatches_),
        device_(out_.order.size()) {}

  Result<FilledPipeline> run() {
    const auto linear = linear_order(out_);
    if (!linear) return bad_input("the order of forwards and input gradients deadlocks");
    for (std::size_t d = 0; d < device_.size(); ++d) {
      device_[d].pending.reserve(out_.order[d].size() / 2);
      out_.order[d].clear();
      out_.order[d].reserve(device_[d].pending.capacity() * 3);
    }
    for (const auto& [d, op] : *linear) ORRERY_RETURN_IF_ERROR(place(d, op));
    Picoseconds makespan;
    for (std::size_t d = 0; d < device_.size(); ++d) {
      while (pending(d)) weight_gradient(d);
      makespan = std::max(makespan, device_[d].free);
    }
    return FilledPipeline{std::move(out_), makespan};
  }

 private:
  struct Device {
    std::vector<PipelineOperation> pending;  // weight gradients, the oldest at `oldest`
    std::size_t oldest = 0;
    Picoseconds free;
    double held = 0;
  };

  [[nodiscard]] Picoseconds& end_of(bool forward, std::size_t s, std::size_t j) {
    return ended_[((forward ? 0 : out_.stages()) + s) * microbatches_ + j];
  }
  [[nodiscard]] bool pending(std::size_t d) const {
    return device_[d].oldest < device_[d].pending.size();
  }

  // Error: the memory limit cannot be kept.
  Result<void> place(std::size_t d, const PipelineOperation& op) {
    Device& device = device_[d];
    const std::size_t s = out_.stage_of(d, op.chunk);
    const bool forward = op.action == PipelineAction::forward;
    Picoseconds ready;
    if (forward ? s > 0 : s + 1 < out_.stages()) {
      const std::size_t from = forward ? s - 1 : s + 1;
      ready = end_of(forward, from, op.microbatch) +
              times_.hop(out_.seat(op.microbatch, from).device, d);
    }
    while (device.free < ready && pending(d)) {
      if (gaps_ == Gaps::whole && device.free + oldest_time(d) > ready) break;
      weight_gradient(d);
    }
    const StageMemory memory = times_.memory_of(s);
    while (forward && device.held + memory.forward > memory_limit_) {
      if (!pending(d)) {
        return bad_input("a memory limit of " + memory_text(memory_limit_) + " is below the " +
                         memory_text(device.held + memory.forward) + " that device " +
                         std::to_string(d) + " must hold");
      }
      weight_gradient(d);
    }
    const StageTimes& stage = times_.stage[s];
    device.free = std::max(device.free, ready) + (forward ? stage.forward : stage.input_gradient);
    device.held += forward ? memory.forward : memory.weight_gradient - memory.forward;
    out_.order[d].push_back(op);
    if (!forward) {
      device.pending.push_back({PipelineAction::weight_gradient, op.chunk, op.microbatch});
    }
    end_of(forward, s, op.microbatch) = device.free;
    return {};
  }

  [[nodiscard]] Picoseconds oldest_time(std::size_t d) const {
    const std::size_t s = out_.stage_of(d, device_[d].pending[device_[d].oldest].chunk);
    return times_.on(d, times_.stage[s].weight_gradient);
  }

  void weight_gradient(std::size_t d) {
    Device& device = device_[d];
    device.free += oldest_time(d);
    const PipelineOperation& op = device.pending[device.oldest++];
    device.held -= times_.memory_of(out_.stage_of(d, op.chunk)).weight_gradient;
    out_.order[d].push_back(op);
  }

  Pipeline out_;
  const PipelineTimes& times_;
  Gaps gaps_;
  double memory_limit_;
  std::size_t microbatches_;
  std::vector<Picoseconds> ended_;  // every forward, then every input gradient
  std::vector<Device> device_;
};

}  // namespace

Result<FilledPipeline> with_weight_gradients(Pipeline pipeline, const PipelineTimes& times,
                                             Gaps gaps, double memory_limit) {
  return Filling(std::move(pipeline), times, gaps, memory_limit).run();
}

}  // namespace orrery
