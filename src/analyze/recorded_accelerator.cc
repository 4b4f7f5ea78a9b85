#include "analyze/recorded_accelerator.h"

#include <array>
#include <string_view>

namespace orrery {
namespace {

struct Known {
  std::string_view part;  // of the driver's name
  std::string_view name;  // in catalog/accelerators
  double least_gib = 0;   // of memory
};

// The first that fits. Names as drivers report them (cudaDeviceProp::name, hipDeviceProp_t::name).
constexpr std::array<Known, 31> kKnown = {{
    {"GH200 144G", "gh200-144gb"},
    {"GH200", "gh200-96gb"},
    {"GB300", "gb300"},
    {"GB200", "gb200"},
    {"B300", "b300-sxm"},
    {"B200", "b200-sxm"},
    {"H100 80GB HBM3", "h100-sxm"},
    {"H100 PCIe", "h100-pcie"},
    {"H200", "h200-sxm"},
    {"H800 PCIe", "h800-pcie"},
    {"H800", "h800-sxm"},
    {"H20", "h20"},
    {"A100-SXM4-80GB", "a100-80gb-sxm"},
    {"A100-SXM-80GB", "a100-80gb-sxm"},
    {"A100-SXM4-40GB", "a100-40gb-sxm"},
    {"A100 80GB PCIe", "a100-80gb-pcie"},
    {"A100-PG509-200", "a100-80gb-sxm", 60},
    {"A100-PG509-200", "a100-40gb-sxm"},
    {"A800-SXM4-80GB", "a800-80gb-sxm"},
    {"V100-SXM2-32GB", "v100-32gb-sxm2"},
    {"V100-SXM3-32GB", "v100-32gb-sxm2"},
    {"V100-SXM2-16GB", "v100-16gb-sxm2"},
    {"V100-PCIE", "v100-pcie"},
    {"P100-SXM2-16GB", "p100-16gb-sxm2"},
    {"MI300X", "mi300x"},
    {"MI325X", "mi325x"},
    {"MI355X", "mi355x"},
    {"L40S", "l40s"},
    {"NVIDIA A40", "a40"},
    {"Tesla T4", "t4"},
    {"RTX 4090", "rtx-4090"},
}};

}  // namespace

std::optional<std::string> catalog_name_of(const RecordedDevice& device) {
  const double gib = static_cast<double>(device.memory_bytes) / (1024.0 * 1024 * 1024);
  for (const Known& known : kKnown) {
    if (device.name.find(known.part) != std::string::npos && gib >= known.least_gib) {
      return std::string(known.name);
    }
  }
  return std::nullopt;
}

}  // namespace orrery
