// What edits of a recorded run must respect (whatif/known_division.h), as far as its specification
// can be inferred. O(events).
#pragma once

#include <span>

#include "catalog/catalog.h"
#include "trace/recorded_trace.h"
#include "whatif/known_division.h"

namespace orrery {

// Nothing where no whole specification is inferred.
KnownDivision recorded_division(std::span<const RecordedTrace> run, const Catalog& catalog);

}  // namespace orrery
