#include "replay/operation_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace orrery {
namespace {

constexpr Seconds kNothingMoved{5e-5};

using Slots = std::vector<std::uint32_t>;

class Wiring {
 public:
  explicit Wiring(const OperationTimeline& timeline) : timeline_(timeline) {}

  Result<OperationGraph> wired() {
    ORRERY_RETURN_IF_ERROR(take_reference());
    for (std::int32_t stage = 0; stage < timeline_.stages; ++stage) {
      if (passes(stage).empty()) {
        return bad_input(fmt::format("stage {} has no passes", stage), "",
                         "forward-compute and backward-compute operations of every stage");
      }
      ORRERY_RETURN_IF_ERROR(wire_passes(stage));
      wire_ends(stage);
    }
    ORRERY_RETURN_IF_ERROR(group());
    graph_.data_parallel_ranks = timeline_.data_parallel_ranks;
    lower();
    if (graph_.run.dropped_edges > 0) {
      return bad_input("operations that wait for each other in a circle", "",
                       "receives in the order of their sends");
    }
    return std::move(graph_);
  }

 private:
  Result<bool> take_reference() {
    const auto usable = std::ranges::find_if(timeline_.operations, [&](const TimedOperation& o) {
      return !std::ranges::binary_search(timeline_.negative_durations, o.step);
    });
    const std::int32_t first =
        (usable == timeline_.operations.end() ? timeline_.operations.begin() : usable)->step;
    for (const TimedOperation& o : timeline_.operations) {
      chunks_ = std::max(chunks_, o.chunk + 1);
      if (o.step == first && o.data_parallel_rank == 0) reference_.push_back(&o);
    }
    // When passes begin and end decides which transfers move nothing.
    std::map<std::int32_t, std::pair<Seconds, Seconds>> window;  // first end, last start
    for (const TimedOperation* o : reference_) {
      if (o->type != OperationType::forward_compute && o->type != OperationType::backward_compute) {
        continue;
      }
      const auto [it, added] = window.try_emplace(o->stage, o->end, o->start);
      if (added) continue;
      it->second.first = std::min(it->second.first, o->end);
      it->second.second = std::max(it->second.second, o->start);
    }
    std::erase_if(reference_, [&](const TimedOperation* o) {
      const auto stage = window.find(o->stage);
      if (stage == window.end()) return false;
      const bool receives =
          o->type == OperationType::forward_recv || o->type == OperationType::backward_recv;
      const bool sends =
          o->type == OperationType::forward_send || o->type == OperationType::backward_send;
      return (receives && o->start > stage->second.second + kNothingMoved) ||
             (sends && o->end < stage->second.first - kNothingMoved);
    });
    for (const TimedOperation* o : reference_) {
      const auto slot = static_cast<std::uint32_t>(graph_.slots.size());
      graph_.slots.push_back({o->type, o->stage, o->sequence, {}, {slot}, false});
      by_type_[{o->stage, o->type}].push_back(slot);  // operations are sorted by sequence
    }
    return true;
  }

  [[nodiscard]] Slots of(std::int32_t stage, OperationType type) const {
    const auto found = by_type_.find({stage, type});
    return found == by_type_.end() ? Slots{} : found->second;
  }
  // Forward and backward together, as they began.
  [[nodiscard]] Slots passes(std::int32_t stage) const {
    Slots slots = of(stage, OperationType::forward_compute);
    const Slots backward = of(stage, OperationType::backward_compute);
    slots.insert(slots.end(), backward.begin(), backward.end());
    std::ranges::stable_sort(slots, [&](std::uint32_t a, std::uint32_t b) {
      return reference_[a]->start < reference_[b]->start;
    });
    return slots;
  }

  void after(std::uint32_t slot, std::uint32_t waits_for) {
    graph_.slots[slot].after.push_back(waits_for);
  }
  void chain(const Slots& slots) {
    for (std::size_t i = 1; i < slots.size(); ++i) after(slots[i], slots[i - 1]);
  }

