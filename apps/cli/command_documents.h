// What is made from the table of options of the command line: completion for shells, manual pages.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "outcome/result.h"

namespace orrery::cli {

// A script that completes commands, options and names of the catalog by `orrery --complete WORDS`.
// Errors: a shell other than bash, zsh and fish.
Result<std::string> completion_script(std::string_view shell);
// What may follow these words, one a line, with a tab and a sentence behind it: the values of an
// option, or names for the first positional of a command, its commands and its options.
std::string completions(const CLI::App& app, std::span<char*> words);

// Writes orrery.1 and a page for each command, orrery-estimate.1, into a folder.
Result<void> write_manual_pages(const CLI::App& app, const std::string& folder);

std::vector<const CLI::App*> commands_within(const CLI::App& app);
// The options of a command and of the commands above it.
std::vector<const CLI::Option*> all_options(const CLI::App& app);
// The names of an option with dashes: "--plan", or "-q".
std::vector<std::string> names_of(const CLI::Option& option);

// "orrery trace diff".
std::string full_name(const CLI::App& app);

}  // namespace orrery::cli
