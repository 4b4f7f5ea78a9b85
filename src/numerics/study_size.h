// What a study may take of the machine, checked before anything is allocated or computed: sizes come
// from the command line. The limits are those of a workstation, 8 GiB and some minutes a core.
#pragma once

#include <string_view>

#include "outcome/result.h"

namespace orrery {

// Errors: more than 8 GiB at once.
Result<void> check_bytes(double bytes);
// Errors: more than 1e12 operations, which are called `what`: "additions".
Result<void> check_work(double operations, std::string_view what);

}  // namespace orrery
