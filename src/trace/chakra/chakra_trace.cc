#include "trace/chakra/chakra_trace.h"

#include <algorithm>
#include <array>
#include <limits>

namespace orrery {
namespace {

// Of the metadata.
constexpr std::string_view kTimes = "times";
constexpr std::string_view kSimulated = "simulated";

}  // namespace

std::span<const EnumName<ChakraNodeType>> names_of(ChakraNodeType) {
  using enum ChakraNodeType;
  static constexpr auto kNames = std::to_array<EnumName<ChakraNodeType>>({
      {invalid, "INVALID_NODE"},
      {metadata, "METADATA_NODE"},
      {memory_load, "MEM_LOAD_NODE"},
      {memory_store, "MEM_STORE_NODE"},
      {compute, "COMP_NODE"},
      {send, "COMM_SEND_NODE"},
      {receive, "COMM_RECV_NODE"},
      {collective, "COMM_COLL_NODE"},
  });
  return kNames;
}

std::span<const EnumName<ChakraCollective>> names_of(ChakraCollective) {
  using enum ChakraCollective;
  static constexpr auto kNames = std::to_array<EnumName<ChakraCollective>>({
      {all_reduce, "ALL_REDUCE"},
      {reduce, "REDUCE"},
      {all_gather, "ALL_GATHER"},
      {gather, "GATHER"},
      {scatter, "SCATTER"},
      {broadcast, "BROADCAST"},
      {all_to_all, "ALL_TO_ALL"},
      {reduce_scatter, "REDUCE_SCATTER"},
      {reduce_scatter_block, "REDUCE_SCATTER_BLOCK"},
      {barrier, "BARRIER"},
  });
  return kNames;
}

ChakraAttribute chakra_boolean(std::string_view name, bool value) {
  return {std::string(name), ChakraKind::boolean, std::uint64_t{value ? 1U : 0U}, {}};
}

ChakraAttribute chakra_int32(std::string_view name, std::int32_t value) {
  return {std::string(name), ChakraKind::int32, std::int64_t{value}, {}};
}

ChakraAttribute chakra_int64(std::string_view name, std::int64_t value) {
  return {std::string(name), ChakraKind::int64, value, {}};
}

ChakraAttribute chakra_uint64(std::string_view name, std::uint64_t value) {
  return {std::string(name), ChakraKind::uint64, value, {}};
}

ChakraAttribute chakra_text(std::string_view name, std::string_view value) {
  return {std::string(name), ChakraKind::string, std::string(value), {}};
}

const ChakraAttribute* ChakraNode::find(std::string_view attribute) const {
  const auto it = std::find_if(attributes.begin(), attributes.end(),
                               [&](const ChakraAttribute& a) { return a.name == attribute; });
  return it == attributes.end() ? nullptr : &*it;
}

std::optional<std::int64_t> ChakraNode::integer(std::string_view attribute) const {
  const ChakraAttribute* found = find(attribute);
  if (found == nullptr) return std::nullopt;
  if (const auto* value = std::get_if<std::int64_t>(&found->value)) return *value;
  if (const auto* value = std::get_if<std::uint64_t>(&found->value)) {
    constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max();
    return static_cast<std::int64_t>(std::min(*value, kMost));
  }
  return std::nullopt;
}

std::string_view ChakraNode::text(std::string_view attribute) const {
  const ChakraAttribute* found = find(attribute);
  if (found == nullptr) return {};
  const auto* value = std::get_if<std::string>(&found->value);
  return value == nullptr ? std::string_view{} : std::string_view(*value);
}

bool ChakraTrace::has_simulated_times() const {
  return std::any_of(attributes.begin(), attributes.end(), [](const ChakraAttribute& attribute) {
    const auto* value = std::get_if<std::string>(&attribute.value);
    return attribute.name == kTimes && value != nullptr && *value == kSimulated;
  });
}

void ChakraTrace::mark_times_simulated() {
  if (!has_simulated_times()) attributes.push_back(chakra_text(kTimes, kSimulated));
}

std::string node_time_text(std::uint64_t micros) {
  return std::to_string(static_cast<std::int64_t>(micros)) + " microseconds";
}

}  // namespace orrery
