// Where golden commands run: an empty folder that shows the repository's files (links to its
// top-level entries), in an environment that is the same everywhere.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace orrery::golden {

struct Outcome {
  std::vector<std::string> printed;  // standard output and error as they came
  int exit_code = 0;                 // 128 + signal if one ended it
};

class Sandbox {
 public:
  // `root`: the repository; `bin`: where orrery is. build/release/bin shows `bin`, too.
  Sandbox(const std::filesystem::path& root, const std::filesystem::path& bin);
  ~Sandbox();
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  // Runs in sh, with no terminal, NO_COLOR, COLUMNS=100 and the C locale.
  [[nodiscard]] Outcome run(const std::string& command) const;

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
  std::filesystem::path bin_;
};

}  // namespace orrery::golden
