// Another pipeline: the layers and microbatches of a recorded training run on N stages.
//
//   pp N [schedule NAME] [chunks V] [microbatches M] [send SIZE] [link RATE] [latency TIME]
//
// The parts of the recording (whatif/training_passes.h) are dealt to stages: layer l of L to
// virtual stage floor(l N V / L), what precedes the layers to the first, what follows them to the
// last. The schedule (schedule/schedule.h, 1f1b where none is said) says which stage does what in
// which order; every part keeps its launches, kernels, communications and what they wait for, on
// threads and streams that every stage has for itself. What runs between steps (optimizer,
// reductions) runs on every stage, its device work taking the stage's share of the layers. Where a
// pass changes its stage, a transfer is inserted that the first kernel on the other side waits for:
//
//   t = latency + n / rate                        where both are said, else
//   t = point_to_point(n)                         of cost/collective, on the recorded accelerator's
//                                                 usual cluster, stages as far apart as the run has
//                                                 ranks
//
// on a link of its own for every pair of stages and direction. n: the tensor between layers on one
// rank, from the recorded shapes: what an embedding looks up, else the largest input of a layer's
// first operator. Source: Lumos, arXiv 2504.09307, section 3.5.
//
// M other than recorded: the recorded microbatches are repeated in turn, the last one last; each
// keeps its size, so that the global batch changes with it. Recorded without accumulation, only the
// last backward pass reduces gradients.
//
// Not modelled: schedules that part the backward pass in two, that run two passes as one, or that
// divide the vocabulary; memory; the host's time to launch sends. Refused: runs that are pipelines
// already. O(nodes x stages) between the passes, O(nodes) within.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "schedule/linear_order.h"
#include "schedule/pipeline_dependencies.h"
#include "schedule/schedule.h"
#include "whatif/edit_language.h"
#include "whatif/edited_run.h"
#include "whatif/known_edits.h"
#include "whatif/stage_link.h"
#include "whatif/training_passes.h"
#include "whatif/wanted_pipeline.h"
#include "whatif/whatif.h"

namespace orrery {
namespace {

constexpr std::uint32_t kNoPass = 0xffffffff;

// A copy of a part, on one stage.
struct Instance {
  std::uint32_t part = 0;
  std::uint32_t microbatch = 0;  // of the new pipeline
  std::uint32_t device = 0;
  std::uint32_t order = 0;  // on its device
  std::uint32_t block = kNoPass;
  std::uint32_t base = 0;  // its first node
  bool reduces = true;     // gradients are reduced in it
};

// What one operation of the schedule does: pieces of a pass on one virtual stage.
struct Block {
  std::uint32_t stage = 0;  // virtual
  std::uint32_t microbatch = 0;
  bool backward = false;
  std::vector<std::uint32_t> instances;  // in order
};

class PipelineRebuild {
 public:
  PipelineRebuild(const EditedRun& run, const TrainingPasses& passes, const Pipeline& pipeline,
                  std::int64_t transfer_ns)
      : run_(run),
        old_(run.graph()),
        passes_(passes),
        parts_(passes.parts),
        pipeline_(pipeline),
        events_(pipeline),
        transfer_ns_(transfer_ns),
        nodes_(nodes_by_part(old_, passes)),
        local_(old_.nodes.size()) {
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      for (std::uint32_t i = 0; i < nodes_[p].size(); ++i) local_[nodes_[p][i]] = i;
    }
  }

  [[nodiscard]] std::size_t new_nodes() const {
    std::size_t sum = 0;
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      sum += nodes_[p].size() *
             (parts_.is_between(p) ? devices() : copies_of(parts_.microbatch_of(p)));
    }
    return sum;
  }

  Result<RunGraph> rebuilt() {
    place_instances();
    copy_nodes();
    fill_lanes();
    copy_edges();
    order_threads();
    ORRERY_RETURN_IF_ERROR(add_transfers());
    copy_steps();
    return std::move(out_);
  }

  [[nodiscard]] std::size_t transfers() const { return transfers_; }
  [[nodiscard]] std::size_t virtual_stages() const { return pipeline_.stages(); }

