#include "lower/paired_pass.h"

#include <algorithm>

#include "lower/cost_context.h"

namespace orrery {
namespace {

// Takes `hidden` off the exposed communication, expert-parallel first: it is what the pairing is
// made for.
void hide(Breakdown& b, Picoseconds hidden) {
  for (const Category c : {Category::exposed_ep, Category::exposed_tp, Category::exposed_cp,
                           Category::exposed_pp, Category::exposed_dp}) {
    const Picoseconds part = std::min(hidden, b[c]);
    b[c] -= part;
    hidden -= part;
  }
}

}  // namespace

PairedPass paired_pass(const Breakdown& forward, const Breakdown& backward, double share_lost) {
  const Picoseconds forward_exposed = exposed_communication(forward);
  const Picoseconds backward_exposed = exposed_communication(backward);
  const Picoseconds forward_computing = forward.total() - forward_exposed;
  const Picoseconds backward_computing = backward.total() - backward_exposed;
  const Picoseconds hidden =
      std::min(forward_exposed, backward_computing) + std::min(backward_exposed, forward_computing);
  PairedPass out;
  out.breakdown = forward;
  out.breakdown += backward;
  hide(out.breakdown, hidden);
  const Picoseconds lost = std::max(
      Picoseconds(0), contention(forward_computing + backward_computing, hidden, share_lost));
  // Running one after the other is always possible.
  out.breakdown[Category::contention] += std::min(lost, hidden);
  out.time = out.breakdown.total();
  return out;
}

}  // namespace orrery
