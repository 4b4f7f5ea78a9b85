#include "trace/pytorch_et/host_trace.h"

#include <algorithm>

#include "trace/pytorch_et/python_text.h"

namespace orrery {
namespace {

constexpr std::string_view kRoot = "[pytorch|profiler|execution_";

bool is_root_of(std::string_view name, std::string_view kind) {
  return name.starts_with(kRoot) && name.ends_with(kind);
}

using Items = std::vector<std::string_view>;

std::int64_t elements_of_tensor(const Items& items) {
  return std::max<std::int64_t>(0, json_integer(items[3]).value_or(0));
}
std::int64_t bytes_of_tensor(const Items& items) {
  std::int64_t out = 0;
  const std::int64_t each = json_integer(items[4]).value_or(0);
  const bool overflows = __builtin_mul_overflow(elements_of_tensor(items), each, &out);
  return overflows || out < 0 ? 0 : out;
}

// Of all tensors of a value, [tensor, storage, offset, elements, bytes, device] or a list of such.
// NOLINTNEXTLINE(misc-no-recursion): the text was checked to nest at most kMostNested deep
std::int64_t sum_over_tensors(std::string_view json, std::int64_t (*of)(const Items&)) {
  const Items items = json_items(json);
  if (items.size() == 6 && items[5].starts_with('"')) return of(items);
  std::int64_t out = 0;
  for (const std::string_view item : items) {
    if (!item.starts_with('[')) continue;
    if (__builtin_add_overflow(out, sum_over_tensors(item, of), &out)) return 0;
  }
  return out;
}

}  // namespace

bool HostNode::is_thread() const { return is_root_of(name, "|thread]"); }
bool HostNode::is_process() const { return is_root_of(name, "|process]"); }

std::int64_t tensor_elements(std::string_view value) {
  return sum_over_tensors(value, elements_of_tensor);
}

std::int64_t tensor_bytes(const HostValues& values) {
  const std::vector<std::string_view> items = json_items(values.values);
  const std::vector<std::string_view> types = json_items(values.types);
  std::int64_t out = 0;
  for (std::size_t i = 0; i < std::min(items.size(), types.size()); ++i) {
    if (types[i].find("Tensor(") == std::string_view::npos) continue;
    if (__builtin_add_overflow(out, sum_over_tensors(items[i], bytes_of_tensor), &out)) return 0;
  }
  return out;
}

}  // namespace orrery
