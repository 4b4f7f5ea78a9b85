#include "analyze/kernel_overlap.h"

namespace orrery {

KernelOverlap kernel_overlap(const DeviceWork& work) {
  const Intervals memory = union_of(work.copies, work.fills);
  const std::array<const Intervals*, 3> sets = {&work.compute, &work.communication, &memory};
  KernelOverlap time{};
  for (std::size_t c = 1; c < kWorkCombinations; ++c) {
    Intervals left;
    bool first = true;
    for (std::size_t bit = 0; bit < sets.size(); ++bit) {
      if ((c >> bit & 1) == 0) continue;
      left = first ? *sets[bit] : intersection(left, *sets[bit]);
      first = false;
    }
    for (std::size_t bit = 0; bit < sets.size(); ++bit) {
      if ((c >> bit & 1) == 0) left = difference(left, *sets[bit]);
    }
    time[c] = length(left);
  }
  return time;
}

std::string combination_name(std::size_t combination) {
  static constexpr std::array<const char*, 3> kNames = {"compute", "communication", "memory"};
  std::string out;
  for (std::size_t bit = 0; bit < kNames.size(); ++bit) {
    if ((combination >> bit & 1) == 0) continue;
    if (!out.empty()) out += " and ";
    out += kNames[bit];
  }
  return out;
}

}  // namespace orrery
