#include "lower/step_graph.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "lower/host_offload.h"
#include "lower/paired_pass.h"
#include "lower/pass_builder.h"
#include "lower/pass_partner.h"
#include "lower/shard_communication.h"
#include "lower/shard_moves.h"
#include "lower/step_pass.h"
#include "lower/step_pipeline.h"
#include "schedule/linear_order.h"
#include "schedule/pipeline_wiring.h"

namespace orrery {
namespace {

class StepBuilder {
 public:
  StepBuilder(const StepCosts& step, const Pipeline& pipeline, Folding folding)
      : step_(step),
        pipeline_(pipeline),
        folding_(folding),
        model_(step.cache->model()),
        replicated_(step.replicated()),
        moves_(shard_moves(step.plan, step.cache->context().software)),
        builder_(step_categories(), step.layout->groups),
        streams_(pipeline_streams(builder_, step.shape.devices)),
        times_(pipeline_times(step)),
        traffic_(pipeline_traffic(step)),
        offload_(step, builder_),
        wiring_(builder_, pipeline, times_,
                step.plan.overlap.pipeline ? Sends::asynchronous : Sends::blocking, streams_,
                traffic_),
        device_(static_cast<std::size_t>(step.shape.devices)),
        ahead_(static_cast<std::size_t>(std::max<std::int64_t>(1, step.plan.prefetch))),
        whole_passes_(2 * kPasses * step.stages.size()),
        communication_(step, builder_) {
    for (Device& device : device_) device.before.resize(ahead_);
    begin_ = operation(NodeKind::barrier, Category::bubble, "begin of block");
  }

  Result<StepGraph> build() {
    ORRERY_TRY(const std::vector<DeviceOperation> order, linear_order(pipeline_));
    const std::vector<ChunkUse> uses = chunk_uses(pipeline_, order);
    builder_.reserve(order.size() * 3, order.size() * 4);
    for (std::size_t i = 0; i < order.size(); ++i) {
      const DeviceOperation& op = order[i];
      emit(op, uses[i]);
      if (builder_.size() > kMaxNodes) {
        return unsupported(
            "the expanded graph has more than " + std::to_string(kMaxNodes) + " nodes", "",
            "fewer microbatches or stages, or the folded graph");
      }
    }
    end_of_step();
    StepGraph out;
    out.graph = builder_.build();
    out.blocks = std::move(blocks_);
    out.instances = std::move(instances_);
    out.gradients_ready = std::move(gradients_ready_);
    return out;
  }

 private:
  enum class Issue { at_once, ahead };  // as early as the stream is free; or two blocks ahead
  // What is remembered of a device while its operations are emitted.
  struct Device {
    std::optional<NodeIndex> last;  // on the computing stream
    // The blocks before the last, latest first: they limit how far gathers run ahead.
    std::vector<std::optional<NodeIndex>> before;
    std::optional<NodeIndex> before_pass;  // the last one when the pass before began
    std::vector<NodeIndex> waits;          // what the next block waits for
    // A folded run of blocks not yet emitted.
    Picoseconds pending_time;
    Breakdown pending;
    bool has_pending = false;
    std::optional<NodeIndex> waits_at_end;  // its last gradient reduction
  };
  // A virtual stage's pass, summed once.
  struct WholePass {
    Picoseconds time;
    Breakdown breakdown;
    OperationIndex operation{};
    bool known = false;
  };

  [[nodiscard]] const VirtualStage& stage(std::uint32_t device, std::size_t chunk) const {
    return step_.stages[pipeline_.stage_of(device, chunk)];
  }
  OperationIndex operation(NodeKind kind, Category category, std::string_view name,
                           OperationParts parts = {}) {
    return communication_.operation(kind, category, name, std::move(parts));
  }
  [[nodiscard]] const StepCosts& costs(std::uint32_t device) const {
    return step_.at(static_cast<int>(device));
  }
  std::uint32_t instance(const DeviceOperation& op, StepInstance::Part part) {
    instances_.push_back({static_cast<std::uint16_t>(op.device), op.operation,
                          static_cast<std::uint16_t>(pipeline_.route_of(op.operation.microbatch)),
                          part});
    return static_cast<std::uint32_t>(instances_.size() - 1);
  }

