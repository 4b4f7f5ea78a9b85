// A measured row as a specification that a person can read, change and run with `orrery estimate`.
#pragma once

#include <string>

#include "catalog/catalog.h"
#include "measured/measured_row.h"
#include "measured/scenario_of_row.h"

namespace orrery {

// YAML. Comments name the row, where it was published, its measured step time, and everything that
// was assumed for cells it leaves empty.
std::string specification_of_row(const MeasuredRow& row, const RowScenario& scenario,
                                 const Catalog& catalog);

}  // namespace orrery
