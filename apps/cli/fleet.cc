// orrery fleet: a shared cluster of many jobs.
#include <algorithm>
#include <array>
#include <csignal>
#include <string>
#include <utility>

#include "command.h"
#include "fleet/fleet_forecast.h"
#include "progress.h"
#include "report/fleet/fleet_report.h"

namespace orrery::cli {
namespace {

// Options that are fields of the specification as they stand.
constexpr auto kFleetOptions = std::to_array<std::pair<const char*, std::string FleetOptions::*>>({
    {"jobs", &FleetOptions::jobs},
    {"nodes", &FleetOptions::nodes},
    {"gpus_per_node", &FleetOptions::gpus_per_node},
    {"days", &FleetOptions::days},
    {"scheduler", &FleetOptions::scheduler},
    {"estimates", &FleetOptions::estimates},
    {"failures", &FleetOptions::failures},
    {"restart", &FleetOptions::restart},
    {"checkpoint", &FleetOptions::checkpoint},
    {"seeds", &FleetOptions::seeds},
    {"seed", &FleetOptions::seed},
});

// A mix of the catalog, or a specification.
Result<FleetQuestion> fleet_question(const FleetOptions& options, const Catalog& catalog) {
  Value fields = Value::map();
  std::string name = "fleet";
  if (options.subject == "-" || options.subject.ends_with(".yaml") ||
      options.subject.ends_with(".yml") || options.subject.ends_with(".json")) {
    ORRERY_TRY(const Document document, read_document(options.subject));
    fields = document.root;
    name = document.name;
  } else if (!options.subject.empty()) {
    if (auto known = catalog.find("job-mixes", options.subject); !known) {
      return fail(at("fleet", known.error()));
    }
    fields.set("mix", Value::scalar(Value::Kind::text, options.subject, 0));
  }
  if (fields.kind() == Value::Kind::map) {
    for (const auto& [key, option] : kFleetOptions) {
      if ((options.*option).empty()) continue;
      const std::string& text = options.*option;
      const bool number = text.find_first_not_of("+-.0123456789eE") == std::string::npos;
      fields.set(key, Value::scalar(number ? Value::Kind::number : Value::Kind::text, text, 0));
    }
  }
  auto question = Codec<FleetQuestion>::read(fields);
  if (!question) return fail(at(name, question.error()));
  return question;
}

}  // namespace

Result<int> fleet_command(const FleetOptions& options, const Common& common) {
  ORRERY_TRY(const auto catalog, open_catalog(common));
  ORRERY_TRY(const FleetQuestion question, fleet_question(options, catalog));
  Result<FleetForecast> forecast = [&] {
    Progress progress(!common.quiet);
    return forecast_fleet(
        question, catalog,
        {.compare = options.compare,
         .threads = common.threads,
         .progress = [&](double done) { progress.show(done, "simulating the cluster"); },
         .interrupted = &Progress::interrupted()});
  }();
  if (Progress::interrupted().load()) end_by_signal(SIGINT);
  if (!forecast) return fail(std::move(forecast.error()));
  return print(common.json ? to_json(fleet_json(*forecast)) : fleet_text(*forecast, text_style()));
}

}  // namespace orrery::cli
