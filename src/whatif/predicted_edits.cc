#include "whatif/predicted_edits.h"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "lower/price.h"
#include "replay/graph_run.h"
#include "replay/simulated_recording.h"
#include "whatif/edit_language.h"

namespace orrery {
namespace {

NodeIndex node_of(const PredictedOperations& operations, const RunWork& work) {
  return NodeIndex(static_cast<std::size_t>(operations.nodes[work.trace][work.event]));
}

// Whether groups and messages of the step lie on the levels of a cluster as they do on its own.
Result<void> check_levels(const Graph& graph, const Cluster& cluster, const Edit& edit) {
  const auto fits = [&](const Group& group) {
    const std::vector<int>& members = group.shape.members;
    if (members.empty()) return group.shape.size <= 1;
    if (members.size() != cluster.levels.size() || members.front() < 1 ||
        members.back() != group.shape.size || !std::ranges::is_sorted(members)) {
      return false;
    }
    for (std::size_t l = 0; l < members.size(); ++l) {
      if (members[l] > cluster.levels[l].accelerators) return false;
    }
    return true;
  };
  const auto groups = graph.groups();
  bool all = std::all_of(groups.begin(), groups.end(), fits);
  for (const Operation& operation : graph.operations()) {
    for (const OperationPart& part : operation.parts) {
      const auto* message = std::get_if<Message>(&part.what);
      all = all && (message == nullptr || message->level < cluster.levels.size());
    }
  }
  if (all) return {};
  return fail(
      ErrorCode::bad_input,
      fmt::format("the groups of the step do not lie on the {} fabric level{} of {}",
                  cluster.levels.size(), cluster.levels.size() == 1 ? "" : "s", cluster.name),
      to_text(edit), "estimate on this cluster, which places the groups again");
}

}  // namespace

Result<void> price_on_cluster(EditedRun& run, AppliedEdit& edit, const EditContext& context) {
  const Graph& graph = context.operations->graph;
  ORRERY_TRY(const Cluster cluster, parse_cluster(edit.edit.name, context.catalog));
  ORRERY_RETURN_IF_ERROR(check_levels(graph, cluster, edit.edit));
  ORRERY_TRY(const CostContext costs, cost_context(cluster, context.catalog));
  const std::vector<double> priced = priced_durations(graph, costs);
  for (const std::uint32_t w : run.selected(edit.edit.where)) {
    const NodeIndex n = node_of(*context.operations, run.graph().works[w]);
    const double predicted = graph.duration(n).count();
    if (graph.operation(n).parts.empty() || predicted <= 0) continue;
    run.set_duration_ns(w, scaled_ns(run.duration_ns(w), priced[n.value()] / predicted));
    ++edit.changed;
  }
  if (edit.changed > 0) {
    edit.assumed.push_back(fmt::format(
        "operations take what the cost model says of them on {}; shapes, kernels, the places of "
        "groups and what overlaps stay as predicted",
        cluster.name));
  }
  return changed_something(edit);
}

Result<void> price_as_predicted(EditedRun& run, AppliedEdit& edit, const EditContext& context) {
  const Graph& graph = context.operations->graph;
  for (const std::uint32_t w : run.selected(edit.edit.where)) {
    const NodeIndex n = node_of(*context.operations, run.graph().works[w]);
    const OperationParts& parts = graph.operation(n).parts;
    const bool product = std::any_of(parts.begin(), parts.end(), [](const OperationPart& part) {
      const auto* kernel = std::get_if<Kernel>(&part.what);
      return kernel != nullptr && std::holds_alternative<GemmShape>(kernel->shape);
    });
    if (!product) continue;
    run.set_duration_ns(w, nanoseconds(graph.duration(n)));
    ++edit.changed;
  }
  if (edit.changed > 0)
    edit.assumed.emplace_back("matrix products take the time predicted of them");
  return changed_something(edit);
}

}  // namespace orrery
