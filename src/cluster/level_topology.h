// How the units of one fabric level are wired to each other, where one switch that never blocks is
// not precise enough. Prices in closed form do not need it; simulated flows do (network/network.h).
//
//   switched   `switches` in each unit of the level, and every unit below has an equal link to each
//              of them: the spines of a Clos network. Where the level below has several switches as
//              well, switch t of this level is wired to switch t modulo their number (the planes of
//              a Clos network); where the numbers do not divide, each to each.
//   rails      of the first network level: accelerator i of every node has its card on switch i
//              modulo `switches` (rail-optimised leaves, or the planes of a multi-plane network). Of
//              a level outside it: its switches do not join rails with each other.
//   mesh       every unit below has a link to every other: the groups of a dragonfly, or the
//              accelerators of a server without switches
//   torus      accelerators have links to their neighbours in every dimension
#pragma once

#include <cstdint>
#include <vector>

#include "document/fields.h"
#include "outcome/result.h"

namespace orrery {

enum class LevelWiring : std::uint8_t { switched, mesh, torus };

struct LevelTopology {
  LevelWiring wiring = LevelWiring::switched;
  std::int64_t switches = 1;
  bool rails = false;
  std::vector<std::int64_t> dimensions{};  // of a torus
  bool operator==(const LevelTopology&) const = default;
};
Fields<LevelTopology> fields_of(const LevelTopology*);

// Errors: figures that are impossible, or that the wiring does not have.
Result<void> check(const LevelTopology& topology);

}  // namespace orrery
