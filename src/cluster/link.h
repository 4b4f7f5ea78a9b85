// One link between sites: buildings, cities, continents.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "catalog/catalog.h"
#include "document/fields.h"
#include "document/provenance.h"
#include "units/quantity.h"

namespace orrery {

struct Link {
  std::string name;
  std::string scope;  // "cross-building", "metro", "region", "continent", "intercontinental", "any"
  std::optional<double> distance_km;
  std::optional<Seconds> round_trip_time;
  std::optional<BytesPerSecond> bandwidth;  // of the whole link, one direction
  std::optional<double> packet_drop_rate;
  std::string jitter;  // in words
  Provenance provenance;
  bool operator==(const Link&) const = default;
};
Fields<Link> fields_of(const Link*);

// Errors: negative figures.
Result<void> check(const Link& link);
// From the catalog. Errors: unknown name; an entry that breaks check().
Result<Link> load_link(const Catalog& catalog, std::string_view name);

}  // namespace orrery
