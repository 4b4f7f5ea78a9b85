// The result of a search as the versioned JSON document of `orrery search --json`
// (docs/schema/search-1.json, docs/json-schema.md).
#pragma once

#include "document/value.h"
#include "report/plans/subject.h"
#include "search/search.h"

namespace orrery {

inline constexpr int kSearchSchemaVersion = 1;

// Everything but `elapsed_s` is the same at every run and thread count.
Value search_json(const SearchResult& result, const Subject& subject, Seconds elapsed);

}  // namespace orrery
