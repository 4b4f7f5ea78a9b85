// The line in which an interpreter answers: "value 1.5", "functions [...]", "error [what, where]".
#pragma once

#include <string>
#include <vector>

#include "outcome/result.h"

namespace orrery {

Result<double> value_of_line(const std::string& line, const std::string& file);
Result<std::vector<std::string>> functions_of_line(const std::string& line,
                                                   const std::string& file);

}  // namespace orrery
