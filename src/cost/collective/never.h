// The infinite time that an algorithm returns for a collective it does not offer.
#pragma once

#include <limits>

#include "units/quantity.h"

namespace orrery {

inline constexpr Seconds kNever{std::numeric_limits<double>::infinity()};

}  // namespace orrery
