// The lower bound of a step: step_costs.h.
#include <algorithm>
#include <utility>

#include "lower/shard_moves.h"
#include "lower/step_costs.h"

namespace orrery {
namespace {

// How often in a step, at least, the parameters of a block are gathered for a forward and for a
// backward, and its gradients reduced. 0 where a whole device is gathered or reduced at once.
struct Moves {
  int forward = 0;
  int backward = 0;
  int reductions = 0;
};

Moves fewest_moves(const StepCosts& step) {
  const Plan& plan = step.plan;
  const ShardMoves moves = shard_moves(plan, step.cache->context().software);
  const auto often = [&](ShardMove move) {
    return move == ShardMove::each_pass   ? step.passes_a_chunk()
           : move == ShardMove::each_turn ? fewest_turns(*step.schedule, schedule_request(step))
                                          : 1;
  };
  Moves out;
  if (plan.zero >= 3) {
    out.forward = often(moves.weights);
    out.backward = moves.weights == ShardMove::each_step || !step.passes.backward ? 0 : out.forward;
  } else if (plan.zero >= 1 && plan.overlap.parameter_gather) {
    out.forward = 1;
  }
  if (plan.zero >= 2) {
    out.reductions = often(moves.gradients);
  } else if (plan.overlap.gradient_reduction) {
    out.reductions = 1;
  }
  return out;
}

// Data-parallel communication by distinct block, priced once.
class BlockCommunication {
 public:
  explicit BlockCommunication(const Moves& moves) : moves_(moves) {}
  struct Times {
    // Of the reduction behind the last backward what computing beside it cannot hide.
    Picoseconds tail;
    // Of a step.
    Picoseconds communicating;
    Picoseconds lost;  // computing slowed beside it, and copies into and out of its buffers
  };
  // `costs`: those of the stage that has the block (StepCosts::at); `alone`: the block in passes
  // without a partner.
  [[nodiscard]] const Times& of(const BlockCost& block, const BlockCost& alone,
                                const StepCosts& costs) const {
    for (const auto& [known, times] : known_) {
      if (known == &block) return times;
    }
    return known_.emplace_back(&block, priced(block, alone, costs)).second;
  }

 private:
  [[nodiscard]] Times priced(const BlockCost& block, const BlockCost& alone,
                             const StepCosts& step) const {
    const Picoseconds gather = step.gather(block.trained, block.frozen, Gather::forward);
    const Picoseconds again = step.plan.secondary_shard > 0
                                  ? step.gather(block.trained, block.frozen, Gather::backward)
                                  : gather;
    const Picoseconds reduce = step.reduce(block.trained);
    // Buckets are no block's: see below.
    const int reductions = step.plan.gradient_bucket_mib > 0 ? 0 : moves_.reductions;
    Times out;
    out.communicating = gather * moves_.forward + again * moves_.backward + reduce * reductions;
    if (step.plan.gradient_bucket_mib == 0) out.tail = reduce;
    if (!step.replicated()) return out;
    // A backward may gather and reduce, or only one of them; a split one does so in its parts.
    const Overlap& overlap = step.plan.overlap;
    const auto slowed = [&](BlockPass BlockCost::* pass, Picoseconds beside) {
      return step.cache->context().contention(
          std::min((block.*pass).computing(), (alone.*pass).computing()), beside,
          step.data_share_lost);
    };
    if (overlap.parameter_gather) out.lost += slowed(&BlockCost::forward, gather) * moves_.forward;
    if (!step.schedule->splits_backward && step.plan.gradient_bucket_mib == 0) {
      const bool beside = overlap.gradient_reduction;
      const Picoseconds backward = beside                     ? slowed(&BlockCost::backward, reduce)
                                   : overlap.parameter_gather ? slowed(&BlockCost::backward, again)
                                                              : Picoseconds(0);
      out.lost += backward * (beside ? moves_.reductions : moves_.backward);
      // The last reduction begins with what is lost beside it.
      out.tail = std::max(Picoseconds(0), reduce - backward);
    }
    if (step.plan.gradient_code != GradientCode::none && reduce > Picoseconds(0)) {
      out.lost += step.copying(step.copied_reduced(block.trained)) * moves_.reductions;
    }
    if (step.plan.zero >= 3) {
      const double trained = block.trained.all();
      if (gather > Picoseconds(0)) {
        const double all = trained + block.frozen.all();
        out.lost += step.copying(step.copied_gathered(all, Gather::forward)) * moves_.forward +
                    step.copying(step.copied_gathered(all, Gather::backward)) * moves_.backward;
      }
      if (reduce > Picoseconds(0))
        out.lost += step.copying(step.copied_reduced(block.trained)) * moves_.reductions;
    }
    return out;
  }

