#include "estimate/strategy_derivations.h"

#include <fmt/core.h>

#include <algorithm>
#include <variant>

#include "cluster/cluster.h"
#include "lower/head_exchange.h"
#include "lower/host_offload.h"
#include "lower/price.h"
#include "lower/shortcut_turns.h"
#include "lower/stage_memory.h"
#include "lower/step_stream.h"
#include "plan/site_division.h"

namespace orrery {
namespace {

// The operator whose rows go to experts; none in a dense block.
const Operator* dispatch_of(const Block& block) {
  const auto found = std::ranges::find(block.operators, Boundary::dispatch, &Operator::boundary);
  return found != block.operators.end() ? &*found : nullptr;
}

class Strategies {
 public:
  explicit Strategies(const PredictedStep& step) : step_(step), plan_(step.plan()) {}

  std::vector<Derivation> all() {
    documents();
    experts();
    context();
    offload();
    compression();
    local_steps();
    hidden();
    tiles();
    unequal_shards();
    microbatches_of_sites();
    state_shares();
    shared_averages();
    gradients_in_place();
    expert_products();
    return std::move(out_);
  }

 private:
  [[nodiscard]] const CostCache& cache() const { return *step_.costs.cache; }
  [[nodiscard]] Seconds price_of(const HostCopy& copy) const {
    return price(copy, step_.costs.layout->groups, cache().context());
  }

  void documents() {
    const DocumentRows* rows = cache().documents(plan_);
    if (rows == nullptr) return;
    const AttentionCore attention = widest_attention(step_.model());
    const RowDivision division = cache().rows(step_.costs.priced_plan());
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

  void experts() {
    const ExpertLoad& load = step_.training().expert_load;
    if (load == ExpertLoad{} || step_.model().experts == 0) return;
    const ExpertBalance balance =
        balance_of_experts(step_.model(), step_.training(), step_.costs.priced_plan());
    out_.push_back(
        {"expert_imbalance",
         "ep x tokens that the experts of the busiest rank take x (1 + sqrt(2 ln ep / its rows)), "
         "at most the capacity factor",
         fmt::format("{} experts and {} copies on ep {}, {}; {:.3g} % of the tokens are dropped",
                     step_.model().experts, plan_.redundant_experts, plan_.ep,
                     to_text(plan_.expert_placement), 100 * balance.dropped),
         fmt::format("{:.4g} times the mean", balance.busiest), "lower/expert_balance.h"});
  }

  void expert_products() {
    if (plan_.expert_products != ExpertProducts::scattered) return;
    for (const std::size_t layer : step_.model().layers) {
      const Operator* dispatch = dispatch_of(step_.model().blocks[layer]);
      if (dispatch == nullptr) continue;
      const double k = std::max(1.0, dispatch->rows.factor);
      out_.push_back({"expert_products",
                      "passes over the rows of experts that copy them: forward none instead of "
                      "1 + 1/k, for products read rows where they are; backward twice 1 + 1/k, for "
                      "the gradients of the first weights need the rows in order",
                      fmt::format("scattered, k {}", k),
                      fmt::format("0 forward, {:.4g} backward", 2 * (1 + 1 / k)),
                      "arXiv 2403.08245; lower/expert_exchange.cc"});
      return;
    }
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
        if (!heads && c->collective != CollectiveKind::all_to_all &&
            graph.stream_of(NodeIndex(i)).number == static_cast<std::uint32_t>(StepStream::cp)) {
          passed += c->payload.value() * c->times / c->pieces;
        }
      }
    }
    out_.push_back({"context_exchange", context_formula(),
                    fmt::format("cp {} = {} x {}", plan_.cp, head_ranks(plan_), ring_ranks(plan_)),
                    to_text(Bytes(exchanged)) + " exchanged, " + to_text(Bytes(passed)) + " passed",
                    "arXiv 2309.14509 s.3.2, 2310.01889, 2405.07719 s.3, 2406.18485 s.4, "
                    "2412.20501, 2502.07563"});
  }

