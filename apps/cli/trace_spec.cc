// orrery trace spec: which model a recording ran, how it was divided, and its prediction.
#include <memory>
#include <string>
#include <vector>

#include "document/value.h"
#include "infer/inferred_comparison.h"
#include "report/inferred_report.h"
#include "trace.h"
#include "trace/recorded_run.h"

namespace orrery::cli {
namespace {

struct SpecOptions {
  std::vector<std::string> files;
  std::string yaml;
  bool partial = false;
};

int infer(const SpecOptions& options, const Common& common) {
  const auto catalog = open_catalog(common);
  if (!catalog) return refuse(catalog.error());
  RunOptions run_options;
  if (options.partial) run_options.kineto.incomplete = Incomplete::use_what_is_whole;
  const auto run = read_run(options.files, run_options);
  if (!run) return refuse(run.error());
  const auto compared = inferred_comparison(run->ranks, *catalog);
  if (!compared) return refuse(compared.error());
  if (!options.yaml.empty() && !compared->spec.complete) {
    return refuse({ErrorCode::unsupported, "no specification can be written", options.yaml,
                   "not inferred: " + compared->spec.not_inferred.front()});
  }
  if (!options.yaml.empty()) {
    const auto written = write_file(options.yaml, inferred_yaml(compared->spec));
    if (!written) return refuse(written.error());
  }
  return print(common.json ? to_json(inferred_json(*compared))
                           : inferred_text(*compared, text_style()));
}

}  // namespace

TraceSubcommand trace_spec(CLI::App& trace) {
  CLI::App* app =
      trace.add_subcommand("spec", "which model was recorded, how it was divided; predict it");
  auto options = std::make_shared<SpecOptions>();
  app->add_option("files", options->files, "traces of one run, or folders of them")->required();
  app->add_option("--yaml", options->yaml, "write the specification, for orrery estimate");
  app->add_flag("--partial", options->partial, "use what is whole of truncated files");
  app->footer(
      "Example:\n  orrery trace spec "
      "validation/traces/TraceLens/h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz");
  return TraceSubcommand{app, [options](const Common& common) { return infer(*options, common); }};
}

}  // namespace orrery::cli
