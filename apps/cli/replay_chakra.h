// orrery trace replay of Chakra traces and text workloads.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "command.h"
#include "replay/chakra_graph.h"

namespace orrery::cli {

struct ReplayChakraOptions {
  std::string cluster;
  ChakraGraphOptions graph;
};

// Adds --on, --ignore-absent and --ignore-control.
void add_replay_chakra(CLI::App* app, ReplayChakraOptions& options);

// What --timeline answers where there are no recorded events.
Error no_timeline(const std::string& file);

// The exit code, or nothing if the files are of another kind. `timeline`: refused, unless empty.
std::optional<int> run_chakra_replay(const std::vector<std::string>& given,
                                     const ReplayChakraOptions& options,
                                     const std::string& timeline, const Common& common);

}  // namespace orrery::cli
