// orrery numerics: what number formats and kernels change in what is computed.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

#include "command.h"

namespace orrery::cli {

struct NumericsCommand {
  CLI::App* app = nullptr;
  std::function<Result<int>(const Common&)> run;  // gives the exit code
};

// Adds `numerics` and its commands to the command line. `run` is to be called when it was parsed.
NumericsCommand add_numerics(CLI::App& orrery);

}  // namespace orrery::cli
