// What a kernel of NCCL or RCCL is in a Chakra trace: which collective or transfer, how many bytes
// of this rank, in which group.
//
//   kind    arguments of the kernel where they were recorded (RCCL's kernels of any kind have one
//           name); else the kernel's name (ncclDevKernel_AllReduce_...); of ncclDevKernel_SendRecv
//           the operators above it: "send", "recv", or all-to-all
//   bytes   of the tensors the launching operator takes in, as ASTRA-sim wants them: an all-gather
//           counts its shard, a reduce-scatter the whole; else elements x bytes of the data type
//   group   arguments of the kernel, else of record_param_comms above it
//
// Source: chakra_converter of mlcommons/chakra, with the arguments added. A kernel that
// communicates in no way that can be told stays computation with its recorded duration.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "trace/chakra/call_tree.h"
#include "trace/chakra/chakra_trace.h"

namespace orrery {

struct CommunicationNode {
  ChakraNodeType type = ChakraNodeType::collective;
  ChakraCollective collective = ChakraCollective::all_reduce;  // of a collective
  std::int64_t bytes = 0;
  std::string group;                 // empty: all ranks
  std::int64_t peer = kNotRecorded;  // of a send or receive, in the whole job
  std::int64_t tag = 0;
};

// `host` may be null. Nothing if the node is no communication, or none that can be told.
std::optional<CommunicationNode> communication_of(const CallTree& tree, std::uint32_t node,
                                                  const RecordedTrace& recorded,
                                                  const HostTrace* host);

}  // namespace orrery
