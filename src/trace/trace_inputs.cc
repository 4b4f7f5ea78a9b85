#include "trace/trace_inputs.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace orrery {
namespace {

bool is_trace_name(std::string_view path) {
  static constexpr std::array<std::string_view, 3> kEndings = {".json", ".et", ".txt"};
  if (path.ends_with(".gz")) path.remove_suffix(3);
  return std::any_of(kEndings.begin(), kEndings.end(),
                     [&](std::string_view ending) { return path.ends_with(ending); });
}

// A file that nothing tells but its name is left to the reader its name asks for, which says what
// is wrong with it.
TraceFormat format_if_readable(const std::string& file) {
  const auto format = format_of_file(file);
  if (!format) return TraceFormat::unknown;
  const bool named = file.ends_with(".et") || file.ends_with(".et.gz");
  return *format == TraceFormat::unknown && named ? TraceFormat::chakra : *format;
}

}  // namespace

Result<std::vector<TraceInput>> trace_inputs(const std::vector<std::string>& given) {
  std::vector<TraceInput> out;
  for (const std::string& file : given) {
    std::error_code error;
    if (file == "-") {
      out.push_back({file, TraceFormat::kineto, false});
      continue;
    }
    if (!std::filesystem::is_directory(file, error)) {
      out.push_back({file, format_if_readable(file), false});
      continue;
    }
    std::vector<std::string> inside;
    error.clear();
    for (const auto& entry : std::filesystem::directory_iterator(file, error)) {
      const std::string path = entry.path().string();
      std::error_code ignored;
      if (is_trace_name(path) && entry.is_regular_file(ignored)) inside.push_back(path);
    }
    if (error) return fail(ErrorCode::io, "cannot be listed: " + error.message(), file);
    std::sort(inside.begin(), inside.end());
    for (const std::string& path : inside) out.push_back({path, format_if_readable(path), true});
  }
  return out;
}

}  // namespace orrery
