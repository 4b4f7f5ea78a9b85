#include "units/picoseconds.h"

#include <cstdint>
#include <cstdlib>

namespace orrery {

std::string exact_seconds(Picoseconds time) {
  constexpr std::int64_t kSecond = 1'000'000'000'000;
  const auto count = static_cast<std::int64_t>(time.count());
  const std::int64_t magnitude = std::abs(count);
  std::string fraction = std::to_string(kSecond + magnitude % kSecond).substr(1);
  fraction.erase(fraction.find_last_not_of('0') + 1);
  if (fraction.empty()) fraction = "0";
  return (count < 0 ? "-" : "") + std::to_string(magnitude / kSecond) + "." + fraction;
}

}  // namespace orrery
