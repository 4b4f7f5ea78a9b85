// The graph of a network, and a collective by every algorithm on it, and the jobs that share
// it, as text and as the JSON of `orrery network`, `orrery collective` and `orrery cluster`.
#pragma once

#include <string>

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

}  // namespace orrery
