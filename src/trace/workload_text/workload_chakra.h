// A text workload as the Chakra trace of one rank: one step.
//
//   forward           layer by layer: computation, then its collective; the next layer waits
//   input gradient    layer by layer from the last: the same
//   weight gradient   behind the input gradient of its layer; its collective waits for nothing
//                     else, and runs beside the layers before it
//   update            behind that collective
//
// A collective that the workload calls NONE, and computation of no time before one, are left out.
// SimAI's groups are laid out as Megatron-LM does: tensor-parallel ranks beside each other, then
// data-parallel ones, pipeline stages last; experts divide the data-parallel ranks. They have
// numbers that are unique over the job (trace/chakra/communicators.h); collectives in a group of one
// rank are left out. ASTRA-sim's collectives run over all ranks, in group 1.
//
// Source: the order of astra-sim 1.0, Workload.cc, hybrid policies; of the others only the
// collectives differ that a workload names.
#pragma once

#include "trace/chakra/chakra_trace.h"
#include "trace/workload_text/workload_text.h"

namespace orrery {

ChakraTrace chakra_from(const TextWorkload& workload, std::int64_t rank);

}  // namespace orrery
