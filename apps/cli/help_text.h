// The text of --help: what an option is for is wrapped at the width of the terminal, beside its name.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>

namespace orrery::cli {

std::shared_ptr<CLI::FormatterBase> help_text();

}  // namespace orrery::cli
