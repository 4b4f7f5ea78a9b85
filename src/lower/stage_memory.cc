#include "lower/stage_memory.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "lower/shard_moves.h"
#include "schedule/in_flight.h"

namespace orrery {
namespace {

// How many microbatches a device of a step holds at its fullest moment, from its schedule's order.

// Between its halves a split backward keeps a part of the activations; in sixteenths, so that plans
// share what is remembered.
constexpr double kParts = 16;

int parts_kept(const StepCosts& step) {
  double saved = 0;
  double kept = 0;
  for (const VirtualStage& s : step.stages) {
    saved += s.totals.saved.value();
    kept += s.totals.saved_for_weight_gradient.value();
  }
  return saved > 0 ? static_cast<int>(std::lround(kParts * kept / saved)) : 0;
}

// By chunk of the device: microbatches whose activations are held, and those whose weight gradient
// alone is still to come. The schedule's closed form where it has one; else counted along its order
// and remembered by the cost cache, since a search asks for the same shapes again and again. An
// order made for times is counted as made for equal stages with F = B = W: schedules of that kind
// keep to a limit of units, whatever the times. O(1) after the first question for a shape.
InFlight held_units(const StepCosts& step, int device) {
  const Schedule& schedule = *step.schedule;
  if (schedule.peak_in_flight != nullptr && step.plan.group == 0) {
    InFlight out;
    out.held = schedule.peak_in_flight(step.shape, device);
    out.pending.resize(out.held.size());
    return out;
  }
  const int parts = schedule.splits_backward ? parts_kept(step) : 0;
  return step.cache->in_flight(schedule, step.shape, static_cast<int>(step.plan.group),
                               parts / kParts)[static_cast<std::size_t>(device)];
}

// The fullest moment among the beginnings of the blocks' backwards.
class FullestBackward {
 public:
  void begins(MemoryMoment moment, double working, double freed_before) {
    double& most = by_kind_[moment == MemoryMoment::head        ? 1
                            : moment == MemoryMoment::embedding ? 2
                                                                : 0];
    most = std::max(most, working);
    if (working - freed_before <= transient_) return;
    transient_ = working - freed_before;
    moment_ = moment;
  }
  void keeps(Bytes saved) { kept_ = std::max(kept_, saved); }
  [[nodiscard]] Bytes two_blocks() const { return 2 * kept_; }
  [[nodiscard]] Bytes transient() const { return Bytes(transient_); }
  [[nodiscard]] MemoryMoment moment() const { return moment_; }
  // What the other kinds of block need at their own moments: other sizes, so other cached blocks.
  [[nodiscard]] Bytes separate() const {
    const double all = by_kind_[0] + by_kind_[1] + by_kind_[2];
    const std::size_t kind = moment_ == MemoryMoment::head        ? 1
                             : moment_ == MemoryMoment::embedding ? 2
                                                                  : 0;
    return Bytes(all - by_kind_[kind]);
  }

 private:
  Bytes kept_;
  double transient_ = 0;
  MemoryMoment moment_ = MemoryMoment::backward;
  std::array<double, 3> by_kind_{};
};

// Distinct blocks of a device: their largest, and their placeholders of weight gradients.
class DistinctBlocks {
 public:
  void add(const BlockCost& block) {
    if (std::find(seen_.begin(), seen_.end(), &block) != seen_.end()) return;
    seen_.push_back(&block);
    attention_ = std::max(attention_, block.memory.attention_placeholders.value());
    other_ += block.memory.other_placeholders.value();
  }
  [[nodiscard]] double placeholders() const { return attention_ + other_; }

