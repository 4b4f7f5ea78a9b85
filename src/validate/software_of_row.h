// Which software profile a measured row ran on: its convention's (source_conventions.h), with what
// the row itself states (`variant`).
#pragma once

#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "plan/plan.h"
#include "plan/software.h"
#include "validate/expressible.h"
#include "validate/measured_row.h"
#include "validate/run_convention.h"

namespace orrery {

struct RowSoftware {
  SoftwareProfile software;
  std::vector<std::string> assumed;
};

Expressible<RowSoftware> software_of_row(const MeasuredRow& row, const RunConvention& convention,
                                         const Catalog& catalog);

}  // namespace orrery
