#include "lower/step_graph.h"

#include <algorithm>
#include <array>
#include <optional>

#include "schedule/linear_order.h"

namespace orrery {
namespace {

enum class Pass { forward, backward };

class StepBuilder {
 public:
  StepBuilder(const StepCosts& step, Folding folding)
      : step_(step),
        folding_(folding),
        model_(step.cache->model()),
        share_lost_(step.cache->context().compute_share_lost),
        replicated_(step.layout->dense_shard.size * step.layout->dense_outer.size > 1 ||
                    step.layout->expert_shard.size * step.layout->expert_outer.size > 1) {
    const auto devices = static_cast<std::size_t>(step.shape.devices);
    streams_.resize(devices);
    for (std::size_t d = 0; d < devices; ++d) {
      for (std::size_t k = 0; k < kStreamKinds; ++k) {
        streams_[d][k] =
            builder_.add_stream({static_cast<std::uint32_t>(d), static_cast<StreamKind>(k)});
      }
    }
    names_ = {builder_.intern("forward"),
              builder_.intern("backward"),
              builder_.intern("begin of block"),
              builder_.intern("send activations"),
              builder_.intern("send gradients"),
              builder_.intern("gather parameters"),
              builder_.intern("reduce gradients"),
              builder_.intern("slowed by communication"),
              builder_.intern("gradient norm"),
              builder_.intern("optimizer"),
              builder_.intern("reduce tied embedding"),
              builder_.intern("receive"),
              builder_.intern("end of step")};
    device_.resize(devices);
    block_comms_.resize(model_.blocks.size());
    whole_passes_.resize(2 * step.stages.size());
    device_of_.resize(step.stages.size());
    for (int d = 0; d < step.shape.devices; ++d) {
      for (int c = 0; c < step.shape.chunks; ++c) {
        device_of_[static_cast<std::size_t>(step.schedule->virtual_stage(step.shape, d, c))] =
            static_cast<std::size_t>(d);
      }
    }
  }

