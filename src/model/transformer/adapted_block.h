// A block whose own weights are frozen, with low-rank adapters beside some of its products.
//
// To a product y = x W is added x A B (arXiv 2106.09685 s.4.1). A frozen product has no weight
// gradient and keeps no input for it; the adapter keeps x for A's gradient and x A for B's.
//
// Under tensor parallelism the adapter is cut as the product beside it is. Of a column product, B
// is cut by columns and A is whole on every rank, working on the input that was gathered for W and
// is kept; the gradient of the input joins that of W before they are reduced together. Of a row
// product, A is cut by rows, its narrow partial sums are reduced, and B is whole. Not modelled: the
// reduction of x A's narrow gradient beside a column product; that the first layer's input needs no
// gradient; dropout on the adapter's input.
#pragma once

#include "model/model.h"
#include "model/transformer/architecture.h"

namespace orrery {

void adapt(Block& block, const Adapters& adapters);

}  // namespace orrery
