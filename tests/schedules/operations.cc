#include "schedules/operations.h"

#include <array>
#include <vector>

namespace orrery {
namespace {

enum What : std::size_t { forward, input, weight, offload, reload, whats };
constexpr std::array kOperationNames = {"forward", "input gradient", "weight gradient", "offload",
                                        "reload"};

class Counts {
 public:
  explicit Counts(const Pipeline& pipeline)
      : pipeline_(pipeline),
        microbatches_(static_cast<std::size_t>(pipeline.shape.microbatches)),
        count_(pipeline.stages() * microbatches_) {}

  void add(std::size_t d, std::size_t chunk, std::size_t j, What what) {
    const std::size_t s = pipeline_.stage_of(d, chunk);
    if (pipeline_.seat(j, s) !=
        Seat{static_cast<std::uint32_t>(d), static_cast<std::uint16_t>(chunk)}) {
      wrong_ = name(what, s, j) + " on device " + std::to_string(d) + ", which is not on its route";
    }
    ++count_[s * microbatches_ + j][what];
  }

  [[nodiscard]] std::string wrong() const {
    if (!wrong_.empty()) return wrong_;
    for (std::size_t s = 0; s < pipeline_.stages(); ++s) {
      for (std::size_t j = 0; j < microbatches_; ++j) {
        const auto& n = count_[s * microbatches_ + j];
        for (const What what : {forward, input, weight}) {
          if (n[what] != 1) return name(what, s, j) + " " + std::to_string(n[what]) + " times";
        }
        if (n[offload] != n[reload] || n[offload] > 1) return name(offload, s, j);
      }
    }
    return "";
  }

 private:
  static std::string name(What what, std::size_t s, std::size_t j) {
    return std::string(kOperationNames[what]) + " of stage " + std::to_string(s) + ", microbatch " +
           std::to_string(j);
  }

  const Pipeline& pipeline_;
  std::size_t microbatches_;
  std::vector<std::array<int, whats>> count_;
  std::string wrong_;
};

}  // namespace

std::string wrong_operations(const Pipeline& pipeline) {
  Counts counts(pipeline);
  for (std::size_t d = 0; d < pipeline.order.size(); ++d) {
    std::array<std::size_t, 4> vocabulary{};
    for (const PipelineOperation& op : pipeline.order[d]) {
      const auto add = [&](What what) { counts.add(d, op.chunk, op.microbatch, what); };
      switch (op.action) {
        case PipelineAction::forward:
          add(forward);
          break;
        case PipelineAction::backward:
          add(input), add(weight);
          break;
        case PipelineAction::input_gradient:
          add(input);
          break;
        case PipelineAction::weight_gradient:
          add(weight);
          break;
        case PipelineAction::forward_and_backward:
          add(forward);
          counts.add(d, op.backward_chunk, op.backward_microbatch, input);
          counts.add(d, op.backward_chunk, op.backward_microbatch, weight);
          break;
        case PipelineAction::offload:
          add(offload);
          break;
        case PipelineAction::reload:
          add(reload);
          break;
        default:  // in the order of the microbatches, on every device
          if (op.microbatch !=
              vocabulary[static_cast<std::size_t>(op.action) -
                         static_cast<std::size_t>(PipelineAction::output_layer)]++) {
            return "vocabulary passes out of order on device " + std::to_string(d);
          }
          break;
      }
    }
    for (const std::size_t n : vocabulary) {
      if (n != (pipeline.vocabulary_barriers > 0
                    ? static_cast<std::size_t>(pipeline.shape.microbatches)
                    : 0)) {
        return std::to_string(n) + " vocabulary passes on device " + std::to_string(d);
      }
    }
  }
  return counts.wrong();
}

}  // namespace orrery
