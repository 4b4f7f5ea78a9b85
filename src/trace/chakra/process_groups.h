// The process groups that a METADATA node "## process_group:init ##" defines.
//
// Its inputs' values are a text that is, without two characters at each end, a JSON list of groups
// with pg_name and ranks; no ranks mean all of the job. Source: astra-sim, Workload.cc; written by
// PyTorch's execution trace observer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/chakra/chakra_trace.h"

namespace orrery {

struct NamedGroup {
  std::string name;
  std::vector<std::int64_t> ranks;  // as written; empty: all
};

struct DefinedGroups {
  std::vector<NamedGroup> groups;
  std::vector<std::string> problems;  // what is wrong with the node, in words
};

// No groups and no problems of any other node.
DefinedGroups defined_groups(const ChakraNode& node);

}  // namespace orrery