  Result<bool> wire_passes(std::int32_t stage) {
    const Slots all = passes(stage);
    chain(all);
    for (const Direction direction : {Direction::forward, Direction::backward}) {
      ORRERY_RETURN_IF_ERROR(wire_direction(stage, direction));
    }
    const Slots backward = of(stage, OperationType::backward_compute);
    const Slots sends = of(stage, OperationType::backward_send);
    const Slots receives = of(stage, OperationType::backward_recv);
    if (backward.empty()) return true;
    const auto first = static_cast<std::size_t>(std::ranges::find(all, backward[0]) - all.begin());
    if (first < 2) return true;
    if (!receives.empty()) after(receives[0], all[first - 2]);
    if (!sends.empty()) after(sends[0], all[first - 2]);
    return true;
  }

  enum class Direction : std::uint8_t { forward, backward };
  [[nodiscard]] Slots computes(std::int32_t stage, Direction d) const {
    return of(stage, d == Direction::forward ? OperationType::forward_compute
                                             : OperationType::backward_compute);
  }
  [[nodiscard]] Slots sends(std::int32_t stage, Direction d) const {
    return of(stage,
              d == Direction::forward ? OperationType::forward_send : OperationType::backward_send);
  }
  [[nodiscard]] Slots receives(std::int32_t stage, Direction d) const {
    return of(stage,
              d == Direction::forward ? OperationType::forward_recv : OperationType::backward_recv);
  }

  // Passes of an interleaved schedule without those at one end of the model; of others, all.
  [[nodiscard]] Slots without(const Slots& passes, std::int32_t stage, std::int32_t chunk) const {
    if (chunks_ == 1) return passes;
    Slots others;
    for (const std::uint32_t pass : passes) {
      const TimedOperation& o = *reference_[pass];
      if (o.stage != stage || o.chunk != chunk) others.push_back(pass);
    }
    return others;
  }
  [[nodiscard]] Slots senders(std::int32_t stage, Direction d) const {
    return d == Direction::forward ? without(computes(stage, d), timeline_.stages - 1, chunks_ - 1)
                                   : without(computes(stage, d), 0, 0);
  }
  [[nodiscard]] Slots receivers(std::int32_t stage, Direction d) const {
    return d == Direction::forward ? without(computes(stage, d), 0, 0)
                                   : without(computes(stage, d), timeline_.stages - 1, chunks_ - 1);
  }

  Result<bool> wire_direction(std::int32_t stage, Direction direction) {
    const Slots all = computes(stage, direction);
    const Slots sent = sends(stage, direction);
    const Slots received = receives(stage, direction);
    const Slots from = senders(stage, direction);
    const Slots to = receivers(stage, direction);
    if (chunks_ > 1 && (sent.size() != from.size() || received.size() != to.size())) {
      return bad_input(
          fmt::format("{} sends and {} receives of stage {}, whose {} passes of {} model "
                      "chunks send {} and receive {} times",
                      sent.size(), received.size(), stage, all.size(), chunks_, from.size(),
                      to.size()),
          "", "one send and one receive a pass, but at the ends of the model");
    }
    chain(sent);
    chain(received);
    for (std::size_t k = 0; k < std::min(sent.size(), from.size()); ++k) after(sent[k], from[k]);
    for (std::size_t k = 0; k < std::min(received.size(), to.size()); ++k) {
      after(to[k], received[k]);
      const auto pass = std::ranges::find(all, to[k]);
      if (pass != all.begin()) after(received[k], *std::prev(pass));
    }
    return true;
  }

