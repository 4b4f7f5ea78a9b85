// orrery trace replay of Chakra traces and text workloads.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "command.h"

namespace orrery::cli {

struct ReplayChakraOptions {
  std::string cluster;
  bool ignore_absent = false;
  bool ignore_control = false;
};

// Adds --on, --ignore-absent and --ignore-control.
void add_replay_chakra(CLI::App* app, ReplayChakraOptions& options);

// The exit code, or nothing if the files are of another kind.
std::optional<int> run_chakra_replay(const std::vector<std::string>& given,
                                     const ReplayChakraOptions& options, const Common& common);

}  // namespace orrery::cli
