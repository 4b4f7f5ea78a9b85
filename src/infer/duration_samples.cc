#include "infer/duration_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analyze/recorded_message.h"
#include "replay/operation_graph.h"
#include "replay/operation_replay.h"
#include "trace/collective_instances.h"
#include "trace/kernel_class.h"
#include "trace/launch_links.h"
#include "trace/marked_steps.h"
#include "units/quantity_text.h"

namespace orrery {
namespace {

constexpr std::int64_t kUsualNode = 8;  // accelerators, of DGX and HGX systems

// Signatures by what tells them apart.
class Collector {
 public:
  std::uint32_t signature(DurationSignature s) {
    const auto [at, is_new] =
        known_.try_emplace({s.work, s.name, s.form}, static_cast<std::uint32_t>(known_.size()));
    if (is_new) out_.signatures.push_back(std::move(s));
    return at->second;
  }
  void add(DurationSample sample) {
    if (sample.seconds > 0) {
      out_.samples.push_back(sample);
    } else {
      ++out_.without_time;
    }
  }
  DurationSamples finish() && {
    std::ranges::stable_sort(out_.samples, {}, [](const DurationSample& s) {
      return std::tuple(s.signature, s.place, s.step);
    });
    return std::move(out_);
  }
  DurationSamples& out() { return out_; }

 private:
  DurationSamples out_;
  std::map<std::tuple<SampledWork, std::string, std::string>, std::uint32_t> known_;
};

SampledWork work_of(KernelClass c) {
  if (c == KernelClass::attention) return SampledWork::attention;
  const bool product = c == KernelClass::matrix_product || c == KernelClass::convolution;
  return product ? SampledWork::products : SampledWork::memory_bound;
}

// Of the innermost operator that has some, as a text of the trace; 0: none are recorded.
std::uint32_t shapes_of(const RecordedTrace& trace, const LaunchLinks& links,
                        std::uint32_t kernel) {
  for (std::uint32_t op = links.operator_of(kernel); op != kNoEvent;
       op = links.inner_operator[op]) {
    if (trace.details[op] == kNoDetails) continue;
    const std::uint32_t shapes = trace.operators[trace.details[op]].input_shapes;
    if (shapes != 0) return shapes;
  }
  return 0;
}

// One rank: its steps, and in which one a kernel was launched.
struct RankSteps {
  const RecordedTrace& trace;
  LaunchLinks links;
  std::vector<MarkedStep> steps;

  explicit RankSteps(const RecordedTrace& of_trace)
      : trace(of_trace), links(launch_links(of_trace)), steps(marked_steps(of_trace)) {}

