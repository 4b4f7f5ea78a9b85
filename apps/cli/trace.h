// orrery trace: subcommands on recorded runs, each in a file of its own.
//
// A file trace_x.cc defines `TraceSubcommand trace_x(CLI::App& trace)`, which adds "x" with its
// options to `trace` and gives what runs when it was called; trace.cc lists them.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "command.h"

namespace orrery::cli {

struct TraceSubcommand {
  CLI::App* app = nullptr;
  std::function<Result<int>(const Common&)> run;  // gives the exit code
};

// Adds `trace` to the command line. `run` is to be called when it was parsed.
TraceSubcommand add_trace(CLI::App& orrery);

}  // namespace orrery::cli
