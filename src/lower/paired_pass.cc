#include "lower/paired_pass.h"

#include <algorithm>

namespace orrery {
namespace {

Picoseconds computing(const Breakdown& b) { return b.total() - exposed_communication(b); }

}  // namespace

PairedPass paired_pass(const Breakdown& forward, const Breakdown& backward, double share_lost,
                       const CostContext& costs) {
  const Picoseconds hidden = std::min(forward[Category::exposed_ep], computing(backward)) +
                             std::min(backward[Category::exposed_ep], computing(forward));
  PairedPass out;
  out.breakdown = forward;
  out.breakdown += backward;
  out.breakdown[Category::exposed_ep] -= hidden;
  const Picoseconds lost =
      std::max(Picoseconds(0),
               costs.contention(computing(forward) + computing(backward), hidden, share_lost));
  // Running one after the other is always possible.
  out.breakdown[Category::contention] += std::min(lost, hidden);
  out.time = out.breakdown.total();
  return out;
}

}  // namespace orrery
