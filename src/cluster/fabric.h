// One link technology: its rate, and its latency and efficiency as measured.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "catalog/catalog.h"
#include "document/fields.h"
#include "document/provenance.h"
#include "units/quantity.h"

namespace orrery {

struct Fabric {
  std::string name;
  std::string kind;                         // "scale-up", "host", "scale-out"
  std::optional<BytesPerSecond> port_rate;  // nominal, one direction
  std::optional<BytesPerSecond> bandwidth;  // the same as vendors print it in bytes
  std::optional<std::int64_t> switch_radix;
  std::optional<Seconds> switch_latency;           // port to port
  std::optional<Seconds> small_message_latency;    // end to end
  std::optional<double> large_message_efficiency;  // share of nominal
  std::optional<bool> lossless, in_switch_reduction;
  std::optional<bool> ordered_delivery;  // messages arrive as they were sent; absent: they do
  Provenance provenance;
  bool operator==(const Fabric&) const = default;
};
Fields<Fabric> fields_of(const Fabric*);

// Errors: efficiency outside (0, 1]; negative figures.
Result<void> check(const Fabric& fabric);
// From the catalog. Errors: unknown name; an entry that breaks check().
Result<Fabric> load_fabric(const Catalog& catalog, std::string_view name);

}  // namespace orrery