 private:
  [[nodiscard]] std::size_t devices() const {
    return static_cast<std::size_t>(pipeline_.shape.devices);
  }
  [[nodiscard]] std::size_t microbatches() const {
    return static_cast<std::size_t>(pipeline_.shape.microbatches);
  }
  // The recorded microbatch that microbatch j is a copy of: the last is the last.
  [[nodiscard]] std::size_t recorded_of(std::size_t j) const {
    if (microbatches() == parts_.microbatches) return j;
    if (j + 1 == microbatches()) return parts_.microbatches - 1;
    return parts_.microbatches > 1 ? j % (parts_.microbatches - 1) : 0;
  }
  [[nodiscard]] std::size_t copies_of(std::size_t recorded) const {
    std::size_t n = 0;
    for (std::size_t j = 0; j < microbatches(); ++j) n += recorded_of(j) == recorded ? 1U : 0U;
    return n;
  }

  // Within a part by lane and order.
  static EdgeLists nodes_by_part(const RunGraph& graph, const TrainingPasses& passes) {
    return {passes.parts.size(), [&](const auto& add) {
              std::vector<bool> placed(graph.nodes.size(), false);
              for (const RunLane& lane : graph.lanes) {
                for (const std::uint32_t n : lane.nodes) {
                  add(passes.part_of[n], n);
                  placed[n] = true;
                }
              }
              for (std::uint32_t n = 0; n < graph.nodes.size(); ++n) {
                if (!placed[n]) add(passes.part_of[n], n);
              }
            }};
  }

  [[nodiscard]] std::size_t virtual_stage_of(std::size_t depth) const {
    const std::size_t layer = std::clamp<std::size_t>(depth, 1, parts_.layers) - 1;
    return layer * virtual_stages() / parts_.layers;
  }

  void place_instances() {
    instances_of_part_.resize(parts_.size());
    on_device_.resize(devices());
    const auto add = [&](Instance instance) {
      instance.order = static_cast<std::uint32_t>(on_device_[instance.device].size());
      const auto index = static_cast<std::uint32_t>(instances_.size());
      on_device_[instance.device].push_back(index);
      instances_of_part_[instance.part].push_back(index);
      instances_.push_back(instance);
      return index;
    };
    const auto between = [&](std::size_t k) {
      for (std::uint32_t d = 0; d < devices(); ++d) {
        add({static_cast<std::uint32_t>(parts_.between(k)), 0, d});
      }
    };
    for (std::size_t k = 0; k < parts_.steps; ++k) {
      between(k);
      block_of_.emplace_back(2 * virtual_stages() * microbatches(), kNoPass);
      for (std::uint32_t d = 0; d < devices(); ++d) {
        for (const PipelineOperation& op : pipeline_.order[d]) {
          const bool backward = op.action == PipelineAction::backward;
          if (backward && !parts_.backward) continue;
          Block block{static_cast<std::uint32_t>(pipeline_.stage_of(d, op.chunk)),
                      op.microbatch,
                      backward,
                      {}};
          const auto index = static_cast<std::uint32_t>(blocks_.size());
          block_of_[k][slot(backward, block.stage, op.microbatch)] = index;
          const std::size_t recorded = recorded_of(op.microbatch);
          const bool last = op.microbatch + 1 == microbatches();
          for (std::size_t i = 0; i < parts_.pieces(); ++i) {
            const std::size_t part = parts_.piece(k, recorded, backward, i);
            if (virtual_stage_of(parts_.depth_of(part)) != block.stage) continue;
            Instance instance{static_cast<std::uint32_t>(part), op.microbatch, d};
            instance.block = index;
            instance.reduces = last || recorded + 1 < parts_.microbatches || !backward ||
                               parts_.microbatches == microbatches();
            block.instances.push_back(add(instance));
          }
          blocks_.push_back(std::move(block));
        }
      }
    }
    between(parts_.steps);
  }

  [[nodiscard]] std::size_t slot(bool backward, std::size_t stage, std::size_t j) const {
    return ((backward ? 1U : 0U) * virtual_stages() + stage) * microbatches() + j;
  }

  // Layers a device holds, of all.
  [[nodiscard]] double share_of(std::size_t device) const {
    std::size_t held = 0;
    for (std::size_t c = 0; c < static_cast<std::size_t>(pipeline_.chunks_held); ++c) {
      for (std::size_t l = 1; l <= parts_.layers; ++l) {
        held += virtual_stage_of(l) == pipeline_.stage_of(device, c) ? 1U : 0U;
      }
    }
    return static_cast<double>(held) / static_cast<double>(parts_.layers);
  }

