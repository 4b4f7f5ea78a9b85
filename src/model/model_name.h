// The name of a model that states none.
#pragma once

#include <string>

namespace orrery {

// That of its file, or of the folder of a config.json.
std::string model_name_of_file(const std::string& path);

}  // namespace orrery