  void add_block(std::uint32_t device, const BlockPass& pass, Pass direction,
                 std::uint32_t instance) {
    Device& d = device_[device];
    if (folding_ == Folding::folded) {
      d.pending_time += pass.time;
      d.pending += pass.breakdown;
      d.has_pending = true;
      pending_direction_ = direction;
      pending_instance_ = instance;
      if (!d.waits.empty()) flush(device);  // the wait concerns this block alone
      return;
    }
    const NodeIndex begin =
        builder_.add({begin_, stream(device, StepStream::compute), Picoseconds(0), instance},
                     std::span<const NodeIndex>(d.waits));
    d.waits.clear();
    static_assert(kBlockStreams == 4);
    advance(device,
            builder_.append(
                pass.graph,
                std::array{stream(device, StepStream::compute), stream(device, StepStream::tp),
                           stream(device, StepStream::cp), stream(device, StepStream::ep)},
                begin, instance));
  }

  // Emits the folded run of blocks, if there is one.
  void flush(std::uint32_t device) {
    Device& d = device_[device];
    if (!d.has_pending) return;
    add_folded(device, block(pass_name(pending_direction_), d.pending), d.pending_time,
               pending_instance_);
    d.pending_time = Picoseconds(0);
    d.pending = Breakdown();
    d.has_pending = false;
  }

  void add_folded(std::uint32_t device, OperationIndex operation, Picoseconds time,
                  std::uint32_t instance) {
    Device& d = device_[device];
    const NodeIndex n =
        builder_.add({operation, stream(device, StepStream::compute), time, instance},
                     std::span<const NodeIndex>(d.waits));
    d.waits.clear();
    advance(device, n);
  }

  // A folded block with this breakdown.
  OperationIndex block(std::string_view name, const Breakdown& breakdown) {
    return builder_.intern(Operation{.kind = NodeKind::block,
                                     .category = index(Category::bubble),
                                     .name = builder_.intern(name),
                                     .block = index_in(blocks_, breakdown)});
  }

  void advance(std::uint32_t device, NodeIndex n) {
    std::vector<std::optional<NodeIndex>>& before = device_[device].before;
    std::shift_right(before.begin(), before.end(), 1);
    before.front() = std::exchange(device_[device].last, n);
  }

  // Computing lost because `communicating` ran beside the block just emitted.
  void add_contention(std::uint32_t device, const BlockPass& pass, Picoseconds communicating,
                      std::uint32_t instance) {
    const Picoseconds lost = step_.cache->context().contention(pass.computing(), communicating,
                                                               costs(device).data_share_lost);
    if (lost <= Picoseconds(0)) return;
    const OperationIndex slowed = operation(NodeKind::kernel, Category::contention, kSlowed,
                                            {{.what = StatedTime{lost.seconds()}}});
    device_[device].last =
        builder_.add({slowed, stream(device, StepStream::compute), lost, instance});
  }

  // Weights out of the buffer they were gathered to, or gradients into the one they leave from.
  void copy_buffer(std::uint32_t device, const PricedOperation& copy, std::uint32_t instance) {
    if (copy.time <= Picoseconds(0)) return;
    Device& d = device_[device];
    d.last =
        builder_.add({copy.operation, stream(device, StepStream::compute), copy.time, instance},
                     std::span<const NodeIndex>(d.waits));
    d.waits.clear();
  }

