// orrery import: the launch files of a framework as a specification.
#include <string>

#include "command.h"
#include "document/value.h"
#include "launch/launch.h"
#include "report/drawing/figures.h"
#include "report/plans/plan_reports.h"

namespace orrery::cli {
namespace {

struct ImportOptions {
  std::vector<std::string> files;
  std::string framework;  // of orrery catalog launch; empty: recognised
  std::string cluster;
  std::string model;
  std::string yaml;  // a file for the specification; empty: none
};

Result<int> import_files(const ImportOptions& options, const Common& common) {
  ORRERY_TRY(const auto catalog, open_catalog(common));
  LaunchQuestion question;
  for (const std::string& file : options.files) {
    ORRERY_TRY(LaunchFile read, read_launch_file(file));
    question.files.push_back(std::move(read));
  }
  question.framework = options.framework;
  question.cluster = options.cluster;
  question.model = options.model;
  ORRERY_TRY(const ImportedLaunch launch,
             at(joined(options.files, ", "), import_launch(question, catalog)));
  if (!options.yaml.empty()) ORRERY_RETURN_IF_ERROR(write_file(options.yaml, launch_yaml(launch)));
  if (common.json) return print(to_json(launch_json(launch)));
  const std::string spec = options.yaml.empty() ? "\n" + to_yaml(launch.specification) : "";
  return print(launch_text(launch, text_style()) + spec);
}

}  // namespace

Command import_command(CLI::App& orrery) {
  auto [app, o] = subcommand<ImportOptions>(
      orrery, "import", "launch files of a training framework as a specification");
  app->add_option("files", o->files,
                  "launch files of one run: shell scripts, YAML, TOML, JSON, logs")
      ->required();
  app->add_option("--on", o->cluster, "the cluster; its number of GPUs where the files say none");
  app->add_option("--model", o->model, "in place of what the files say: as for estimate");
  app->add_option("--from", o->framework, "of orrery catalog launch (default: recognised)");
  app->add_option("--yaml", o->yaml, "write the specification, for orrery estimate");
  app->footer("Example:\n  orrery import train.sh --on h100-sxm:64 --yaml spec.yaml");
  return command(app, o, import_files);
}

}  // namespace orrery::cli