  [[nodiscard]] std::string context_formula() const {
    std::string out =
        "of a layer's forward, a rank: 2 b (s/c) columns / tp of queries, keys, values "
        "and output among the ranks that exchange heads; 2 b s columns / (tp u) of keys "
        "and values among the others";
    if (plan_.context_parallel == ContextParallel::token_ring) {
      out =
          "of a layer's forward, a rank: c - 1 steps max(t_kernel, t_step), t_step of the larger "
          "of 2 b (s/c) columns / tp of queries there and of outputs, with 4 bytes of each head, "
          "back; one return behind them";
    } else if (plan_.context_parallel == ContextParallel::dimension_switch) {
      out = "of a layer along time: 2 b (s/c) h before it and behind it, all to all";
    } else if (plan_.inner_ring > 0) {
      out += fmt::format(
          "; inner rings of w = {}: (c/w - 1) max(w t_kernel, w t_inner, t_outer) + "
          "w max(t_kernel, t_inner)",
          plan_.inner_ring);
    }
    if (plan_.context_groups == ContextGroups::by_length) {
      out +=
          "; documents of l tokens among the least divisor d of c with l <= d s/c, each with its "
          "share of the positions";
    }
    for (const Operator& op : step_.model().blocks[step_.model().layers.front()].operators) {
      if (op.carried.elements > 0) out += "; 4 b elements / tp of the state of each piece";
    }
    return out;
  }

  void tiles() {
    if (plan_.loss_tiles == 1 && plan_.mlp_tiles == 1) return;
    const double tokens = static_cast<double>(step_.training().sequence_length) /
                          static_cast<double>(plan_.cp) *
                          static_cast<double>(step_.costs.micro_batch);
    out_.push_back(
        {"sequence_tiles",
         "logits, their gradients and the wide activations of the feed-forward part exist "
         "for (tokens of a rank / tiles) tokens at a time; the backward computes the "
         "feed-forward part again",
         fmt::format("{:.0f} tokens, {} tiles of the loss, {} of the feed-forward part", tokens,
                     plan_.loss_tiles, plan_.mlp_tiles),
         fmt::format("{:.0f} and {:.0f} tokens at once",
                     tokens / static_cast<double>(plan_.loss_tiles),
                     tokens / static_cast<double>(plan_.mlp_tiles)),
         "arXiv 2506.13996 s.3.1; lower/sequence_tiles.h"});
  }

  void unequal_shards() {
    if (plan_.gradient_shard == 0 && plan_.weight_shard == 0) return;
    out_.push_back({"exchange_between_groups_s",
                    "reduce-scatter of g / R_G bytes of each parameter among R_O / R_G ranks + "
                    "all-gather of w / R_P among R_O / R_P",
                    fmt::format("R_P {}, R_G {}, R_O {} ranks share weights, gradients, states",
                                weight_shard(plan_), gradient_shard(plan_), state_shard(plan_)),
                    to_text(step_.costs.outer.seconds()),
                    "arXiv 2401.09149 s.4; lower/step_costs.h"});
  }

  void microbatches_of_sites() {
    if (plan_.site_micro_batch.empty()) return;
    std::string sites;
    for (std::size_t k = 0; k < step_.costs.sites.size(); ++k) {
      const StepCosts& site = step_.costs.sites[k];
      sites += fmt::format("{}{}: r {}, b {}, m {}", k > 0 ? "; " : "", name_of(step_.cluster(), k),
                           replicas_of(plan_, step_.cluster(), k), site.micro_batch,
                           site.shape.microbatches);
    }
    out_.push_back({"microbatches_of_sites",
                    "sum of r b m over the sites = global batch: replicas, sequences of a "
                    "microbatch, microbatches of a replica",
                    sites, fmt::format("{} sequences", step_.training().global_batch),
                    "arXiv 2411.01075 s.4; lower/division_by_speed.h, plan/site_division.h"});
  }

