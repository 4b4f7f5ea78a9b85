// The rental price of an accelerator: one dated observation of a market.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "catalog/catalog.h"
#include "document/fields.h"
#include "document/provenance.h"
#include "units/quantity.h"

namespace orrery {

struct Price {
  std::string name;
  std::string provider;
  std::string accelerator;        // catalog name
  std::int64_t accelerators = 1;  // in the unit that was offered
  DollarsPerSecond price;         // of one accelerator
  std::string pricing;            // "on-demand", "spot", "median", ...
  std::string date;
  Provenance provenance;
  bool operator==(const Price&) const = default;
};
Fields<Price> fields_of(const Price*);

// Errors: a price that is not above zero; no accelerators.
Result<void> check(const Price& price);
// From the catalog. Errors: unknown name; an entry that breaks check().
Result<Price> load_price(const Catalog& catalog, std::string_view name);

}  // namespace orrery
