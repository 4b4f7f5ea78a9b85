// The table of algorithms and the choice among them. A new algorithm is one file with a function
// of this signature and one line here.
#include "cost/collective/collective.h"

#include <algorithm>
#include <array>

#include "cost/collective/all_to_all.h"
#include "cost/collective/collective_parameters.h"
#include "cost/collective/communication_path.h"
#include "cost/collective/hierarchical.h"
#include "cost/collective/in_switch.h"
#include "cost/collective/never.h"
#include "cost/collective/parallel_trees.h"
#include "cost/collective/ring.h"
#include "cost/collective/tree.h"
#include "outcome/invariant.h"

namespace orrery {
namespace {

using AlgorithmTime = Seconds (*)(CollectiveKind, Bytes, const CommunicationPath&, Protocol,
                                  const CollectiveParameters&);
struct Registered {
  CollectiveAlgorithm algorithm;
  AlgorithmTime time;
};
constexpr std::array kAlgorithms = {
    Registered{CollectiveAlgorithm::ring, ring_time},
    Registered{CollectiveAlgorithm::tree, tree_time},
    Registered{CollectiveAlgorithm::hierarchical, hierarchical_time},
    Registered{CollectiveAlgorithm::in_switch, in_switch_time},
    Registered{CollectiveAlgorithm::parallel_trees, parallel_trees_time},
    Registered{CollectiveAlgorithm::pairwise, all_to_all_time},
};
constexpr std::array kProtocols = {Protocol::low_latency, Protocol::low_latency_128,
                                   Protocol::simple};

}  // namespace

CollectiveChoice collective(CollectiveKind kind, Bytes payload, const GroupShape& group,
                            const std::vector<FabricLevel>& levels,
                            const CollectiveParameters& parameters) {
  if (group.size == 1) return {};
  const CommunicationPath path = communication_path(group, levels, parameters);
  CollectiveChoice best;
  best.time = kNever;
  for (const Registered& r : kAlgorithms) {
    if (std::ranges::find(parameters.algorithms, r.algorithm) == parameters.algorithms.end()) {
      continue;
    }
    for (const Protocol protocol : kProtocols) {
      if (protocol != Protocol::simple && !path.ordered_delivery) continue;
      const Seconds time = r.time(kind, payload, path, protocol, parameters);
      if (time < best.time) best = {time, r.algorithm, protocol};
    }
  }
  // read_collective_parameters() requires ring and pairwise; between them they offer every
  // collective.
  ORRERY_INVARIANT(best.time < kNever);
  return best;
}

}  // namespace orrery
