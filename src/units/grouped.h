// Whole numbers with their thousands apart: 16384 -> "16,384".
#pragma once

#include <cstdint>
#include <string>

namespace orrery {

std::string grouped(std::int64_t n);

}  // namespace orrery
