// Which software profile a measured row ran on: its convention's (run_convention.h), with what the
// row itself states.
#pragma once

#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "measured/expressible.h"
#include "measured/measured_row.h"
#include "measured/run_convention.h"
#include "plan/plan.h"
#include "plan/software.h"

namespace orrery {

struct RowSoftware {
  SoftwareProfile software;
  std::vector<std::string> assumed;
};

Expressible<RowSoftware> software_of_row(const MeasuredRow& row, const RunConvention& convention,
                                         const Catalog& catalog);

}  // namespace orrery
