// The recorded files a subcommand of `orrery trace` reads, and the options that go with them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "command.h"
#include "trace/recorded_run.h"

namespace orrery::cli {

struct TraceFiles {
  std::vector<std::string> files;
  bool partial = false;
  bool no_stacks = false;
  bool modules_only = false;  // of python functions; no option of its own
  bool recorded_clocks = false;
};

// Adds FILES, --partial, --no-stacks and --recorded-clocks.
void add_trace_files(CLI::App* app, TraceFiles& files);

// What is given, with folders replaced by the traces in them (*.json, *.et, *.txt, and gzip), by
// name. Errors: a folder without any.
Result<std::vector<std::string>> files_and_folders(const std::vector<std::string>& given);

// Reads them, with progress on a terminal.
Result<RecordedRun> read_trace_files(const TraceFiles& files, Ranks ranks, const Common& common);

}  // namespace orrery::cli