  NodeIndex on_data_parallel_stream(std::uint32_t device, const PricedOperation& what,
                                    std::uint32_t instance, std::optional<NodeIndex> after) {
    const NodeSpec spec{what.operation, stream(device, StepStream::dp), what.time, instance};
    return after ? builder_.add(spec, {*after}) : builder_.add(spec);
  }
  // Reduced, and where the optimizer step is the host's, there; the last of a step may be updated
  // at once.
  NodeIndex reduced(std::uint32_t device, const Reduction& r, std::uint32_t instance, bool last) {
    const NodeIndex node = on_data_parallel_stream(device, r.what, instance, r.after);
    const NodeIndex there = offload_.send_gradients(device, r.trained, node, instance);
    if (last && step_.plan.overlap.host_update) offload_.update(device, r.trained, there, instance);
    return there;
  }
  [[nodiscard]] bool fetches_weights() const {
    return step_.plan.offload_parameters != Offload::none;
  }
  [[nodiscard]] bool sends_gradients() const {
    return step_.plan.offload_optimizer != Offload::none;
  }

  // Visits the blocks of a virtual stage in the order of the pass.
  template <class Visit>
  void each_block(const VirtualStage& stage, Pass direction, Partner partner, Visit visit) {
    const StepCosts& costs = step_.at(stage);
    const ModelCosts& ends = partner == Partner::none ? *costs.kept_alone : *costs.kept;
    const auto embedding = [&] {
      if (stage.embedding) visit(ends.embedding, communication_.of_embedding(costs));
    };
    const auto head = [&] {
      if (stage.head) visit(ends.head, communication_.of_head(costs));
    };
    const auto layer = [&](std::size_t l) {
      const BlockCost& cost = step_.block(stage, l, partner);
      visit(cost, communication_.of_layer(stage.site, model_.layers[l], costs, cost));
    };
    if (direction == Pass::forward) {
      embedding();
      for (std::size_t i = 0; i < stage.layers; ++i) layer(stage.first_layer + i);
      head();
    } else {
      head();
      for (std::size_t i = stage.layers; i-- > 0;) layer(stage.first_layer + i);
      embedding();
    }
  }

  void emit(const DeviceOperation& op, const ChunkUse& use) {
    switch (op.operation.action) {
      case PipelineAction::forward:
        return pass(op, Pass::forward, use);
      case PipelineAction::backward:
        return pass(op, Pass::backward, use);
      case PipelineAction::input_gradient:
        return pass(op, Pass::input_gradient, use);
      case PipelineAction::weight_gradient:
        return pass(op, Pass::weight_gradient, use);
      case PipelineAction::forward_and_backward:
        return pair(op, use);
      case PipelineAction::offload:
      case PipelineAction::reload:
        return copy(op);
      case PipelineAction::output_layer:
        return share(op, step_.vocabulary.output_layer, "output layer");
      case PipelineAction::output_layer_gradient:
        return share(op, step_.vocabulary.output_layer_gradient, "output layer gradient");
      case PipelineAction::input_layer:
        return share(op, step_.vocabulary.input_layer, "input layer");
      case PipelineAction::input_layer_gradient:
        return share(op, step_.vocabulary.input_layer_gradient, "input layer gradient");
    }
  }

  // Activations on their way to or from host memory, issued when what stands before is done.
  void copy(const DeviceOperation& op) {
    const bool out = op.operation.action == PipelineAction::offload;
    const std::uint32_t id = instance(op, StepInstance::Part::pass);
    std::vector<NodeIndex> waits;
    wiring_.before(op, id, waits);
    if (device_[op.device].last) waits.push_back(*device_[op.device].last);
    const VirtualStage& copied = stage(op.device, op.operation.chunk);
    const PricedOperation what =
        communication_.priced(costs(op.device), NodeKind::copy, Category::exposed_pp,
                              out ? "offload activations" : "reload activations",
                              {{.what = HostCopy{copied.totals.saved}}});
    const NodeIndex n = builder_.add(
        {what.operation, stream(op.device, out ? StepStream::offload : StepStream::reload),
         what.time, id},
        std::span<const NodeIndex>(waits));
    wiring_.after(op, n, id);
  }