  // By position; -1: in none.
  [[nodiscard]] std::int32_t step_of(std::uint32_t kernel) const {
    const std::uint32_t call = links.call[kernel];
    const std::int64_t at = trace.start_ns[call == kNoEvent ? kernel : call];
    const auto next = std::ranges::upper_bound(steps, at, {}, &MarkedStep::start_ns);
    if (next == steps.begin()) return -1;
    const auto step = std::prev(next);
    return at <= step->end_ns ? static_cast<std::int32_t>(step - steps.begin()) : -1;
  }
};

void add_kernels(const RankSteps& rank, std::int32_t place, Collector& to) {
  // By name, operator, shapes or grid: most kernels repeat.
  std::map<std::array<std::int64_t, 6>, std::uint32_t> known;
  const RecordedTrace& trace = rank.trace;
  for (std::uint32_t e = 0; e < trace.size(); ++e) {
    if (trace.kind[e] != EventKind::kernel || is_communication_kernel(trace.name_of(e))) continue;
    const std::int32_t step = rank.step_of(e);
    if (step < 0) continue;
    const std::uint32_t op = rank.links.operator_of(e);
    const std::string_view inner = op == kNoEvent ? "" : trace.name_of(op);
    const std::uint32_t shapes = shapes_of(trace, rank.links, e);
    std::array<std::int32_t, 3> grid{};
    if (shapes == 0 && trace.details[e] != kNoDetails) grid = trace.kernels[trace.details[e]].grid;
    const auto [at, is_new] = known.try_emplace(
        {trace.name[e], op == kNoEvent ? 0 : trace.name[op], shapes, grid[0], grid[1], grid[2]});
    if (is_new) {
      at->second = to.signature(
          {.work = work_of(kernel_class(trace.name_of(e), inner, "")),
           .name = std::string(trace.name_of(e)),
           .form = shapes != 0 ? std::string(trace.texts[shapes])
                               : fmt::format("grid {} x {} x {}", grid[0], grid[1], grid[2])});
    }
    to.add({at->second, place, step, static_cast<double>(trace.duration_ns[e]) * 1e-9, false});
  }
}

// Whether a communication stays within a node of so many accelerators.
bool within_node(const CollectiveInstance& instance, std::int64_t ranks,
                 std::span<const RecordedTrace> run, std::int64_t per_node) {
  if (ranks > per_node) return false;
  const CollectiveMember& member = instance.members.front();
  std::int64_t least = run[member.trace].rank;
  std::int64_t most = least;
  const auto include = [&](std::int64_t rank) {
    if (rank == kNotRecorded || rank < 0) return;
    least = std::min(least, rank);
    most = std::max(most, rank);
  };
  for (const CollectiveMember& m : instance.members) include(run[m.trace].rank);
  for (const ExchangePartner& p : instance.partners) include(run[p.trace].rank);
  const std::uint32_t details = run[member.trace].communication[member.event];
  if (details != kNoDetails) {
    const CommunicationDetails& c = run[member.trace].communications[details];
    if (instance.point_to_point) {
      include(c.source);
      include(c.destination);
    } else if (c.rank_start != kNotRecorded && c.rank_stride > 0 && c.group_size > 0) {
      include(c.rank_start);
      include(c.rank_start + c.rank_stride * (c.group_size - 1));
    }
  }
  return least / per_node == most / per_node;
}

void add_communication(std::span<const RecordedTrace> run, std::span<const RankSteps> ranks,
                       std::int64_t per_node, Collector& to) {
  for (const CollectiveInstance& instance : collective_instances(run)) {
    const CollectiveMember& first = instance.members.front();
    const std::int32_t step = ranks[first.trace].step_of(first.event);
    if (step < 0) continue;
    RecordedMessage message;
    std::int64_t shortest = std::numeric_limits<std::int64_t>::max();
    for (const CollectiveMember& m : instance.members) {
      shortest = std::min(shortest, m.transfer_ns);
      if (message.bytes <= 0) {
        message = recorded_message(run[m.trace], ranks[m.trace].links, m.event);
      }
    }
    const bool pair = instance.point_to_point;
    const std::int64_t size = pair ? 2 : message.ranks > 0 ? message.ranks : instance.ranks;
    if (size == 1) continue;
    const bool whole = !instance.partners.empty() ||
                       (size > 1 && std::cmp_greater_equal(instance.members.size(), size));
    const bool within = within_node(instance, std::max<std::int64_t>(size, 1), run, per_node);
    std::string form = pair       ? "ranks " + instance.group
                       : size > 1 ? fmt::format("{} ranks", size)
                                  : "ranks not recorded";
    form += message.bytes > 0 ? ", " + to_text(Bytes(static_cast<double>(message.bytes)))
                              : ", sizes not recorded";
    const bool named = message.collective != Collective::other;
    to.add({to.signature({within ? SampledWork::within_node : SampledWork::between_nodes,
                          named ? std::string(to_text(message.collective)) : instance.collective,
                          std::move(form), message.bytes > 0}),
            static_cast<std::int32_t>(first.trace), step, static_cast<double>(shortest) * 1e-9,
            !whole});
  }
}

std::string stages_of(const OperationGraph& graph, const OperationSlot& slot) {
  std::vector<std::int32_t> stages;
  for (const std::uint32_t s : slot.group) stages.push_back(graph.slots[s].stage);
  std::ranges::sort(stages);
  stages.erase(std::ranges::unique(stages).begin(), stages.end());
  if (stages.size() == 1) return fmt::format("stage {}", stages[0]);
  return fmt::format("stages {} {} {}", stages.front(), stages.size() == 2 ? "and" : "to",
                     stages.back());
}

}  // namespace

DurationSamples duration_samples(const RecordedRun& run, std::int64_t per_node) {
  Collector collected;
  DurationSamples& out = collected.out();
  std::vector<RankSteps> ranks;
  for (const RecordedTrace& trace : run.ranks) {
    ranks.emplace_back(trace);
    out.steps = std::max(out.steps, static_cast<std::int64_t>(ranks.back().steps.size()));
  }
  out.ranks = static_cast<std::int64_t>(ranks.size());
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    add_kernels(ranks[r], static_cast<std::int32_t>(r), collected);
  }
  const std::size_t kernels = out.signatures.size();
  const auto devices = static_cast<std::int64_t>(run.ranks.front().devices.size());
  const std::int64_t node = per_node > 0 ? per_node : devices > 1 ? devices : kUsualNode;
  add_communication(run.ranks, ranks, node, collected);
  if (out.signatures.size() > kernels) {
    out.assumed.push_back(fmt::format("ranks lie on nodes of {} in their order{}", node,
                                      per_node > 0  ? ""
                                      : devices > 1 ? ", as many as the recording names devices"
                                                    : "; --per-node states another number"));
  }
  return std::move(collected).finish();
}

