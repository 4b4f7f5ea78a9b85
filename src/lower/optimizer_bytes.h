// Bytes an optimizer step moves for one parameter it owns. AdamW: reads gradient, master weight and
// two moments (16), writes the last three (12) and the 2-byte weight. SGD with momentum: reads 12,
// writes 10. Mixed precision as in arXiv 1910.02054 s.3.1; one fused kernel. As a row of kernels,
// AdamW decays (8), updates the moments (8 + g, 8 + g + 4), takes root, quotient and sum of the
// denominator (8 + 8 + 8), updates (16) and copies (6); SGD 8 + g, 12, 6.
// Around it: the gradient norm reads gradients, clipping scales them (read and write), a scaled
// loss unscales and checks them (likewise).
#pragma once

#include "plan/plan.h"
#include "plan/software.h"
#include "units/quantity.h"

namespace orrery {

// `gradient`: the size of one element of the gradients.
Bytes optimizer_bytes(const Training& training, const SoftwareProfile& software, Bytes gradient);

}  // namespace orrery