  // A device's part of a vocabulary layer; folded and expanded alike.
  void share(const DeviceOperation& op, const Breakdown& breakdown, std::string_view name) {
    Device& d = device_[op.device];
    const std::uint32_t id = instance(op, StepInstance::Part::pass);
    wiring_.before(op, id, d.waits);
    add_folded(op.device, block(name, breakdown), breakdown.total(), id);
    wiring_.after(op, *d.last, id);
  }

  void pass(const DeviceOperation& op, Pass direction, const ChunkUse& use) {
    Device& d = device_[op.device];
    const std::uint32_t transfer = instance(op, StepInstance::Part::transfer);
    wiring_.before(op, transfer, d.waits);
    run(op.device, stage(op.device, op.operation.chunk), direction,
        instance(op, StepInstance::Part::pass), use);
    d.last = wiring_.after(op, *d.last, transfer);
  }

  [[nodiscard]] bool gathers(Pass direction, const ChunkUse& use) const {
    return (replicated_ || fetches_weights()) &&
           gathers_weights(step_.plan, moves_, direction, use);
  }
  [[nodiscard]] Reduce reduces(Pass direction, const ChunkUse& use) const {
    const bool moves = replicated_ || sends_gradients();
    return moves ? reduces_gradients(step_.plan, moves_, direction, use) : Reduce::none;
  }

  // One node if nothing is gathered or reduced in it; else its halves one after the other.
  void pair(const DeviceOperation& op, const ChunkUse& use) {
    Device& d = device_[op.device];
    const std::uint32_t transfer = instance(op, StepInstance::Part::transfer);
    const VirtualStage& forward = stage(op.device, op.operation.chunk);
    const VirtualStage& backward = stage(op.device, op.operation.backward_chunk);
    const std::uint32_t forward_id = instance(op, StepInstance::Part::pass);
    wiring_.before(op, transfer, d.waits);
    if (gathers(Pass::forward, use) || gathers(Pass::backward, use) ||
        reduces(Pass::backward, use) != Reduce::none) {
      run(op.device, forward, Pass::forward, forward_id, use);
      run(op.device, backward, Pass::backward, forward_id, use);
    } else {
      const PairedPass paired =
          paired_pass(whole_pass(forward, Pass::forward, use.partner).breakdown,
                      whole_pass(backward, Pass::backward, use.partner).breakdown,
                      costs(op.device).paired_share_lost, step_.cache->context());
      add_folded(op.device, block("forward and backward", paired.breakdown), paired.time,
                 forward_id);
    }
    d.last = wiring_.after(op, *d.last, transfer);
  }

