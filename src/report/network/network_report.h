// The graph of a network, a collective by every algorithm on it, the jobs that share it, and
// measured collectives beside the expected ones: as text and as the JSON of `orrery network`,
// `orrery collective`, `orrery cluster` and `orrery check`.
#pragma once

#include <string>
#include <vector>

#include "check/collective_check.h"
#include "document/description.h"
#include "estimate/shared_fabric.h"
#include "network/collective_comparison.h"
#include "report/drawing/text_style.h"

namespace orrery {

std::string network_text(const NetworkFigures& network, const TextStyle& style);
Value network_json(const NetworkFigures& network);
const Description& network_document();

std::string collective_text(const CollectiveComparison& comparison, const TextStyle& style);
Value collective_json(const CollectiveComparison& comparison);
const Description& collective_document();

std::string shared_fabric_text(const SharedFabric& shared, const TextStyle& style);
Value shared_fabric_json(const SharedFabric& shared);
const Description& shared_fabric_document();

// Several tests of one cluster.
struct CheckedCollectives {
  std::string cluster;
  std::vector<CollectiveCheck> tests;
};

std::string collectives_text(const CheckedCollectives& checked, const TextStyle& style);
Value collectives_json(const CheckedCollectives& checked);
const Description& collectives_document();

}  // namespace orrery
