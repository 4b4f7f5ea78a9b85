// Options of orrery compare, and of a run of a step.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "command.h"

namespace orrery::cli {

void add_compare(CLI::App* app, CompareOptions& options);
// Of a run in which nothing fails: --tokens and --price.
void add_healthy_run(CLI::App* app, std::string& tokens, std::string& price);

}  // namespace orrery::cli
