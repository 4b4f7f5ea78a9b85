// Which products of a plan have rows that tensor cores cannot load in whole granules.
//
// An operand lies in memory row by row: x[m,k] and w[n,k] in rows of k elements, y[m,n] and its
// gradient in rows of n. Rows that do not begin at a multiple of 16 bytes are loaded by slower
// instructions, or by kernels of another generation (NVIDIA, Matrix Multiplication Background,
// "Tensor Core Requirements"). How much slower depends on the release of the library, on its
// heuristic and on whether a compiler pads: published figures reach from nothing to a factor of
// three (docs/models/kernels.md), so that no number is taken from them. Such products are priced as
// padded to the next granule, and the estimate says so.
//
// Unfused attention with unaligned heads or scores does have a price: cost/kernel/attention.cc.
#pragma once

#include <string>

#include "cost/kernel/kernel_parameters.h"
#include "model/model.h"
#include "units/number_format.h"

namespace orrery {

// A sentence with every such dimension, the ranks that share it and the multiple that would be
// right. Empty where all are aligned, the products are not on matrix units (fp32, fp64) or those of
// the accelerator are not known to need it (KernelParameters::unaligned_fraction 1).
std::string unaligned_products(const Model& model, const Binding& binding, NumberFormat precision,
                               const KernelParameters& kernels);

}  // namespace orrery
