#include "model/model_name.h"

#include <filesystem>
#include <system_error>

namespace orrery {

std::string model_name_of_file(const std::string& path) {
  const std::filesystem::path file(path);
  if (file.filename() == "config.json" && file.has_parent_path()) {
    // The folder of "./config.json" has a name in the absolute path alone.
    std::error_code none;
    const auto whole = std::filesystem::absolute(file, none).lexically_normal();
    const std::string folder = whole.parent_path().filename().string();
    if (!folder.empty()) return folder;
  }
  return file.stem().string();
}

}  // namespace orrery
