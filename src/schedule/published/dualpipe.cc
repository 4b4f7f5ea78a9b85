// DualPipe and DualPipeV: forwards of one phase paired with full backwards of the other.
//
// A device holds two phases (chunks), and microbatches pass phase 0 first. H is half the ranks of a
// round trip, r in 0..H-1 the place of the device from the entry, n the microbatches of a phase:
//   1. 2(H-r-1) x F0
//   2. (r+1) x [F0, F1]
//   3. (H-r-1) x [B1, W1, F1]
//   4. (n-2H+r+1) x [FB(F0, B1), FB(F1, B0)]; at r = H-1 the very first pair is F0, then BW1
//   5. (H-r-1) x [BW1, FB(F1, B0)]
//   6. (r+1) x [BW1, BW0]; in the second half, from turn (r+1)/2 (rounded down) on, they are split
//      and W is queued; in that turn itself only the second one if r is even
//   7. (H-r-1) x [W, B0]
//   8. (r+1) x W
// FB is a forward and a full backward of another microbatch run as one, W the oldest queued weight
// gradient.
//
// DualPipe: microbatches enter from both ends. p even, m even, m >= 2p. Device r holds stage r of
// the way down and stage p-1-r of the way up; the first m/2 microbatches go down; H = p/2, and r is
// counted from the nearer end.
//
//   The middle devices idle (p/2 - 1)(FB + BW - 3W), the others as much or less, where FB is the
//   time of forward_and_backward. p + 1 microbatches are in flight on every device. Weights are
//   held twice.
//
// DualPipeV: half of DualPipe, so that the weights are held once. m >= 2p. Device r holds stages
// r and 2p-1-r (a V), its two phases; H = p.
//
//   Device p-1 idles (p-1)(FB + BW - 3W) in times of a chunk, the others as much or less. 2p + 1
//   microbatches of a chunk are in flight on every device.
//
// Source: arXiv 2412.19437 and its DualPipe repository. Not modelled here: the overlap inside a
// pair with its all-to-all; it is part of the stated time.
#include <algorithm>
#include <deque>

#include "schedule/placement.h"
#include "schedule/published/published_schedules.h"

namespace orrery {
namespace {

struct Phase {
  std::uint16_t chunk = 0;
  std::uint32_t first = 0;  // its microbatches are first, first + 1 and so on
};

// The order of one device.
class Steps {
 public:
  Steps(int half, int place, int microbatches, const Phase (&phases)[2])
      : half_(half), place_(place), microbatches_(microbatches), phases_(phases) {
    for (int phase = 0; phase < 2; ++phase) next_f_[phase] = next_b_[phase] = phases[phase].first;
    out_.reserve(6 * static_cast<std::size_t>(microbatches));
  }

  std::vector<PipelineOperation> run() {
    const int before = half_ - place_ - 1;
    times(2 * before, [&](int) { forward(0); });
    times(place_ + 1, [&](int) { forward(0), forward(1); });
    times(before, [&](int) { input_gradient(1), weight_gradient(), forward(1); });
    times(microbatches_ - 2 * half_ + place_ + 1, [&](int k) {
      if (k == 0 && place_ == half_ - 1) {
        forward(0), backward(1);
      } else {
        pair(0, 1);
      }
      pair(1, 0);
    });
    times(before, [&](int) { backward(1), pair(1, 0); });
    const int middle = (place_ + 1) / 2;
    times(place_ + 1, [&](int k) {
      k > middle || (k == middle && place_ % 2 == 1) ? input_gradient(1) : backward(1);
      k >= middle ? input_gradient(0) : backward(0);
    });
    times(before, [&](int) { weight_gradient(), input_gradient(0); });
    times(place_ + 1, [&](int) { weight_gradient(); });
    return std::move(out_);
  }

