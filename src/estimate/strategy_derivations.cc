#include "estimate/strategy_derivations.h"

#include <fmt/core.h>

#include "lower/head_exchange.h"
#include "lower/host_offload.h"
#include "lower/price.h"

namespace orrery {
namespace {

class Strategies {
 public:
  explicit Strategies(const PredictedStep& step) : step_(step), plan_(step.plan()) {}

  std::vector<Derivation> all() {
    documents();
    context();
    offload();
    compression();
    local_steps();
    return std::move(out_);
  }

 private:
  [[nodiscard]] const CostCache& cache() const { return *step_.costs.cache; }
  [[nodiscard]] Seconds price_of(const HostCopy& copy) const {
    return price(copy, step_.costs.layout->groups, cache().context());
  }

  void documents() {
    const DocumentRows* rows = cache().documents();
    if (rows == nullptr) return;
    const AttentionCore attention = widest_attention(step_.model());
    const RowDivision division = cache().rows(plan_);
    out_.push_back(
        {"document_pairs",
         "sum of l^2 / 2 over the documents of a row, of a stream E[integral of (T - x)(l - x)] / "
         "E[l], over T^2 / 2",
         fmt::format("{} documents of {} lengths, {:.3g} in a row of {} tokens, {:.1f} % in use",
                     to_text(step_.training().documents.packing),
                     step_.training().documents.lengths.size(), rows->documents_per_row(),
                     step_.training().sequence_length, 100 * rows->efficiency()),
         fmt::format("{:.2f} % of a causal row", 100 * rows->computed_pairs(attention)),
         "lower/document_rows.h; arXiv 2407.21783 s.3.2"});
    out_.push_back({"document_wait",
                    "E[max over replicas of the pairs of their rows between two waits, each of its "
                    "busiest context-parallel rank] / mean",
                    fmt::format("{} replicas, rows between two waits: {}, ranks of a row: {}",
                                division.replicas, division.together, division.pieces),
                    fmt::format("{:.3f}", rows->unevenness(attention, division)),
                    "lower/document_rows.h"});
  }

  // Of one layer's forward.
  void context() {
    if (plan_.cp == 1) return;
    double exchanged = 0;
    double passed = 0;
    const Graph& graph = step_.costs.kept->blocks[step_.model().layers.front()].forward.graph;
    for (std::size_t i = 0; i < graph.size(); ++i) {
      for (const OperationPart& part : graph.operation(NodeIndex(i)).parts) {
        const auto* c = std::get_if<Communication>(&part.what);
        if (c == nullptr) continue;
        const bool heads = c->collective == CollectiveKind::all_to_all &&
                           c->group == index(head_group(plan_)) && exchanges_heads(plan_);
        if (heads) exchanged += c->payload.value();
        if (!heads && c->group == index(ring_group(plan_)) && ring_ranks(plan_) > 1) {
          passed += c->payload.value() * c->times / c->pieces;
        }
      }
    }
    out_.push_back(
        {"context_exchange",
         "of a layer's forward, a rank: 2 b (s/c) columns / tp of queries, keys, values "
         "and output among the ranks that exchange heads; 2 b s columns / (tp u) of keys "
         "and values among the others",
         fmt::format("cp {} = {} x {}", plan_.cp, head_ranks(plan_), ring_ranks(plan_)),
         to_text(Bytes(exchanged)) + " exchanged, " + to_text(Bytes(passed)) + " passed",
         "arXiv 2309.14509 s.3.2, 2310.01889, 2405.07719 s.3"});
  }

  void offload() {
    if (plan_.offload_optimizer == Offload::none) return;
    const HostCopy update = host_update(step_.costs, 0);
    const double parameters = owned(step_.costs, step_.costs.held(0).trained);
    out_.push_back({"host_update_s",
                    "bytes of an update x parameters a rank owns / (host memory bandwidth / "
                    "accelerators of a node)",
                    fmt::format("{:.0f} B x {:.4g} / {}", step_.costs.optimizer_bytes, parameters,
                                to_text(*host_rate(step_.cluster(), HostResource::memory))),
                    to_text(price_of(update)), "arXiv 2101.06840 s.4; lower/host_offload.h"});
    if (plan_.offload_optimizer != Offload::nvme) return;
    const Bytes states = optimizer_state(step_.training()) * parameters;
    out_.push_back({"storage_s",
                    "states that a rank owns x (1 / read + 1 / write), of the node's rates by its "
                    "accelerators",
                    fmt::format("{} x (1 / {} + 1 / {})", to_text(states),
                                to_text(*host_rate(step_.cluster(), HostResource::storage_read)),
                                to_text(*host_rate(step_.cluster(), HostResource::storage_write))),
                    to_text(price_of({states, HostResource::storage_read}) +
                            price_of({states, HostResource::storage_write})),
                    "arXiv 2104.07857 s.5; lower/host_offload.h"});
  }

  void compression() {
    if (!plan_.quantized_weights && !plan_.quantized_gradients && plan_.secondary_shard == 0)
      return;
    const BlockCost& block = step_.costs.kept->blocks[step_.model().layers.front()];
    const auto bytes = [](const OperationParts& parts) {
      Bytes sum;
      for (const OperationPart& part : parts) {
        if (const auto* c = std::get_if<Communication>(&part.what)) sum += c->payload;
      }
      return to_text(sum);
    };
    out_.push_back(
        {"compressed_exchange",
         "of a layer: weights in 8 bits if quantised, from a node's second copy in the backward; "
         "gradients in 4 bits by all-to-alls in the node, then between nodes, of a part of them",
         fmt::format("{:.4g} parameters", block.trained.all() + block.frozen.all()),
         bytes(step_.costs.gather_parts(block.trained, block.frozen, Gather::forward)) +
             " forward, " +
             bytes(step_.costs.gather_parts(block.trained, block.frozen, Gather::backward)) +
             " backward, " + bytes(step_.costs.reduce_parts(block.trained)) + " of gradients",
         "arXiv 2306.10209 s.3; lower/step_costs.h"});
  }

  void local_steps() {
    if (plan_.local_steps == 1) return;
    out_.push_back(
        {"outer_step_s",
         "(all-reduce of 4 bytes of each parameter a rank owns among the copies + update of 28 "
         "bytes of it) / steps between two averages",
         fmt::format("{} copies of {} ranks, every {} steps",
                     plan_.dp * plan_.cp / plan_.shard_group, plan_.shard_group, plan_.local_steps),
         to_text(step_.costs.outer.seconds()), "arXiv 2311.08105 s.2; lower/step_costs.h"});
  }

  const PredictedStep& step_;
  const Plan& plan_;
  std::vector<Derivation> out_;
};

}  // namespace

std::vector<Derivation> strategy_derivations(const PredictedStep& step) {
  return Strategies(step).all();
}

std::string learning_note(const Plan& plan) {
  std::string out;
  if (plan.local_steps > 1) {
    out = fmt::format(
        "the step is the mean of {} local ones and their average; how many more steps a model "
        "needs "
        "that way is not predicted: DiLoCo (arXiv 2311.08105) reports the perplexity of "
        "synchronous "
        "training with 8 copies that average every 500 steps",
        plan.local_steps);
  }
  if (plan.quantized_weights || plan.quantized_gradients) {
    out += std::string(out.empty() ? "" : "; ") +
           "what quantised weights or gradients change in learning is not predicted: ZeRO++ (arXiv "
           "2306.10209) shows its loss beside that of ZeRO-3";
  }
  return out;
}

}  // namespace orrery
