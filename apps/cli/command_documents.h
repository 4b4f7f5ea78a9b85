// What is made from the table of options of the command line: completion for shells, manual pages.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <string_view>

#include "outcome/result.h"

namespace orrery::cli {

// A script that completes commands, options and names of the catalog. Errors: a shell other than
// bash, zsh and fish.
Result<std::string> completion_script(const CLI::App& app, std::string_view shell);

// Writes orrery.1 and a page for each command, orrery-estimate.1, into a folder.
Result<void> write_manual_pages(const CLI::App& app, const std::string& folder);

// "orrery trace diff".
std::string full_name(const CLI::App& app);

}  // namespace orrery::cli
