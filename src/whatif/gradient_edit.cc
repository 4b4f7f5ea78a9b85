#include "whatif/gradient_edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "trace/recorded_arguments.h"
#include "units/quantity_text.h"
#include "whatif/edit_language.h"
#include "whatif/stage_link.h"
#include "whatif/training_passes.h"

namespace orrery {
namespace {

constexpr double kBucketBytes = 25.0 * 1024 * 1024;

// Bytes of weights of one forward work: the second operand of a product, the table of an embedding.
Bytes weights_of(const WorkSubject& s) {
  const std::vector<Shape> shapes = tensor_shapes(s.shapes);
  const Bytes element = element_of(s.types);
  if (const auto product = product_shape(s.op, shapes); product && product->groups == 1) {
    return element * (product->k * product->n);
  }
  const bool looks_up = s.op == "aten::embedding" || s.op == "aten::index_select";
  if (looks_up && !shapes.empty() && shapes[0].size() == 2) {
    return element * (static_cast<double>(shapes[0][0]) * static_cast<double>(shapes[0][1]));
  }
  return {};
}

// Bytes by depth, of one rank: those of the first microbatch of the first step.
std::vector<Bytes> gradients_by_depth(const EditedRun& run, const TrainingPasses& passes,
                                      std::uint32_t trace, const Edit& edit) {
  const TrainingParts& parts = passes.parts;
  std::vector<Bytes> out(parts.pieces());
  if (edit.size) {
    for (std::size_t l = 1; l <= parts.layers; ++l) {
      out[l] = *edit.size / static_cast<double>(parts.layers);
    }
    return out;
  }
  std::uint32_t previous = kNoEvent;  // an operator with several kernels counts once
  for (std::uint32_t w = 0; w < run.graph().works.size(); ++w) {
    const RunWork& work = run.graph().works[w];
    const std::uint32_t part = passes.part_of[work.first];
    if (work.trace != trace || passes.launched_by[w] == kNoEvent) continue;
    if (parts.is_between(part) || parts.is_backward(part) || parts.microbatch_of(part) > 0 ||
        parts.step_of(part) > 0) {
      continue;
    }
    const std::uint32_t op = run.links(trace).inner_operator[work.event];
    if (op == previous || op == kNoEvent) continue;
    previous = op;
    out[parts.depth_of(part)] += weights_of(run.subject(work));
  }
  return out;
}

// First device node of a part on a stream, or its last; kNoEvent.
std::uint32_t work_in(const RunGraph& graph, const TrainingPasses& passes, std::uint32_t lane,
                      std::size_t part, bool last) {
  std::uint32_t found = kNoEvent;
  for (const std::uint32_t n : graph.lanes[lane].nodes) {
    if (passes.part_of[n] != part || graph.nodes[n].kind == RunNodeKind::dispatch) continue;
    found = n;
    if (!last) break;
  }
  return found;
}

bool reduces_gradients(std::string_view group_description) {
  return fits_pattern(group_description, "*data*") || fits_pattern(group_description, "*dp*");
}

}  // namespace

bool lacks_data_parallel_groups(const EditedRun& run, const Edit& edit,
                                const KnownDivision& known) {
  if (known.data_ranks > 0) return known.data_ranks == 1;
  static constexpr std::array<std::string_view, 6> kOthers = {
      "*tensor*", "*pipeline*", "*expert*", "*context*", "*embedding*", "tp"};
  return std::all_of(run.graph().works.begin(), run.graph().works.end(), [&](const RunWork& work) {
    if (!run.communicates(work)) return true;
    const WorkSubject s = run.subject(work);
    if (edit.size) return !reduces_gradients(s.group_description);
    return std::ranges::any_of(
        kOthers, [&](std::string_view other) { return fits_pattern(s.group_description, other); });
  });
}

Result<void> apply_gradient_reductions(EditedRun& run, AppliedEdit& edit, const Catalog& catalog) {
  const Edit& e = edit.edit;
  if (e.count == 1) {
    edit.assumed.emplace_back("the run has no data-parallel groups: one rank, as recorded");
    return {};
  }
  auto found = training_passes(run);
  if (!found) {
    return fail(at(to_text(e) + ": no group reduces gradients, and where they would be reduced is "
                                "not found",
                   found.error()));
  }
  const TrainingPasses& passes = *found;
  const TrainingParts& parts = passes.parts;
  if (!parts.backward) {
    return bad_input("no backward pass is recorded: there are no gradients", to_text(e),
                     "a recording of training");
  }
  ORRERY_TRY(const RecordedNetwork network, recorded_network(run, e, catalog, e.count));
  const auto reduced_in = [&](Bytes n) {
    const double share = 2 * (static_cast<double>(e.count) - 1) / static_cast<double>(e.count);
    if (e.rate) return e.time.value_or(Seconds(0)) + n * share / *e.rate;
    return network.all_reduce(n, e.count);
  };
  RunGraph& graph = run.graph();
  const std::vector<std::uint32_t> streams = main_streams(run);
  Bytes whole;
  std::size_t buckets = 0;
  for (std::uint32_t t = 0; t < run.traces().size(); ++t) {
    const std::vector<Bytes> gradients = gradients_by_depth(run, passes, t, e);
    const std::uint32_t stream = streams[t];
    const auto lane = static_cast<std::uint32_t>(graph.lanes.size());
    graph.lanes.push_back({t, graph.lanes[stream].lane, true, {}});
    for (std::size_t k = 0; k < parts.steps; ++k) {
      Bytes full;
      std::uint32_t ready = kNoEvent;
      std::uint32_t latest = kNoEvent;
      for (std::size_t i = 0; i < parts.pieces(); ++i) {
        const std::size_t part = parts.piece(k, parts.microbatches - 1, true, i);
        full += gradients[parts.depth_of(part)];
        const std::uint32_t done = work_in(graph, passes, stream, part, true);
        if (done != kNoEvent) ready = done;
        const bool last = i + 1 == parts.pieces();
        if (ready == kNoEvent || !(full > Bytes(0))) continue;
        if (!last && full < Bytes(kBucketBytes)) continue;
        latest = graph.add({RunNodeKind::latency, t, kNoEvent, lane,
                            scaled_ns(1, reduced_in(full).value() * 1e9)});
        graph.edges.push_back({ready, latest, false});
        ++buckets;
        if (t == 0 && k == 0) whole += full;
        full = {};
      }
      if (latest == kNoEvent) continue;
      std::uint32_t next = work_in(graph, passes, stream, parts.between(k + 1), false);
      if (next == kNoEvent) {
        const auto step = std::ranges::find_if(graph.steps, [&](const RunStep& s) {
          return s.trace == t && passes.part_of[s.to] >= parts.between(k + 1);
        });
        if (step != graph.steps.end()) next = step->to;
      }
      if (next != kNoEvent) graph.edges.push_back({latest, next, true});
    }
  }
  if (buckets == 0) {
    return bad_input("how large the gradients are is not recorded", to_text(e),
                     "say: gradients SIZE, of one rank; or record shapes (record_shapes=True)");
  }
  edit.changed = buckets;
  edit.assumed.push_back(fmt::format(
      "gradients of {} a step and rank, in buckets of 25 MiB, are reduced beside the last backward "
      "pass over {} ranks, {}; the optimizer waits for them",
      to_text(whole), e.count,
      e.rate ? fmt::format("at {}", to_text(*e.rate)) : "on " + network.name));
  edit.assumed.emplace_back(e.size ? "all layers have as many"
                                   : "weights of matrix products and embeddings, by their shapes");
  return {};
}

}  // namespace orrery
