// What crosses between sites, as text and as sections of a page.
#pragma once

#include <string>

#include "report/drawing/text_style.h"
#include "search/across_sites.h"

namespace orrery {

std::string across_sites_text(const AcrossSites& across, const TextStyle& style);
std::string across_sites_html(const AcrossSites& across);

}  // namespace orrery
