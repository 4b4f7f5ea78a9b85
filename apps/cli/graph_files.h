// Graphs of recorded runs, Chakra traces and predictions as files of our own.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "command.h"
#include "replay/chakra_graph.h"
#include "trace/graph_file/graph_file.h"
#include "trace/recorded_run.h"

namespace orrery::cli {

// Adds --ignore-absent and --ignore-control.
void add_chakra_dependencies(CLI::App* app, ChakraGraphOptions& options);

// Each writes `out`, packed if its name ends in .gz, and gives a line about it.
Result<std::string> write_graph(const std::string& out, const GraphFile& file);
Result<std::string> write_run_graph(const std::string& out, const RecordedRun& run);
Result<std::string> write_chakra_graph(const std::string& out,
                                       const std::vector<std::string>& files, Incomplete incomplete,
                                       const ChakraGraphOptions& options);

}  // namespace orrery::cli
