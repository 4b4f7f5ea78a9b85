// A recorded rank as a Chakra execution trace that ASTRA-sim's current feeder and others accept.
//
// Nodes are those of the call tree (call_tree.h). What waits for what:
//
//   control   the caller
//   data      on the host, the operator before it on its thread (depth first) and, at the start of
//             a group, the last one of another thread (host_order.h); work on a device, the
//             launching operator; and, where a thread waited for a device, the operator after it
//             waits for that work (synchronization_edges.h)
//
// Times are recorded: start in microseconds since 1970; duration of an operator without those it
// encloses, as the chain of a thread is replayed one after the other. Communication:
// communication_node.h. Process groups stand in the metadata (process_groups.h), by their recorded
// names: from the execution trace's node "## process_group:init ##", which stays computation of the
// host, else from the header of the profiler's trace. communicators.h numbers them over all ranks.
//
// This is what chakra_converter of mlcommons/chakra makes of the same files, apart from
//
//   synchronization edges are kept (there a comparison of times that are never filled drops them)
//   start times are written
//   nodes of the host are computation, even if their names say "nccl:all_reduce"
//   is_cpu_op is a boolean; the group is pg_name, a text; stream, comm_src, comm_dst, comm_tag too
//   threads do not depend on the process node, which is not written
//
// and, behind switches, as they change what older files would be compared with: edges between
// consecutive work of a stream, num_ops with tensor_size for simulators with a roofline, and, so
// that every node begins when it did, pauses as nodes of their own, "## pause ##", operators that
// do not last as long as they wait (host_pauses.h), what work on devices waited for and how long it
// took to begin, and work whose launch was not recorded (device_order.h).
//
// Source: mlcommons/chakra, src/converter/pytorch_converter.py and src/trace_link. Checked in
// chakra_conversion_test.cc against the golden files of validation/traces/megatron-lm-fork.
#pragma once

#include <cstddef>
#include <string_view>

#include "outcome/result.h"
#include "trace/chakra/call_tree.h"
#include "trace/chakra/chakra_trace.h"
#include "trace/pytorch_et/host_link.h"
#include "trace/recorded_trace.h"

namespace orrery {

// The name of nodes that stand for time in which nothing is done (Pauses::write).
inline constexpr std::string_view kChakraPause = "## pause ##";

enum class StreamOrder : std::uint8_t { leave_to_simulator, as_dependencies };

enum class SynchronizationDependencies : std::uint8_t { keep, leave_out };

enum class WorkAttributes : std::uint8_t {
  leave_out,
  write,  // num_ops and tensor_size
};

enum class Pauses : std::uint8_t {
  leave_out,  // as Chakra's converter does
  write,      // host_pauses.h, device_order.h
};

struct ChakraConversionOptions {
  StreamOrder stream_order = StreamOrder::leave_to_simulator;
  SynchronizationDependencies synchronization = SynchronizationDependencies::keep;
  WorkAttributes work = WorkAttributes::leave_out;
  LaunchingOperator launching = LaunchingOperator::nearest;
  Fills fills = Fills::leave_out;
  Pauses pauses = Pauses::leave_out;
};

struct ChakraConversion {
  ChakraTrace trace;
  std::size_t without_launch = 0;            // work on devices whose launch was not recorded
  std::size_t unknown_communication = 0;     // kernels written as computation
  std::size_t synchronizations = 0;          // edges from work to operators
  LinkMethod linked_by = LinkMethod::order;  // of a conversion with an execution trace
};

// Of the profiler's trace alone.
Result<ChakraConversion> chakra_from(const RecordedTrace& recorded,
                                     const ChakraConversionOptions& options = {});
// Of both recordings of one rank. Errors: as link_host.
Result<ChakraConversion> chakra_from(const RecordedTrace& recorded, const HostTrace& host,
                                     const ChakraConversionOptions& options = {});

}  // namespace orrery
