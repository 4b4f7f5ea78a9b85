#include "cluster/link.h"

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

Result<Link> load_link(const Catalog& catalog, std::string_view name) {
  ORRERY_TRY(const Document document, catalog.find("links", name));
  ORRERY_TRY(Link link, read<Link>(document));
  const auto negative = [](const auto& quantity) { return quantity && quantity->value() < 0; };
  if (negative(link.round_trip_time) || negative(link.bandwidth)) {
    return bad_input("link '" + link.name + "' has a negative figure", document.name);
  }
  return link;
}

}  // namespace orrery
