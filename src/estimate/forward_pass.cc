#include "estimate/forward_pass.h"

#include <algorithm>

namespace orrery {
namespace {

// Calls `visit` with every block of a device.
template <class Visit>
void visit_blocks(const StepCosts& step, int device, Visit visit) {
  for (int c = 0; c < step.chunks_held(); ++c) {
    const VirtualStage& stage = step.chunk(device, c);
    for (std::size_t l = 0; l < stage.layers; ++l) visit(step.block(stage, l));
    if (stage.embedding) visit(step.at(device).kept->embedding);
    if (stage.head) visit(step.at(device).kept->head);
  }
}

}  // namespace

Breakdown forward_breakdown(const PredictedStep& step) {
  Breakdown out;
  for (int device = 0; device < step.costs.shape.devices; ++device) {
    visit_blocks(step.costs, device,
                 [&](const BlockCost& block) { out += block.forward.breakdown; });
  }
  return out;
}

Seconds launching_time(const PredictedStep& step) {
  Seconds longest;
  for (int device = 0; device < step.costs.shape.devices; ++device) {
    Seconds host;
    visit_blocks(step.costs, device, [&](const BlockCost& block) {
      host += (block.forward.host + block.backward.host).seconds();
    });
    longest = std::max(longest, host);
  }
  return longest * step.costs.shape.microbatches;
}

}  // namespace orrery