  void run(std::uint32_t device, const VirtualStage& stage, Pass direction, std::uint32_t id,
           const ChunkUse& use) {
    const bool gathers = this->gathers(direction, use);
    const Reduce reduces = this->reduces(direction, use);
    const Issue how = step_.plan.zero == 3 ? Issue::ahead : Issue::at_once;
    Device& d = device_[device];
    const auto before = std::exchange(d.before_pass, d.last);
    if (stage.layers == 0 && !stage.embedding && !stage.head) {
      // Nothing but what passes through.
      advance(device,
              builder_.add({begin_, stream(device, StepStream::compute), Picoseconds(0), id},
                           std::span<const NodeIndex>(d.waits)));
      d.waits.clear();
      return;
    }
    if (folding_ == Folding::folded && !gathers && reduces == Reduce::none &&
        step_.plan.offload_activations == Offload::none) {
      const WholePass& whole = whole_pass(stage, direction, use.partner);
      add_folded(device, whole.operation, whole.time, id);
      return;
    }
    // The pass before may be one node: what is gathered first runs ahead as far as to its
    // beginning.
    if (moves_.weights != ShardMove::each_pass && how == Issue::ahead) d.before.front() = before;
    // A reduction is queued behind the gather of the next block, which was issued long before.
    std::optional<Reduction> held;
    const auto queue_reduction = [&] {
      if (!held) return;
      d.waits_at_end = reduced(device, *held, id, use.closes);
      held.reset();
    };
    const bool sharded = step_.plan.zero == 3;
    const bool coded = step_.plan.gradient_code != GradientCode::none;
    const bool buckets = step_.plan.gradient_bucket_mib > 0 && reduces != Reduce::none;
    const auto is_reduced = [&](const ShardCommunication& comm) {
      return reduces != Reduce::none && (comm.reduce.time > Picoseconds(0) || sends_gradients());
    };
    GradientBucket bucket(step_, communication_);
    int to_collect = 0;  // blocks whose gradients are still to come
    if (buckets) {
      const auto count = [&](const BlockCost&, const ShardCommunication& comm) {
        to_collect += is_reduced(comm) ? 1 : 0;
      };
      each_block(stage, direction, use.partner, count);
    }
    Picoseconds under_way;  // of reductions of buckets
    const bool moves_activations = step_.plan.offload_activations != Offload::none;
    const bool backward = direction == Pass::backward || direction == Pass::input_gradient;
    const auto visit = [&](const BlockCost& cost, const ShardCommunication& comm) {
      const BlockPass& pass = pass_of(cost, direction);
      Picoseconds beside;
      if (gathers && (comm.gather.time > Picoseconds(0) || fetches_weights())) {
        flush(device);
        const bool overlaps = step_.plan.overlap.parameter_gather;
        // Without prefetch the backward queues a gather behind the reduction before it.
        const bool late = backward && step_.plan.prefetch == 0;
        if (late) queue_reduction();
        std::optional<NodeIndex> after;
        if (how == Issue::ahead) after = overlaps && !late ? d.before.back() : d.last;
        after = offload_.fetch_weights(device, cost, after, id);
        // Tensors that travel one by one are let go behind each use: the backward gathers for what
        // is computed again, and once more for the gradients.
        const bool again = direction == Pass::backward && step_.plan.recompute == Recompute::full &&
                           step_.listing(1) > Seconds(0);
        const bool forward = direction == Pass::forward;
        const PricedOperation& gather = again     ? comm.gather_twice
                                        : forward ? comm.gather
                                                  : comm.gather_again;
        d.waits.push_back(on_data_parallel_stream(device, gather, id, after));
        if (overlaps) beside += gather.time;
        if (sharded) copy_buffer(device, forward ? comm.copy_gathered : comm.copy_again, id);
      }
      queue_reduction();
      if (moves_activations && backward) {
        flush(device);
        const auto back = offload_.fetch_activations(device, cost, d.before.front(), id);
        if (back) d.waits.push_back(*back);
      }
      add_block(device, pass, direction, id);
      if (moves_activations && direction == Pass::forward) {
        flush(device);
        offload_.send_activations(device, cost, *d.last, id);
      }
      beside += under_way;
      under_way -= std::min(under_way, pass.computing());
      const bool reduced = is_reduced(comm);
      // Gathers count blocks, so blocks must not be folded together where one may look back.
      const bool counted = (gathers && how == Issue::ahead) || moves_activations;
      if (reduced || counted || beside > Picoseconds(0)) flush(device);
      if (reduced) {
        if (sharded || coded) copy_buffer(device, comm.copy_reduced, id);
        if (!buckets) {
          held.emplace(Reduction{comm.reduce, d.last, cost.trained});
          if (reduces == Reduce::blocking) {
            queue_reduction();
            d.waits.push_back(*d.waits_at_end);
          } else {
            beside += comm.reduce.time;
          }
        }
      }
      if (beside > Picoseconds(0)) add_contention(device, pass, beside, id);
      // The last bucket holds what there is and waits for no block that has nothing to reduce.
      if (buckets && reduced) {
        held = bucket.add(costs(device), cost.trained, --to_collect == 0, d.last);
        if (held) under_way += held->what.time;
      }
    };
    each_block(stage, direction, use.partner, visit);
    queue_reduction();
    flush(device);
  }

