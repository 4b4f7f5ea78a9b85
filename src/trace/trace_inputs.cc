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
    if (file == "-" || !std::filesystem::is_directory(file, error)) {
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

Result<TraceSources> trace_sources(const std::vector<std::string>& given) {
  ORRERY_TRY(const std::vector<TraceInput> inputs, trace_inputs(given));
  const bool recorded = std::any_of(inputs.begin(), inputs.end(), [](const TraceInput& input) {
    return input.format == TraceFormat::kineto;
  });
  TraceSources out;
  std::string named_host;  // not of a folder
  for (const TraceInput& input : inputs) {
    if (input.format == TraceFormat::host_execution) {
      out.hosts.push_back(input.file);
      if (!input.of_folder) named_host = input.file;
      continue;
    }
    const bool unknown =
        input.format == TraceFormat::unknown || input.format == TraceFormat::chakra_json;
    if (input.of_folder && (unknown || (recorded && input.format != TraceFormat::kineto))) continue;
    if (input.format == TraceFormat::chakra_json) {
      return fail(ErrorCode::unsupported, "is " + std::string(name(input.format)), input.file,
                  "give the .et file that it was made of");
    }
    const TraceFormat format = unknown ? TraceFormat::kineto : input.format;
    const bool again = std::find(out.files.begin(), out.files.end(), input.file) != out.files.end();
    if (again && (format == TraceFormat::chakra || input.file == "-")) {
      return fail(ErrorCode::bad_input, "is given twice",
                  input.file == "-" ? "standard input" : input.file, "give each rank once");
    }
    if (out.files.empty()) {
      out.format = format;
    } else if (format != out.format) {
      return fail(ErrorCode::bad_input,
                  "is " + std::string(name(format)) + ", but " + out.files[0] + " is " +
                      std::string(name(out.format)),
                  input.file, "give the files of one run, which are of one kind");
    } else if (format != TraceFormat::kineto && format != TraceFormat::chakra) {
      return fail(ErrorCode::bad_input,
                  "is " + std::string(name(format)) + ", as is " + out.files[0], input.file,
                  "one file holds all ranks: give one");
    }
    out.files.push_back(input.file);
  }
  if (!out.files.empty() && out.format != TraceFormat::kineto) {
    if (!named_host.empty()) {
      return fail(ErrorCode::bad_input,
                  "is " + std::string(name(TraceFormat::host_execution)) + ", but " + out.files[0] +
                      " is " + std::string(name(out.format)),
                  named_host, "execution traces go with the profiler's traces");
    }
    out.hosts.clear();
  }
  if (!out.files.empty()) return out;
  if (!out.hosts.empty()) {
    return fail(ErrorCode::bad_input, "execution traces alone hold no times", out.hosts[0],
                "give the profiler's traces of the same ranks too; orrery trace info tells what an "
                "execution trace holds");
  }
  return fail(ErrorCode::not_found, "no traces in this folder", given.empty() ? "" : given[0],
              "files *.json, *.json.gz, *.et or *.txt were expected");
}

}  // namespace orrery
