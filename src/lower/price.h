// What an operation of a graph takes: the one place where a lowered step meets the cost model.
//
// The seconds of an operation's parts (graph/operation.h) are added up and rounded to picoseconds,
// each part by itself unless it says otherwise:
//
//   product, attention   cost/kernel, divided by the equal pieces it is cut into, plus
//                        bytes / bandwidth of memory for traffic that its shape does not tell
//   other kernels        launches * memory_bound(bytes / launches)
//                        If the scenario has kernel times (lower/kernel_times.h), they replace these.
//   communication        exposed * times / pieces of the collective's or the token exchange's time
//   message, host copy   cost/collective/point_to_point; bytes / the part of the host it goes over
//   stated time          itself
//
// Every duration of an expanded step that parts explain is made by this function, so pricing the
// operations of a step again under the same context gives the same step to the bit.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "lower/cost_context.h"

namespace orrery {

// What one accelerator has of a part of its host while all that the cluster has in a node use it;
// empty if unknown.
std::optional<BytesPerSecond> host_rate(const Cluster& cluster, HostResource resource);

Seconds price(const Kernel& kernel, const CostContext& context);
Seconds price(const Communication& communication, const GroupShape& group,
              const CostContext& context);
// Groups by their place in `groups`.
Seconds price(const Activity& activity, std::span<const Group> groups, const CostContext& context);
Picoseconds price(const OperationParts& parts, std::span<const Group> groups,
                  const CostContext& context);

// The same with another price of each activity.
template <class PriceOf>
Picoseconds sum_of_parts(const OperationParts& parts, const CostContext& context,
                         PriceOf price_of) {
  Picoseconds sum;
  Seconds open;
  for (const OperationPart& part : parts) {
    if (part.rounding == OperationPart::Rounding::own) {
      sum += context.rounded(open);
      open = Seconds(0);
    }
    open += price_of(part.what);
  }
  return sum + context.rounded(open);
}

// The durations of all nodes: of those whose operations have parts, their price; of the others,
// what the graph says.
std::vector<double> priced_durations(const Graph& graph, const CostContext& context);

// A kernel bound by the bytes it reads and writes, or a chain of `launches` of them.
inline Kernel memory_bound(Bytes bytes, int launches = 1) {
  return Kernel{.bytes = bytes, .launches = launches};
}
Kernel product(const GemmShape& shape, NumberFormat format);
Kernel attention(const AttentionShape& shape, AttentionKernel kernel, Direction direction,
                 NumberFormat format);

}  // namespace orrery
