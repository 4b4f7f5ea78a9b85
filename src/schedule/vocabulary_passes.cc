#include "schedule/vocabulary_passes.h"

#include <algorithm>

#include "schedule/timed_order.h"

namespace orrery {
namespace {

struct Pass {
  Picoseconds at;
  PipelineOperation operation;
};

// When the last stage's forwards end and its backwards begin, and the first stage's begin and end.
struct Turns {
  std::vector<Picoseconds> last_forward, last_backward, first_forward, first_backward;
};

Turns turns(const Pipeline& pipeline, const TimedOrder& timed) {
  const auto m = static_cast<std::size_t>(pipeline.shape.microbatches);
  Turns out;
  for (auto* list :
       {&out.last_forward, &out.last_backward, &out.first_forward, &out.first_backward}) {
    list->resize(m);
  }
  for (std::size_t d = 0; d < pipeline.order.size(); ++d) {
    for (std::size_t i = 0; i < pipeline.order[d].size(); ++i) {
      const PipelineOperation& op = pipeline.order[d][i];
      if (op.action == PipelineAction::weight_gradient) continue;
      const std::size_t s = pipeline.stage_of(d, op.chunk);
      const bool forward = op.action == PipelineAction::forward;
      if (s + 1 == pipeline.stages()) {
        (forward ? out.last_forward : out.last_backward)[op.microbatch] =
            forward ? timed.end[d][i] : timed.start[d][i];
      }
      if (s == 0) {
        (forward ? out.first_forward : out.first_backward)[op.microbatch] =
            forward ? timed.start[d][i] : timed.end[d][i];
      }
    }
  }
  return out;
}

// The passes of every device in the order they run in. `broadcast` is how much later than the end
// of the last stage's forward its output is there.
std::vector<Pass> passes(const Turns& t, Picoseconds broadcast, int barriers) {
  const std::size_t m = t.last_forward.size();
  std::vector<Pass> out;
  out.reserve(4 * m);
  const auto add = [&](PipelineAction action, std::size_t j, Picoseconds at) {
    out.push_back({at, {action, 0, static_cast<std::uint32_t>(j)}});
  };
  // Neither is later than the backward that waits for it, nor the logits than their gradient
  // anywhere: so no two devices wait for each other.
  const auto next = [&](std::size_t j) {
    return j + 1 < m ? std::min(t.last_forward[j + 1], t.last_backward[j]) : t.last_backward[j];
  };
  const auto logits = [&](std::size_t j) {
    add(PipelineAction::output_layer, j, std::min(t.last_forward[j] + broadcast, next(j)));
  };
  // Beside the logits of the next microbatch.
  const auto gradient = [&](std::size_t j) {
    add(PipelineAction::output_layer_gradient, j,
        std::min(next(j) + broadcast, t.last_backward[j]));
  };
  for (std::size_t j = 0; j < m; ++j) {
    add(PipelineAction::input_layer, j, j == 0 ? Picoseconds(0) : t.first_forward[j - 1]);
    // Of two barriers the gradient has the second: it goes first.
    if (barriers == 2 && j > 0) gradient(j - 1);
    logits(j);
    if (barriers == 1 && j > 0) gradient(j - 1);
    add(PipelineAction::input_layer_gradient, j, t.first_backward[std::min(j + 1, m - 1)]);
  }
  gradient(m - 1);
  std::ranges::stable_sort(out, {}, &Pass::at);
  return out;
}

}  // namespace

Result<Pipeline> with_vocabulary_passes(Pipeline pipeline, PipelineTimes times, int barriers) {
  // What takes no time would stand at the same moment as what waits for it.
  for (StageTimes& stage : times.stage) {
    for (Picoseconds* time : {&stage.forward, &stage.input_gradient, &stage.backward}) {
      *time = std::max(*time, Picoseconds(1));
    }
  }
  ORRERY_TRY(const TimedOrder timed, timed_order(pipeline, times));
  const Turns known = turns(pipeline, timed);
  const std::vector<Pass> added = passes(known, times.vocabulary.broadcast, barriers);
  for (std::size_t d = 0; d < pipeline.order.size(); ++d) {
    std::vector<PipelineOperation> order;
    order.reserve(pipeline.order[d].size() + added.size());
    auto pass = added.begin();
    for (std::size_t i = 0; i < pipeline.order[d].size(); ++i) {
      for (; pass != added.end() && pass->at <= timed.start[d][i]; ++pass) {
        order.push_back(pass->operation);
      }
      order.push_back(pipeline.order[d][i]);
    }
    for (; pass != added.end(); ++pass) order.push_back(pass->operation);
    pipeline.order[d] = std::move(order);
  }
  pipeline.vocabulary_barriers = barriers;
  return pipeline;
}

}  // namespace orrery
