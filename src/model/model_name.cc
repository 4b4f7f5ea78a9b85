#include "model/model_name.h"

#include <filesystem>

namespace orrery {

std::string model_name_of_file(const std::string& path) {
  const std::filesystem::path file(path);
  const std::string folder = file.parent_path().filename().string();
  return file.filename() == "config.json" && !folder.empty() ? folder : file.stem().string();
}

}  // namespace orrery
