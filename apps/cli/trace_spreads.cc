// orrery trace spreads: how much the operations of a recorded run vary, as a variability that
// orrery forecast takes.
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <utility>

#include "document/value.h"
#include "forecast/step_distribution.h"
#include "infer/fitted_spreads.h"
#include "report/traces/trace_reports.h"
#include "trace_files.h"

namespace orrery::cli {
namespace {

struct SpreadOptions {
  TraceFiles files;
  std::string keep = StepQuestion().variability;
  std::string write;
  std::int64_t per_node = 0;
  std::int64_t skip = 0;
  std::size_t top = 20;
};

Result<DurationSamples> samples_of(const SpreadOptions& options, const TraceSources& sources,
                                   const Common& common) {
  if (sources.format->operations != nullptr) {
    ORRERY_TRY(const auto timeline,
               sources.format->operations(sources.files[0], incomplete(options.files)));
    auto samples = duration_samples(timeline);
    if (!samples) return fail(at(sources.files[0], samples.error()));
    return samples;
  }
  ORRERY_TRY(const auto seen, read_seen_as_recorded(options.files, common));
  if (is_simulated(seen.run.source)) {
    return bad_input("its times are simulated, and simulated times do not vary", sources.files[0],
                     "give what was recorded");
  }
  return duration_samples(seen.run, options.per_node);
}

Result<int> fit_spreads(const SpreadOptions& options, const Common& common) {
  ORRERY_TRY(const auto catalog, open_catalog(common));
  ORRERY_TRY(const auto kept, load_variability(catalog, options.keep));
  ORRERY_TRY(const auto sources, trace_sources(options.files.files));
  ORRERY_TRY(auto recorded, samples_of(options, sources, common));
  const DurationSamples samples = without_first_steps(std::move(recorded), options.skip);
  if (samples.samples.empty() && options.skip > 0) {
    return bad_input(fmt::format("--skip {} leaves no step", options.skip), sources.files[0],
                     "orrery trace info counts its steps");
  }
  const std::string recording = std::filesystem::path(sources.files.front()).filename().string();
  const std::string name =
      options.write.empty() ? "recorded" : std::filesystem::path(options.write).stem().string();
  ORRERY_TRY(const auto spreads, fitted_spreads(samples, kept, name, recording));
  if (!options.write.empty()) {
    const auto entry = all_fields(spreads.variability);
    ORRERY_RETURN_IF_ERROR(write_file(options.write, to_yaml(entry)));
  }
  return print(common.json ? to_json(spreads_json(spreads))
                           : spreads_text(spreads, options.top, text_style()));
}

}  // namespace

Command trace_spreads(CLI::App& trace) {
  auto [app, options] = subcommand<SpreadOptions>(
      trace, "spreads", "how much recorded operations vary; spreads for orrery forecast");
  add_trace_files(app, options->files);
  app->add_option("--write", options->write,
                  "write the spreads to this YAML file, for orrery forecast --variability")
      ->check(not_empty());
  app->add_option("--keep", options->keep,
                  "the variability, by name or file, that gives what the recording does not")
      ->capture_default_str();
  app->add_option(
         "--per-node", options->per_node,
         "accelerators of a node (default: as many as the recording names devices, else 8)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{100'000}));
  app->add_option("--skip", options->skip, "leave out the first steps, in which a job warms up")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1'000'000'000}));
  add_number(app, "--top", options->top, "rows of the table of operations",
             CLI::Range(std::size_t{1}, std::size_t{100'000}));
  app->footer(
      "Example:\n  orrery trace spreads validation/traces/StragglerAnalysis/timeline-ST.json.gz "
      "--write st.yaml");
  return command(app, options, fit_spreads);
}

}  // namespace orrery::cli
