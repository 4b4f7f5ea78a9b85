// Where a fact in the catalog comes from, and how far it can be trusted.
#pragma once

#include <string>
#include <vector>

#include "document/fields.h"

namespace orrery {

struct Provenance {
  std::string source;                   // paper, page or file that states the fields
  bool verified = false;                // checked against the source
  std::vector<std::string> unverified;  // fields of a verified entry that were not checked
  std::string notes;
  bool operator==(const Provenance&) const = default;
};
Fields<Provenance> fields_of(const Provenance*);

}  // namespace orrery
