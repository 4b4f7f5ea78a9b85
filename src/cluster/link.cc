#include "cluster/link.h"

namespace orrery {

const Fields<Link>& fields_of(const Link*) {
  static const Fields<Link> table =
      Fields<Link>("link")
          .required("name", &Link::name, "identifier")
          .optional("scope", &Link::scope, "cross-building, metro, region, continent, ...")
          .optional("distance_km", &Link::distance_km, "of the route")
          .optional("round_trip_time", &Link::round_trip_time, "without queueing")
          .optional("bandwidth", &Link::bandwidth, "of the whole link, one direction")
          .optional("packet_drop_rate", &Link::packet_drop_rate, "share of packets lost")
          .optional("jitter", &Link::jitter, "in words")
          .required("provenance", &Link::provenance, "where the figures come from");
  return table;
}

Result<Link> load_link(const Catalog& catalog, std::string_view name) {
  ORRERY_TRY(const Document document, catalog.find("links", name));
  ORRERY_TRY(Link link, read<Link>(document));
  const auto negative = [](const auto& quantity) { return quantity && quantity->value() < 0; };
  if (negative(link.round_trip_time) || negative(link.bandwidth)) {
    return fail(ErrorCode::bad_input, "link '" + link.name + "' has a negative figure",
                document.name);
  }
  return link;
}

}  // namespace orrery
