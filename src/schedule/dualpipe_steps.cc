#include "schedule/dualpipe_steps.h"

#include <deque>

namespace orrery {
namespace {

class Steps {
 public:
  Steps(int half, int place, int microbatches, const DualPipePhase (&phases)[2])
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
  const DualPipePhase (&phases_)[2];
  std::uint32_t next_f_[2], next_b_[2];
  std::deque<PipelineOperation> queued_;
  std::vector<PipelineOperation> out_;
};

}  // namespace

std::vector<PipelineOperation> dualpipe_steps(int half, int place, int microbatches_a_phase,
                                              const DualPipePhase (&phases)[2]) {
  return Steps(half, place, microbatches_a_phase, phases).run();
}

}  // namespace orrery