  void copy_nodes() {
    for (const RunLane& lane : old_.lanes) {
      for (std::size_t d = 0; d < devices(); ++d) {
        out_.lanes.push_back({lane.trace, lane.lane, lane.device, {}});
      }
    }
    std::vector<double> shares;
    for (std::size_t d = 0; d < devices(); ++d) shares.push_back(share_of(d));
    const std::vector<bool> reduction = reductions();
    for (Instance& instance : instances_) {
      instance.base = static_cast<std::uint32_t>(out_.nodes.size());
      for (const std::uint32_t n : nodes_[instance.part]) {
        RunNode copy = old_.nodes[n];
        if (copy.lane != kNoLane) {
          const bool works = copy.kind == RunNodeKind::work || copy.kind == RunNodeKind::transfer;
          if (parts_.is_between(instance.part) && works) {
            copy.duration_ns = scaled_ns(copy.duration_ns, shares[instance.device]);
          }
          copy.lane = lane_of(copy.lane, instance.device);
        }
        if (!instance.reduces && reduction[n]) copy.duration_ns = 0;
        out_.nodes.push_back(copy);
      }
    }
    for (const RunWork& work : old_.works) {
      for (const std::uint32_t i : instances_of_part_[passes_.part_of[work.first]]) {
        const Instance& instance = instances_[i];
        out_.works.push_back({work.trace, work.event, copy_in(instance, work.first),
                              copy_in(instance, work.last), instance.device});
      }
    }
  }

  // Transfers of groups that no forward pass uses: gradients are reduced over them.
  [[nodiscard]] std::vector<bool> reductions() const {
    std::set<std::string> forward;
    for (const RunWork& work : old_.works) {
      const std::uint32_t part = passes_.part_of[work.first];
      if (!run_.communicates(work) || parts_.is_between(part) || parts_.is_backward(part)) continue;
      forward.emplace(run_.subject(work).group);
    }
    std::vector<bool> out(old_.nodes.size(), false);
    for (const RunWork& work : old_.works) {
      if (!run_.communicates(work) || !parts_.is_backward(passes_.part_of[work.first])) continue;
      out[work.last] = !forward.contains(std::string(run_.subject(work).group));
    }
    // Those that an edit added.
    for (std::uint32_t n = 0; n < old_.nodes.size(); ++n) {
      const RunNode& node = old_.nodes[n];
      const bool added =
          node.lane != kNoLane && node.event == kNoEvent && old_.lanes[node.lane].device;
      if (added && parts_.is_backward(passes_.part_of[n])) out[n] = true;
    }
    return out;
  }

  [[nodiscard]] std::uint32_t lane_of(std::uint32_t lane, std::size_t device) const {
    return static_cast<std::uint32_t>(lane * devices() + device);
  }
  [[nodiscard]] std::uint32_t copy_in(const Instance& instance, std::uint32_t node) const {
    return instance.base + local_[node];
  }

  void fill_lanes() {
    for (const auto& sequence : on_device_) {
      for (const std::uint32_t i : sequence) {
        const Instance& instance = instances_[i];
        for (const std::uint32_t n : nodes_[instance.part]) {
          if (old_.nodes[n].lane == kNoLane) continue;
          out_.lanes[lane_of(old_.nodes[n].lane, instance.device)].nodes.push_back(
              copy_in(instance, n));
        }
      }
    }
  }

  // The copy of `part` that something in `to` may have waited for; kNoPass if none is before it on
  // its stage, or of the same microbatch on another.
  [[nodiscard]] std::uint32_t waited_for(std::uint32_t part, const Instance& to) const {
    const auto& candidates = instances_of_part_[part];
    std::uint32_t best = kNoPass;
    const bool passes = !parts_.is_between(part) && !parts_.is_between(to.part);
    const bool together = passes && parts_.microbatch_of(part) == parts_.microbatch_of(to.part);
    for (const std::uint32_t i : candidates) {
      const Instance& from = instances_[i];
      if (together && from.microbatch == to.microbatch) {
        return from.device != to.device || from.order < to.order ? i : kNoPass;
      }
      if (together || from.device != to.device || from.order >= to.order) continue;
      if (best == kNoPass || instances_[best].order < from.order) best = i;
    }
    return best;
  }

