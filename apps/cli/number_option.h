// The check of every option that takes a number with a fraction.
#pragma once

#include <CLI/CLI.hpp>

namespace orrery::cli {

// Refuses what is not a number from `least` to `most`. CLI::Range lets "nan" pass, of which no
// comparison holds.
CLI::Validator number_within(double least, double most);

}  // namespace orrery::cli
