// Published runs, forecast from the failure rates of Meta's research clusters and the restarts of
// ByteDance, never from the run's own count; docs/forecast.md shows the table that is made here.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <charconv>
#include <cmath>

#include "document/comma_separated.h"
#include "document/value.h"
#include "forecast/ettr.h"
#include "forecast/run_simulation.h"

namespace orrery {
namespace {

const std::string kRecordRoot = ORRERY_SOURCE_DIR;

struct RecordedRun {
  std::string name;
  std::int64_t accelerators = 0;
  std::int64_t accelerators_per_node = 0;
  double days = 0;
  double interruptions = 0;
  double ettr = 0;
  std::string ettr_is;
  RunModel model;  // without failures and restarts
  bool interval_stated = false;
};

std::vector<RecordedRun> recorded_runs() {
  const auto text = read_file(kRecordRoot + "/validation/runs/runs-of-record.csv");
  const auto table = parse_comma_separated(*text, "runs-of-record.csv");
  EXPECT_TRUE(table && table->complete());
  std::vector<RecordedRun> out;
  for (const auto& record : table->records) {
    const auto cell = [&](std::string_view column) {
      const auto at = std::ranges::find(table->columns, column) - table->columns.begin();
      return record.fields[static_cast<std::size_t>(at)];
    };
    const auto number = [&](std::string_view column, double otherwise = 0) {
      const std::string word = cell(column);
      double value = otherwise;
      std::from_chars(word.data(), word.data() + word.size(), value);
      return value;
    };
    RecordedRun run;
    run.name = cell("run");
    run.accelerators = static_cast<std::int64_t>(number("accelerators"));
    run.accelerators_per_node = static_cast<std::int64_t>(number("accelerators_per_node"));
    run.days = number("days");
    run.interruptions = number("interruptions");
    run.ettr = number("ettr");
    run.ettr_is = cell("ettr_is");
    RunModel& m = run.model;
    m.step = Seconds(number("step_s", 10));
    // A run of unknown length: a hundred days, of which the rate and the ratio are taken.
    m.steps = static_cast<std::int64_t>(number("steps", 864'000));
    m.nodes = run.accelerators / run.accelerators_per_node;
    m.evaluate_every = static_cast<std::int64_t>(number("evaluate_every"));
    m.evaluation = Seconds(number("evaluation_s"));
    const Seconds save(number("save_s"));
    run.interval_stated = !cell("interval_s").empty();
    m.checkpoints = {{.every = std::llround(number("interval_s") / m.step.value()),
                      .blocked = save,
                      .durable = save,
                      .restore = save}};
    out.push_back(std::move(run));
  }
  return out;
}

struct Forecasted {
  double interruptions;  // over the published days
  double ettr;
};

Forecasted forecasted(RecordedRun run, const char* failures, const char* restart) {
  const Catalog& catalog = Catalog::built_in();
  const FailureRates rates = *load_failure_rates(catalog, failures);
  RunModel& m = run.model;
  m.failure_rate = rate_of_node(rates, run.accelerators_per_node);
  m.restart = stages_at(*load_restart_times(catalog, restart), run.accelerators);
  CheckpointLevel& level = m.checkpoints.front();
  if (!run.interval_stated) {
    const Hertz all = static_cast<double>(m.nodes) * m.failure_rate;
    level.every = std::max(std::llround(best_interval(all, level.blocked) / m.step), 1ll);
  }
  const auto runs = simulate_runs(m, 400, 1, 2);
  EXPECT_TRUE(runs) << runs.error().text();
  double wall = 0;
  double interruptions = 0;
  for (const RunOutcome& one : *runs) {
    wall += static_cast<double>(one.wall_ns);
    interruptions += static_cast<double>(one.interruptions);
  }
  return {interruptions / (wall / 86400e9) * run.days,
          static_cast<double>(runs->front().productive_ns) * 400 / wall};
}

TEST(RunsOfRecord, AreForecastAsTheDocumentationSays) {
  std::string table =
      "| run | failures | restart | interruptions | published | error | ETTR | published | error "
      "|\n| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n";
  for (const RecordedRun& run : recorded_runs()) {
    for (const char* failures : {"meta-rsc-1", "meta-rsc-2"}) {
      for (const char* restart : {"bytedance", "bytedance-standby"}) {
        const Forecasted f = forecasted(run, failures, restart);
        const bool within = (run.ettr_is == "above" && f.ettr >= run.ettr) ||
                            (run.ettr_is == "at most" && f.ettr <= run.ettr);
        table += fmt::format(
            "| {} | {} | {} | {:.1f} | {:g} | {:+.0f} % | {:.3f} | {} | {} |\n", run.name, failures,
            restart, f.interruptions, run.interruptions,
            100 * (f.interruptions / run.interruptions - 1), f.ettr,
            run.ettr_is + (run.ettr_is.empty() ? "" : " ") + fmt::format("{:g}", run.ettr),
            within ? "within" : fmt::format("{:+.3f}", f.ettr - run.ettr));
      }
    }
  }
  const auto page = read_file(kRecordRoot + "/docs/forecast.md");
  ASSERT_TRUE(page);
  EXPECT_NE(page->find(table), std::string::npos) << "docs/forecast.md should show\n" << table;
}

// The published ratio counts planned interruptions as well: 47 in the 54 days, of unknown length.
// With 20 minutes each the forecast lies further from it, never nearer.
TEST(RunsOfRecord, OfLlama3LoseMoreWithItsPlannedInterruptions) {
  const auto runs = recorded_runs();
  const auto llama = std::ranges::find(runs, "Llama 3 405B", &RecordedRun::name);
  ASSERT_NE(llama, runs.end());
  RecordedRun planned = *llama;
  planned.model.planned = PlannedStops{Seconds(54 * 86400.0 / 47), {.mean = Seconds(1200)}};
  for (const char* restart : {"bytedance", "bytedance-standby"}) {
    const double without = forecasted(*llama, "meta-rsc-2", restart).ettr;
    const double with = forecasted(planned, "meta-rsc-2", restart).ettr;
    EXPECT_NEAR(with / without, restart == std::string("bytedance") ? 0.981 : 0.988, 0.002);
  }
}

}  // namespace
}  // namespace orrery
