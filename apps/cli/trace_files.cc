#include "trace_files.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "document/value.h"
#include "progress.h"
#include "replay/graph_from_run.h"
#include "replay/run_graph_file.h"
#include "trace/piece_writer.h"
#include "trace/trace_inputs.h"

namespace orrery::cli {

CLI::Validator not_empty() {
  return {[](const std::string& text) {
            return text.empty() ? std::string("is empty") : std::string();
          },
          "TEXT"};
}

Result<void> check_scopes(const TraceFiles& options, const std::vector<TraceSources>& runs,
                          ChakraUse use) {
  const auto check = [&](bool given, std::string_view option, const auto& means) -> Result<void> {
    const bool any =
        std::ranges::any_of(runs, [&](const TraceSources& run) { return means(*run.format); });
    if (!given || any || runs.empty()) return {};
    return bad_input(std::string(option) + " is of " + formats_in_words(means) + ", but this is " +
                         std::string(runs[0].format->name),
                     runs[0].files[0], "leave it out");
  };
  const bool clocks = use == ChakraUse::as_recording;
  ORRERY_RETURN_IF_ERROR(check(options.partial, "--partial",
                               [](const TraceFormat& format) { return format.may_be_cut; }));
  ORRERY_RETURN_IF_ERROR(check(options.no_stacks, "--no-stacks", [](const TraceFormat& format) {
    return format.recording != nullptr;
  }));
  return check(options.recorded_clocks, "--recorded-clocks", [&](const TraceFormat& format) {
    return format.recording != nullptr || (clocks && format.chakra != nullptr);
  });
}

Incomplete incomplete(const TraceFiles& files) {
  return files.partial ? Incomplete::use_what_is_whole : Incomplete::refuse;
}

void add_trace_files(CLI::App* app, TraceFiles& files) {
  app->add_option(
         "files", files.files,
         "traces of the PyTorch profiler (JSON, or gzip of it), one a rank, or of the other "
         "formats that orrery trace info knows; folders of them; or - for standard input")
      ->required();
  app->add_flag("--partial", files.partial,
                "use what is whole of files that end in the middle, and leave out events with "
                "impossible times");
  app->add_flag("--no-stacks", files.no_stacks,
                "leave out python functions: less memory for recordings with stacks");
  app->add_flag("--recorded-clocks", files.recorded_clocks,
                "keep the ranks' clocks, even where a collective ends before a rank enters it");
}

Result<RecordedRun> read_trace_files(const TraceFiles& files, const Common& common) {
  Progress progress(!common.quiet);
  RunOptions options;
  options.kineto.incomplete = incomplete(files);
  if (files.modules_only) options.kineto.python_functions = PythonFunctions::modules;
  if (files.no_stacks) options.kineto.python_functions = PythonFunctions::leave_out;
  if (files.recorded_clocks) options.clocks = Clocks::as_recorded;
  options.kineto.interrupted = &Progress::interrupted();
  options.threads = common.threads;
  options.progress = [&](double share, const std::string& file) {
    progress.show(share, "reading " + file);
  };
  auto run = read_run(files.files, options);
  if (!run || files.may_be_empty) return run;
  return with_events(std::move(*run));
}

Result<SeenRun> read_seen_as_recorded(const TraceFiles& files, const Common& common) {
  ORRERY_TRY(const TraceSources sources, trace_sources(files.files));
  if (sources.format->chakra != nullptr || sources.format->graph != nullptr) {
    RunOptions how;
    how.kineto.incomplete = incomplete(files);
    if (files.recorded_clocks) how.clocks = Clocks::as_recorded;
    return seen_as_recorded(sources, how);
  }
  ORRERY_TRY(RecordedRun run, read_trace_files(files, common));
  return SeenRun{std::move(run), {}};
}

Result<std::string> write_graph(const std::string& out, const GraphFile& file) {
  ORRERY_RETURN_IF_ERROR(write_at_once(out, graph_file_text(file)));
  return out + "  " + std::to_string(file.graph.size()) + " nodes, " +
         std::to_string(file.graph.edges()) + " dependencies, " +
         std::to_string(file.graph.streams().size()) + " streams";
}

void add_chakra_dependencies(CLI::App* app, ChakraGraphOptions& options) {
  app->add_flag_callback(
      "--ignore-absent", [&options] { options.absent = AbsentDependencies::count_as_done; },
      "of .et files: dependencies on nodes that are not there count as done");
  app->add_flag_callback(
      "--ignore-control", [&options] { options.control = ControlDependencies::ignore; },
      "of .et files: heed data dependencies only, as older feeders did");
}

Result<std::string> write_run_graph(const std::string& out, const RecordedRun& run) {
  ORRERY_TRY(const GraphFromRun graph, graph_from_run(run.ranks));
  return write_graph(out, graph_file(run.ranks, graph.graph));
}

Result<std::string> write_chakra_graph(const std::string& out,
                                       const std::vector<std::string>& files, Incomplete incomplete,
                                       const ChakraGraphOptions& options) {
  ORRERY_TRY(const ChakraRun run, read_chakra_run(files, incomplete));
  ORRERY_TRY(const ChakraGraph graph, chakra_graph(run, options));
  return write_graph(out, graph_file(graph));
}

}  // namespace orrery::cli
