// What crosses between sites, as text.
#pragma once

#include <string>

#include "report/drawing/text_style.h"
#include "search/across_sites.h"

namespace orrery {

std::string across_sites_text(const AcrossSites& across, const TextStyle& style);

}  // namespace orrery
