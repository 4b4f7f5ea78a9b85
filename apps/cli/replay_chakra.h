// orrery trace replay of Chakra traces, text workloads and graphs.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "command.h"
#include "replay/chakra_graph.h"
#include "trace/trace_inputs.h"

namespace orrery::cli {

struct ReplayChakraOptions {
  std::string cluster;
  ChakraGraphOptions graph;
};

// Adds --on, --ignore-absent and --ignore-control.
void add_replay_chakra(CLI::App* app, ReplayChakraOptions& options);

// Of sources that can be read as one of these. The exit code.
Result<int> run_chakra_replay(const TraceSources& sources, Incomplete incomplete,
                              const ReplayChakraOptions& options, const Common& common);

}  // namespace orrery::cli
