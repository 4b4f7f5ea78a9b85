// What U-Nets and autoencoders share: residual blocks of convolutions, and changes of resolution.
#pragma once

#include "model/layer_writer.h"

namespace orrery {

// Group norm with scale and shift and SiLU behind it.
void write_norm_and_activation(LayerWriter& out, std::string_view norm, std::string_view activation,
                               Dimension rows, double channels);

struct ResidualBlock {
  Dimension rows;
  double in = 0;
  double out = 0;
  double taps = 9;       // of both convolutions
  double condition = 0;  // width of the time vector; 0: none
};
// norm, SiLU, convolution, the time vector's projection added, norm, SiLU, convolution, and the
// input, by a 1x1 convolution if widths differ (arXiv 2006.11239 app. B).
void write_residual_block(LayerWriter& out, const ResidualBlock& block);

}  // namespace orrery
