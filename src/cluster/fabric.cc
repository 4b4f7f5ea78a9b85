#include "cluster/fabric.h"

#include "catalog/entry.h"

namespace orrery {

Fields<Fabric> fields_of(const Fabric*) {
  return Fields<Fabric>("fabric")
      .required<&Fabric::name>("identifier")
      .required<&Fabric::kind>("scale-up, host or scale-out")
      .optional<&Fabric::port_rate>("nominal, one direction")
      .optional<&Fabric::bandwidth>("nominal, one direction")
      .optional<&Fabric::switch_radix>("ports per switch")
      .optional<&Fabric::switch_latency>("port to port")
      .optional<&Fabric::small_message_latency>("end to end")
      .optional<&Fabric::large_message_efficiency>(
          "share of nominal that large transfers or collectives reach")
      .optional<&Fabric::lossless>("no packet is dropped by congestion")
      .optional<&Fabric::in_switch_reduction>(
          "the switch can add up the contributions of an all-reduce")
      .optional<&Fabric::ordered_delivery>(
          "messages arrive whole and in the order in which they were sent")
      .required<&Fabric::provenance>("where the figures come from");
}

Result<void> check(const Fabric& fabric) {
  const auto& efficiency = fabric.large_message_efficiency;
  if (efficiency && !(*efficiency > 0 && *efficiency <= 1)) {
    return bad_input("large_message_efficiency is outside (0, 1]");
  }
  const auto negative = [](const auto& quantity) { return quantity && quantity->value() < 0; };
  if (negative(fabric.small_message_latency) || negative(fabric.switch_latency) ||
      negative(fabric.bandwidth) || negative(fabric.port_rate)) {
    return bad_input("fabric '" + fabric.name + "' has a negative figure");
  }
  return {};
}

Result<Fabric> load_fabric(const Catalog& catalog, std::string_view name) {
  return load_entry<Fabric>(catalog, "fabrics", name);
}

}  // namespace orrery
