// The options of `orrery generate`, beside those that every question has.
#pragma once

#include <CLI/CLI.hpp>

#include "command.h"

namespace orrery::cli {

// Adds them to a command that has those of a question, and takes away what concerns training.
void add_generate(CLI::App* app, GenerateOptions& options);

}  // namespace orrery::cli
