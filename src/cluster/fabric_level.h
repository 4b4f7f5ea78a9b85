// One level of the network, from the inside out: scale-up domain (NVLink), rail or leaf, cluster,
// site.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cluster/level_topology.h"
#include "cluster/transport.h"
#include "document/fields.h"
#include "units/quantity.h"

namespace orrery {

struct FabricLevel {
  std::string name;               // "nvlink", "infiniband-ndr", "spine"
  std::int64_t accelerators = 0;  // accelerators below one unit of this level
  BytesPerSecond bandwidth;       // per accelerator, one direction, nominal
  Seconds latency;                // one message, device to device
  double oversubscription =
      1;                  // 1 = full bisection; what all accelerators send at once is divided by it
  double efficiency = 1;  // share of nominal that large transfers reach, before protocol effects
  bool in_switch_reduction = false;         // NVLink SHARP and the like
  bool ordered_delivery = true;             // messages arrive whole and in order: LL needs that
  std::string fabric{};                     // of the catalog; empty: the one called `name`
  std::optional<Transport> transport{};     // of a long link; empty: nothing is lost, no window
  std::optional<LevelTopology> topology{};  // empty: one switch that never blocks
  bool operator==(const FabricLevel&) const = default;
};
Fields<FabricLevel> fields_of(const FabricLevel*);

// What one accelerator gets of a level when the share `crossing` of those below it send over its
// uplinks at once:
//
//   rate = bandwidth * efficiency * min(1, 1 / (oversubscription * crossing)),
//
// and what its transport leaves of that if `senders` others send to one accelerator at once. A
// collective of a whole mesh axis has all accelerators cross (1); stages of a pipeline that lie in two
// units cross with those of one stage only.
Delivery delivery(const FabricLevel& level, double crossing = 1, double senders = 1);

std::string_view fabric_of(const FabricLevel& level);

// The technology of a level: its fabric's name up to the first dash that is followed by a digit or
// a grade ("infiniband-hdr" is "infiniband").
std::string_view technology_of(const FabricLevel& level);

}  // namespace orrery
