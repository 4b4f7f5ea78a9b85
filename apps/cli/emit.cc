#include "emit.h"

#include "estimate/spec.h"
#include "launch/launch.h"
#include "outcome/nearest_name.h"

namespace orrery::cli {

Result<int> emit(const std::string& format, const PredictedStep& step, const Catalog& catalog,
                 const Common& common) {
  if (common.json) {
    return bad_input("prints a file, not a JSON document", "--emit", "leave out --json");
  }
  Scenario scenario = step.priced->scenario;
  scenario.plan = step.plan();
  if (format == "plan") return print(to_text(without_idle_fields(scenario.plan)) + "\n");
  if (format == "yaml") return print(to_yaml(specification(scenario, catalog)));
  const std::string framework = format == "megatron" ? "megatron-lm" : format;
  if (!catalog.contains("launch", framework)) {
    std::vector<std::string> known = catalog.names("launch");
    known.insert(known.end(), {"megatron", "yaml", "plan"});
    return bad_input("unknown format '" + format + "'", "--emit", name_hint(format, known));
  }
  ORRERY_TRY(const EmittedLaunch launch, emitted_launch(scenario, framework, catalog));
  const int printed = print(launch.text);
  for (const std::string& field : launch.not_expressed) {
    say(framework + " cannot express " + field);
  }
  return printed;
}

}  // namespace orrery::cli
