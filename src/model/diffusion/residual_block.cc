#include "model/diffusion/residual_block.h"

namespace orrery {

void write_norm_and_activation(LayerWriter& out, std::string_view norm, std::string_view activation,
                               Dimension rows, double channels) {
  out.norm(norm, rows, channels, ElementwiseKind::group_norm, 2 * channels, 3);
  out.activation(activation, rows, fixed(channels));
}

void write_residual_block(LayerWriter& out, const ResidualBlock& b) {
  const Dimension channels = fixed(b.out);
  write_norm_and_activation(out, "residual.norm", "residual.activation", b.rows, b.in);
  out.convolution({"residual.convolution", b.rows, b.in, b.out, b.taps});
  if (b.condition > 0) {
    out.product({.name = "residual.time",
                 .rows = {1, Symbol::sequences},
                 .n = channels,
                 .k = fixed(b.condition)});
    out.elementwise("residual.time_sum", b.rows, channels, ElementwiseKind::other, 2);
  }
  write_norm_and_activation(out, "residual.second_norm", "residual.second_activation", b.rows,
                            b.out);
  out.convolution({"residual.second_convolution", b.rows, b.out, b.out, b.taps});
  if (b.in != b.out) out.convolution({"residual.shortcut", b.rows, b.in, b.out, 1});
  out.elementwise("residual.residual", b.rows, channels, ElementwiseKind::residual, 3);
}

}  // namespace orrery
