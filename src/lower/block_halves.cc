// Halves of a microbatch that take turns on the computing stream, and sums that a model needs late
// (lower/block_lowering.h).
//
//   one half runs until it would wait for a collective; then the other does, and so on
//
// so that the collectives of one run beside the computing of the other. With two modules a layer and
// one all-reduce behind each, the forward of a layer takes
//
//   attn(X) | attn(Y) beside AR(attn X) | mlp(X) beside AR(attn Y) | mlp(Y) beside AR(mlp X)
//
// and the next layer begins beside AR(mlp Y) (arXiv 2409.11155 s.3, of halves of a sequence; arXiv
// 2409.15241 s.3, of a batch, forward and backward). The second half of a sequence attends to the
// first too, and its backward comes first, for it makes gradients of the first half's keys. Kernels of
// half the rows, twice as many launches and weight gradients that are added up are priced; what runs
// beside a collective is slowed (lower/cost_context.h, contention).
//
// Sums that are needed late (model/model.h, Residual): behind each module its sum begins, and the next
// kernel waits for that of the module before.
//
// A transfer behind a block's last kernel is moved to the begin of the block (PassBuilder::carry):
// the first block of a stage then has one that nothing sent, and the last none that the next stage
// waits for. So a stage hides one collective a pass more than it can.
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "lower/block_lowering.h"

namespace orrery {
namespace {

Binding half_of(Binding b, Halves halves, double expert_imbalance) {
  (halves == Halves::batch ? b.micro_batch : b.sequence_length) /= 2;
  if (halves == Halves::sequence) b.source_length /= 2;
  b.expert_imbalance = expert_imbalance;
  return b;
}

}  // namespace

void BlockLowering::turn_to(PassBuilder& out, std::size_t half) {
  half_ = half;
  out.turn_to(half);
  if (halved()) s_.binding = half_of(whole_, s_.plan.halves, s_.expert_imbalance_of_half);
}

void BlockLowering::take_turns(PassBuilder& out, std::size_t operators, PassOrder order,
                               const std::function<void(std::size_t)>& emit) {
  const bool forward = order == PassOrder::forward;
  if (expert_places(block_) > 1) {
    for (const Turn& turn : shortcut_turns(block_, order, expert_place_)) {
      out.turn_to(turn.part);
      portion_ = turn.portion;
      emit(turn.index);
    }
    portion_ = Portion::whole;
    out.turn_to(0);
    return;
  }
  const auto at = [&](std::size_t i) { return forward ? i : operators - 1 - i; };
  if (!halved()) {
    for (std::size_t i = 0; i < operators; ++i) emit(at(i));
    return;
  }
  const Boundary exchanges_first = forward ? Boundary::combine : Boundary::dispatch;
  std::array<std::size_t, 2> next{};
  std::array<Portion, 2> portion{Portion::whole, Portion::whole};
  std::size_t half = !forward && s_.plan.halves == Halves::sequence ? 1 : 0;
  while (next[0] < operators || next[1] < operators) {
    turn_to(out, half);
    for (bool stops = false; next[half] < operators && !stops; stops = out.waits()) {
      const std::size_t i = at(next[half]);
      const bool two = block_.operators[i].boundary == exchanges_first;
      portion_ = !two                             ? Portion::whole
                 : portion[half] == Portion::rest ? Portion::rest
                                                  : Portion::exchange;
      emit(i);
      portion[half] = portion_ == Portion::exchange ? Portion::rest : Portion::whole;
      if (portion_ != Portion::exchange) ++next[half];
    }
    half = 1 - half;
  }
  portion_ = Portion::whole;
}

BlockPass BlockLowering::lowered(const PassSurroundings& around,
                                 const std::function<void(PassBuilder&)>& emit) {
  exchange_share_ = around.exchange_share;
  const auto emitted = [&](std::vector<PassBuilder::Carried> carried) {
    PassBuilder out = pass_builder();
    late_.reset();
    out.carry(std::move(carried));
    for (const PassBuilder::Carried& c : out.carried()) {
      if (!halved()) {
        late_ = c.node;
        continue;
      }
      out.turn_to(c.half);
      out.wait_for(c.node);
    }
    turn_to(out, 0);
    emit(out);
    return out;
  };
  std::vector<PassBuilder::Carried> carried;
  if (s_.layer && (halved() || sums_late(block_.residual))) {
    const PassBuilder first = emitted({});
    carried = first.unfinished(late_);
  }
  std::optional<BlockPass> shortest;
  // Where nothing travels the order does not matter.
  const std::size_t places = whole_.ep > 1 ? expert_places(block_) : 1;
  for (expert_place_ = 0; expert_place_ < places; ++expert_place_) {
    PassBuilder out = emitted(carried);
    s_.binding = whole_;
    BlockPass pass = finish(out, around);
    if (!shortest || pass.time < shortest->time) shortest = std::move(pass);
  }
  return *std::move(shortest);
}

void BlockLowering::sum_up(PassBuilder& out, std::string_view name, const Communication& c) {
  if (!sums_late(block_.residual)) {
    out.wait_for(transfer(out, name, c));
    return;
  }
  const std::optional<NodeIndex> before = std::exchange(late_, std::nullopt);
  out.turn_to(1);  // what runs beside it is slowed
  late_ = transfer(out, name, c);
  out.turn_to(0);
  if (before) out.wait_for_other_half(*before);
}

}  // namespace orrery
