// Options of orrery tables.
#pragma once

#include <CLI/CLI.hpp>

#include "command.h"

namespace orrery::cli {

void add_tables(CLI::App* app, TablesOptions& options);

}  // namespace orrery::cli
