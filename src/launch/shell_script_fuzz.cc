// seeds: tests/launch/published
// parser: src/launch/shell_script.cc src/launch/launch_files.cc
// Any bytes as a launch file: an error, or flags with keys on lines of the file.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "launch/launch_files.h"
#include "launch/shell_script.h"
#include "outcome/invariant.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace orrery;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto lines = 1 + std::ranges::count(text, '\n');
  if (const auto flags = read_shell_script(text, "fuzz.sh")) {
    for (const LaunchFlag& flag : *flags) {
      ORRERY_INVARIANT(!flag.key.empty() && flag.line >= 1 && flag.line <= lines);
    }
  } else {
    ORRERY_INVARIANT(!flags.error().message.empty());
  }
  if (const auto file = parse_launch_file(text, "fuzz"); !file) {
    ORRERY_INVARIANT(!file.error().message.empty());
  }
  return 0;
}