 private:
  template <class Step>
  static void times(int count, Step step) {
    for (int k = 0; k < count; ++k) step(k);
  }
  void forward(int phase) {
    out_.push_back({PipelineAction::forward, phases_[phase].chunk, next_f_[phase]++});
  }
  void backward(int phase) {
    out_.push_back({PipelineAction::backward, phases_[phase].chunk, next_b_[phase]++});
  }
  void input_gradient(int phase) {
    queued_.push_back({PipelineAction::weight_gradient, phases_[phase].chunk, next_b_[phase]});
    out_.push_back({PipelineAction::input_gradient, phases_[phase].chunk, next_b_[phase]++});
  }
  void weight_gradient() {
    out_.push_back(queued_.front());
    queued_.pop_front();
  }
  void pair(int f, int b) {
    out_.push_back({PipelineAction::forward_and_backward, phases_[f].chunk, next_f_[f]++,
                    phases_[b].chunk, next_b_[b]++});
  }

  int half_, place_, microbatches_;
  const Phase (&phases_)[2];
  std::uint32_t next_f_[2], next_b_[2];
  std::deque<PipelineOperation> queued_;
  std::vector<PipelineOperation> out_;
};

constexpr auto kBothWays = bidirectional_virtual_stage<loop_virtual_stage>;

std::string too_few(const std::string& name, const PipelineShape& shape) {
  return name + " needs two microbatches a device: " + std::to_string(shape.microbatches) +
         " microbatches are below " + std::to_string(2 * shape.devices);
}

std::vector<std::string> dualpipe_problems(const ScheduleRequest& request) {
  const PipelineShape& shape = request.shape;
  std::vector<std::string> out;
  if (shape.devices % 2 != 0) {
    out.push_back("dualpipe runs two directions over an even number of devices, not " +
                  std::to_string(shape.devices));
  }
  if (shape.microbatches % 2 != 0) {
    out.push_back("dualpipe sends half of the microbatches each way: " +
                  std::to_string(shape.microbatches) + " microbatches are not a multiple of 2");
  }
  if (shape.microbatches < 2 * shape.devices) out.push_back(too_few("dualpipe", shape));
  return out;
}

Result<Pipeline> dualpipe(const ScheduleRequest& request) {
  const PipelineShape& shape = request.shape;
  Pipeline out = placed(shape, 2, kBothWays);
  const int p = shape.devices;
  const int half = shape.microbatches / 2;
  out.route.assign(static_cast<std::size_t>(shape.microbatches), 1);
  std::fill_n(out.route.begin(), half, std::uint16_t{0});
  const Phase down{0, 0};
  const Phase up{1, static_cast<std::uint32_t>(half)};
  const Phase from_first[2] = {down, up};
  const Phase from_last[2] = {up, down};
  for (int r = 0; r < p; ++r) {
    out.order[static_cast<std::size_t>(r)] =
        Steps(p / 2, std::min(r, p - 1 - r), half, r < p / 2 ? from_first : from_last).run();
  }
  return out;
}

std::vector<std::string> dualpipev_problems(const ScheduleRequest& request) {
  const PipelineShape& shape = request.shape;
  if (shape.microbatches >= 2 * shape.devices) return {};
  return {too_few("dualpipev", shape)};
}

Result<Pipeline> dualpipev(const ScheduleRequest& request) {
  const PipelineShape& shape = request.shape;
  Pipeline out = placed(shape, 1, snake_virtual_stage);
  const Phase phases[2] = {{0, 0}, {1, 0}};
  for (int r = 0; r < shape.devices; ++r) {
    out.order[static_cast<std::size_t>(r)] =
        Steps(shape.devices, r, shape.microbatches, phases).run();
  }
  return out;
}

}  // namespace

const Schedule kDualPipe{
    .name = "dualpipe",
    .summary = "both directions at once, forwards paired with backwards (arXiv 2412.19437)",
    .chunks = 1,
    .routes = 2,
    .splits_backward = true,
    .pairs_passes = true,
    .problems = dualpipe_problems,
    .virtual_stage = kBothWays,
    .pipeline = dualpipe};

const Schedule kDualPipeV{
    .name = "dualpipev",
    .summary = "DualPipe cut in half: a V, forwards paired with backwards (arXiv 2412.19437)",
    .chunks = 2,
    .splits_backward = true,
    .pairs_passes = true,
    .problems = dualpipev_problems,
    .virtual_stage = snake_virtual_stage,
    .pipeline = dualpipev};

}  // namespace orrery