  void copy_edges() {
    for (const RunEdge& edge : old_.edges) {
      const std::uint32_t from_part = passes_.part_of[edge.from];
      const std::uint32_t to_part = passes_.part_of[edge.to];
      for (const std::uint32_t i : instances_of_part_[to_part]) {
        const Instance& to = instances_[i];
        const std::uint32_t found = from_part == to_part ? i : waited_for(from_part, to);
        if (found == kNoPass) continue;
        const Instance& from = instances_[found];
        const std::uint32_t source = copy_in(from, edge.from);
        const std::uint32_t target = copy_in(to, edge.to);
        if (from.device == to.device) {
          out_.edges.push_back({source, target, edge.across_streams});
        } else if (on_device(edge.from) && on_device(edge.to)) {
          crossing(from, to, source, target, old_.nodes[edge.from].trace);
        }
      }
    }
  }

  // Device work and what stands for a wait between streams; not the host's.
  [[nodiscard]] bool on_device(std::uint32_t node) const {
    const RunNode& n = old_.nodes[node];
    return n.kind != RunNodeKind::host && n.kind != RunNodeKind::call;
  }

  void crossing(const Instance& from, const Instance& to, std::uint32_t source,
                std::uint32_t target, std::uint32_t trace) {
    const Block& producer = blocks_[from.block];
    const Block& consumer = blocks_[to.block];
    if (producer.backward != consumer.backward) return;  // implied by the passes in between
    const std::size_t next =
        producer.backward ? consumer.stage + std::size_t{1} : producer.stage + std::size_t{1};
    const std::size_t other = producer.backward ? producer.stage : consumer.stage;
    if (next != other) {
      out_.edges.push_back({source, target, false});
      return;
    }
    auto& ends = crossings_[{to.block, trace}];
    ends.first.push_back(source);
    ends.second.push_back(target);
  }

  // The thread that launches a part: a stage does one thing after the other, whichever thread does
  // it.
  void order_threads() {
    const auto traces = static_cast<std::uint32_t>(run_.traces().size());
    std::vector<std::map<std::uint32_t, std::size_t>> launches(parts_.size() * traces);
    for (std::uint32_t w = 0; w < old_.works.size(); ++w) {
      const std::uint32_t call = passes_.launched_by[w];
      if (call == kNoEvent) continue;
      ++launches[passes_.part_of[call] * traces + old_.works[w].trace][old_.nodes[call].lane];
    }
    for (std::uint32_t t = 0; t < traces; ++t) {
      for (const auto& sequence : on_device_) {
        std::uint32_t before = kNoPass;  // the last node of the thread that launched last
        for (const std::uint32_t i : sequence) {
          const Instance& instance = instances_[i];
          const auto& by_lane = launches[instance.part * traces + t];
          if (by_lane.empty()) continue;
          const std::uint32_t lane =
              std::ranges::max_element(by_lane, [](const auto& a, const auto& b) {
                return a.second < b.second;
              })->first;
          std::uint32_t first = kNoPass;
          std::uint32_t last = kNoPass;
          for (const std::uint32_t n : nodes_[instance.part]) {
            if (old_.nodes[n].lane != lane) continue;
            if (first == kNoPass) first = n;
            last = n;
          }
          if (before != kNoPass) out_.edges.push_back({before, copy_in(instance, first), false});
          before = copy_in(instance, last);
        }
      }
    }
  }

  // The first or last work of a block on a stream; kNoPass.
  [[nodiscard]] std::uint32_t work_of(const Block& block, std::uint32_t lane, bool last) const {
    std::uint32_t found = kNoPass;
    for (const std::uint32_t i : block.instances) {
      for (const std::uint32_t n : nodes_[instances_[i].part]) {
        if (old_.nodes[n].lane != lane || old_.nodes[n].kind == RunNodeKind::dispatch) continue;
        found = copy_in(instances_[i], n);
        if (!last) return found;
      }
    }
    return found;
  }