  // All blocks of a virtual stage as one node: most passes of a step are this, again and again.
  const WholePass& whole_pass(const VirtualStage& stage, Pass direction, Partner partner) {
    const auto s = static_cast<std::size_t>(&stage - step_.stages.data());
    const bool alone = partner == Partner::none && step_.kept_alone != step_.kept;
    WholePass& whole = whole_passes_[kPasses * (alone ? step_.stages.size() + s : s) +
                                     static_cast<std::size_t>(direction)];
    if (whole.known) return whole;
    each_block(stage, direction, partner, [&](const BlockCost& cost, const ShardCommunication&) {
      const BlockPass& pass = pass_of(cost, direction);
      whole.time += pass.time;
      whole.breakdown += pass.breakdown;
    });
    whole.operation = block(pass_name(direction), whole.breakdown);
    whole.known = true;
    return whole;
  }

  // The exchange of copies that take local steps, or of groups with shards of their own: behind a node
  // or, without one, beside the whole step.
  NodeIndex outer_step(std::uint32_t device, std::optional<NodeIndex> after) {
    const std::uint32_t id = instance(DeviceOperation{device, {}}, StepInstance::Part::reduce);
    const NodeSpec spec{operation(NodeKind::collective, Category::exposed_dp, "exchange of groups",
                                  step_.outer_parts()),
                        stream(device, StepStream::outer), step_.outer, id};
    if (!after) return builder_.add(spec);
    const OperationIndex end = operation(NodeKind::barrier, Category::bubble, "end of step");
    return builder_.add({end, stream(device, StepStream::compute), Picoseconds(0), id},
                        {builder_.add(spec, {*after})});
  }

