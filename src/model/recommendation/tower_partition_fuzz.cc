// seeds: tests/seeds/similarities
// Any text as similarities of features: an error, or towers whose sizes differ by at most one.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "model/recommendation/tower_partition.h"
#include "outcome/invariant.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace orrery;
  const auto table = parse_comma_separated(
      std::string_view(reinterpret_cast<const char*>(data), size), "fuzz.csv");
  if (!table || table->columns.size() > 64) return 0;
  const auto similarities = similarities_of(*table);
  if (!similarities) return 0;
  for (const TowerStrategy strategy : {TowerStrategy::coherent, TowerStrategy::diverse}) {
    const auto p = partition_towers(*similarities, 2, strategy);
    if (!p) continue;
    const auto second = std::ranges::count(p->tower, 1);
    const auto first = static_cast<std::ptrdiff_t>(p->tower.size()) - second;
    ORRERY_INVARIANT(std::max(first, second) - std::min(first, second) <= 1);
  }
  return 0;
}