  Result<void> add_transfers() {
    const std::vector<std::uint32_t> streams = main_streams(run_);
    std::map<std::array<std::uint32_t, 3>, std::uint32_t> links;  // of a rank, between devices
    ORRERY_TRY(const std::vector<DeviceOperation> order, linear_order(pipeline_));
    for (std::size_t k = 0; k < parts_.steps; ++k) {
      for (const DeviceOperation& op : order) {
        const bool backward = op.operation.action == PipelineAction::backward;
        if (backward && !parts_.backward) continue;
        const std::size_t stage = pipeline_.stage_of(op.device, op.operation.chunk);
        const std::uint32_t to = block_of_[k][slot(backward, stage, op.operation.microbatch)];
        events_.waits(op.device, op.operation,
                      [&](PipelineEventKind kind, std::size_t s, std::size_t j) {
                        const bool of_backward = kind == PipelineEventKind::backward;
                        const std::uint32_t from = block_of_[k][slot(of_backward, s, j)];
                        const std::uint32_t device = pipeline_.seat(j, s).device;
                        if (device == op.device) return;
                        for (std::uint32_t t = 0; t < streams.size(); ++t) {
                          const auto [link, is_new] =
                              links.emplace(std::array{t, device, op.device},
                                            static_cast<std::uint32_t>(out_.lanes.size()));
                          if (is_new) out_.lanes.push_back({t, 0, true, {}});
                          add_transfer(t, blocks_[from], to, streams[t], link->second);
                        }
                      });
      }
    }
    return {};
  }

  void add_transfer(std::uint32_t trace, const Block& from, std::uint32_t to, std::uint32_t stream,
                    std::uint32_t link) {
    const std::uint32_t transfer =
        out_.add({RunNodeKind::latency, trace, kNoEvent, link, transfer_ns_});
    ++transfers_;
    const std::uint32_t source = work_of(from, stream, true);
    const std::uint32_t target = work_of(blocks_[to], stream, false);
    if (source != kNoPass) out_.edges.push_back({source, transfer, false});
    if (target != kNoPass) out_.edges.push_back({transfer, target, false});
    const auto ends = crossings_.find({to, trace});
    if (ends == crossings_.end()) return;
    for (const std::uint32_t n : ends->second.first) out_.edges.push_back({n, transfer, false});
    for (const std::uint32_t n : ends->second.second) out_.edges.push_back({transfer, n, false});
  }

  // Where a rank's steps begin and end on a stage: a mark within a pass moves to its step's ends.
  [[nodiscard]] std::uint32_t mark_on(std::uint32_t device, std::uint32_t mark, std::uint32_t trace,
                                      bool begins) const {
    if (mark == kNoEvent) return kNoEvent;
    const std::uint32_t part = passes_.part_of[mark];
    if (parts_.is_between(part)) return copy_in(instances_[instances_of_part_[part][device]], mark);
    const std::size_t k = parts_.step_of(part) + (begins ? 0U : 1U);
    const std::uint32_t other = instances_of_part_[parts_.between(k)][device];
    // The last of the host before the step, or the first behind it; without one, what came before.
    for (std::uint32_t i = instances_[other].order + 1; i-- > 0;) {
      const Instance& instance = instances_[on_device_[device][i]];
      std::uint32_t found = kNoPass;
      for (const std::uint32_t n : nodes_[instance.part]) {
        const RunNode& node = old_.nodes[n];
        if (node.lane == kNoLane || node.trace != trace || old_.lanes[node.lane].device) continue;
        found = copy_in(instance, n);
        if (!begins && i == instances_[other].order) break;
      }
      if (found != kNoPass) return found;
    }
    return kNoEvent;
  }

  void copy_steps() {
    for (const RunStep& step : old_.steps) {
      for (std::uint32_t d = 0; d < devices(); ++d) {
        RunStep copy = step;
        copy.stage = d;
        copy.from = mark_on(d, step.from, step.trace, true);
        copy.to = mark_on(d, step.to, step.trace, false);
        if (copy.to != kNoEvent) out_.steps.push_back(std::move(copy));
      }
    }
  }

  const EditedRun& run_;
  const RunGraph& old_;
  const TrainingPasses& passes_;
  const TrainingParts& parts_;
  const Pipeline& pipeline_;
  PipelineEvents events_;
  std::int64_t transfer_ns_;

