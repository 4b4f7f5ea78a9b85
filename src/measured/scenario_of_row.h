// A measured row as a question to the model: what was trained, where, how.
//
// Every choice the row leaves open is made by the convention of its source or, where that is not
// known, of its framework (run_convention.h), and said in `assumed`. A row that needs something
// the product does not model is skipped with a reason that names it:
//   fine-tuning whose sequences may be padded; one layer timed; schedules that are not registered;
//   offload to the host; token dropping; interlaced vocabulary layers; recomputation of parts other
//   than whole layers or the modules of plan/recompute_modules.h; degrees that do not multiply to
//   the GPU count; cells the source does not state and that follow from no others
//   (derived_cells.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "catalog/catalog.h"
#include "estimate/scenario.h"
#include "measured/expressible.h"
#include "measured/measured_row.h"
#include "measured/run_convention.h"

namespace orrery {

struct RowScenario {
  Scenario scenario;
  std::vector<std::string> assumed;
};

// `software`: the profile of a row whose source and framework are unknown.
Expressible<RowScenario> scenario_of_row(const MeasuredRow& row, const Catalog& catalog,
                                         std::string_view software = kUsualSoftware);

}  // namespace orrery
