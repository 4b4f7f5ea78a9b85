#include "cluster/fabric_level.h"

#include <algorithm>
#include <cctype>

namespace orrery {

Fields<FabricLevel> fields_of(const FabricLevel*) {
  return Fields<FabricLevel>("fabric level")
      .required<&FabricLevel::name>("what joins the accelerators here")
      .required<&FabricLevel::accelerators>("below one unit of this level")
      .required<&FabricLevel::bandwidth>("of one accelerator, one direction, nominal")
      .required<&FabricLevel::latency>("of one message, device to device")
      .optional<&FabricLevel::fabric>(
          "name in the catalog's fabrics, where the level's own is another")
      .optional<&FabricLevel::oversubscription>(
          "1 = full bisection, 7 = one seventh of the bandwidth")
      .optional<&FabricLevel::efficiency>(
          "share of the nominal bandwidth that large transfers reach")
      .optional<&FabricLevel::in_switch_reduction>(
          "the switch adds up the contributions of an all-reduce")
      .optional<&FabricLevel::ordered_delivery>(
          "messages arrive whole and in the order in which they were sent")
      .optional<&FabricLevel::transport>("how messages travel over it")
      .optional<&FabricLevel::topology>("how its units are wired, for simulated flows");
}

Delivery delivery(const FabricLevel& level, double crossing, double senders) {
  const BytesPerSecond rate =
      level.bandwidth * (level.efficiency / std::max(1.0, level.oversubscription * crossing));
  if (!level.transport) return {.rate = rate, .repeats = Seconds(0)};
  return delivery(rate, level.latency, *level.transport, senders);
}

std::string_view fabric_of(const FabricLevel& level) {
  return level.fabric.empty() ? level.name : level.fabric;
}

std::string_view technology_of(const FabricLevel& level) {
  const std::string_view fabric = fabric_of(level);
  for (std::size_t i = 0; i + 1 < fabric.size(); ++i) {
    if (fabric[i] != '-') continue;
    const std::string_view rest = fabric.substr(i + 1);
    const bool grade = rest == "edr" || rest == "hdr" || rest == "ndr" || rest == "xdr" ||
                       std::isdigit(static_cast<unsigned char>(rest.front())) != 0 ||
                       (rest.size() > 1 && rest.front() == 'v');
    if (grade) return fabric.substr(0, i);
  }
  return fabric;
}

}  // namespace orrery
