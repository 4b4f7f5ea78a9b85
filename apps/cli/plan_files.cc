#include "plan_files.h"

#include "estimate/spec.h"
#include "estimate/step_timeline.h"
#include "launch/launch.h"
#include "outcome/nearest_name.h"
#include "trace/perfetto/chrome_json.h"

namespace orrery::cli {

void add_emit(CLI::App* app, Question& q) {
  app->add_option("--emit", q.emit,
                  "print the plan as a launch file instead: megatron, torchtitan, deepspeed, nemo, "
                  "llm-foundry, megatron-bridge; as a specification: yaml; for --plan: plan");
}

Result<int> emit(const std::string& format, const PredictedStep& step, const Catalog& catalog,
                 const Common& common) {
  if (common.json) {
    return bad_input("prints a file, not a JSON document", "--emit", "leave out --json");
  }
  Scenario scenario = step.priced->scenario;
  scenario.plan = step.plan();
  if (format == "plan") return print(to_text(without_idle_fields(scenario.plan)) + "\n");
  if (format == "yaml") return print(to_yaml(specification(scenario, catalog)));
  const auto table = catalog.find("launch", format);
  if (!table) {
    std::vector<std::string> known = framework_names(catalog);
    known.insert(known.end(), {"yaml", "plan"});
    return bad_input("unknown format '" + format + "'", "--emit", name_hint(format, known));
  }
  ORRERY_TRY(const EmittedLaunch launch, emitted_launch(scenario, format, catalog));
  const int printed = print(launch.text);
  const std::string framework = table->root.find("name")->scalar_text();
  for (const std::string& field : launch.not_expressed) say(framework + " cannot express " + field);
  for (const std::string& line : launch.to_add) say("add " + line);
  return printed;
}

Result<std::string> write_report_files(const Question& question, const PredictedStep& step,
                                       const SimulatedStep& drawn, const Estimate& estimate,
                                       const FoundBy& found) {
  const auto timeline = [&] {
    const Subject subject = subject_of(step.priced->scenario);
    return chrome_json(timeline_spans(drawn), subject.model + " on " + subject.cluster);
  };
  return write_all({{"report", question.html, [&] { return step_html(step, estimate, found); }},
                    {"timeline", question.timeline, timeline, " (open it in ui.perfetto.dev)"}});
}

}  // namespace orrery::cli
