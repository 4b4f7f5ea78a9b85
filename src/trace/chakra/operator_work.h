// Floating-point operations and bytes of an operator, from the shapes of its tensors.
//
//   aten::mm, linear, matmul of [.., m, k] and a matrix   2 k per element of the result
//   aten::addmm                                           2 k + 1
//   aten::bmm, baddbmm of [b, m, k] and [b, k, n]         2 k
//   all others                                            1 per element of the largest tensor
//   bytes                                                 of all tensors that go in or come out
//
// One multiply-add is 2 operations. With the profiler's trace alone the result is not recorded: the
// sizes of products follow from their inputs, and bytes are those that go in. Not modelled:
// convolutions and attention count as "all others"; reuse in caches.
#pragma once

#include <cstdint>

#include "trace/chakra/call_tree.h"

namespace orrery {

struct RecordedOperatorWork {
  std::int64_t flops = 0;
  std::int64_t bytes = 0;
};

// `host` may be null. Zero where no shapes were recorded.
RecordedOperatorWork operator_work(const CallTreeNode& node, const RecordedTrace& recorded,
                                   const HostTrace* host);

}  // namespace orrery
