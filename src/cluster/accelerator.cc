#include "cluster/accelerator.h"

#include <array>

#include "catalog/entry.h"

namespace orrery {

Fields<PeakRates> fields_of(const PeakRates*) {
  return Fields<PeakRates>("peak rates")
      .optional<&PeakRates::fp64>("vector units")
      .optional<&PeakRates::fp32>("vector units")
      .optional<&PeakRates::tf32>("matrix units")
      .optional<&PeakRates::fp16>("matrix units, fp32 accumulation")
      .optional<&PeakRates::bf16>("matrix units, fp32 accumulation")
      .optional<&PeakRates::fp8>("matrix units, one scale for many elements")
      .optional<&PeakRates::mxfp8>("matrix units, a scale for 32 elements")
      .optional<&PeakRates::fp6>("matrix units")
      .optional<&PeakRates::fp4>("matrix units")
      .optional<&PeakRates::nvfp4>("matrix units, a scale for 16 elements")
      .optional<&PeakRates::int8>("matrix units, operations");
}

Fields<AchievedRates> fields_of(const AchievedRates*) {
  return Fields<AchievedRates>("achieved rates")
      .optional<&AchievedRates::bf16>(
          "best sustained matrix multiplication; in fp16 where there are no units for bf16")
      .optional<&AchievedRates::fp8>("best sustained matrix multiplication");
}

Fields<DeviceMemory> fields_of(const DeviceMemory*) {
  return Fields<DeviceMemory>("device memory")
      .optional<&DeviceMemory::kind>("hbm3, gddr6, ...")
      .optional<&DeviceMemory::marketed>("as the vendor prints it")
      .required<&DeviceMemory::capacity>("to plan with")
      .required<&DeviceMemory::bandwidth>("peak");
}

Fields<ScaleUpLinks> fields_of(const ScaleUpLinks*) {
  return Fields<ScaleUpLinks>("scale-up links")
      .optional<&ScaleUpLinks::fabric>("name in the catalog's fabrics if it is there")
      .optional<&ScaleUpLinks::links>("per device")
      .optional<&ScaleUpLinks::bandwidth>("of the device, one direction")
      .optional<&ScaleUpLinks::peer_bandwidth>("usable towards one peer");
}

Fields<HostLink> fields_of(const HostLink*) {
  return Fields<HostLink>("host link")
      .optional<&HostLink::kind>("pcie-5-x16, nvlink-c2c, ...")
      .optional<&HostLink::bandwidth>("of the device, one direction, nominal");
}

Fields<Accelerator> fields_of(const Accelerator*) {
  return Fields<Accelerator>("accelerator")
      .required<&Accelerator::name>("identifier")
      .optional<&Accelerator::aliases>("other names it is found under")
      .optional<&Accelerator::vendor>("who makes it")
      .optional<&Accelerator::architecture>("hopper, cdna3, tpu-v5p, ...")
      .optional<&Accelerator::kind>("gpu, tpu or asic")
      .optional<&Accelerator::form_factor>("sxm5, oam, pcie, ...")
      .optional<&Accelerator::usual_software>("the software profile where none is stated")
      .optional<&Accelerator::year>("of announcement")
      .required<&Accelerator::compute_units>("SMs, CUs, tensor cores (TPU) or TPCs (Gaudi)")
      .optional<&Accelerator::clock>("at which the peak rates hold")
      .required("peak", &Accelerator::peaks, "dense rates by number format")
      .optional<&Accelerator::achieved>("what others sustained")
      .required<&Accelerator::memory>("of the device")
      .optional<&Accelerator::last_level_cache>("shared by all units")
      .optional<&Accelerator::on_chip_memory_per_unit>("L1 and shared memory of one compute unit")
      .optional<&Accelerator::scale_up>("links to the nearest accelerators")
      .optional<&Accelerator::host_link>("link to the host's memory")
      .optional<&Accelerator::scale_out_bandwidth>(
          "usual network bandwidth per device, one direction")
      .optional<&Accelerator::power>("design limit")
      .optional<&Accelerator::default_node>("usual server, a catalog name")
      .required<&Accelerator::provenance>("where the figures come from");
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
  return bad_input("accelerator '" + a.name + "' " + std::move(message), std::move(where));
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
  if (!achieved_fits(a.achieved.bf16, a.peaks.bf16 ? a.peaks.bf16 : a.peaks.fp16)) {
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
  return load_entry<Accelerator>(catalog, "accelerators", name);
}

}  // namespace orrery
