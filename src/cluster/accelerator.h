// One accelerator (a GPU, TPU or other device): the figures of its data sheet, and the best rates
// that others reached. Rates are dense (sparsity is never counted); one multiply-add is two FLOPs.
// fp64 and fp32 are rates of the vector units, the other formats of the matrix units. Not modelled:
// clocks under a power cap (the achieved figures contain them).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/catalog.h"
#include "document/fields.h"
#include "document/provenance.h"
#include "units/number_format.h"
#include "units/quantity.h"

namespace orrery {

// Peak rate by format; empty where the accelerator has no such units. Block-scaled formats have
// peaks of their own, because units for fp8 or fp4 elements need not support block scales.
struct PeakRates {
  std::optional<FlopsPerSecond> fp64, fp32, tf32, fp16, bf16, fp8, mxfp8, fp6, fp4, nvfp4, int8;
  bool operator==(const PeakRates&) const = default;
};
Fields<PeakRates> fields_of(const PeakRates*);

// The best matrix multiplication that others sustained.
struct AchievedRates {
  std::optional<FlopsPerSecond> bf16, fp8;
  bool operator==(const AchievedRates&) const = default;
};
Fields<AchievedRates> fields_of(const AchievedRates*);

struct DeviceMemory {
  std::string kind;               // "hbm3"
  std::optional<Bytes> marketed;  // as the vendor prints it
  Bytes capacity;                 // to plan with
  BytesPerSecond bandwidth;       // peak
  bool operator==(const DeviceMemory&) const = default;
};
Fields<DeviceMemory> fields_of(const DeviceMemory*);

// Links to the other accelerators of the scale-up domain (NVLink, Infinity Fabric, ICI, ...).
struct ScaleUpLinks {
  std::string fabric;
  std::int64_t links = 0;
  BytesPerSecond bandwidth;                      // of the device, one direction; 0: none
  std::optional<BytesPerSecond> peer_bandwidth;  // the part usable towards one peer
  bool operator==(const ScaleUpLinks&) const = default;
};
Fields<ScaleUpLinks> fields_of(const ScaleUpLinks*);

struct HostLink {
  std::string kind;  // "pcie-5-x16"
  std::optional<BytesPerSecond> bandwidth;
  bool operator==(const HostLink&) const = default;
};
Fields<HostLink> fields_of(const HostLink*);

struct Accelerator {
  std::string name;
  std::vector<std::string> aliases;
  std::string vendor, architecture, kind, form_factor;
  std::string usual_software;  // a profile of the catalog, where none is stated; empty: the default
  std::optional<std::int64_t> year;  // of announcement
  std::int64_t compute_units = 0;    // SMs (NVIDIA), CUs (AMD), tensor cores (TPU), TPCs (Gaudi)
  std::optional<Hertz> clock;        // at which the peak rates hold
  PeakRates peaks;
  AchievedRates achieved;
  DeviceMemory memory;
  std::optional<Bytes> last_level_cache;
  std::optional<Bytes> on_chip_memory_per_unit;  // L1 and shared memory of one compute unit
  ScaleUpLinks scale_up;
  HostLink host_link;
  std::optional<BytesPerSecond> scale_out_bandwidth;  // usual network bandwidth per device
  std::optional<Watts> power;
  std::string default_node;  // catalog name of the usual server; empty: none
  Provenance provenance;
  bool operator==(const Accelerator&) const = default;

  // Empty: the accelerator lacks the format.
  [[nodiscard]] std::optional<FlopsPerSecond> peak(NumberFormat format) const;
};
Fields<Accelerator> fields_of(const Accelerator*);

// From the catalog, by name or alias. Errors: unknown name; an entry that breaks check().
Result<Accelerator> load_accelerator(const Catalog& catalog, std::string_view name);

// Errors: no memory, no compute units, no rate at all, negative figures, an achieved rate above the
// peak.
Result<void> check(const Accelerator& accelerator);

}  // namespace orrery
