#include "trace/chakra/chakra_trace.h"

#include <algorithm>
#include <array>

namespace orrery {
namespace {

// Of the metadata.
constexpr std::string_view kTimes = "times";
constexpr std::string_view kSimulated = "simulated";

}  // namespace

EnumNames<ChakraNodeType> names_of(ChakraNodeType) {
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

EnumNames<ChakraCollective> names_of(ChakraCollective) {
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

std::optional<ChakraAttribute> ChakraNode::find(std::string_view attribute) const {
  const auto found = attributes.find(attribute);
  return found ? attribute_of(*found) : std::nullopt;
}

std::optional<std::int64_t> ChakraNode::integer(std::string_view attribute) const {
  const auto value = attributes.value(attribute);
  return value ? integer_of(*value) : std::nullopt;
}

std::string_view ChakraNode::text(std::string_view attribute) const {
  const auto value = attributes.value(attribute);
  return value ? text_of(*value).value_or("") : "";
}

bool ChakraTrace::has_simulated_times() const {
  return std::ranges::any_of(attributes, [](const ChakraAttribute& attribute) {
    return attribute.name == kTimes && attribute.is_text() && attribute.bytes == kSimulated;
  });
}

void ChakraTrace::mark_times_simulated() {
  if (!has_simulated_times()) attributes.push_back(chakra_text(kTimes, kSimulated));
}

std::string node_time_text(std::uint64_t micros) {
  return std::to_string(static_cast<std::int64_t>(micros)) + " microseconds";
}

}  // namespace orrery
