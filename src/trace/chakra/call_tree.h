// Who called what on one rank: the operators of the host as a tree, with the work they launched on
// devices as leaves. What a Chakra trace is made of.
//
// The tree is that of a host execution trace whose nodes are linked to recorded events, or, without
// one, of the recorded operators themselves: nested by time on their threads.
//
// Nodes stand in the order of their starts, children behind parents, so that an index is an
// identifier; node 0 is the process, and each thread has a node below it. The work on a device
// stands directly behind the operator that launched it, in the order of its own starts. Its launch
// is the runtime call with its correlation; the launching operator is
//
//   nearest      the operator that started last before the call on its thread
//   external_id  the one the profiler names, where it does; else the nearest
//
// The first is what Chakra's own linker took in 2024 and gives the same identifiers; it may name an
// operator that has just ended (aten::resize_ for the kernel of aten::index_select). The second
// needs recordings since 2024.
//
// Work without a recorded launch has no place in the tree; it is counted. O(n log n).
#pragma once

#include <cstdint>
#include <vector>

#include "timeline/critical_path.h"  // kNoNode
#include "trace/pytorch_et/host_link.h"
#include "trace/recorded_trace.h"

namespace orrery {

enum class LaunchingOperator : std::uint8_t { nearest, external_id };

enum class Fills : std::uint8_t {
  leave_out,  // as Chakra's linker does
  keep,       // of memory on devices
};

struct CallTreeNode {
  std::uint32_t parent = kNoNode;
  std::uint32_t host = kNoNode;    // into the nodes of the host execution trace
  std::uint32_t event = kNoEvent;  // of the recorded trace
  std::uint32_t lane = kNoNode;    // of a thread that was nested by time
  bool device = false;
};

struct CallTree {
  std::vector<CallTreeNode> nodes;
  std::vector<std::uint32_t> node_of_event;  // kNoNode
  std::size_t without_launch = 0;            // work on devices that is left out
};

// `host` and `link` together, or both null.
CallTree call_tree(const RecordedTrace& recorded, const HostTrace* host, const HostTraceLink* link,
                   LaunchingOperator launching, Fills fills);

}  // namespace orrery
