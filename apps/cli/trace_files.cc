#include "trace_files.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

#include "progress.h"

namespace orrery::cli {
namespace {

bool is_trace_name(const std::string& path) {
  static constexpr std::array<std::string_view, 5> kEndings = {".json", ".json.gz", ".et", ".et.gz",
                                                               ".txt"};
  return std::any_of(kEndings.begin(), kEndings.end(),
                     [&](std::string_view ending) { return path.ends_with(ending); });
}

}  // namespace

Result<std::vector<std::string>> files_and_folders(const std::vector<std::string>& given) {
  std::vector<std::string> out;
  for (const std::string& file : given) {
    std::error_code error;
    if (file == "-" || !std::filesystem::is_directory(file, error)) {
      out.push_back(file);
      continue;
    }
    std::vector<std::string> inside;
    for (const auto& entry : std::filesystem::directory_iterator(file, error)) {
      const std::string path = entry.path().string();
      if (entry.is_regular_file(error) && is_trace_name(path)) inside.push_back(path);
    }
    if (inside.empty()) {
      return fail(ErrorCode::not_found, "no traces in this folder", file,
                  "files *.json, *.json.gz, *.et or *.txt were expected");
    }
    std::sort(inside.begin(), inside.end());
    std::move(inside.begin(), inside.end(), std::back_inserter(out));
  }
  return out;
}

void add_trace_files(CLI::App* app, TraceFiles& files) {
  app->add_option("files", files.files,
                  "traces of the PyTorch profiler (JSON, or gzip of it), one a rank; folders of "
                  "them; or - for standard input")
      ->required();
  app->add_flag("--partial", files.partial,
                "use what is whole of files that end in the middle, and leave out events with "
                "impossible times");
  app->add_flag("--no-stacks", files.no_stacks,
                "leave out python functions: less memory for recordings with stacks");
  app->add_flag("--recorded-clocks", files.recorded_clocks,
                "keep the ranks' clocks, even where a collective ends before a rank enters it");
}

Result<RecordedRun> read_trace_files(const TraceFiles& files, Ranks ranks, const Common& common) {
  Progress progress(common.verbosity >= 0);
  RunOptions options;
  options.ranks = ranks;
  if (files.partial) options.kineto.incomplete = Incomplete::use_what_is_whole;
  if (files.modules_only) options.kineto.python_functions = PythonFunctions::modules;
  if (files.no_stacks) options.kineto.python_functions = PythonFunctions::leave_out;
  if (files.recorded_clocks) options.clocks = Clocks::as_recorded;
  options.kineto.interrupted = &Progress::interrupted();
  options.threads = common.threads;
  options.progress = [&](double share, const std::string& file) {
    progress.show(share, "reading " + file);
  };
  return read_run(files.files, options);
}

}  // namespace orrery::cli
