#include "model/model_problems.h"

#include <fmt/ranges.h>

#include <filesystem>

namespace orrery {

Result<void> without_problems(std::string_view model, const std::vector<std::string>& problems) {
  if (problems.empty()) return {};
  return bad_input(fmt::format("model '{}' cannot be built: {}", model, fmt::join(problems, "; ")));
}

std::string name_of_file(const std::string& path) {
  const std::filesystem::path file(path);
  const std::string folder = file.parent_path().filename().string();
  return file.filename() == "config.json" && !folder.empty() ? folder : file.stem().string();
}

}  // namespace orrery
