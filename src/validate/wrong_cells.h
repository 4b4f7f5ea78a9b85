// Cells of a measured row that cannot be understood: values that a column does not have, names that
// are not in the catalog, dimensions that contradict each other. They are mistakes of whoever wrote
// the row, unlike cells that are empty and techniques that are not modelled.
#pragma once

#include <string>

#include "catalog/catalog.h"
#include "measured/measured_row.h"

namespace orrery {

// Column, value and what would be right of every such cell; empty if there is none.
std::string wrong_cells(const MeasuredRow& row, const Catalog& catalog);

}  // namespace orrery
