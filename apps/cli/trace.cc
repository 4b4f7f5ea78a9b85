#include "trace.h"

#include <array>
#include <utility>
#include <vector>

namespace orrery::cli {

TraceSubcommand trace_info(CLI::App& trace);
TraceSubcommand trace_analyze(CLI::App& trace);
TraceSubcommand trace_replay(CLI::App& trace);
TraceSubcommand trace_whatif(CLI::App& trace);
TraceSubcommand trace_diff(CLI::App& trace);
TraceSubcommand trace_spec(CLI::App& trace);
TraceSubcommand trace_kernels(CLI::App& trace);
TraceSubcommand trace_spreads(CLI::App& trace);
TraceSubcommand trace_convert(CLI::App& trace);

namespace {

constexpr std::array kSubcommands = {
    trace_info, trace_analyze, trace_replay,  trace_whatif,  trace_diff,
    trace_spec, trace_kernels, trace_spreads, trace_convert,
};

}  // namespace

TraceSubcommand add_trace(CLI::App& orrery) {
  CLI::App* app = orrery.add_subcommand("trace", "read, analyse and replay recorded runs");
  app->require_subcommand(1);
  std::vector<TraceSubcommand> added;
  added.reserve(kSubcommands.size());
  for (const auto add : kSubcommands) added.push_back(add(*app));
  app->footer("orrery trace COMMAND --help explains a command.");
  const auto run = [added = std::move(added)](const Common& common) -> Result<int> {
    for (const TraceSubcommand& subcommand : added) {
      if (subcommand.app->parsed()) return subcommand.run(common);
    }
    return ExitCode::bug;
  };
  return TraceSubcommand{app, run};
}

}  // namespace orrery::cli