  // What comes before the first and after the last pass.
  void wire_ends(std::int32_t stage) {
    const Slots gathers = of(stage, OperationType::params_all_gather);
    const Slots scatters = of(stage, OperationType::grads_reduce_scatter);
    chain(gathers);
    chain(scatters);
    const Slots all = passes(stage);
    const Slots forward = of(stage, OperationType::forward_compute);
    for (const std::uint32_t gather : gathers) {
      const std::int32_t chunk = chunks_ == 1 ? -1 : reference_[gather]->chunk;
      const auto user = std::ranges::find_if(forward, [&](std::uint32_t pass) {
        return chunk < 0 || reference_[pass]->chunk == chunk;
      });
      if (user != forward.end()) after(*user, gather);
    }
    const Slots separate = of(stage, OperationType::separate_grads_all_reduce);
    Slots tail = {all.back()};
    const auto then = [&](const Slots& slots) {
      tail.insert(tail.end(), slots.begin(), slots.end());
    };
    then(of(stage, OperationType::gc));
    then(of(stage, OperationType::layernorm_grads_all_reduce));
    then(of(stage, OperationType::embedding_grads_all_reduce));
    if (separate.empty()) {
      then(scatters);
    } else {
      const Slots backward = of(stage, OperationType::backward_compute);
      const Slots layernorm = of(stage, OperationType::layernorm_grads_all_reduce);
      if (!scatters.empty()) {
        if (chunks_ == 1 && !backward.empty()) after(scatters[0], backward.back());
        for (const std::uint32_t scatter : chunks_ == 1 ? Slots{} : scatters) {
          const auto last = std::find_if(backward.rbegin(), backward.rend(), [&](std::uint32_t b) {
            return reference_[b]->chunk == reference_[scatter]->chunk;
          });
          if (last != backward.rend()) after(scatter, *last);
        }
        if (!layernorm.empty()) after(layernorm[0], scatters.back());
      }
      then(separate);
    }
    then(of(stage, OperationType::optimizer_clip_main_grad));
    then(of(stage, OperationType::optimizer));
    chain(tail);
  }

  Result<bool> group() {
    const std::int32_t last = chunks_ > 1 ? 0 : timeline_.stages - 1;
    for (const Direction direction : {Direction::forward, Direction::backward}) {
      if (chunks_ == 1) break;
      ORRERY_RETURN_IF_ERROR(pair_interleaved(direction));
    }
    for (std::int32_t stage = 0; stage < last; ++stage) {
      ORRERY_RETURN_IF_ERROR(pair(of(stage, OperationType::forward_send),
                                  of(stage + 1, OperationType::forward_recv), stage, stage + 1));
      ORRERY_RETURN_IF_ERROR(pair(of(stage + 1, OperationType::backward_send),
                                  of(stage, OperationType::backward_recv), stage + 1, stage));
    }
    together(OperationType::embedding_grads_all_reduce);
    together(OperationType::optimizer_clip_main_grad);
    for (OperationSlot& slot : graph_.slots) {
      slot.across_ranks = slot.type == OperationType::params_all_gather ||
                          slot.type == OperationType::grads_reduce_scatter ||
                          slot.type == OperationType::separate_grads_all_reduce ||
                          slot.type == OperationType::optimizer_clip_main_grad;
    }
    return true;
  }

  Result<bool> pair(const Slots& sends, const Slots& receives, std::int32_t from, std::int32_t to) {
    if (sends.size() != receives.size()) {
      return bad_input(fmt::format("{} sends of stage {} and {} receives of stage {}", sends.size(),
                                   from, receives.size(), to),
                       "", "as many receives as sends");
    }
    for (std::size_t k = 0; k < sends.size(); ++k) {
      graph_.slots[sends[k]].group = {sends[k], receives[k]};
      graph_.slots[receives[k]].group = {sends[k], receives[k]};
    }
    return true;
  }

  // Each send with the receive of the pass that goes on with its micro-batch.
  Result<bool> pair_interleaved(Direction direction) {
    std::map<std::tuple<std::int32_t, std::int32_t, std::int32_t>, std::uint32_t> receive_of;
    for (std::int32_t stage = 0; stage < timeline_.stages; ++stage) {
      const Slots to = receivers(stage, direction);
      const Slots received = receives(stage, direction);
      for (std::size_t k = 0; k < to.size(); ++k) {
        const TimedOperation& o = *reference_[to[k]];
        receive_of[{stage, o.chunk, o.microbatch}] = received[k];
      }
    }
    const std::int32_t last = timeline_.stages - 1;
    for (std::int32_t stage = 0; stage <= last; ++stage) {
      const Slots from = senders(stage, direction);
      const Slots sent = sends(stage, direction);
      for (std::size_t k = 0; k < from.size(); ++k) {
        const TimedOperation& o = *reference_[from[k]];
        const std::int32_t ahead = direction == Direction::forward ? 1 : -1;
        const bool wraps = stage + ahead < 0 || stage + ahead > last;
        const std::int32_t next = wraps ? last - stage : stage + ahead;
        const auto found = receive_of.find({next, wraps ? o.chunk + ahead : o.chunk, o.microbatch});
        if (found == receive_of.end()) {
          return bad_input(
              fmt::format("micro-batch {} of chunk {} leaves stage {} and does not arrive "
                          "at stage {}",
                          o.microbatch, o.chunk, stage, next),
              "", "a pass of every chunk and stage for every micro-batch");
        }
        graph_.slots[sent[k]].group = {sent[k], found->second};
        graph_.slots[found->second].group = {sent[k], found->second};
      }
    }
    return true;
  }

