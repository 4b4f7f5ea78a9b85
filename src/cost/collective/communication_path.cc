#include "cost/collective/communication_path.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string_view>

#include "cluster/cluster.h"
#include "outcome/invariant.h"

namespace orrery {
namespace {

static_assert(kMaxCrossings >= kMaxFabricLevels);

int units(int ranks, int members) { return (ranks + members - 1) / members; }

// floor(log2(n)): the depth of a binary tree of n.
int depth(int n) { return static_cast<int>(std::bit_width(static_cast<unsigned>(n))) - 1; }

constexpr BytesPerSecond kUnlimited(std::numeric_limits<double>::infinity());

// Ranks of a node that head the tree between switches which reduce (NCCL src/include/device.h,
// NCCL_MAX_NVLS_ARITY).
constexpr int kMostHeads = 32;

constexpr std::array<std::string_view, 1> kPcie = {"pcie"};
constexpr std::array<std::string_view, 7> kScaleUp = {
    "scale-up", "nvlink", "nvswitch", "infinity-fabric", "ici", "xgmi", "neuronlink"};
constexpr std::array<std::string_view, 5> kNetwork = {"infiniband", "ethernet", "roce", "efa",
                                                      "wide-area"};

// Two letters distinguish most names without a function call (this is the hot path of a search).
bool begins_with_any(std::string_view name, std::span<const std::string_view> prefixes) {
  if (name.size() < 2) return false;
  return std::ranges::any_of(prefixes, [&](std::string_view prefix) {
    return name[1] == prefix[1] && name[0] == prefix[0] && name.starts_with(prefix);
  });
}

// Of one accelerator whose group has `members` on PCIe.
BytesPerSecond host_rate(int members, const CollectiveParameters& parameters) {
  const HostPath& host = parameters.host_path;
  if (host.direct_ranks == 0 || members <= host.direct_ranks) return kUnlimited;
  return members <= host.socket_ranks ? host.socket : host.node;
}

}  // namespace

LinkKind link_kind(const FabricLevel& level, std::size_t index) {
  const std::string_view name = fabric_of(level);
  if (begins_with_any(name, kPcie)) return LinkKind::pcie;
  if (begins_with_any(name, kScaleUp)) return LinkKind::nvlink;
  const bool mesh = name.ends_with("-mesh");
  if (index > 0 || (begins_with_any(name, kNetwork) && !mesh)) return LinkKind::network;
  return LinkKind::nvlink;
}

double share_under_incast(const Crossing& crossing, double senders) {
  if (crossing.port == nullptr) return 1;
  return delivery(*crossing.port, 1, senders).rate / delivery(*crossing.port).rate;
}

CommunicationPath communication_path(const GroupShape& group,
                                     const std::vector<FabricLevel>& levels,
                                     const CollectiveParameters& parameters) {
  ORRERY_INVARIANT(group.size >= 1);
  ORRERY_INVARIANT(group.members.size() <= levels.size());
  ORRERY_INVARIANT(group.members.size() <= kMaxCrossings);
  ORRERY_INVARIANT(group.size == 1 ||
                   (!group.members.empty() && group.members.back() == group.size));
  CommunicationPath path;
  path.ranks = group.size;
  path.scale_up_rate = path.network_rate = kUnlimited;
  bool switches = true;
  int inner = 1;
  for (std::size_t l = 0; l < group.members.size(); ++l) {
    const int outer = group.members[l];
    ORRERY_INVARIANT(outer >= inner);
    if (outer == inner) continue;
    const FabricLevel& level = levels[l];
    Crossing& c = path.storage[path.count++];
    c.link = link_kind(level, l);
    c.inner = inner;
    c.outer = outer;
    c.hops = units(group.size, inner) - units(group.size, outer);
    c.tree_depth = depth(units(outer, inner));
    path.ordered_delivery = path.ordered_delivery && level.ordered_delivery;
    const Delivery delivered = delivery(level);
    c.latency = level.latency + delivered.repeats;
    c.rate = delivered.rate;
    if (level.transport && level.transport->buffer) c.port = &level;
    if (c.link == LinkKind::pcie) c.rate = std::min(c.rate, host_rate(outer, parameters));
    if (c.link == LinkKind::network) {
      path.network_rate = std::min(path.network_rate, c.rate * static_cast<double>(inner));
    } else {
      c.share = parameters.ring_share;
      path.scale_up_rate = std::min(path.scale_up_rate, c.rate * (c.share * inner));
      path.node_ranks = outer;
      switches = switches && level.in_switch_reduction;
    }
    inner = outer;
  }
  path.nodes = units(group.size, path.node_ranks);
  const InSwitchParameters& in_switch = parameters.in_switch;
  path.reduces_in_switch = switches && path.node_ranks > 1 && in_switch.efficiency > 0 &&
                           path.node_ranks >= in_switch.least_ranks &&
                           (path.nodes == 1 || path.node_ranks <= kMostHeads);
  path.ring_rate = std::min(path.scale_up_rate, path.network_rate);
  return path;
}

Seconds step_latency(const AlgorithmLatencies& table, const Crossing& crossing, Protocol protocol) {
  const Seconds step = table.of(crossing.link).of(protocol);
  if (crossing.link != LinkKind::network) return std::max(step, crossing.latency);
  return step + crossing.latency * (protocol == Protocol::simple ? 2.0 : 1.0);
}

bool low_latency_allowed(CollectiveKind kind, Bytes payload, const CommunicationPath& path,
                         const CollectiveParameters& parameters) {
  const auto within = [&](Bytes limit) { return limit <= Bytes(0) || payload <= limit; };
  const bool tree_of_switches =
      kind == CollectiveKind::all_reduce && path.nodes > 1 && path.reduces_in_switch;
  return within(parameters.low_latency_until * static_cast<double>(path.ranks)) &&
         (!tree_of_switches || within(parameters.in_switch.low_latency_until));
}

Seconds overlapped(Seconds steps, Seconds transfer, double exponent) {
  if (exponent == 1) return steps + transfer;
  const double greater = std::max(steps, transfer).value();
  if (!(greater > 0)) return Seconds(0);
  const double ratio = std::min(steps, transfer).value() / greater;
  if (exponent == 2) return Seconds(greater * std::sqrt(1 + ratio * ratio));
  return Seconds(greater * std::pow(1 + std::pow(ratio, exponent), 1 / exponent));
}

}  // namespace orrery
