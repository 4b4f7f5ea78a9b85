#include "schedule/offloading.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "schedule/timed_order.h"

namespace orrery {
namespace {

// The life of one microbatch and chunk on its device: places in the order of the device.
struct Life {
  std::size_t forward = 0;
  std::size_t backward = 0;
};

struct Copy {
  double at;  // ps
  PipelineOperation operation;
};

class DeviceOffloading {
 public:
  DeviceOffloading(const Pipeline& pipeline, const PipelineTimes& times, const TimedOrder& timed,
                   std::size_t device)
      : pipeline_(pipeline),
        times_(times),
        order_(pipeline.order[device]),
        start_(timed.start[device]),
        end_(timed.end[device]),
        device_(device),
        chunks_(static_cast<std::size_t>(pipeline.chunks_held)),
        lives_(chunks_ * static_cast<std::size_t>(pipeline.shape.microbatches)),
        offloads_(lives_.size()) {
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const PipelineOperation& op = order_[i];
      if (op.action == PipelineAction::weight_gradient) continue;
      Life& life = lives_[index(op)];
      (op.action == PipelineAction::forward ? life.forward : life.backward) = i;
    }
  }

  std::vector<PipelineOperation> run(double share) {
    choose(share);
    offload();
    reload();
    return merged();
  }

 private:
  [[nodiscard]] std::size_t index(const PipelineOperation& op) const {
    return op.microbatch * chunks_ + op.chunk;
  }
  [[nodiscard]] const StageTimes& stage(std::size_t chunk) const {
    return times_.stage[pipeline_.stage_of(device_, chunk)];
  }
  [[nodiscard]] double round_trip(std::size_t chunk) const {
    return (stage(chunk).offload + stage(chunk).reload).count();
  }
  [[nodiscard]] double idle(const Life& life) const {
    return (start_[life.backward] - end_[life.forward]).count();
  }
  // What a reload should come ahead of its backward, so that nobody waits for it.
  [[nodiscard]] double ahead(const Life& life) const {
    return (end_[life.backward] - start_[life.backward]).count();
  }

  // How much of each chunk, by its longest lives.
  void choose(double share) {
    const std::size_t m = lives_.size() / chunks_;
    std::vector<double> held(chunks_);
    double compute = 0;
    for (std::size_t c = 0; c < chunks_; ++c) {
      for (std::size_t j = 0; j < m; ++j) held[c] += idle(lives_[j * chunks_ + c]);
      compute += (stage(c).forward + stage(c).input_gradient + stage(c).weight_gradient).count();
    }
    std::vector<std::size_t> longest(chunks_);
    std::iota(longest.begin(), longest.end(), std::size_t{0});
    std::ranges::stable_sort(longest,
                             [&](std::size_t a, std::size_t b) { return held[a] > held[b]; });
    double chunks_left = share * static_cast<double>(chunks_);
    for (const std::size_t c : longest) {
      const double trip = round_trip(c);
      const double part = std::min({1.0, chunks_left, trip > 0 ? compute / trip : 1.0});
      chunks_left -= part;
      compute -= part * trip;
      for (std::size_t j = 0; j < m; ++j) {
        const Life& life = lives_[j * chunks_ + c];
        const bool one_of_so_many = std::floor(static_cast<double>(j + 1) * part + 1e-9) >
                                    std::floor(static_cast<double>(j) * part + 1e-9);
        offloads_[j * chunks_ + c] = one_of_so_many && idle(life) - ahead(life) > 3 * trip ? 1 : 0;
      }
    }
  }

  // A send takes the link to the host, in the order of the forwards.
  void offload() {
    sent_.assign(lives_.size(), 0);
    double free = 0;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const PipelineOperation& op = order_[i];
      if (op.action != PipelineAction::forward || offloads_[index(op)] == 0) continue;
      const double at = std::max(free, end_[i].count());
      free = at + round_trip(op.chunk);
      sent_[index(op)] = at;
    }
  }

  // A fetch takes the link back, from the last backward to the first.
  void reload() {
    double until = end_.empty() ? 0 : end_.back().count();
    for (std::size_t i = order_.size(); i-- > 0;) {
      const PipelineOperation& op = order_[i];
      if (op.action == PipelineAction::forward || op.action == PipelineAction::weight_gradient ||
          offloads_[index(op)] == 0) {
        continue;
      }
      const double arrives = std::min(until, start_[i].count() - ahead(lives_[index(op)]));
      const double at = arrives - stage(op.chunk).reload.count();
      const double sent = sent_[index(op)];
      if (at < sent + stage(op.chunk).offload.count()) continue;
      until = arrives - round_trip(op.chunk);
      copies_.push_back({sent, {PipelineAction::offload, op.chunk, op.microbatch}});
      copies_.push_back({at, {PipelineAction::reload, op.chunk, op.microbatch}});
    }
  }

  std::vector<PipelineOperation> merged() {
    // What takes no time: the offload of a pair first.
    std::ranges::stable_sort(copies_, [](const Copy& a, const Copy& b) {
      return a.at != b.at ? a.at < b.at : a.operation.action < b.operation.action;
    });
    std::vector<PipelineOperation> out;
    out.reserve(order_.size() + copies_.size());
    auto copy = copies_.begin();
    for (std::size_t i = 0; i < order_.size(); ++i) {
      for (; copy != copies_.end() && copy->at < end_[i].count(); ++copy) {
        out.push_back(copy->operation);
      }
      out.push_back(order_[i]);
    }
    return out;
  }

  const Pipeline& pipeline_;
  const PipelineTimes& times_;
  const std::vector<PipelineOperation>& order_;
  const std::vector<Picoseconds>& start_;
  const std::vector<Picoseconds>& end_;
  std::size_t device_, chunks_;
  std::vector<Life> lives_;     // [microbatch * chunks + chunk]
  std::vector<char> offloads_;  // of each life
  std::vector<double> sent_;    // ps, of each life that is
  std::vector<Copy> copies_;
};

}  // namespace

Result<Pipeline> with_offloading(Pipeline pipeline, const PipelineTimes& times, double share) {
  ORRERY_TRY(const TimedOrder timed, timed_order(pipeline, times));
  for (std::size_t d = 0; d < pipeline.order.size(); ++d) {
    pipeline.order[d] = DeviceOffloading(pipeline, times, timed, d).run(share);
  }
  return pipeline;
}

}  // namespace orrery
