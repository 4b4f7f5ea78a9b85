// What Chakra nodes take on a cluster, by the cost model that predictions use.
//
//   collective   cost/collective, of comm_size as this rank puts it in: an all-gather's payload is
//                comm_size times the ranks, all others' comm_size. A barrier is an all-reduce of
//                one byte, a reduction to one rank has the time of a broadcast, as both send the
//                tensor once along a chain of all ranks
//   transfer     cost/collective/point_to_point.h, over the innermost level that holds both ranks
//   computing    roofline: floor + max(num_ops / ceiling, tensor_size / achieved bandwidth), both
//                of bf16 kernels inside a training step
//   memory       MEM_LOAD and MEM_STORE: tensor_size over the link to the host's memory
//
// Rank r stands on accelerator r of the cluster. Source of the roofline: Williams, Waterman,
// Patterson, CACM 52(4), 2009; of the ceilings: docs/models/kernels.md. Not modelled: two
// communications that share a link; gathers to and scatters from one rank, which are refused.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "catalog/catalog.h"
#include "cluster/cluster.h"
#include "cost/collective/collective_parameters.h"
#include "cost/collective/group_shape.h"
#include "cost/kernel/kernel_parameters.h"
#include "outcome/result.h"
#include "trace/chakra/chakra_meetings.h"
#include "units/picoseconds.h"

namespace orrery {

class ChakraPrices {
 public:
  // Errors: the catalog lacks parameters for this accelerator.
  static Result<ChakraPrices> create(const Cluster& cluster, const Catalog& catalog);

  [[nodiscard]] std::int64_t accelerators() const { return accelerators_; }

  // `groups` are those the meeting's group is an index into. Errors: a rank that the cluster does
  // not have, a collective without a price.
  Result<Picoseconds> communication(const ChakraMeeting& meeting,
                                    const std::vector<NamedGroup>& groups);
  [[nodiscard]] Picoseconds computing(Flops work, Bytes moved) const;
  [[nodiscard]] Picoseconds host_copy(Bytes moved) const;

 private:
  ChakraPrices() = default;
  Result<GroupShape> shape(const NamedGroup& group) const;
  [[nodiscard]] Result<std::size_t> common_level(std::int64_t a, std::int64_t b) const;

  std::string name_;
  std::int64_t accelerators_ = 0;
  std::vector<FabricLevel> levels_;    // as collectives of a training step see them
  std::vector<FabricLevel> pairwise_;  // as two ranks alone on them do
  CollectiveParameters collectives_;
  KernelParameters kernels_;
  BytesPerSecond host_link_;
  std::map<std::uint32_t, GroupShape> shapes_;  // by group
  std::map<std::tuple<std::uint32_t, CollectiveKind, std::int64_t>, Picoseconds> known_;
};

}  // namespace orrery
