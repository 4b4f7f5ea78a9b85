// The sections of the HTML report that a search adds.
#pragma once

#include <string>

#include "search/search.h"

namespace orrery {

// Best plans, why the first won, Pareto front, near misses.
std::string html_search(const SearchResult& result, Seconds elapsed);

}  // namespace orrery
