#include "lower/sequence_tiles.h"

namespace orrery {

SequenceTiles sequence_tiles(const Plan& plan) {
  return {static_cast<double>(plan.loss_tiles), static_cast<double>(plan.mlp_tiles)};
}

bool in_tiled_mlp(const Operator& op, const SequenceTiles& tiles) {
  return tiles.mlp > 1 && (op.name == "feed_forward.up" || op.name == "feed_forward.activation" ||
                           op.name == "feed_forward.down");
}

double tiles_of(const Operator& op, const SequenceTiles& tiles) {
  if (in_tiled_mlp(op, tiles)) return tiles.mlp;
  const bool loss = op.kind == OperatorKind::cross_entropy || op.op_class == OperatorClass::logits;
  return loss ? tiles.loss : 1;
}

}  // namespace orrery
