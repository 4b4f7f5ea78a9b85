#include "trace/trace_inputs.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <ranges>
#include <set>
#include <string_view>
#include <system_error>

namespace orrery {
namespace {

bool is_trace_name(std::string_view path) {
  static constexpr std::array<std::string_view, 3> kEndings = {".json", ".et", ".txt"};
  if (path.ends_with(".gz")) path.remove_suffix(3);
  return std::ranges::any_of(kEndings,
                             [&](std::string_view ending) { return path.ends_with(ending); });
}

// A file that only its name tells is left to the reader its name asks for, which says what is wrong
// with it.
const TraceFormat* format_if_readable(const std::string& file) {
  const auto format = format_of_file(file);
  if (!format || *format != &kUnknownFormat) return format.value_or(&kUnknownFormat);
  std::string_view name = file;
  if (name.ends_with(".gz")) name.remove_suffix(3);
  const auto formats = trace_formats();
  const auto named = std::ranges::find_if(formats, [&](const TraceFormat* f) {
    return !f->ending.empty() && name.ends_with(f->ending);
  });
  return named == formats.end() ? &kUnknownFormat : *named;
}

// Whether anything reads it.
bool is_read(const TraceFormat& format) {
  return format.recording != nullptr || format.contents != nullptr;
}

}  // namespace

Error no_traces(const std::vector<std::string>& given) {
  const std::string folder = given.empty() ? "" : given[0];
  std::set<std::string> below;
  const auto each = [](const std::filesystem::path& path, const auto& visit) {
    std::error_code error;  // what cannot be listed has no traces
    for (std::filesystem::directory_iterator at(path, error), end; !error && at != end;
         at.increment(error)) {
      visit(at->path());
    }
  };
  each(folder, [&](const std::filesystem::path& entry) {
    each(entry, [&](const std::filesystem::path& file) {
      if (is_trace_name(file.string())) below.insert(entry.string());
    });
  });
  std::string hint;
  constexpr std::size_t kMost = 4;
  for (const std::string& name : below | std::views::take(kMost))
    hint += (hint.empty() ? "" : ", ") + name;
  if (below.size() > kMost) hint += ", ...";
  return {ErrorCode::not_found, "no traces in this folder", folder,
          below.empty() ? "files *.json, *.json.gz, *.et or *.txt were expected"
                        : "give one of these folders inside it: " + hint};
}

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
    std::ranges::sort(inside);
    for (const std::string& path : inside) out.push_back({path, format_if_readable(path), true});
  }
  if (out.size() > 1) {
    std::erase_if(out, [](const TraceInput& input) { return input.format->beside_traces; });
  }
  return out;
}

Result<TraceSources> trace_sources(const std::vector<std::string>& given) {
  ORRERY_TRY(const std::vector<TraceInput> inputs, trace_inputs(given));
  const bool recorded = std::ranges::any_of(
      inputs, [](const TraceInput& input) { return input.format->recording != nullptr; });
  TraceSources out;
  std::string named_host;  // not of a folder
  for (const TraceInput& input : inputs) {
    if (input.format->with_recordings) {
      out.hosts.push_back(input.file);
      if (!input.of_folder) named_host = input.file;
      continue;
    }
    const bool may_be_passed_over =
        !is_read(*input.format) || (recorded && input.format->recording == nullptr);
    if (input.of_folder && may_be_passed_over) continue;
    const TraceFormat* format = input.format == &kUnknownFormat ? &kKineto : input.format;
    if (!is_read(*format)) {
      return unsupported("is " + std::string(format->name), input.file,
                         std::string(format->instead));
    }
    const bool again = std::ranges::find(out.files, input.file) != out.files.end();
    if (again && (format->one_file_a_rank || input.file == "-")) {
      return bad_input("is given twice", input.file == "-" ? "standard input" : input.file,
                       "give each rank once");
    }
    if (out.files.empty()) {
      out.format = format;
    } else if (format != out.format) {
      return bad_input("is " + std::string(format->name) + ", but " + out.files[0] + " is " +
                           std::string(out.format->name),
                       input.file, "give the files of one run, which are of one kind");
    } else if (!format->one_file_a_rank) {
      return bad_input("is " + std::string(format->name) + ", as is " + out.files[0], input.file,
                       "one file holds all ranks: give one");
    }
    out.files.push_back(input.file);
  }
  if (!out.files.empty() && out.format->recording == nullptr) {
    if (!named_host.empty()) {
      return bad_input("is " + std::string(kHostExecution.name) + ", but " + out.files[0] + " is " +
                           std::string(out.format->name),
                       named_host, "execution traces go with the profiler's traces");
    }
    out.hosts.clear();
  }
  if (!out.files.empty()) return out;
  if (!out.hosts.empty()) {
    return bad_input(
        "execution traces alone hold no times", out.hosts[0],
        "give the profiler's traces of the same ranks too; orrery trace info tells what an "
        "execution trace holds");
  }
  return fail(no_traces(given));
}

}  // namespace orrery