  EdgeLists nodes_;                   // by part
  std::vector<std::uint32_t> local_;  // of every node its place in its part
  std::vector<Instance> instances_;
  std::vector<std::vector<std::uint32_t>> instances_of_part_;
  std::vector<std::vector<std::uint32_t>> on_device_;  // instances, in order
  std::vector<Block> blocks_;
  std::vector<std::vector<std::uint32_t>> block_of_;  // of steps, by slot
  // Of a block and rank: what crosses into it from the stage before, and what waits for that.
  std::map<std::pair<std::uint32_t, std::uint32_t>,
           std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>>>
      crossings_;
  RunGraph out_;
  std::size_t transfers_ = 0;
};

Result<void> apply_pipeline(EditedRun& run, AppliedEdit& edit, EditContext& context) {
  const Catalog& catalog = context.catalog;
  const Edit& e = edit.edit;
  ORRERY_RETURN_IF_ERROR(refuse_pipelines(run, e));
  if (e.count == 1 && e.microbatches == 0) {
    edit.assumed.emplace_back("the run has one stage, as recorded");
    return {};
  }
  auto found = training_passes(run);
  if (!found) return fail(at(to_text(e), found.error()));
  const TrainingPasses& passes = *found;
  const TrainingParts& parts = passes.parts;
  const auto recorded = static_cast<std::int64_t>(parts.microbatches);
  const std::int64_t microbatches = e.microbatches > 0 ? e.microbatches : recorded;
  ORRERY_TRY(const Pipeline pipeline, wanted_pipeline(e, microbatches));
  if (pipeline.stages() > parts.layers) {
    return bad_input(fmt::format("{} layers are recorded, the pipeline would have {} stages",
                                 parts.layers, pipeline.stages()),
                     to_text(e), fmt::format("at most {} stages times chunks", parts.layers));
  }
  StageLink link;
  if (e.count > 1) {
    ORRERY_TRY(link, stage_link(run, passes, e, catalog));
  }
  PipelineRebuild rebuild(run, passes, pipeline, scaled_ns(1, link.time.value() * 1e9));
  if (rebuild.new_nodes() > kMostCopiedNodes) {
    return unsupported(fmt::format("the pipeline would be {} nodes", rebuild.new_nodes()),
                       to_text(e), fmt::format("at most {}", kMostCopiedNodes));
  }
  ORRERY_TRY(RunGraph graph, rebuild.rebuilt());
  edit.changed = graph.works.size();
  run.graph() = std::move(graph);
  edit.assumed.push_back(fmt::format(
      "{} layers and {} microbatch{} a step are recorded, {}; {} a stage on {} stage{}, {} "
      "microbatch{} in the order of {}",
      parts.layers, recorded, recorded == 1 ? "" : "es",
      parts.backward ? "forward and backward" : "forward only",
      parts.layers % pipeline.stages() == 0
          ? fmt::format("{}", parts.layers / pipeline.stages())
          : fmt::format("{} or {}", parts.layers / pipeline.stages(),
                        parts.layers / pipeline.stages() + 1),
      pipeline.stages(), pipeline.stages() == 1 ? "" : "s", microbatches,
      microbatches == 1 ? "" : "es", e.name.empty() ? "1f1b" : e.name));
  if (microbatches != recorded) {
    edit.assumed.push_back(
        fmt::format("each microbatch as large as a recorded one: {:.3g} of the recorded batch",
                    static_cast<double>(microbatches) / static_cast<double>(recorded)));
  }
  if (!link.assumed.empty()) edit.assumed.push_back(link.assumed);
  if (e.count == 1) return {};
  edit.assumed.emplace_back(
      "what precedes the layers runs on the first stage, what follows them on the last; between "
      "steps each stage does its share, by layers; the host launches sends in no time");
  return {};
}

constexpr std::int64_t kMostStages = 1024;
constexpr EditTerm kPipelineTerms[] = {
    {"schedule", &Edit::name}, {"chunks", &Edit::chunks}, {"microbatches", &Edit::microbatches},
    {"send", &Edit::size},     {"link", &Edit::rate},     {"latency", &Edit::time}};

}  // namespace

const EditVerb kPipelineEdit{
    .verb = "pp",
    .form =
        "pp N [schedule NAME] [chunks N] [microbatches N] [send SIZE] [link RATE] [latency TIME]",
    .operand = EditOperand::count,
    .most = kMostStages,
    .terms = kPipelineTerms,
    .rebuilds_passes = true,
    .problem = latency_without_link,
    .apply = apply_pipeline};

}  // namespace orrery
