// What is wrong with a command line, in words.
#pragma once

#include <CLI/CLI.hpp>
#include <span>

#include "outcome/error.h"

namespace orrery::cli {

// Why the command line `words` is refused: an unknown command, an option or word that its command
// does not take, or what the parser found.
Error parse_error(const CLI::App& app, const CLI::ParseError& parsed, std::span<char*> words);

// Whether every word that should be a command is one.
bool all_commands_known(const CLI::App& app, std::span<char*> words);

}  // namespace orrery::cli
