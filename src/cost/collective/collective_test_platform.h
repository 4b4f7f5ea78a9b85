// What the tests of collectives share: constants by name, and levels.
#pragma once

#include <string>
#include <utility>

#include "catalog/catalog.h"
#include "cost/collective/collective_parameters.h"
#include "outcome/invariant.h"

namespace orrery::collective_test {

inline CollectiveParameters parameters(const std::string& architecture) {
  auto p = load_collective_parameters(Catalog::built_in(), architecture);
  if (!p) throw InvariantError(p.error().text());
  return *std::move(p);
}

inline FabricLevel level(const std::string& name, double gigabytes_per_second,
                         double latency_microseconds) {
  FabricLevel l;
  l.name = name;
  l.bandwidth = BytesPerSecond(gigabytes_per_second * 1e9);
  l.latency = Seconds(latency_microseconds * 1e-6);
  return l;
}

inline double microseconds(Seconds s) { return s.value() * 1e6; }

inline constexpr double kKi = 1024;
inline constexpr double kMi = 1024 * kKi;
inline constexpr double kGi = 1024 * kMi;

}  // namespace orrery::collective_test
