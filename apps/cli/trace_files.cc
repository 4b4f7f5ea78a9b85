#include "trace_files.h"

#include "progress.h"

namespace orrery::cli {

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
