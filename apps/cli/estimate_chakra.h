// orrery estimate --chakra: the predicted step as Chakra traces.
#pragma once

#include <string>

#include "command.h"
#include "estimate/estimate.h"

namespace orrery::cli {

// Writes step.RANK.et for each of `ranks` ("0-7,16"; empty: all) into `folder`; gives a line about
// them. Errors: as StepChakra, a list that is none, a rank that is not there, more than fits.
Result<std::string> write_step_chakra(const Scenario& scenario, const Catalog& catalog,
                                      const std::string& folder, const std::string& ranks,
                                      const Common& common);

}  // namespace orrery::cli