  // The k-th operations of a type on all stages that have one meet.
  void together(OperationType type) {
    std::map<std::size_t, Slots> by_order;
    for (std::int32_t stage = 0; stage < timeline_.stages; ++stage) {
      const Slots slots = of(stage, type);
      for (std::size_t k = 0; k < slots.size(); ++k) by_order[k].push_back(slots[k]);
    }
    for (const auto& [k, slots] : by_order) {
      for (const std::uint32_t slot : slots) graph_.slots[slot].group = slots;
    }
  }

  void lower() {
    RunGraph run;
    const auto slots = static_cast<std::uint32_t>(graph_.slots.size());
    const auto ranks = static_cast<std::uint32_t>(timeline_.data_parallel_ranks);
    Slots arrival(std::size_t{ranks} * slots);
    Slots takes(arrival.size());
    Slots delay(arrival.size());
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      for (std::uint32_t s = 0; s < slots; ++s) {
        const std::uint32_t at = rank * slots + s;
        const bool communicates = is_communication(graph_.slots[s].type);
        delay[at] = run.add({RunNodeKind::latency, rank, s, kNoLane, 0});
        takes[at] = run.add(
            {communicates ? RunNodeKind::transfer : RunNodeKind::work, rank, s, kNoLane, 0});
        if (!communicates) {
          run.edges.push_back({delay[at], takes[at]});
          continue;
        }
        arrival[at] = run.add({RunNodeKind::arrival, rank, s, kNoLane, 0});
        run.edges.push_back({delay[at], arrival[at]});
      }
    }
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      for (std::uint32_t s = 0; s < slots; ++s) {
        const OperationSlot& slot = graph_.slots[s];
        for (const std::uint32_t before : slot.after) {
          run.edges.push_back({takes[rank * slots + before], delay[rank * slots + s]});
        }
        if (!is_communication(slot.type) || slot.group.front() != s) continue;
        if (slot.across_ranks && rank > 0) continue;
        const std::uint32_t meet = run.add({RunNodeKind::rendezvous, rank, s, kNoLane, 0});
        for (std::uint32_t r = slot.across_ranks ? 0 : rank;
             r <= (slot.across_ranks ? ranks - 1 : rank); ++r) {
          for (const std::uint32_t member : slot.group) {
            run.edges.push_back({arrival[r * slots + member], meet});
            run.edges.push_back({meet, takes[r * slots + member]});
          }
        }
      }
    }
    graph_.run = lowered_run(run);
    Slots position(run.nodes.size());
    for (std::uint32_t i = 0; i < graph_.run.order.size(); ++i) position[graph_.run.order[i]] = i;
    for (std::size_t at = 0; at < takes.size(); ++at) {
      graph_.delay_node.push_back(position[delay[at]]);
      graph_.duration_node.push_back(position[takes[at]]);
    }
  }

  const OperationTimeline& timeline_;
  std::vector<const TimedOperation*> reference_;  // one a slot
  std::map<std::pair<std::int32_t, OperationType>, Slots> by_type_;
  OperationGraph graph_;
  std::int32_t chunks_ = 1;  // of the model on each stage
};

}  // namespace

Result<OperationGraph> operation_graph(const OperationTimeline& timeline) {
  return Wiring(timeline).wired();
}

}  // namespace orrery
