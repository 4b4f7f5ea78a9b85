// The catalog's accelerator that a recording names: "NVIDIA H100 80GB HBM3" is h100-sxm.
//
// Drivers name a product, not a catalog entry. The words of the name decide: the model (h100,
// mi300x), and where a model has several entries, its form (pcie, nvl) and its memory. Source: the
// names in the recordings of validation/traces, and those of NVIDIA's and AMD's drivers.
#pragma once

#include <optional>
#include <string>

#include "catalog/catalog.h"
#include "cluster/accelerator.h"
#include "trace/recorded_trace.h"

namespace orrery {

// The entry of the device; empty if the catalog has none of that name.
std::optional<Accelerator> recorded_accelerator(const Catalog& catalog,
                                                const RecordedDevice& device);

}  // namespace orrery
