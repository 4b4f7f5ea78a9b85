// orrery estimate --chakra: the predicted step as Chakra traces.
#pragma once

#include <string>

#include "command.h"
#include "estimate/step_chakra.h"

namespace orrery::cli {

// Writes step.RANK.et for each of `ranks` ("0-7,16"; empty: all) into `folder`, and beside them
// step.groups.json, the communicator file of all ranks; gives a line about them. Errors: `ranks` is
// no such list, a rank that does not exist, more nodes or ranks of groups than fit, a folder that
// cannot be written.
Result<std::string> write_step_chakra(StepChakra step, const std::string& folder,
                                      const std::string& ranks, const Common& common);

}  // namespace orrery::cli
