// Finds the catalog's accelerator on which a recording was made: "NVIDIA H100 80GB HBM3" is
// h100-sxm.
//
// Drivers name a product, not a catalog entry. The words of the name decide: the model (h100,
// mi300x) and its form (pcie, nvl), which must be the entry's; where several entries are left, the
// one whose memory is nearest to the recorded size ("NVIDIA A100-PG509-200" with 40 or 80 GB) or,
// where no size is recorded, the one whose size the name says ("NVIDIA A100-SXM4-80GB"). A device
// with fewer than three quarters of the entry's processors is a part of it (one die of an MI250X,
// an instance of MIG) and not the entry. Nothing else is guessed: a device that is not in the
// catalog has no roofline and no model unless the caller names one. Source: the names in the
// recordings of validation/traces, and those of NVIDIA's and AMD's drivers (cudaDeviceProp::name,
// hipDeviceProp_t::name).
#pragma once

#include <optional>

#include "catalog/catalog.h"
#include "cluster/accelerator.h"
#include "trace/recorded_trace.h"

namespace orrery {

// The device that was used, since recordings list all devices of their host; nullptr: none is
// recorded.
const RecordedDevice* recorded_device(const RecordedTrace& trace);

// The entry of a device; empty if the catalog has none of that name.
std::optional<Accelerator> recorded_accelerator(const Catalog& catalog,
                                                const RecordedDevice& device);
// The same for the device that was used; also empty if none is recorded.
std::optional<Accelerator> recorded_accelerator(const Catalog& catalog, const RecordedTrace& trace);

}  // namespace orrery
