// How long kinds of device work ran alone and together.
//
// Every moment of a window in which the device was busy belongs to exactly one combination of
// computing, communicating and moving memory (copies and fills). As bits of the index: 1 computing,
// 2 communicating, 4 moving memory; entry 0 is 0. Source: facebookresearch/HolisticTraceAnalysis
// f4d0062 (kernel breakdown by type). O(intervals).
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "analyze/device_work.h"

namespace orrery {

inline constexpr std::size_t kWorkCombinations = 8;
using KernelOverlap = std::array<std::int64_t, kWorkCombinations>;

// `work` is clipped to the window.
KernelOverlap kernel_overlap(const DeviceWork& work);

// "compute", "compute and communication"; of 1 to 7.
std::string combination_name(std::size_t combination);

}  // namespace orrery