 private:
  std::vector<const BlockCost*> seen_;
  double attention_ = 0;
  double other_ = 0;
};

// Parameters of one unit of full sharding.
struct UnitParameters {
  double all = 0;
  double trained = 0;
  UnitParameters& operator+=(const BlockCost& block) {
    all += block.trained.all() + block.frozen.all();
    trained += block.trained.all();
    return *this;
  }
};
// Of blocks and of virtual stages.
template <class Unit>
UnitParameters larger(const UnitParameters& known, const Unit& unit) {
  const double trained = unit.trained.all();
  return {std::max(known.all, trained + unit.frozen.all()), std::max(known.trained, trained)};
}

// What of sharded weights and gradients a device holds whole at its fullest moment, with the weights
// of so many blocks gathered ahead.
double whole_shards(const MemoryInputs& in, const ShardMoves& moves, const UnitParameters& root,
                    const UnitParameters& layer, const UnitParameters& chunk, double second,
                    double ahead) {
  const double all = in.trained.all() + in.frozen.all();
  // Shards of the gradients come to be behind the last microbatch, and the rest goes.
  const double owned = in.optimizer_outside > 0
                           ? 0
                           : in.state_share * in.trained.sharded(in.dense_shard, in.expert_shard);
  const double unowned = in.trained.all() - owned;
  double gradients = 0;
  switch (moves.gradients) {
    case ShardMove::each_pass:
      gradients = in.gradient_bytes *
                  (in.zero >= 3 ? layer.trained : std::max(layer.trained, root.trained));
      break;
    case ShardMove::each_turn:
      gradients = bytes_of_gradient(in) * std::min(chunk.trained, unowned);
      break;
    case ShardMove::each_step:
      gradients = bytes_of_gradient(in) * unowned;
      break;
  }
  if (in.zero < 3) return replace_weights(in) ? 0 : gradients;
  double weights = all;
  // The layer that runs and those fetched ahead; the root unit (embedding and head) stays
  // gathered (arXiv 2304.11277 s.3.3, 3.4).
  if (moves.weights == ShardMove::each_pass) {
    weights = std::min(all, (1 + ahead) * layer.all + root.all);
  }
  // The chunk passed forward, and the one passed backward.
  if (moves.weights == ShardMove::each_turn) weights = chunk.all + second;
  if (replace_weights(in)) return in.weight_bytes * weights;
  // A layer's gradient in 16 bits, and cast to the format it is reduced in.
  return in.weight_bytes * (weights + layer.trained) + gradients;
}

int communicators(const Plan& plan) {
  return (plan.tp > 1 ? 1 : 0) + (plan.cp > 1 ? 1 : 0) + (plan.pp > 1 ? 1 : 0) +
         (plan.dp * plan.cp > 1 ? 1 : 0) + (plan.ep > 1 ? 1 : 0);
}

}  // namespace

MemoryRoom memory_room(const StepCosts& step, int device) {
  if (step.sites.empty() || !step.device_site.empty()) {
    const MemoryReport memory = stage_memory(step, device);
    const auto capacity = static_cast<ByteCount>(step.memory_capacity(device).value());
    return {.memory = memory,
            .capacity = capacity,
            .pessimistic = memory.pessimistic,
            .least = capacity - memory.pessimistic};
  }
  MemoryRoom out = memory_room(step.sites.front(), device);
  for (std::size_t k = 1; k < step.sites.size(); ++k) {
    const MemoryRoom room = memory_room(step.sites[k], device);
    if (room.left() < out.left()) {
      out.memory = room.memory;
      out.capacity = room.capacity;
    }
    if (room.least < out.least) {
      out.pessimistic = room.pessimistic;
      out.least = room.least;
    }
  }
  return out;
}

bool fits(const StepCosts& step) {
  for (int d = 0; d < step.shape.devices; ++d) {
    if (memory_room(step, d).left() < 0) return false;
  }
  return true;
}

MemoryReport stage_memory(const StepCosts& step, int device) {
  if (!step.sites.empty() && step.device_site.empty()) return memory_room(step, device).memory;
  const InFlight held = held_units(step, device);
  const MemoryFacts& facts = step.cache->context().software.memory;
  MemoryInputs in;
  in.facts = facts;
  in.dense_shard = step.layout->dense_shard.size;
  in.expert_shard = step.layout->expert_shard.size;
  in.state_share = step.state_share;
  in.weight_shard = step.layout->weights.size;
  in.gradient_shard = step.layout->gradients.size;
  in.zero = static_cast<int>(step.plan.zero);
  in.gradient_bytes = step.gradient_bytes;
  in.gradients_in_place = step.plan.gradients_in_place;
  in.weight_bytes = tensor_element_size(step.cache->training().precision).value();
  in.optimizer_bytes = optimizer_state(step.cache->training()).value();
  // Copies that take local steps keep what they last agreed on and the outer momentum; those that
  // average with neighbours what arrives from one.
  if (trains_copies_apart(step.plan)) {
    const double kept = averages_with_neighbours(step.plan) ? 1 : 2;
    in.optimizer_bytes += kept * element_size(NumberFormat::fp32).value();
  }
  in.optimizer_outside = step.plan.offload_optimizer != Offload::none ? step.plan.offload_share : 0;
  in.weights_outside = step.plan.offload_parameters != Offload::none;
  if (step.plan.secondary_shard > 0) {
    in.secondary_bytes = in.weight_bytes / static_cast<double>(step.plan.secondary_shard);
  }
  in.communicators = communicators(step.plan);

  FullestBackward fullest;
  DistinctBlocks blocks;
  UnitParameters root;   // the embedding and the head
  UnitParameters layer;  // the largest
  UnitParameters chunk;  // likewise
  double second = 0;     // parameters of the second largest
  const bool equal = step.cache->model().blocks.size() == 1;
  for (int c = 0; c < step.chunks_held(); ++c) {
    const auto slot = static_cast<std::size_t>(c);
    const VirtualStage& stage = step.chunk(device, c);
    const double parameters = stage.totals.trained.all() + stage.totals.frozen.all();
    second = std::max(second, std::min(chunk.all, parameters));
    chunk = larger(chunk, stage.totals);
    in.trained += stage.totals.trained;
    in.frozen += stage.totals.frozen;
    in.tables += stage.totals.tables;
    in.activations += stage.totals.saved * held.held[slot];
    if (slot < held.pending.size()) {
      in.activations += stage.totals.saved_for_weight_gradient * held.pending[slot];
    }
    double freed = 0;
    const auto backward = [&](const BlockCost& block, MemoryMoment moment, double times = 1) {
      fullest.begins(moment, block.memory.working.value(), freed);
      freed += times * block.memory.saved.value();
      fullest.keeps(block.memory.saved);
      blocks.add(block);
    };
    if (stage.head) {
      backward(step.at(device).kept->head, MemoryMoment::head);
      root += step.at(device).kept->head;
    }
    // Those computed again come first, so their backward comes last.
    for (std::size_t i = stage.layers; i > 0;) {
      const bool again = i <= stage.recomputed;
      const std::size_t run = equal ? (again ? i : i - stage.recomputed) : 1;
      const BlockCost& block = step.block(stage, stage.first_layer + i - 1);
      layer = larger(layer, block);
      const bool whole = again && step.plan.recompute == Recompute::full;
      backward(block, whole ? MemoryMoment::recomputation : MemoryMoment::backward,
               static_cast<double>(run));
      i -= run;
    }
    if (stage.embedding) {
      backward(step.at(device).kept->embedding, MemoryMoment::embedding);
      root += step.at(device).kept->embedding;
    }
    if (!facts.releases_stage_outputs && !stage.head && step.shape.devices > 1 &&
        step.passes.backward) {
      in.activations += step.boundary * held.held[slot];
    }
  }
  // Vocabulary parallelism: between its S and T pass a microbatch holds its part of the logits.
  in.trained += step.vocabulary.trained;
  in.frozen += step.vocabulary.frozen;
  in.frozen_bytes = facts.narrow_frozen_weights
                        ? element_size(step.cache->training().precision).value()
                        : in.weight_bytes;
  in.activations += step.vocabulary.saved * (1 + step.schedule->vocabulary_barriers);
  if (step.schedule->splits_vocabulary) {
    fullest.begins(MemoryMoment::head, step.kept->head.memory.working.value() / step.shape.devices,
                   0);
  }
  if (step.plan.offload_activations != Offload::none) {
    // Those of the block that runs and of the one on its way.
    in.activations = std::min(in.activations, fullest.two_blocks());
  }
  double unsharded = 0;
  if (in.dense_shard > 1 || in.expert_shard > 1 || in.optimizer_outside > 0) {
    const ShardMoves moves = shard_moves(step.plan, step.cache->context().software);
    if (in.zero >= 2) {
      unsharded = whole_shards(in, moves, root, layer, chunk, second,
                               static_cast<double>(std::max<std::int64_t>(1, step.plan.prefetch)));
    }
  }
  in.transient = fullest.transient() + Bytes(unsharded);
  in.separate = fullest.separate();
  in.moment = fullest.moment();
  in.buffers = Bytes(blocks.placeholders() + facts.bucket_bytes);
  return memory(in);
}

std::string moment_in_words(const StepCosts& step, int device, const MemoryReport& memory) {
  if (memory.moment_kind == MemoryMoment::optimizer) {
    return "the optimizer step copies the gradients to fp32";
  }
  if (!step.passes.backward) {
    return memory.moment_kind == MemoryMoment::head        ? "the loss is computed"
           : memory.moment_kind == MemoryMoment::embedding ? "the embedding is looked up"
                                                           : "a layer computes its forward";
  }
  int held = 0;
  for (const int n : held_units(step, device).held) held += n;
  std::string_view what;
  switch (memory.moment_kind) {
    case MemoryMoment::head:
      what = "the loss and the backward of the head begin";
      break;
    case MemoryMoment::recomputation:
      what = "the first layer is computed again";
      break;
    case MemoryMoment::embedding:
      what = "the embedding's gradient is computed";
      break;
    case MemoryMoment::backward:
    case MemoryMoment::optimizer:
      what = "the first backward begins";
      break;
  }
  return std::string(what) + ", " + std::to_string(held) +
         (step.chunks_held() > 1 ? " chunk passes in flight"
          : held == 1            ? " microbatch in flight"
                                 : " microbatches in flight");
}

std::string rank_class_in_words(const StepCosts& step, int device) {
  const Plan& plan = step.plan;
  std::string out = "each of the " + std::to_string(plan.tp * plan.cp * plan.dp) + " ranks";
  if (step.shape.devices > 1) out += " of stage " + std::to_string(device);
  bool embedding = false;
  bool head = false;
  for (int c = 0; c < step.chunks_held(); ++c) {
    embedding |= step.chunk(device, c).embedding;
    head |= step.chunk(device, c).head;
  }
  if (step.shape.devices > 1 && (embedding || head)) {
    out += embedding && head ? ", with embedding and head"
           : embedding       ? ", with the embedding"
                             : ", with the head";
  }
  if (step.cache->model().experts > 0 && plan.ep > 1) {
    out += "; the one whose experts get the most tokens";
  }
  return out;
}

}  // namespace orrery
