// The flags that a launch script gives to the commands it starts, without running anything.
//
// Read as bash reads it: comments, quotes, continued lines, assignments, arrays (also appended to),
// `$NAME`, `${NAME}`, `${NAME:-default}`, `${NAME[@]}`, `$((...))` of whole numbers, and `if` with
// tests of texts and numbers. `#SBATCH --nodes=4` becomes the flag `sbatch_nodes`.
//
// What only the run knows (`$1`, variables of the environment without a default, `$(...)`, bodies
// of loops, functions and undecided conditions) makes the flags that depend on it unresolved: they are
// listed with the reason, and no value is guessed. Not read: here-documents, `eval`, `source`,
// patterns in `${...}`.
//
// Source: GNU bash manual, sections 3.1 to 3.5 (grammar, parameters, expansions).
#pragma once

#include <string>
#include <string_view>

#include "launch/launch_files.h"
#include "outcome/result.h"

namespace orrery {

// Errors: a quote or parenthesis that is not closed, expressions nested too deeply, variables that
// expand to more than a mebibyte.
Result<LaunchFlags> read_shell_script(std::string_view text, const std::string& file);

}  // namespace orrery