  void shared_averages() {
    if (plan_.averaging != Averaging::by_bandwidth) return;
    const bool copies = plan_.shard_group > 0 && plan_.shard_group < plan_.dp * plan_.cp;
    const Communication gigabyte{
        .collective = CollectiveKind::all_reduce,
        .group = index(copies ? StepGroup::replica_copies : StepGroup::replicas),
        .payload = Bytes(1e9)};
    std::string sites;
    Seconds equal;
    for (std::size_t k = 0; k < step_.costs.sites.size(); ++k) {
      const Seconds alone = step_.costs.sites[k].price(gigabyte);
      equal = std::max(equal, alone);
      sites +=
          fmt::format("{}{} {}", k > 0 ? "; " : "", name_of(step_.cluster(), k), to_text(alone));
    }
    out_.push_back(
        {"averaging_by_bandwidth",
         "max( K / (2 (K - 1)) most t, K / sum (1 / t) ), t: of an all-reduce among K members that "
         "are all alike",
         "of 1 GB, " + sites,
         fmt::format("{}; {} in equal parts", to_text(step_.costs.price(gigabyte)), to_text(equal)),
         "arXiv 2106.10207; lower/averaging_by_bandwidth.h"});
  }

  void state_shares() {
    if (plan_.state_division != StateDivision::by_memory) return;
    std::string sites;
    for (std::size_t k = 0; k < step_.costs.sites.size(); ++k) {
      const StepCosts& site = step_.costs.sites[k];
      ByteCount left = memory_room(site, 0).left();
      for (int d = 1; d < site.shape.devices; ++d) {
        left = std::min(left, memory_room(site, d).left());
      }
      sites += fmt::format("{}{}: s {:.3f}, h {}", k > 0 ? "; " : "", name_of(step_.cluster(), k),
                           site.state_share, to_text(Bytes(static_cast<double>(left))));
    }
    out_.push_back(
        {"state_shares",
         "c - a - s b = h in every site: its capacity, less the peak without states "
         "that replicas share, less s times what a mean share of them adds",
         sites,
         fmt::format("the largest share is {:.3f} times the mean", step_.costs.largest_share),
         "arXiv 2411.01075 s.4.2; lower/state_division.h"});
  }

  // Of the first stage.
  void gradients_in_place() {
    if (!plan_.gradients_in_place) return;
    const MemoryReport memory = stage_memory(step_.costs, 0);
    const auto shown = [](ByteCount bytes) { return to_text(Bytes(static_cast<double>(bytes))); };
    out_.push_back(
        {"gradients_in_place",
         "2 bytes of a parameter for its weight and then its gradient + its optimizer "
         "states, without an fp32 copy of the gradient",
         fmt::format("{} gradients, {} of states a parameter", to_text(step_.training().gradients),
                     to_text(optimizer_state(step_.training()))),
         fmt::format("{} of gradients beside {} of weights", shown(memory.gradients),
                     shown(memory.parameters)),
         "arXiv 2108.05818 s.6; cost/memory/memory.h"});
  }

