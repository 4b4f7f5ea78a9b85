// orrery trace: commands on recorded runs, each in a file of its own.
#include <array>

#include "command.h"

namespace orrery::cli {

Command trace_info(CLI::App& trace);
Command trace_analyze(CLI::App& trace);
Command trace_replay(CLI::App& trace);
Command trace_whatif(CLI::App& trace);
Command trace_diff(CLI::App& trace);
Command trace_spec(CLI::App& trace);
Command trace_kernels(CLI::App& trace);
Command trace_spreads(CLI::App& trace);
Command trace_convert(CLI::App& trace);

Command trace_command(CLI::App& orrery) {
  static constexpr std::array<AddCommand, 9> kCommands = {
      trace_info, trace_analyze, trace_replay,  trace_whatif, trace_diff,
      trace_spec, trace_kernels, trace_spreads, trace_convert};
  return command_group(orrery.add_subcommand("trace", "read, analyse and replay recorded runs"),
                       kCommands);
}

}  // namespace orrery::cli
