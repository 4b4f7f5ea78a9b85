// The accelerator of the catalog that a recording was made on, by the name its driver gives.
//
// "NVIDIA H100 80GB HBM3" is h100-sxm, "AMD Instinct MI300X VF" mi300x. Names that do not say how
// much memory there is ("NVIDIA A100-PG509-200") are told apart by the recorded size. Nothing is
// guessed: a device that is not listed has no roofline unless the caller names one.
#pragma once

#include <optional>
#include <string>

#include "trace/recorded_trace.h"

namespace orrery {

// Name of a catalog entry; empty if it is not known.
std::optional<std::string> catalog_name_of(const RecordedDevice& device);

}  // namespace orrery