  Result<StepGraph> build() {
    ORRERY_TRY(const Pipeline pipeline, orrery::pipeline(*step_.schedule, schedule_request(step_)));
    ORRERY_TRY(const std::vector<DeviceOperation> order, linear_order(pipeline));
    // For every virtual stage the operation that is its last backward: gradients are whole behind
    // it.
    std::vector<std::uint32_t> last(step_.stages.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      if (order[i].operation.action != PipelineAction::forward) {
        last[stage_of(order[i])] = static_cast<std::uint32_t>(i);
      }
    }
    const std::size_t slots =
        step_.stages.size() * static_cast<std::size_t>(step_.shape.microbatches);
    forward_out_.assign(slots, NodeIndex());
    backward_out_.assign(slots, NodeIndex());
    builder_.reserve(order.size() * 3, order.size() * 4);
    for (std::size_t i = 0; i < order.size(); ++i) {
      const std::size_t s = stage_of(order[i]);
      if (order[i].operation.action == PipelineAction::forward) {
        forward(order[i], s);
      } else {
        backward(order[i], s, last[s] == i);
      }
      if (builder_.size() > kMaxNodes) {
        return fail(ErrorCode::unsupported,
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
  struct Names {
    NameIndex forward, backward, begin, send_activations, send_gradients, gather, reduce, slowed,
        norm, optimizer, tied, receive, end;
  };
  // What is remembered of a device while its operations are emitted.
  struct Device {
    std::optional<NodeIndex> last;         // on the computing stream
    std::optional<NodeIndex> before_last;  // the block before: limits how far gathers run ahead
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
    std::uint32_t breakdown = 0;
    bool known = false;
  };
  // Data-parallel communication of one distinct block.
  struct BlockComms {
    Picoseconds gather, reduce;
    bool known = false;
  };

  [[nodiscard]] std::size_t stage_of(const DeviceOperation& op) const {
    return static_cast<std::size_t>(step_.schedule->virtual_stage(
        step_.shape, static_cast<int>(op.device), op.operation.chunk));
  }
  [[nodiscard]] StreamIndex stream(std::uint32_t device, StreamKind kind) const {
    return streams_[device][static_cast<std::size_t>(kind)];
  }
  [[nodiscard]] std::size_t slot(std::size_t stage, std::uint32_t microbatch) const {
    return stage * static_cast<std::size_t>(step_.shape.microbatches) + microbatch;
  }
  std::uint32_t instance(const DeviceOperation& op, StepInstance::Part part) {
    instances_.push_back(
        {static_cast<std::uint16_t>(op.device), op.operation.chunk, op.operation.microbatch, part});
    return static_cast<std::uint32_t>(instances_.size() - 1);
  }

  // ---- blocks on the computing stream ----

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
        builder_.add(NodeSpec{NodeKind::barrier, Category::bubble, names_.begin,
                              stream(device, StreamKind::compute), Picoseconds(0), 0, instance},
                     std::span<const NodeIndex>(d.waits));
    d.waits.clear();
    advance(device,
            builder_.append(
                pass.graph,
                std::array{stream(device, StreamKind::compute), stream(device, StreamKind::tp),
                           stream(device, StreamKind::cp), stream(device, StreamKind::ep)},
                begin, instance));
  }

  // Emits the folded run of blocks, if there is one.
  void flush(std::uint32_t device) {
    Device& d = device_[device];
    if (!d.has_pending) return;
    add_folded(device, d.pending_time, breakdown_index(d.pending), pending_direction_,
               pending_instance_);
    d.pending_time = Picoseconds(0);
    d.pending = Breakdown();
    d.has_pending = false;
  }

  void add_folded(std::uint32_t device, Picoseconds time, std::uint32_t breakdown, Pass direction,
                  std::uint32_t instance) {
    Device& d = device_[device];
    const NodeIndex n =
        builder_.add(NodeSpec{NodeKind::block, Category::bubble,
                              direction == Pass::forward ? names_.forward : names_.backward,
                              stream(device, StreamKind::compute), time, breakdown, instance},
                     std::span<const NodeIndex>(d.waits));
    d.waits.clear();
    advance(device, n);
  }

  // Most runs repeat the one before; the table stays small.
  std::uint32_t breakdown_index(const Breakdown& b) {
    const std::size_t oldest = blocks_.size() > 8 ? blocks_.size() - 8 : 0;
    for (std::size_t i = oldest; i < blocks_.size(); ++i) {
      if (blocks_[i] == b) return static_cast<std::uint32_t>(i);
    }
    blocks_.push_back(b);
    return static_cast<std::uint32_t>(blocks_.size() - 1);
  }

  void advance(std::uint32_t device, NodeIndex n) {
    device_[device].before_last = device_[device].last;
    device_[device].last = n;
  }

  // Computing lost because `communicating` ran beside the block just emitted.
  void add_contention(std::uint32_t device, const BlockPass& pass, Picoseconds communicating,
                      std::uint32_t instance) {
    const Picoseconds lost = contention(pass.computing(), communicating, share_lost_);
    if (lost <= Picoseconds(0)) return;
    const NodeIndex n =
        builder_.add(NodeSpec{NodeKind::kernel, Category::contention, names_.slowed,
                              stream(device, StreamKind::compute), lost, 0, instance});
    device_[device].last = n;
  }

  NodeIndex on_data_parallel_stream(std::uint32_t device, NameIndex name, Picoseconds time,
                                    std::uint32_t instance, std::optional<NodeIndex> after) {
    const NodeSpec spec{NodeKind::collective,
                        Category::exposed_dp,
                        name,
                        stream(device, StreamKind::dp),
                        time,
                        0,
                        instance};
    return after ? builder_.add(spec, {*after}) : builder_.add(spec);
  }

  BlockComms comms(const BlockCost& cost) const {
    return {step_.gather(cost.dense_parameters, cost.expert_parameters),
            step_.reduce(cost.dense_parameters, cost.expert_parameters), true};
  }
  const BlockComms& comms_of_layer(std::size_t layer, const BlockCost& cost) {
    BlockComms& known = block_comms_[model_.layers[layer]];
    if (!known.known) known = comms(cost);
    return known;
  }
  const BlockComms& comms_of(BlockComms& known, const BlockCost& cost) {
    if (!known.known) known = comms(cost);
    return known;
  }

  // Visits the blocks of a virtual stage in the order of the pass.
  template <class Visit>
  void each_block(const VirtualStage& stage, Pass direction, Visit visit) {
    const auto embedding = [&] {
      if (stage.embedding)
        visit(step_.kept->embedding, comms_of(embedding_, step_.kept->embedding));
    };
    const auto head = [&] {
      if (stage.head) visit(step_.kept->head, comms_of(head_, step_.kept->head));
    };
    const auto layer = [&](std::size_t l) {
      const BlockCost& cost = step_.block(stage, l);
      visit(cost, comms_of_layer(l, cost));
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

  // ---- passes ----

  void forward(const DeviceOperation& op, std::size_t s) {
    const std::uint32_t device = op.device;
    const std::uint32_t id = instance(op, StepInstance::Part::forward);
    if (s > 0) receive(op, s - 1, forward_out_[slot(s - 1, op.operation.microbatch)]);
    const bool every_pass = replicated_ && step_.plan.zero == 3;
    const bool first_pass = replicated_ && (step_.plan.zero == 1 || step_.plan.zero == 2) &&
                            step_.plan.overlap.parameter_gather && op.operation.microbatch == 0;
    run(device, step_.stages[s], Pass::forward, id, every_pass || first_pass,
        every_pass ? Gather::ahead : Gather::at_once, Reduce::none);
    send(op, s, StreamKind::pp_forward, names_.send_activations, forward_out_, s + 1, true);
  }

  void backward(const DeviceOperation& op, std::size_t s, bool last) {
    const std::uint32_t device = op.device;
    const std::uint32_t id = instance(op, StepInstance::Part::backward);
    if (s + 1 < step_.stages.size()) {
      receive(op, s + 1, backward_out_[slot(s + 1, op.operation.microbatch)]);
    }
    const bool gather = replicated_ && step_.plan.zero == 3;
    const bool reduce =
        replicated_ && (step_.plan.zero >= 2 || (last && step_.plan.overlap.gradient_reduction));
    run(device, step_.stages[s], Pass::backward, id, gather, Gather::ahead,
        !reduce                                 ? Reduce::none
        : step_.plan.overlap.gradient_reduction ? Reduce::beside
                                                : Reduce::blocking);
    send(op, s, StreamKind::pp_backward, names_.send_gradients, backward_out_, s - 1, s > 0);
  }

  enum class Gather { at_once, ahead };  // as early as the stream is free; or two blocks ahead
  enum class Reduce { none, beside, blocking };

  void run(std::uint32_t device, const VirtualStage& stage, Pass direction, std::uint32_t id,
           bool gathers, Gather how, Reduce reduces) {
    Device& d = device_[device];
    if (folding_ == Folding::folded && !gathers && reduces == Reduce::none) {
      const WholePass& whole = whole_pass(stage, direction);
      add_folded(device, whole.time, whole.breakdown, direction, id);
      return;
    }
    each_block(stage, direction, [&](const BlockCost& cost, const BlockComms& comm) {
      const BlockPass& pass = direction == Pass::forward ? cost.forward : cost.backward;
      Picoseconds beside;
      if (gathers && comm.gather > Picoseconds(0)) {
        flush(device);
        const bool overlaps = step_.plan.overlap.parameter_gather;
        std::optional<NodeIndex> after;
        if (how == Gather::ahead) after = overlaps ? d.before_last : d.last;
        d.waits.push_back(on_data_parallel_stream(device, names_.gather, comm.gather, id, after));
        if (overlaps) beside += comm.gather;
      }
      add_block(device, pass, direction, id);
      const bool reduced = reduces != Reduce::none && comm.reduce > Picoseconds(0);
      // Gathers count blocks, so blocks must not be folded together where one may look back.
      const bool counted = gathers && how == Gather::ahead;
      if (reduced || counted || beside > Picoseconds(0)) flush(device);
      if (reduced) {
        const NodeIndex r = on_data_parallel_stream(device, names_.reduce, comm.reduce, id, d.last);
        if (reduces == Reduce::blocking) {
          d.waits.push_back(r);
        } else {
          beside += comm.reduce;
        }
        d.waits_at_end = r;
      }
      if (beside > Picoseconds(0)) add_contention(device, pass, beside, id);
    });
    flush(device);
  }

  // All blocks of a virtual stage as one node: most passes of a step are this, again and again.
  const WholePass& whole_pass(const VirtualStage& stage, Pass direction) {
    const auto s = static_cast<std::size_t>(&stage - step_.stages.data());
    WholePass& whole = whole_passes_[2 * s + (direction == Pass::forward ? 0 : 1)];
    if (whole.known) return whole;
    Breakdown sum;
    each_block(stage, direction, [&](const BlockCost& cost, const BlockComms&) {
      const BlockPass& pass = direction == Pass::forward ? cost.forward : cost.backward;
      whole.time += pass.time;
      sum += pass.breakdown;
    });
    whole.breakdown = breakdown_index(sum);
    whole.known = true;
    return whole;
  }

  // The input of a pass: what the next block of this device waits for.
  void receive(const DeviceOperation& op, std::size_t from, NodeIndex sent) {
    Device& d = device_[op.device];
    const std::size_t from_device = device_of(from);
    if (from_device == op.device || step_.plan.overlap.pipeline) {
      if (from_device != op.device) d.waits.push_back(sent);
      return;
    }
    // Blocking: the receiver takes part in the transfer.
    const Picoseconds time = transfer_time(from_device, op.device);
    advance(op.device, builder_.add(NodeSpec{NodeKind::point_to_point, Category::exposed_pp,
                                             names_.receive, stream(op.device, StreamKind::compute),
                                             time, 0, instance(op, StepInstance::Part::transfer)},
                                    {sent}));
  }

  void send(const DeviceOperation& op, std::size_t s, StreamKind kind, NameIndex name,
            std::vector<NodeIndex>& out, std::size_t to, bool has_target) {
    NodeIndex& done = out[slot(s, op.operation.microbatch)];
    done = *device_[op.device].last;
    if (!has_target || to >= step_.stages.size()) return;
    const std::size_t to_device = device_of(to);
    if (to_device == op.device) return;
    const Picoseconds time = transfer_time(op.device, to_device);
    const std::uint32_t id = instance(op, StepInstance::Part::transfer);
    const NodeSpec spec{NodeKind::point_to_point,
                        Category::exposed_pp,
                        name,
                        stream(op.device, step_.plan.overlap.pipeline ? kind : StreamKind::compute),
                        time,
                        0,
                        id};
    if (step_.plan.overlap.pipeline) {
      done = builder_.add(spec, {done});
    } else {
      advance(op.device, builder_.add(spec));
    }
  }

  [[nodiscard]] std::size_t device_of(std::size_t stage) const { return device_of_[stage]; }
  [[nodiscard]] Picoseconds transfer_time(std::size_t a, std::size_t b) const {
    // Boundaries are kept under their lower device; the wrap-around under the last.
    const std::size_t p = step_.transfer.size();
    const std::size_t boundary = (a + 1) % p == b ? a : b;
    return step_.transfer[boundary];
  }

  // ---- the end of the step ----

  void end_of_step() {
    const auto devices = static_cast<std::uint32_t>(step_.shape.devices);
    const auto held = [&](std::uint32_t d) {
      PassTotals sum;
      for (int c = 0; c < step_.chunks_held(); ++c) {
        sum = sum + step_.chunk(static_cast<int>(d), c).totals;
      }
      return sum;
    };
    const auto part = [&](std::uint32_t d, StepInstance::Part p) {
      return instance(DeviceOperation{d, {}}, p);
    };
    std::vector<NodeIndex> ready;
    for (std::uint32_t d = 0; d < devices; ++d) {
      Device& device = device_[d];
      if (replicated_ && step_.plan.zero <= 1 && !step_.plan.overlap.gradient_reduction) {
        const PassTotals totals = held(d);
        device.waits_at_end = on_data_parallel_stream(
            d, names_.reduce, step_.reduce(totals.dense_parameters, totals.expert_parameters),
            part(d, StepInstance::Part::reduce), device.last);
      }
      NodeIndex last = device.waits_at_end.value_or(*device.last);
      const bool holds_tied = d == 0 || d + 1 == devices;
      if (holds_tied && step_.tied_embedding > Picoseconds(0)) {
        last = builder_.add(NodeSpec{NodeKind::collective, Category::exposed_pp, names_.tied,
                                     stream(d, StreamKind::pp_backward), step_.tied_embedding, 0,
                                     part(d, StepInstance::Part::reduce)},
                            {last, *device.last});
      }
      ready.push_back(last);
      ready.push_back(*device.last);
      gradients_ready_.push_back(last);
    }
    std::vector<StreamIndex> others;
    for (std::uint32_t d = 1; d < devices; ++d) others.push_back(stream(d, StreamKind::compute));
    builder_.add_rendezvous(NodeSpec{NodeKind::collective, Category::optimizer, names_.norm,
                                     stream(0, StreamKind::compute), step_.gradient_norm, 0,
                                     part(0, StepInstance::Part::optimizer)},
                            std::move(others), ready);
    for (std::uint32_t d = 0; d < devices; ++d) {
      const NodeIndex optimizer = builder_.add(NodeSpec{
          NodeKind::kernel, Category::optimizer, names_.optimizer, stream(d, StreamKind::compute),
          step_.optimizer[d], 0, part(d, StepInstance::Part::optimizer)});
      const bool gathers = replicated_ && (step_.plan.zero == 1 || step_.plan.zero == 2) &&
                           !step_.plan.overlap.parameter_gather;
      if (!gathers) continue;
      const PassTotals totals = held(d);
      const NodeIndex gathered = on_data_parallel_stream(
          d, names_.gather, step_.gather(totals.dense_parameters, totals.expert_parameters),
          part(d, StepInstance::Part::gather), optimizer);
      builder_.add(
          NodeSpec{NodeKind::barrier, Category::bubble, names_.end, stream(d, StreamKind::compute),
                   Picoseconds(0), 0, part(d, StepInstance::Part::optimizer)},
          {gathered});
    }
  }

  const StepCosts& step_;
  Folding folding_;
  const Model& model_;
  double share_lost_;
  bool replicated_;
  GraphBuilder builder_;
  std::vector<std::array<StreamIndex, kStreamKinds>> streams_;
  Names names_{};
  std::vector<Device> device_;
  std::vector<NodeIndex> forward_out_, backward_out_;
  std::vector<Breakdown> blocks_;
  std::vector<StepInstance> instances_;
  std::vector<NodeIndex> gradients_ready_;
  std::vector<std::size_t> device_of_;  // of each virtual stage
  std::vector<WholePass> whole_passes_;
  std::vector<BlockComms> block_comms_;
  BlockComms embedding_, head_;
  Pass pending_direction_ = Pass::forward;
  std::uint32_t pending_instance_ = 0;
};

}  // namespace

Result<StepGraph> step_graph(const StepCosts& step, Folding folding) {
  return StepBuilder(step, folding).build();
}

}  // namespace orrery
