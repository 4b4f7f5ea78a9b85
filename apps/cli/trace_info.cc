// orrery trace info: what recorded files hold.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "parallel/parallel_for.h"
#include "report/traces/trace_reports.h"
#include "trace/trace_contents.h"
#include "trace/trace_inputs.h"
#include "trace_files.h"

namespace orrery::cli {
namespace {

struct Sorted {
  std::vector<std::string> of_run;  // for the profiler's reader
  std::vector<TraceInput> others;
};

// Execution traces belong to the run where there is one. What has no reader is passed over in
// a folder.
Result<Sorted> sorted(const std::vector<std::string>& files) {
  ORRERY_TRY(const std::vector<TraceInput> inputs, trace_inputs(files));
  const bool has_run = std::ranges::any_of(
      inputs, [](const TraceInput& input) { return input.format->recording != nullptr; });
  Sorted out;
  for (const TraceInput& input : inputs) {
    const bool of_run =
        input.format->recording != nullptr || (has_run && input.format->with_recordings);
    if (!of_run && input.format->contents == nullptr && input.of_folder) continue;
    if (of_run || input.format == &kUnknownFormat) {
      out.of_run.push_back(input.file);
    } else {
      out.others.push_back(input);
    }
  }
  if (out.of_run.empty() && out.others.empty()) return fail(no_traces(files));
  return out;
}

Result<int> show_contents(const TraceFiles& given, const Common& common) {
  ORRERY_TRY(const auto files, sorted(given.files));
  std::vector<TraceSources> runs;
  if (!files.of_run.empty()) runs.push_back({&kKineto, files.of_run, {}});
  for (const TraceInput& input : files.others) runs.push_back({input.format, {input.file}, {}});
  ORRERY_RETURN_IF_ERROR(check_scopes(given, runs, ChakraUse::as_graph));
  std::vector<TraceContents> contents;
  std::vector<Result<TraceContents>> others(files.others.size());
  parallel_for(others.size(), threads_to_use(common.threads), [&](std::size_t i) {
    const TraceInput& input = files.others[i];
    others[i] = read_contents(input.file, *input.format, incomplete(given));
  });
  for (Result<TraceContents>& read : others) {
    if (!read) return fail(read.error());
    contents.push_back(*std::move(read));
  }
  RecordedRun run;
  if (!files.of_run.empty()) {
    TraceFiles of_run = given;
    of_run.files = files.of_run;
    of_run.may_be_empty = true;
    ORRERY_TRY(auto read, read_trace_files(of_run, common));
    run = std::move(read);
  }
  if (common.json) return print(to_json(trace_info_json(run, contents)));
  std::string text = run.ranks.empty() ? "" : trace_info_text(run, text_style());
  text += trace_contents_text(contents, text_style());
  return print(text);
}

}  // namespace

Command trace_info(CLI::App& trace) {
  auto [app, options] = subcommand<TraceFiles>(trace, "info", "what recorded files hold");
  add_trace_files(app, *options);
  app->footer(
      "Also told is what execution traces, Chakra .et files, operation timelines and text "
      "workloads hold.\n"
      "Examples:\n"
      "  orrery trace info validation/traces/torchrec/sst_long_a2a_optimizer\n"
      "  orrery trace info validation/traces/param/resnet_2gpu_et_1.1.0.json.gz");
  return command(app, options, show_contents);
}

}  // namespace orrery::cli
