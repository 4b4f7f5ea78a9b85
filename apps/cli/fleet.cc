// orrery fleet: a shared cluster of many jobs.
#include <array>
#include <csignal>
#include <string>
#include <utility>

#include "command.h"
#include "field_options.h"
#include "fleet/fleet_forecast.h"
#include "progress.h"
#include "report/fleet/fleet_report.h"

namespace orrery::cli {
namespace {

struct FleetOptions {
  std::string subject;  // a mix of the catalog or a specification; empty: the usual mix
  FieldOptions fields;
  bool compare = false;
};

constexpr auto kFleetOptions = std::to_array<FieldOption>({
    {"jobs",
     "a CSV list of jobs in place of drawn ones: submit,gpus,duration,priority,p95; "
     "times in seconds"},
    {"nodes", "of the cluster; jobs grow with it"},
    {"gpus-per-node", "of the cluster"},
    {"days", "to simulate (default: 30; of a list, until all jobs end)"},
    {"scheduler", "fifo, priority, shortest, srtf or deadline (default: priority)"},
    {"estimates", "what the scheduler knows of run times: mean or p95 (default: mean)"},
    {"failures", "failure rates, of orrery catalog failures; none: nothing fails"},
    {"restart", "restart times, of orrery catalog restarts"},
    {"checkpoint", "work between two checkpoints: 30min"},
    {"seeds", "simulations (default: 5)"},
    {"seed", "of the random numbers (default: 1)"},
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
  if (fields.kind() == Value::Kind::map) options.fields.write(Field::top, fields);
  auto question = Codec<FleetQuestion>::read(fields);
  if (!question) return fail(at(name, question.error()));
  return question;
}

Result<int> simulate_cluster(const FleetOptions& options, const Common& common) {
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

}  // namespace

Command fleet_command(CLI::App& orrery) {
  auto [app, o] = subcommand<FleetOptions>(orrery, "fleet",
                                           "a shared cluster: many jobs, a scheduler, failures");
  app->add_option("mix", o->subject,
                  "of orrery catalog job-mixes, or a specification in YAML (default: meta-rsc-1)");
  o->fields.add(app, kFleetOptions);
  app->add_flag("--compare", o->compare, "every scheduler, with mean and with p95 estimates");
  app->footer(
      "Examples:\n"
      "  orrery fleet meta-rsc-1\n"
      "  orrery fleet meta-rsc-2 --nodes 160 --compare\n"
      "  orrery fleet --jobs jobs.csv --nodes 64 --scheduler fifo");
  return command(app, o, simulate_cluster);
}

}  // namespace orrery::cli
