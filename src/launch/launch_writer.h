// Flags as the file of a framework, with a comment that says where they come from and what they do
// not say.
#pragma once

#include <string>
#include <vector>

#include "launch/launch_table.h"

namespace orrery {

// JSON has no comments: the lines are the list "_comment", which DeepSpeed ignores.
std::string launch_text(const LaunchTable& table, const LaunchFlags& flags,
                        const std::vector<std::string>& comment);

}  // namespace orrery
