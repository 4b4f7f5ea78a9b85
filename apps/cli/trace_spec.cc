// orrery trace spec: which model a recording ran, how it was divided, and its prediction.
#include <string>

#include "document/value.h"
#include "infer/inferred_comparison.h"
#include "report/traces/trace_reports.h"
#include "trace_files.h"

namespace orrery::cli {
namespace {

struct SpecOptions {
  TraceFiles files;
  std::string yaml;
};

Result<int> infer_specification(const SpecOptions& options, const Common& common) {
  ORRERY_TRY(const auto catalog, open_catalog(common));
  ORRERY_TRY(const auto run, read_trace_files(options.files, common));
  ORRERY_TRY(const auto compared, inferred_comparison(run.ranks, catalog));
  if (!options.yaml.empty() && !compared.spec.complete) {
    return unsupported("no specification can be written", options.yaml,
                       "not inferred: " + compared.spec.not_inferred.front());
  }
  if (!options.yaml.empty()) {
    const std::string other_model = other_model_warning(compared);
    const std::string comment = other_model.empty() ? "" : "# " + other_model + "\n";
    ORRERY_RETURN_IF_ERROR(write_file(options.yaml, comment + inferred_yaml(compared.spec)));
  }
  return print(common.json ? to_json(inferred_json(compared))
                           : inferred_text(compared, text_style()));
}

}  // namespace

Command trace_spec(CLI::App& trace) {
  auto [app, options] = subcommand<SpecOptions>(
      trace, "spec", "which model was recorded, how it was divided; predict it");
  add_trace_files(app, options->files);
  app->add_option("--yaml", options->yaml, "write the specification, for orrery estimate")
      ->check(not_empty());
  app->footer(
      "Example:\n  orrery trace spec "
      "validation/traces/TraceLens/h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz");
  return command(app, options, infer_specification);
}

}  // namespace orrery::cli