  Moves moves_;
  mutable std::vector<std::pair<const BlockCost*, Times>> known_;
};

}  // namespace

Picoseconds lower_bound(const StepCosts& step) {
  const Plan& plan = step.plan;
  const Model& model = step.cache->model();
  const BlockCommunication communication(fewest_moves(step));
  const bool split = step.schedule->splits_backward;
  const bool one_way = split || !step.passes.backward;  // what travels last need not come back
  const int m = step.passes_a_chunk();
  // Without overlap ZeRO 0 and 1 reduce, and 1 and 2 gather, a whole device at once: see below.
  const bool gathers_at_once = (plan.zero == 1 || plan.zero == 2) && !plan.overlap.parameter_gather;
  const bool moves_gradients = step.replicated() && step.passes.backward;
  const bool reduces_at_once = plan.zero <= 1 && !plan.overlap.gradient_reduction;

  // Of each virtual stage: the least time from its forward to its gradient's way on, and what its
  // device computes for one microbatch. A pair may hide all that either half communicates.
  // Schedules that split the backward may run some of them whole.
  const auto path_of = [&](const PassTotals& t) {
    return t.forward + (split ? std::min(t.input_gradient, t.backward) : t.backward);
  };
  const auto work_of = [&](const PassTotals& t) {
    const Picoseconds backward =
        split ? std::min(t.input_gradient + t.weight_gradient, t.backward) : t.backward;
    return t.forward + backward - (step.schedule->pairs_passes ? t.exposed_ep : Picoseconds(0));
  };
  // What one microbatch crosses before it first reaches a stage, one way and both.
  std::vector<Picoseconds> ahead(step.stages.size() + 1);
  std::vector<Picoseconds> there_and_back(step.stages.size() + 1);
  Picoseconds least_transfer;
  if (!step.transfer.empty()) {
    least_transfer = *std::min_element(step.transfer.begin(), step.transfer.end());
  }
  const int p = step.shape.devices;
  for (std::size_t s = 0; s < step.stages.size(); ++s) {
    // In placements that turn round, the way over a boundary of chunks may stay on the device.
    const bool turns = p == 1 || (s + 1) % static_cast<std::size_t>(p) == 0;
    const Picoseconds hop = turns ? Picoseconds(0) : least_transfer;
    const PassTotals& fastest = step.stages[s].fastest;
    ahead[s + 1] = ahead[s] + fastest.forward + hop;
    there_and_back[s + 1] = there_and_back[s] + path_of(fastest) + hop * 2;
  }

  Picoseconds bound;
  for (int d = 0; d < p; ++d) {
    PassTotals held;
    Picoseconds work;
    Picoseconds communicating;
    Picoseconds lost;
    RankParameters reduced;
    Picoseconds tail;  // the cheapest reduction that can stand behind its last backward
    bool has_tail = false;
    std::size_t first = step.stages.size();
    for (int c = 0; c < step.chunks_held(); ++c) {
      const auto s = static_cast<std::size_t>(step.schedule->virtual_stage(step.shape, d, c));
      const VirtualStage& stage = step.stages[s];
      const StepCosts& costs = step.at(stage);
      first = std::min(first, s);
      work += work_of(stage.fastest);
      held = held + stage.totals;
      const auto add = [&](const BlockCost& block, const BlockCost& alone, int times_over = 1) {
        const auto& times = communication.of(block, alone, costs);
        communicating += times.communicating * times_over;
        reduced += {.dense = block.trained.dense * times_over,
                    .expert = block.trained.expert * times_over};
        lost += times.lost * times_over;
        return times.tail;
      };
      Picoseconds first_reduction;
      bool reduces = false;
      if (stage.embedding) {
        first_reduction = add(costs.kept->embedding, costs.kept_alone->embedding);
        reduces = true;
      }
      const bool equal = costs.kept->blocks.size() == 1;  // all layers are alike
      const std::size_t distinct = equal ? std::min<std::size_t>(stage.layers, 1) : stage.layers;
      for (std::size_t i = 0; i < distinct; ++i) {
        const std::uint16_t layer = model.layers[stage.first_layer + i];
        const Picoseconds reduction =
            add(costs.kept->blocks[layer], costs.kept_alone->blocks[layer],
                equal ? static_cast<int>(stage.layers) : 1);
        if (!reduces) first_reduction = reduction;
        reduces = true;
      }
      if (stage.head) {
        const Picoseconds reduction = add(costs.kept->head, costs.kept_alone->head);
        if (!reduces) first_reduction = reduction;
      }
      if (!has_tail || first_reduction < tail) tail = first_reduction;
      has_tail = true;
    }
    const VocabularyTimes& v = step.vocabulary.times;
    const Picoseconds vocabulary =
        v.output_layer + v.output_layer_gradient + v.input_layer + v.input_layer_gradient;
    held.trained += step.vocabulary.trained;
    held.frozen += step.vocabulary.frozen;
    if (reduces_at_once) {
      tail = step.at(d).reduce(held.trained);
      communicating += tail;
    }
    if (plan.gradient_bucket_mib > 0 && moves_gradients) {
      // No number of buckets takes less than one, but for what their prices are rounded by.
      communicating +=
          step.cache->context().rounded_down(step.at(d).reduce(reduced).count() * (1 - 1e-6));
    }
    if (gathers_at_once) {
      communicating += step.at(d).gather(held.trained, held.frozen, Gather::forward);
    }
    const Picoseconds all = work * m + lost;
    // Passes of a divided vocabulary may run while the pipeline fills and drains, and beside the
    // last reduction of a layer.
    bound = std::max({bound, all + tail, all + vocabulary * m, communicating});
    // Steps that follow each other without a flush need not wait for the pipeline to fill.
    if (plan.overlap.optimizer) continue;
    // A split backward may end with weight gradients, which travel nowhere.
    bound = std::max(bound, (one_way ? ahead[first] : there_and_back[first]) + all);
  }
  const Picoseconds optimizer = *std::max_element(step.optimizer.begin(), step.optimizer.end());
  if (plan.overlap.optimizer) return bound;
  // One microbatch passes all stages and comes back.
  bound = std::max(bound, step.passes.backward ? there_and_back.back() : ahead.back());
  if (!waits_for_norm(plan)) return bound;
  return bound + step.gradient_norm + optimizer;
}

}  // namespace orrery
