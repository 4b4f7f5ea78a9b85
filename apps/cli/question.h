// From what was typed to a Scenario; and the files a scenario's report writes.
#pragma once

#include "command.h"
#include "estimate/spec.h"

namespace orrery::cli {

Result<Spec> ask(const Question& question, const Catalog& catalog);

}  // namespace orrery::cli
