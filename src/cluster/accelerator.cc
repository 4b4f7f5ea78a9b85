#include "cluster/accelerator.h"

#include <array>

namespace orrery {

const Fields<PeakRates>& fields_of(const PeakRates*) {
  static const Fields<PeakRates> table =
      Fields<PeakRates>("peak rates")
          .optional("fp64", &PeakRates::fp64, "vector units")
          .optional("fp32", &PeakRates::fp32, "vector units")
          .optional("tf32", &PeakRates::tf32, "matrix units")
          .optional("fp16", &PeakRates::fp16, "matrix units, fp32 accumulation")
          .optional("bf16", &PeakRates::bf16, "matrix units, fp32 accumulation")
          .optional("fp8", &PeakRates::fp8, "matrix units, one scale for many elements")
          .optional("mxfp8", &PeakRates::mxfp8, "matrix units, a scale for 32 elements")
          .optional("fp6", &PeakRates::fp6, "matrix units")
          .optional("fp4", &PeakRates::fp4, "matrix units")
          .optional("nvfp4", &PeakRates::nvfp4, "matrix units, a scale for 16 elements")
          .optional("int8", &PeakRates::int8, "matrix units, operations");
  return table;
}

const Fields<AchievedRates>& fields_of(const AchievedRates*) {
  static const Fields<AchievedRates> table =
      Fields<AchievedRates>("achieved rates")
          .optional("bf16", &AchievedRates::bf16, "best sustained matrix multiplication")
          .optional("fp8", &AchievedRates::fp8, "best sustained matrix multiplication");
  return table;
}

const Fields<DeviceMemory>& fields_of(const DeviceMemory*) {
  static const Fields<DeviceMemory> table =
      Fields<DeviceMemory>("device memory")
          .optional("kind", &DeviceMemory::kind, "hbm3, gddr6, ...")
          .optional("marketed", &DeviceMemory::marketed, "as the vendor prints it")
          .required("capacity", &DeviceMemory::capacity, "to plan with")
          .required("bandwidth", &DeviceMemory::bandwidth, "peak");
  return table;
}

const Fields<ScaleUpLinks>& fields_of(const ScaleUpLinks*) {
  static const Fields<ScaleUpLinks> table =
      Fields<ScaleUpLinks>("scale-up links")
          .optional("fabric", &ScaleUpLinks::fabric, "name in the catalog's fabrics if it is there")
          .optional("links", &ScaleUpLinks::links, "per device")
          .optional("bandwidth", &ScaleUpLinks::bandwidth, "of the device, one direction")
          .optional("peer_bandwidth", &ScaleUpLinks::peer_bandwidth, "usable towards one peer");
  return table;
}

const Fields<HostLink>& fields_of(const HostLink*) {
  static const Fields<HostLink> table =
      Fields<HostLink>("host link")
          .optional("kind", &HostLink::kind, "pcie-5-x16, nvlink-c2c, ...")
          .optional("bandwidth", &HostLink::bandwidth, "of the device, one direction, nominal");
  return table;
}

const Fields<Accelerator>& fields_of(const Accelerator*) {
  static const Fields<Accelerator> table =
      Fields<Accelerator>("accelerator")
          .required("name", &Accelerator::name, "identifier")
          .optional("aliases", &Accelerator::aliases, "other names it is found under")
          .optional("vendor", &Accelerator::vendor, "who makes it")
          .optional("architecture", &Accelerator::architecture, "hopper, cdna3, tpu-v5p, ...")
          .optional("kind", &Accelerator::kind, "gpu, tpu or asic")
          .optional("form_factor", &Accelerator::form_factor, "sxm5, oam, pcie, ...")
          .optional("usual_software", &Accelerator::usual_software,
                    "the software profile where none is stated")
          .optional("year", &Accelerator::year, "of announcement")
          .required("compute_units", &Accelerator::compute_units,
                    "SMs, CUs, tensor cores (TPU) or TPCs (Gaudi)")
          .optional("clock", &Accelerator::clock, "at which the peak rates hold")
          .required("peak", &Accelerator::peaks, "dense rates by number format")
          .optional("achieved", &Accelerator::achieved, "what others sustained")
          .required("memory", &Accelerator::memory, "of the device")
          .optional("last_level_cache", &Accelerator::last_level_cache, "shared by all units")
          .optional("on_chip_memory_per_unit", &Accelerator::on_chip_memory_per_unit,
                    "L1 and shared memory of one compute unit")
          .optional("scale_up", &Accelerator::scale_up, "links to the nearest accelerators")
          .optional("host_link", &Accelerator::host_link, "link to the host's memory")
          .optional("scale_out_bandwidth", &Accelerator::scale_out_bandwidth,
                    "usual network bandwidth per device, one direction")
          .optional("power", &Accelerator::power, "design limit")
          .optional("default_node", &Accelerator::default_node, "usual server, a catalog name")
          .required("provenance", &Accelerator::provenance, "where the figures come from");
  return table;
}

std::optional<FlopsPerSecond> Accelerator::peak(NumberFormat format) const {
  switch (format) {
    case NumberFormat::fp64:
      return peaks.fp64;
    case NumberFormat::fp32:
      return peaks.fp32;
    case NumberFormat::tf32:
      return peaks.tf32;
    case NumberFormat::fp16:
      return peaks.fp16;
    case NumberFormat::bf16:
      return peaks.bf16;
    case NumberFormat::fp8:
      return peaks.fp8;
    case NumberFormat::mxfp8:
      return peaks.mxfp8;
    case NumberFormat::nvfp4:
      return peaks.nvfp4;
  }
  return std::nullopt;
}

namespace {

Failure refuse(const Accelerator& a, std::string message, std::string where) {
  return fail(ErrorCode::bad_input, "accelerator '" + a.name + "' " + std::move(message),
              std::move(where));
}

}  // namespace

Result<void> check(const Accelerator& a) {
  if (a.compute_units < 1) return refuse(a, "has no compute units", "compute_units");
  if (!(a.memory.capacity.value() > 0)) return refuse(a, "has no memory", "memory.capacity");
  if (!(a.memory.bandwidth.value() > 0)) {
    return refuse(a, "has no memory bandwidth", "memory.bandwidth");
  }
  const std::array peaks = {a.peaks.fp64, a.peaks.fp32,  a.peaks.tf32,  a.peaks.fp16,
                            a.peaks.bf16, a.peaks.fp8,   a.peaks.mxfp8, a.peaks.fp6,
                            a.peaks.fp4,  a.peaks.nvfp4, a.peaks.int8};
  bool any = false;
  for (const auto& peak : peaks) {
    if (!peak) continue;
    if (!(peak->value() > 0)) return refuse(a, "has a peak rate that is not above zero", "peak");
    any = true;
  }
  if (!any) return refuse(a, "has no peak rate for any number format", "peak");
  const auto needs = [](const std::optional<FlopsPerSecond>& scaled,
                        const std::optional<FlopsPerSecond>& elements) {
    return scaled && !(elements && *scaled <= *elements);
  };
  if (needs(a.peaks.mxfp8, a.peaks.fp8)) {
    return refuse(a, "multiplies mxfp8 faster than its elements, which are fp8, or has no fp8",
                  "peak.mxfp8");
  }
  if (needs(a.peaks.nvfp4, a.peaks.fp4)) {
    return refuse(a, "multiplies nvfp4 faster than its elements, which are fp4, or has no fp4",
                  "peak.nvfp4");
  }

  const auto achieved_fits = [](const std::optional<FlopsPerSecond>& achieved,
                                const std::optional<FlopsPerSecond>& peak) {
    return !achieved || (peak && achieved->value() > 0 && *achieved <= *peak);
  };
  if (!achieved_fits(a.achieved.bf16, a.peaks.bf16)) {
    return refuse(a, "achieves more than its peak, or nothing", "achieved.bf16");
  }
  if (!achieved_fits(a.achieved.fp8, a.peaks.fp8)) {
    return refuse(a, "achieves more than its peak, or nothing", "achieved.fp8");
  }
  if (a.scale_up.bandwidth.value() < 0) {
    return refuse(a, "has a negative bandwidth", "scale_up.bandwidth");
  }
  if (a.host_link.bandwidth && !(a.host_link.bandwidth->value() > 0)) {
    return refuse(a, "has a bandwidth that is not greater than 0", "host_link.bandwidth");
  }
  return {};
}

Result<Accelerator> load_accelerator(const Catalog& catalog, std::string_view name) {
  ORRERY_TRY(const Document document, catalog.find("accelerators", name));
  ORRERY_TRY(Accelerator accelerator, read<Accelerator>(document));
  if (auto checked = check(accelerator); !checked) return fail(at(document.name, checked.error()));
  return accelerator;
}

}  // namespace orrery