  void end_of_step() {
    const auto devices = static_cast<std::uint32_t>(step_.shape.devices);
    const auto held = [&](std::uint32_t d) { return step_.held(static_cast<int>(d)); };
    const auto part = [&](std::uint32_t d, StepInstance::Part p) {
      return instance(DeviceOperation{d, {}}, p);
    };
    // Post-validated, every device takes its optimizer step when its own gradients are whole; the
    // norm follows them down the pipeline and is checked in the next step (arXiv 2401.10241 s.4).
    const bool waits_for_norm = orrery::waits_for_norm(step_.plan);
    std::vector<NodeIndex> ready;
    for (std::uint32_t d = 0; d < devices; ++d) {
      Device& device = device_[d];
      const auto reduce = [&](const RankParameters& trained) {
        device.waits_at_end =
            reduced(d,
                    {communication_.reduction(costs(d), costs(d).reduce_parts(trained)),
                     device.last, trained},
                    part(d, StepInstance::Part::reduce), true);
      };
      const bool overlaps = step_.plan.zero >= 2 || step_.plan.overlap.gradient_reduction;
      const bool moves = replicated_ || sends_gradients();
      if (moves && step_.passes.backward && !overlaps) reduce(held(d).trained);
      if (moves && step_.passes.backward && step_.vocabulary.trained.dense > 0 && overlaps) {
        reduce(step_.vocabulary.trained);
      }
      NodeIndex last = device.waits_at_end.value_or(*device.last);
      if (step_.holds_an_end(static_cast<int>(d)) && step_.tied_embedding > Picoseconds(0)) {
        const OperationIndex tied =
            operation(NodeKind::collective, Category::exposed_pp, "reduce tied embedding",
                      step_.tied_embedding_parts());
        last = builder_.add({tied, stream(d, StepStream::pp_backward), step_.tied_embedding,
                             part(d, StepInstance::Part::reduce)},
                            {last, *device.last});
      }
      ready.push_back(last);
      ready.push_back(*device.last);
      gradients_ready_.push_back(last);
    }
    if (!step_.passes.optimizer) return;
    std::optional<NodeIndex> norm_known;
    if (step_.outer > Picoseconds(0) && step_.plan.overlap.outer) {
      for (std::uint32_t d = 0; d < devices; ++d) ready.push_back(outer_step(d, std::nullopt));
    }
    if (waits_for_norm) {
      std::vector<StreamIndex> others;
      for (std::uint32_t d = 1; d < devices; ++d) others.push_back(stream(d, StepStream::compute));
      const OperationIndex norm = operation(NodeKind::collective, Category::optimizer,
                                            "gradient norm", step_.gradient_norm_parts());
      norm_known =
          builder_.add_rendezvous({norm, stream(0, StepStream::compute), step_.gradient_norm,
                                   part(0, StepInstance::Part::optimizer)},
                                  std::move(others), ready);
    }
    for (std::uint32_t d = 0; d < devices; ++d) {
      const OperationIndex update = operation(NodeKind::kernel, Category::optimizer, "optimizer",
                                              step_.optimizer_parts(static_cast<int>(d)));
      const NodeSpec spec{update, stream(d, StepStream::compute), step_.optimizer[d],
                          part(d, StepInstance::Part::optimizer)};
      NodeIndex optimizer;
      if (sends_gradients()) {
        if (norm_known) offload_.update(d, held(d).trained, *norm_known, spec.instance);
        optimizer = offload_.updated(d, spec.instance);
      } else {
        optimizer = waits_for_norm ? builder_.add(spec) : builder_.add(spec, {gradients_ready_[d]});
      }
      if (step_.outer > Picoseconds(0) && !step_.plan.overlap.outer) {
        optimizer = outer_step(d, optimizer);
      }
      const bool gathers = replicated_ && (step_.plan.zero == 1 || step_.plan.zero == 2) &&
                           !step_.plan.overlap.parameter_gather;
      if (!gathers) continue;
      const PassTotals totals = held(d);
      const NodeIndex gathered = on_data_parallel_stream(
          d,
          communication_.gather(
              costs(d), costs(d).gather_parts(totals.trained, totals.frozen, Gather::forward)),
          part(d, StepInstance::Part::gather), optimizer);
      const OperationIndex end = operation(NodeKind::barrier, Category::bubble, "end of step");
      builder_.add({end, stream(d, StepStream::compute), Picoseconds(0),
                    part(d, StepInstance::Part::optimizer)},
                   {gathered});
    }
  }

  const StepCosts& step_;
  const Pipeline& pipeline_;
  Folding folding_;
  const Model& model_;
  bool replicated_;
  ShardMoves moves_;
  GraphBuilder builder_;
  PipelineStreams streams_;
  PipelineTimes times_;
  PipelineTraffic traffic_;
  HostOffload offload_;
  PipelineWiring wiring_;
  OperationIndex begin_{};
  std::vector<Device> device_;
  std::size_t ahead_;  // blocks that gathers run ahead
  std::vector<Breakdown> blocks_;
  std::vector<StepInstance> instances_;
  std::vector<NodeIndex> gradients_ready_;
  std::vector<WholePass> whole_passes_;
  ShardCommunications communication_;
  Pass pending_direction_ = Pass::forward;
  std::uint32_t pending_instance_ = 0;
};

}  // namespace

Result<StepGraph> step_graph(const StepCosts& step, Folding folding) {
  ORRERY_TRY(Pipeline pipeline, step.cache->pipeline(*step.schedule, schedule_request(step)));
  const auto is_backward = [](const PipelineOperation& operation) {
    return operation.action != PipelineAction::forward;
  };
  for (auto& order : pipeline.order) {
    if (!step.passes.backward) std::erase_if(order, is_backward);
  }
  return StepBuilder(step, pipeline, folding).build();
}

}  // namespace orrery
