#include "trace/kineto/event_category.h"

#include <array>
#include <utility>

namespace orrery {
namespace {

using enum EventKind;

// By frequency in recordings with stacks, then by era. Source: ActivityType.cpp of libkineto, and
// the files of 2021 (validation/traces/kineto).
constexpr std::array<std::pair<std::string_view, EventKind>, 31> kCategories = {{
    {"\"python_function\"", python_function},
    {"\"cpu_op\"", cpu_operator},
    {"\"cuda_runtime\"", runtime_call},
    {"\"kernel\"", kernel},
    {"\"user_annotation\"", annotation},
    {"\"gpu_memcpy\"", copy},
    {"\"gpu_memset\"", fill},
    {"\"cuda_driver\"", runtime_call},
    {"\"gpu_user_annotation\"", device_annotation},
    {"\"cuda_sync\"", synchronization},
    {"\"cuda_event\"", event_record},
    {"\"overhead\"", overhead},
    {"\"Operator\"", cpu_operator},
    {"\"Kernel\"", kernel},
    {"\"Runtime\"", runtime_call},
    {"\"Memcpy\"", copy},
    {"\"Memset\"", fill},
    {"\"concurrent_kernel\"", kernel},
    {"\"hip_runtime\"", runtime_call},
    {"\"xpu_runtime\"", runtime_call},
    {"\"xpu_driver\"", runtime_call},
    {"\"xpu_sync\"", synchronization},
    {"\"mtia_runtime\"", runtime_call},
    {"\"mtia_ccp_events\"", kernel},
    {"\"dma_request\"", copy},
    {"\"glow_runtime\"", runtime_call},
    {"\"hpu_op\"", kernel},
    {"\"privateuse1_runtime\"", runtime_call},
    {"\"privateuse1_driver\"", runtime_call},
    {"\"Overhead\"", overhead},
    {"\"User Annotation\"", annotation},
}};

}  // namespace

EventKind kind_of(std::string_view category, std::string_view name) {
  for (const auto& [text, kind] : kCategories) {
    if (text != category) continue;
    if (kind == cpu_operator && name.starts_with("\"ProfilerStep#")) return annotation;
    // Newer recordings of MTIA put these among its kernels.
    if (kind == kernel && name == "\"dma_request\"") return copy;
    return kind;
  }
  return other;
}

}  // namespace orrery
