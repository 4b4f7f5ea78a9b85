// orrery import: the launch files of a framework as a specification.
#include <string>

#include "command.h"
#include "document/value.h"
#include "launch/launch.h"
#include "report/plans/launch_report.h"

namespace orrery::cli {

Result<int> import_command(const ImportOptions& options, const Common& common) {
  ORRERY_TRY(const auto catalog, open_catalog(common));
  LaunchQuestion question;
  for (const std::string& file : options.files) {
    ORRERY_TRY(LaunchFile read, read_launch_file(file));
    question.files.push_back(std::move(read));
  }
  question.framework = options.framework;
  question.cluster = options.cluster;
  question.model = options.model;
  std::string place;
  for (const std::string& file : options.files) place += (place.empty() ? "" : ", ") + file;
  ORRERY_TRY(const ImportedLaunch launch, at(place, import_launch(question, catalog)));
  if (!options.yaml.empty()) {
    ORRERY_RETURN_IF_ERROR(write_file(options.yaml, launch_yaml(launch)));
  }
  if (common.json) return print(to_json(launch_json(launch)));
  const std::string spec = options.yaml.empty() ? "\n" + to_yaml(launch.specification) : "";
  return print(launch_text(launch, text_style()) + spec);
}

}  // namespace orrery::cli
