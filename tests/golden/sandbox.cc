#include "golden/sandbox.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "golden/script.h"

namespace orrery::golden {
namespace {

std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

}  // namespace

Sandbox::Sandbox(const std::filesystem::path& root, const std::filesystem::path& bin)
    : bin_(std::filesystem::absolute(bin)) {
  std::string name = (std::filesystem::temp_directory_path() / "orrery-golden-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder: " + name);
  folder_ = name;
  for (const auto& entry : std::filesystem::directory_iterator(std::filesystem::absolute(root))) {
    const std::string entry_name = entry.path().filename().string();
    if (entry_name == "build" || entry_name.starts_with('.')) continue;
    std::filesystem::create_symlink(entry.path(), folder_ / entry_name);
  }
  std::filesystem::create_directories(folder_ / "build/release");
  std::filesystem::create_directory_symlink(bin_, folder_ / "build/release/bin");
}

Sandbox::~Sandbox() {
  std::error_code ignored;  // a folder left behind in /tmp is no failure of the test
  std::filesystem::remove_all(folder_, ignored);
}

Outcome Sandbox::run(const std::string& command) const {
  const std::string line = "cd " + quoted(folder_.string()) +
                           " && exec env -i ${LSAN_OPTIONS:+LSAN_OPTIONS=\"$LSAN_OPTIONS\"} HOME=" +
                           quoted(folder_.string()) +
                           " LC_ALL=C.UTF-8 NO_COLOR=1 COLUMNS=100 ASAN_OPTIONS=detect_leaks=1"
                           " PATH=" +
                           quoted(bin_.string() + ":/usr/bin:/bin") + " sh -c " + quoted(command) +
                           " </dev/null 2>&1";
  // NOLINTNEXTLINE(bugprone-command-processor): golden commands are shell commands on purpose.
  std::FILE* pipe = popen(line.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot start a shell");
  std::string text;
  std::array<char, 4096> buffer{};
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    text.append(buffer.data(), n);
  }
  const int status = pclose(pipe);
  Outcome out;
  out.printed = split_lines(text);
  out.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  while (!out.printed.empty() && out.printed.back().empty()) out.printed.pop_back();
  return out;
}

}  // namespace orrery::golden
