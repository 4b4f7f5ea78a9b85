// One level of the network, from the inside out: scale-up domain (NVLink), rail or leaf, cluster,
// site.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "document/fields.h"
#include "units/quantity.h"

namespace orrery {

struct FabricLevel {
  std::string name;               // "nvlink", "infiniband-ndr", "spine"
  std::int64_t accelerators = 0;  // accelerators below one unit of this level
  BytesPerSecond bandwidth;       // per accelerator, one direction, nominal
  Seconds latency;                // one message, device to device
  double oversubscription = 1;  // 1 = full bisection; the usable share of bandwidth is its inverse
  double efficiency = 1;  // share of nominal that large transfers reach, before protocol effects
  bool in_switch_reduction = false;  // NVLink SHARP and the like
  std::string fabric{};              // of the catalog; empty: the one called `name`
  bool operator==(const FabricLevel&) const = default;
};
const Fields<FabricLevel>& fields_of(const FabricLevel*);

std::string_view fabric_of(const FabricLevel& level);

// The technology of a level: its fabric's name up to the first dash that is followed by a digit or
// a grade ("infiniband-hdr" is "infiniband").
std::string_view technology_of(const FabricLevel& level);

}  // namespace orrery