Result<DurationSamples> duration_samples(const OperationTimeline& timeline) {
  ORRERY_TRY(const OperationGraph graph, operation_graph(timeline));
  const std::vector<OperationStep> steps = recorded_operations(timeline, graph);
  Collector collected;
  DurationSamples& out = collected.out();
  out.ranks = std::int64_t{timeline.data_parallel_ranks} * timeline.stages;
  out.steps = static_cast<std::int64_t>(steps.size());
  out.assumed.emplace_back(
      "a timeline does not say where its ranks lie: its communication, of pipelines and of "
      "data-parallel ranks, is taken to be between nodes");
  const std::size_t slots = graph.slots.size();
  for (std::size_t s = 0; s < slots; ++s) {
    const OperationSlot& slot = graph.slots[s];
    if (slot.type == OperationType::gc) continue;
    const bool transfers = is_communication(slot.type);
    if (transfers && s != *std::ranges::min_element(slot.group)) continue;
    const auto all = static_cast<std::size_t>(timeline.data_parallel_ranks);
    const std::size_t met = slot.across_ranks ? all : 1;  // ranks whose operations are one
    const std::size_t members = slot.group.size() * met;
    if (transfers && members == 1) continue;
    const bool pair = members == 2 && !slot.across_ranks;
    DurationSignature signature{.work = SampledWork::pass,
                                .name = std::string(to_text(slot.type)),
                                .form = stages_of(graph, slot)};
    if (slot.type == OperationType::optimizer) signature.work = SampledWork::memory_bound;
    if (transfers) signature.work = SampledWork::between_nodes;
    if (transfers && !pair) signature.form = fmt::format("{} ranks, {}", members, signature.form);
    const std::uint32_t index = collected.signature(std::move(signature));
    for (const OperationStep& step : steps) {
      for (std::size_t rank = 0; rank < all; rank += met) {
        double ps = step.duration[rank * slots + s];
        for (std::size_t r = rank; transfers && r < rank + met; ++r) {
          for (const std::uint32_t m : slot.group) ps = std::min(ps, step.duration[r * slots + m]);
        }
        collected.add({index, static_cast<std::int32_t>(rank), step.step, ps * 1e-12, false});
      }
    }
  }
  return std::move(collected).finish();
}

DurationSamples without_first_steps(DurationSamples samples, std::int64_t steps) {
  if (steps == 0) return samples;
  std::set<std::int32_t> all;
  for (const DurationSample& s : samples.samples) all.insert(s.step);
  const auto kept = std::next(all.begin(), std::min(steps, static_cast<std::int64_t>(all.size())));
  std::erase_if(samples.samples,
                [&](const DurationSample& s) { return kept == all.end() || s.step < *kept; });
  samples.steps = std::max<std::int64_t>(samples.steps - steps, 0);
  samples.assumed.push_back(
      fmt::format("the first {} of a recording {} no part of it: the job warms up",
                  steps == 1 ? "step" : fmt::format("{} steps", steps), steps == 1 ? "is" : "are"));
  return samples;
}

}  // namespace orrery
