#include "cluster/link.h"

#include "catalog/entry.h"

namespace orrery {

Fields<Link> fields_of(const Link*) {
  return Fields<Link>("link")
      .required<&Link::name>("identifier")
      .optional<&Link::scope>("cross-building, metro, region, continent, ...")
      .optional<&Link::distance_km>("of the route")
      .optional<&Link::round_trip_time>("without queueing")
      .optional<&Link::bandwidth>("of the whole link, one direction")
      .optional<&Link::packet_drop_rate>("share of packets lost")
      .optional<&Link::jitter>("in words")
      .required<&Link::provenance>("where the figures come from");
}

Result<void> check(const Link& link) {
  const auto negative = [](const auto& quantity) { return quantity && quantity->value() < 0; };
  if (negative(link.round_trip_time) || negative(link.bandwidth)) {
    return bad_input("link '" + link.name + "' has a negative figure");
  }
  return {};
}

Result<Link> load_link(const Catalog& catalog, std::string_view name) {
  return load_entry<Link>(catalog, "links", name);
}

}  // namespace orrery
