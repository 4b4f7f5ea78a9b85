#include "lower/averaging_by_bandwidth.h"

#include <algorithm>

namespace orrery {

Seconds averaging_by_bandwidth(std::span<const EqualMembers> members) {
  double count = 0;
  double rates = 0;  // all-reduces a second, sum over the members
  Seconds slowest;
  for (const EqualMembers& equal : members) {
    if (!(equal.alone > Seconds(0))) return Seconds(0);  // nothing is sent
    count += equal.count;
    rates += equal.count / equal.alone.value();
    slowest = std::max(slowest, equal.alone);
  }
  return std::max(slowest * (count / (2 * (count - 1))), Seconds(count / rates));
}

}  // namespace orrery
