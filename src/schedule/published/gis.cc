// The grouped interleaved schedule: interleaved 1F1B in groups smaller than the pipeline, with the
// weight gradient split off and a regular sequence of forward, input gradient, weight gradient.
//
//   g in ceil(p/2)..p (the default is the smallest). The forwards in virtual order: group by
//   group, chunk by chunk; the backwards the same with chunk v-1-c. Device i begins with
//   (v-1) g + p - i forwards, then one B, its W and one forward in turn, then the remaining B and
//   W. If the last group is not full, its missing microbatches are left out.
//
//   (v-1) g + p - i microbatches of a chunk are in flight on device i if there are as many: with
//   g = p/2 (p/2)(1 + 1/v) microbatches, against p (1 + (p-1)/(p v)) of interleaved 1F1B.
//
// PipeOffload: the same order with the copies below: of all activations (PO-F), or of the
// half with the longest lifetimes (PO-H), as far as the link to the host can carry them. If it can
// carry all, the memory of a device does not grow with p or m. The times of a
// copy are those of the stage (offload, reload); without them copies take no time.
//
// Source: arXiv 2503.01328 (generalised interleaved schedules, PO-F, PO-H). Not here: recomputation
// of some chunks.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "outcome/result.h"
#include "schedule/pipeline.h"
#include "schedule/pipeline_times.h"
#include "schedule/placement.h"
#include "schedule/published/published_schedules.h"
#include "schedule/timed_order.h"

namespace orrery {
namespace {

// Copies activations to host memory between a forward and its backward, and back in time.
//
// The order is timed as given. A round trip r is an offload and a reload of a microbatch and chunk.
//   Which: the chunks of a device with the longest lifetimes, up to `share` of all its chunks and
//   as many as the link can carry: the sum of r over them is at most F + B + W of all its chunks,
//   for one microbatch (k <= 1 in the notation of the paper). A part of a chunk means one in so
//   many microbatches. Only activations that are idle for more than three round trips are copied.
//   When: offloads follow each other at a distance of r from the end of their forward. Reloads are
//   placed from the last backward to the first, at a distance of r, so that each arrives the time
//   of one backward before it is needed. A pair whose reload would begin before its offload ends is
//   not offloaded.
// In the order of its device, a copy comes before the operation that is running when it begins.
//
// Source: arXiv 2503.01328 (selective offload by lifespan, k). Not modelled: two devices that share
// a link to the host; forwards of the warm-up postponed to their consumers.

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

// `share`, from 0 to 1, of the activations of every device. Error: the order deadlocks. O(n log n).
Result<Pipeline> with_offloading(Pipeline pipeline, const PipelineTimes& times, double share) {
  ORRERY_TRY(const TimedOrder timed, timed_order(pipeline, times));
  for (std::size_t d = 0; d < pipeline.order.size(); ++d) {
    pipeline.order[d] = DeviceOffloading(pipeline, times, timed, d).run(share);
  }
  return pipeline;
}

int smallest_group(const PipelineShape& shape) { return (shape.devices + 1) / 2; }

int gis_group(const ScheduleRequest& request) {
  return request.group > 0 ? request.group : smallest_group(request.shape);
}

std::vector<std::string> gis_problems(const ScheduleRequest& request) {
  const int group = gis_group(request);
  const int p = request.shape.devices;
  if (group >= smallest_group(request.shape) && group <= p) return {};
  return {"gis passes microbatches in groups of " + std::to_string(smallest_group(request.shape)) +
          " to " + std::to_string(p) + " on " + std::to_string(p) + " devices, not " +
          std::to_string(group)};
}

int gis_warm_up(const PipelineShape& shape, int group, int device) {
  return (shape.chunks - 1) * group + shape.devices - device;
}

Result<Pipeline> gis_order(const ScheduleRequest& request) {
  const PipelineShape& shape = request.shape;
  const int g = gis_group(request);
  const int v = shape.chunks;
  const int m = shape.microbatches;
  Pipeline out = placed(shape, 1, loop_virtual_stage);
  const int places = (m + g - 1) / g * g * v;
  const auto microbatch = [&](int k) { return k / (g * v) * g + k % g; };
  const auto chunk = [&](int k) { return k / g % v; };
  for (int device = 0; device < shape.devices; ++device) {
    auto& operations = out.order[static_cast<std::size_t>(device)];
    operations.reserve(3 * static_cast<std::size_t>(m) * static_cast<std::size_t>(v));
    const auto add = [&](PipelineAction action, int c, int k) {
      if (k >= places || microbatch(k) >= m) return;
      operations.push_back(
          {action, static_cast<std::uint16_t>(c), static_cast<std::uint32_t>(microbatch(k))});
    };
    const int ahead = gis_warm_up(shape, g, device);
    for (int k = 0; k < ahead; ++k) add(PipelineAction::forward, chunk(k), k);
    for (int k = 0; k < places; ++k) {
      add(PipelineAction::input_gradient, v - 1 - chunk(k), k);
      add(PipelineAction::weight_gradient, v - 1 - chunk(k), k);
      add(PipelineAction::forward, chunk(ahead + k), ahead + k);
    }
  }
  return out;
}

template <int percent>
Result<Pipeline> offloaded(const ScheduleRequest& request) {
  ORRERY_TRY(Pipeline out, gis_order(request));
  return with_offloading(std::move(out), times_or_unit(request), percent / 100.0);
}

}  // namespace

const Schedule kGis{.name = "gis",
                    .summary =
                        "interleaved in groups smaller than the pipeline, backward split "
                        "(arXiv 2503.01328)",
                    .splits_backward = true,
                    .problems = gis_problems,
                    .virtual_stage = loop_virtual_stage,
                    .pipeline = gis_order,
                    .longest_run = gis_group};

const Schedule kPipeOffloadFull{
    .name = "pipeoffload_full",
    .summary = "gis with the activations in host memory in between (arXiv 2503.01328)",
    .splits_backward = true,
    .made_for_times = true,
    .problems = gis_problems,
    .virtual_stage = loop_virtual_stage,
    .pipeline = offloaded<100>};

const Schedule kPipeOffloadHalf{
    .name = "pipeoffload_half",
    .summary =
        "gis with the longest held half of the activations in host memory "
        "(arXiv 2503.01328)",
    .splits_backward = true,
    .made_for_times = true,
    .problems = gis_problems,
    .virtual_stage = loop_virtual_stage,
    .pipeline = offloaded<50>};

}  // namespace orrery
