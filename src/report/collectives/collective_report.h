// Measured collectives beside the expected ones, as text and as the JSON of `orrery check`.
#pragma once

#include <string>

#include "check/collective_check.h"
#include "document/description.h"
#include "report/drawing/text_style.h"

namespace orrery {

// Several tests of one cluster.
struct CheckedCollectives {
  std::string cluster;
  std::vector<CollectiveCheck> tests;
};

std::string collectives_text(const CheckedCollectives& checked, const TextStyle& style);
Value collectives_json(const CheckedCollectives& checked);
const Description& collectives_document();

}  // namespace orrery
