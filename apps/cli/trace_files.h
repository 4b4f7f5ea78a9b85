// The recorded files a subcommand of `orrery trace` reads, and the options that go with them.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "command.h"
#include "replay/chakra_graph.h"
#include "replay/seen_run.h"
#include "trace/graph_file/graph_file.h"
#include "trace/recorded_run.h"

namespace orrery::cli {

struct TraceFiles {
  std::vector<std::string> files;
  bool partial = false;
  bool no_stacks = false;
  bool modules_only = false;  // of python functions; no option of its own
  bool recorded_clocks = false;
  bool may_be_empty = false;  // a run without any event is an answer too; no option either
};

// Adds FILES, --partial, --no-stacks and --recorded-clocks.
void add_trace_files(CLI::App* app, TraceFiles& files);

// What a command makes of Chakra traces: with start times a recording of several clocks, or a
// graph.
enum class ChakraUse : std::uint8_t { as_recording, as_graph };

// Refuses --partial, --no-stacks and --recorded-clocks where they mean nothing for any of the runs.
Result<void> check_scopes(const TraceFiles& options, const std::vector<TraceSources>& runs,
                          ChakraUse use);

// Refuses the empty text, which a shell makes of a variable that is not set.
CLI::Validator not_empty();

// What --partial asks for.
Incomplete incomplete(const TraceFiles& files);

// Reads them, with progress on a terminal. Errors: of their readers; a run without any event.
Result<RecordedRun> read_trace_files(const TraceFiles& files, const Common& common);

// The same of whatever can be seen as a recording: .et files and graphs too
// (replay/simulated_recording.h).
Result<SeenRun> read_seen_as_recorded(const TraceFiles& files, const Common& common);

// Adds --ignore-absent and --ignore-control.
void add_chakra_dependencies(CLI::App* app, ChakraGraphOptions& options);

// Each writes `out`, packed if its name ends in .gz, and gives a line about it.
Result<std::string> write_graph(const std::string& out, const GraphFile& file);
Result<std::string> write_run_graph(const std::string& out, const RecordedRun& run);
Result<std::string> write_chakra_graph(const std::string& out,
                                       const std::vector<std::string>& files, Incomplete incomplete,
                                       const ChakraGraphOptions& options);

}  // namespace orrery::cli
