#include "trace/pytorch_et/host_trace.h"

#include <algorithm>

#include "trace/pytorch_et/python_text.h"

namespace orrery {
namespace {

constexpr std::string_view kRoot = "[pytorch|profiler|execution_";

bool is_root_of(std::string_view name, std::string_view kind) {
  return name.starts_with(kRoot) && name.ends_with(kind);
}

// Elements x bytes an element of [tensor, storage, offset, elements, bytes, device].
std::optional<std::int64_t> bytes_of_tensor(const std::vector<std::string_view>& items) {
  if (items.size() != 6 || !items[5].starts_with('"')) return std::nullopt;
  const auto elements = json_integer(items[3]);
  const auto each = json_integer(items[4]);
  std::int64_t out = 0;
  if (!elements || !each || *elements < 0 || *each < 0 ||
      __builtin_mul_overflow(*elements, *each, &out)) {
    return std::nullopt;
  }
  return out;
}

// NOLINTNEXTLINE(misc-no-recursion): the text was checked to nest at most kMostNested deep
std::int64_t bytes_within(std::string_view json) {
  const std::vector<std::string_view> items = json_items(json);
  if (const auto bytes = bytes_of_tensor(items)) return *bytes;
  std::int64_t out = 0;
  for (const std::string_view item : items) {
    if (!item.starts_with('[')) continue;
    if (__builtin_add_overflow(out, bytes_within(item), &out)) return 0;
  }
  return out;
}

}  // namespace

bool HostNode::is_thread() const { return is_root_of(name, "|thread]"); }
bool HostNode::is_process() const { return is_root_of(name, "|process]"); }

std::int64_t tensor_bytes(const HostValues& values) {
  const std::vector<std::string_view> items = json_items(values.values);
  const std::vector<std::string_view> types = json_items(values.types);
  std::int64_t out = 0;
  for (std::size_t i = 0; i < std::min(items.size(), types.size()); ++i) {
    if (types[i].find("Tensor(") == std::string_view::npos) continue;
    if (__builtin_add_overflow(out, bytes_within(items[i]), &out)) return 0;
  }
  return out;
}

}  // namespace orrery
