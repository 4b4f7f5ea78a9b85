// What becomes of a file that ends in the middle, as a job that is killed leaves it.
#pragma once

#include <cstdint>

namespace orrery {

enum class Incomplete : std::uint8_t { refuse, use_what_is_whole };

}  // namespace orrery
