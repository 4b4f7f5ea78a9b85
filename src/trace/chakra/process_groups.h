// The process groups of a Chakra trace: what its nodes' pg_name means.
//
//   of our own     the text `process_groups` of the trace's metadata, which ASTRA-sim passes over:
//                  a JSON object of group to list of ranks, as in a communicator file
//                  (communicators.h)
//   of others      METADATA nodes "## process_group:init ##", where there is no such text. The
//                  values of their inputs are a text that is, without two characters at each end, a
//                  JSON list of groups with pg_name and ranks
//
// No ranks mean all of the job. Source of the nodes: astra-sim, Workload.cc; written by PyTorch's
// execution trace observer.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/chakra/chakra_trace.h"

namespace orrery {

struct NamedGroup {
  std::string name;
  std::vector<std::int64_t> ranks;  // as written; empty: all

  auto operator<=>(const NamedGroup&) const = default;
};

struct GroupsProblem {
  std::uint64_t node = 0;  // 0 of the metadata
  std::string message;
};

struct DefinedGroups {
  std::vector<NamedGroup> groups;
  std::vector<GroupsProblem> problems;  // what is wrong with a definition, in words
};

DefinedGroups defined_groups(const ChakraTrace& trace);
// Those of the values of a node's inputs.
DefinedGroups defined_groups(std::string_view values);

// As the trace's metadata, in place of what they say of groups; no groups, no text.
void define_groups(ChakraTrace& trace, std::span<const NamedGroup> groups);

// The group that a communication names; empty if none.
std::string group_of(const ChakraNode& node);

// "[0, 1, 2]".
void append_ranks(std::span<const std::int64_t> ranks, std::string& out);

}  // namespace orrery
