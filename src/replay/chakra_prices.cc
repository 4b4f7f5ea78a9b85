#include "replay/chakra_prices.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "cost/collective/collective.h"
#include "cost/step/training_conditions.h"

namespace orrery {
namespace {

std::optional<CollectiveKind> kind_of(ChakraCollective collective) {
  switch (collective) {
    case ChakraCollective::all_reduce:
    case ChakraCollective::barrier:
      return CollectiveKind::all_reduce;
    case ChakraCollective::all_gather:
      return CollectiveKind::all_gather;
    case ChakraCollective::reduce_scatter:
    case ChakraCollective::reduce_scatter_block:
      return CollectiveKind::reduce_scatter;
    case ChakraCollective::all_to_all:
      return CollectiveKind::all_to_all;
    case ChakraCollective::broadcast:
    case ChakraCollective::reduce:
      return CollectiveKind::broadcast;
    case ChakraCollective::gather:
    case ChakraCollective::scatter:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

Result<ChakraPrices> ChakraPrices::create(const Cluster& cluster, const Catalog& catalog) {
  ORRERY_RETURN_IF_ERROR(check_alike(cluster, "the replay of a trace"));
  ORRERY_TRY(const TrainingConditions conditions, load_training_conditions(catalog));
  ORRERY_TRY(KernelParameters kernels, load_kernel_parameters(catalog, cluster.accelerator));
  ChakraPrices out;
  ORRERY_TRY(out.collectives_, load_collective_parameters(catalog, cluster.accelerator.architecture,
                                                          cluster.host_path));
  out.name_ = cluster.name;
  out.accelerators_ = cluster.accelerators;
  out.levels_ = under_training(cluster.levels, conditions, cluster);
  out.pairwise_ = cluster.levels;
  out.kernels_ = under_training(std::move(kernels), conditions, cluster);
  out.host_link_ = cluster.accelerator.host_link.bandwidth.value_or(out.kernels_.memory_bandwidth);
  return out;
}

// The fullest unit of each level, for any set of ranks.
Result<GroupShape> ChakraPrices::shape(const NamedGroup& group) const {
  GroupShape out;
  if (group.ranks.empty()) {
    std::vector<std::int64_t> domain;
    for (const FabricLevel& level : levels_) domain.push_back(level.accelerators);
    return group_shape(static_cast<int>(accelerators_), 1, domain);
  }
  if (group.ranks.back() >= accelerators_) {
    return bad_input("has " + std::to_string(accelerators_) + " accelerators, but group '" +
                         group.name + "' holds rank " + std::to_string(group.ranks.back()),
                     name_, "ranks count from 0");
  }
  out.size = static_cast<int>(group.ranks.size());
  for (const FabricLevel& level : levels_) {
    int fullest = 0;
    int here = 0;
    std::int64_t unit = -1;
    for (const std::int64_t rank : group.ranks) {  // ascending
      here = rank / level.accelerators == unit ? here + 1 : 1;
      unit = rank / level.accelerators;
      fullest = std::max(fullest, here);
    }
    out.members.push_back(fullest);
  }
  return out;
}

Result<std::size_t> ChakraPrices::common_level(std::int64_t a, std::int64_t b) const {
  if (std::min(a, b) < 0 || std::max(a, b) >= accelerators_) {
    return bad_input("has " + std::to_string(accelerators_) + " accelerators, but rank " +
                         std::to_string(a) + " sends to rank " + std::to_string(b),
                     name_, "ranks count from 0");
  }
  std::size_t level = 0;
  while (level + 1 < pairwise_.size() &&
         a / pairwise_[level].accelerators != b / pairwise_[level].accelerators) {
    ++level;
  }
  return level;
}

Result<Picoseconds> ChakraPrices::communication(const ChakraMeeting& meeting,
                                                const std::vector<NamedGroup>& groups) {
  if (meeting.transfer) {
    ORRERY_TRY(const std::size_t level, common_level(meeting.from, meeting.to));
    return round_to_picoseconds(
        point_to_point(Bytes(static_cast<double>(meeting.bytes)), pairwise_[level], collectives_));
  }
  const auto kind = kind_of(meeting.collective);
  if (!kind) {
    return unsupported(std::string(to_text(meeting.collective)) +
                       " has no price, and no recorded time");
  }
  const NamedGroup& group = groups[meeting.group];
  auto known_shape = shapes_.find(meeting.group);
  if (known_shape == shapes_.end()) {
    ORRERY_TRY(GroupShape found, shape(group));
    known_shape = shapes_.emplace(meeting.group, std::move(found)).first;
  }
  const GroupShape& over = known_shape->second;
  if (over.size <= 1) return Picoseconds(0);
  const std::int64_t bytes = meeting.collective == ChakraCollective::barrier ? 1 : meeting.bytes;
  if (bytes <= 0) return Picoseconds(0);
  const auto [it, fresh] =
      known_.try_emplace(std::tuple(meeting.group, *kind, bytes), Picoseconds(0));
  if (fresh) {
    const double factor = *kind == CollectiveKind::all_gather ? over.size : 1;
    it->second = round_to_picoseconds(
        collective(*kind, Bytes(static_cast<double>(bytes) * factor), over, levels_, collectives_)
            .time);
  }
  return it->second;
}

Picoseconds ChakraPrices::computing(Flops work, Bytes moved) const {
  const FormatParameters& format = kernels_.format(NumberFormat::bf16);
  return round_to_picoseconds(kernels_.memory_floor +
                              std::max(work / format.ceiling, moved / kernels_.memory_bandwidth));
}

Picoseconds ChakraPrices::host_copy(Bytes moved) const {
  return round_to_picoseconds(moved / host_link_);
}

}  // namespace orrery
