// Options of orrery import.
#pragma once

#include <CLI/CLI.hpp>

#include "command.h"

namespace orrery::cli {

void add_import(CLI::App* app, ImportOptions& options);

}  // namespace orrery::cli
