#include "lower/operator_work.h"

namespace orrery {
namespace {

struct Counted {
  OperatorWork forward, backward;
};

Counted fused(const Operator& op) { return {{op.forward_passes, 1}, {op.backward_passes, 1}}; }

// Eager is what Chain counts; torch.compile makes fused kernels of any chain.
bool runs_eagerly(Kernels kernels, const SoftwareProfile& software) {
  return kernels == Kernels::eager && software.host.launches != LaunchPath::compiled;
}

Counted counted(const Operator& op, const SoftwareProfile& software, bool dropout) {
  switch (op.elementwise) {
    case ElementwiseKind::rms_norm:
      if (runs_eagerly(software.norm, software)) return {{18, 8}, {46, 17}};
      return fused(op);
    case ElementwiseKind::layer_norm:
      return {{op.forward_passes, 1}, {op.backward_passes + 2, 2}};
    case ElementwiseKind::group_norm:
      if (runs_eagerly(software.convolution, software)) {
        return {{op.forward_passes + 4, 3}, {op.backward_passes + 4, 3}};
      }
      return fused(op);
    case ElementwiseKind::convolution_bias:
      if (runs_eagerly(software.convolution, software)) return fused(op);
      return {{0, 0}, {1, 1}};
    case ElementwiseKind::gated_activation:
      if (runs_eagerly(software.activation, software)) return {{5, 2}, {13, 4}};
      return fused(op);
    case ElementwiseKind::activation:
      if (runs_eagerly(software.activation, software)) return {{4, 2}, {4, 2}};
      return fused(op);
    case ElementwiseKind::rotary:
      if (runs_eagerly(software.rotary, software)) return {{10, 10}, {9, 10}};
      return fused(op);
    case ElementwiseKind::residual: {
      Counted out = fused(op);
      if (!dropout) return out;
      const bool apart = runs_eagerly(software.residual, software);
      out.forward.passes += apart ? 2.5 : 0.5;
      out.forward.kernels += apart ? 1 : 0;
      out.backward.passes += 2.5;
      out.backward.kernels += 1;
      return out;
    }
    case ElementwiseKind::modulation:
      if (runs_eagerly(software.residual, software)) {
        return {{op.forward_passes, static_cast<int>(op.forward_passes / 2)},
                {op.backward_passes, static_cast<int>(op.backward_passes / 2)}};
      }
      return {{0, 0}, {2, 1}};
    case ElementwiseKind::loss:
      // Where blocks are compiled, the loss behind them is not (torchtitan, parallelize_llama.py).
      if (software.cross_entropy == Kernels::eager) return {{19, 8}, {11, 4}};
      return fused(op);
    case ElementwiseKind::other:
      return fused(op);
  }
  return fused(op);
}

}  // namespace

OperatorWork operator_work(const Operator& op, Phase phase, const SoftwareProfile& software,
                           bool dropout) {
  const Counted work = counted(op, software, dropout);
  return phase == Phase::forward ? work.forward : work.backward;
}

OperatorWork score_dropout(bool dropout) {
  return dropout ? OperatorWork{2.5, 1} : OperatorWork{0, 0};
}

int unfused_attention_kernels(Phase phase, const SoftwareProfile& software) {
  const int products = phase == Phase::forward ? 2 : 4;
  if (software.softmax == Kernels::fused) return products + 1;
  return products + (works_on_fp32_scores(software) ? 5 : 3);
}

OperatorWork attention_copies(const SoftwareProfile& software) {
  const AttentionCopies copies = software.attention_copies;
  const bool layout = copies == AttentionCopies::layout || copies == AttentionCopies::kept_layout;
  return layout ? OperatorWork{2, 4} : OperatorWork{0, 0};
}

}  // namespace orrery