  void offload() {
    if (plan_.offload_optimizer == Offload::none) return;
    const RankParameters trained = step_.costs.held(0).trained;
    const HostCopy update = host_update(step_.costs, trained);
    const double on_device = updated_on_device(plan_);
    const double parameters = owned(step_.costs, trained);
    out_.push_back(
        {"host_update_s",
         "bytes of an update x parameters a rank owns, of which the device updates a part "
         "/ (host memory bandwidth / accelerators of a node)",
         fmt::format("{:.0f} B x {:.4g} x {:.3g} / {}", step_.costs.optimizer_bytes, parameters,
                     1 - on_device, to_text(*host_rate(step_.cluster(), HostResource::memory))),
         to_text(price_of(update)), "arXiv 2101.06840 s.4; lower/host_offload.h"});
    if (plan_.update_stride > 0) {
      const Bytes fetched =
          optimizer_state(step_.training()) *
          (parameters * plan_.offload_share / static_cast<double>(plan_.update_stride));
      out_.push_back({"fetched_states_s",
                      "of the states outside every so many-th part, over a rank's link, in and out "
                      "at once, beside the host's update of the others",
                      fmt::format("{} / {}", to_text(fetched),
                                  to_text(*host_rate(step_.cluster(), HostResource::link))),
                      to_text(price_of({fetched, HostResource::link})),
                      "arXiv 2410.21316; lower/host_offload.h"});
    }
    if (plan_.offload_optimizer != Offload::nvme) return;
    const Bytes states = plan_.offload_share * optimizer_state(step_.training()) * parameters;
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

  void coded_gradients() {
    if (plan_.gradient_code == GradientCode::none) return;
    const BlockCost& block = step_.costs.kept->blocks[step_.model().layers.front()];
    Bytes sum;
    for (const OperationPart& part : step_.costs.reduce_parts(block.trained)) {
      if (const auto* c = std::get_if<Communication>(&part.what)) sum += c->payload;
    }
    out_.push_back(
        {"coded_gradients",
         "of a layer: gradients are added up in the node, c bytes of each travel to the node that "
         "adds it up; the node sends c' bytes of the sum back, unless ZeRO keeps it as shards; "
         "eight-bit c = c' = 1; ternary c = log2(3) / 8, c' = log2(2 nodes + 1) / 8; within one "
         "node the ranks do the same",
         fmt::format("{}, {:.4g} gradients of {:.0f} B, {} ranks", to_text(plan_.gradient_code),
                     block.trained.all(), step_.costs.gradient_bytes,
                     step_.costs.layout->dense_shard.size),
         to_text(sum), "arXiv 1511.04561 s.3, 1705.07878 s.3.1; lower/step_costs.h"});
  }

  void compression() {
    coded_gradients();
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
    if (!trains_copies_apart(plan_)) return;
    const double steps = mean_local_steps(plan_);
    if (plan_.quadratic.steps > 0) {
      out_.push_back(
          {"mean_local_steps",
           "steps of the run / rounds of it, each of max(local_steps, floor((alpha / rate)^2)) "
           "steps, where the rate falls by a cosine",
           fmt::format("{} steps, alpha {}, peak rate {}, at least {} steps a round",
                       plan_.quadratic.steps, plan_.quadratic.alpha, plan_.quadratic.learning_rate,
                       plan_.local_steps),
           fmt::format("{:.2f}: {:.1f} % of the averages", steps, 100 / steps),
           "arXiv 2310.14423 s.2; plan/plan.h"});
    }
    const bool all = !averages_with_neighbours(plan_);
    out_.push_back(
        {"outer_step_s",
         all ? "(all-reduce of 4 bytes of each parameter a rank owns among the copies + update of "
               "28 bytes of it) / steps between two averages"
             : "neighbours x (4 bytes of each parameter a rank owns from one to the next + 4 bytes "
               "added) / steps between two averages",
         fmt::format("{} copies of {} ranks, every {:.4g} steps, averaging {}",
                     plan_.dp * plan_.cp / plan_.shard_group, plan_.shard_group, steps,
                     to_text(plan_.averaging)),
         to_text(step_.costs.outer.seconds()),
         all ? "arXiv 2311.08105 s.2; lower/step_costs.h"
             : "arXiv 2410.11998 s.3; lower/step_costs.h"});
  }

  // The block of the first layer that sends tokens to other ranks; of the first layer if none does.
  [[nodiscard]] std::size_t layer_with_exchanges() const {
    const Model& model = step_.model();
    const auto sends = [&](std::size_t i) { return dispatch_of(model.blocks[i]) != nullptr; };
    const auto found = std::ranges::find_if(model.layers, sends);
    return plan_.ep > 1 && found != model.layers.end() ? *found : model.layers.front();
  }

  // Of one layer, what runs beside computing and what it costs that.
  void hidden() {
    const std::size_t of = layer_with_exchanges();
    const Block& block = step_.model().blocks[of];
    const bool late =
        (plan_.tp > 1 && sums_late(block.residual)) || (plan_.ep > 1 && expert_places(block) > 1);
    if (plan_.halves == Halves::none && !plan_.overlap.tensor_tiles && !late) return;
    const BlockCost& cost = step_.costs.kept->blocks[of];
    const auto shown = [](const BlockPass& pass) {
      return fmt::format("{} with {} exposed and {} lost to what runs beside it",
                         to_text(pass.time.seconds()),
                         to_text(exposed_communication(pass.breakdown).seconds()),
                         to_text(pass.breakdown[Category::contention].seconds()));
    };
    std::string what;
    if (plan_.halves != Halves::none) what = fmt::format("halves={}", to_text(plan_.halves));
    if (plan_.overlap.tensor_tiles) what = "overlap.tensor_tiles";
    if (late) what = fmt::format("residual {}", to_text(block.residual));
    out_.push_back(
        {"hidden_communication",
         "simulated: while a collective runs, the other half, the next module or tile, or, with a "
         "shortcut, attention and the shared expert compute; lost = min(computing (1/r - 1), "
         "communicating (1 - r)), r = 1 "
         "- share of the processors, of tiles of the memory, that it takes",
         what, "forward " + shown(cost.forward) + "; backward " + shown(cost.backward),
         "arXiv 2409.11155, 2409.15241, 2401.16677, 2501.06589, 2408.07802, "
         "2404.05019; lower/block_halves.cc, lower/shortcut_turns.h"});
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
  const auto add = [&](std::string_view note) {
    out += (out.empty() ? "" : "; ") + std::string(note);
  };
  if (plan.dispatch == ExpertDispatch::two_level) {
    add("tokens choose a node and then an expert in it, by two routers instead of one: what that "
        "changes in learning is not predicted (SMILE, arXiv 2212.05191, reports none)");
  }
  if (plan.overlap.host_update) {
    add("blocks are updated before the norm of all gradients is known: gradients are not clipped "
        "by it");
  }
  if (plan.gradient_code != GradientCode::none) {
    add("what coded gradients change in learning is not predicted: 8-bit gradients (arXiv "
        "1511.04561) and TernGrad (arXiv 1705.07878) report the accuracy of exact ones on AlexNet, "
        "TernGrad up to 2 % less on GoogLeNet; neither trained language models");
  }
  if (averages_with_neighbours(plan)) {
    add("how many more steps a model needs whose copies average with neighbours alone is not "
        "predicted: arXiv 2410.11998 reports the loss of synchronous training at equal steps");
  } else if (plan.quadratic.steps > 0) {
    add(
        fmt::format("the step is the mean over a run in which copies average every {:.3g} steps; "
                    "how many steps a model needs that way is not predicted: arXiv 2310.14423 "
                    "reports 0.8 to 1.2 points more accuracy of ViT-B at equal steps",
                    mean_local_steps(plan)));
  } else if (plan.local_steps > 1) {
    add(fmt::format(
        "the step is the mean of {} local ones and their average; how many more steps a model "
        "needs that way is not predicted: DiLoCo (arXiv 2311.08105) reports the perplexity of "
        "synchronous training with 8 copies that average every 500 steps",
        plan.local_steps));
  }
  if (plan.quantized_weights || plan.quantized_gradients) {
    add("what quantised weights or gradients change in learning is not predicted: ZeRO++ (arXiv "
        "2306.10209) shows its loss beside that of ZeRO-3");
  }
  return out;
}

}  // namespace orrery
