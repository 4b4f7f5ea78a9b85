// The derivation of every figure of an estimate.
#include "estimate/explain.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "cluster/cluster.h"
#include "estimate/estimate.h"
#include "estimate/predicted_step.h"
#include "lower/head_exchange.h"
#include "lower/host_offload.h"
#include "lower/model_costs.h"
#include "lower/price.h"
#include "lower/shortcut_turns.h"
#include "lower/stage_memory.h"
#include "lower/step_stream.h"
#include "lower/unaligned_products.h"
#include "model/diffusion/diffusion.h"
#include "model/family.h"
#include "plan/plan_rules.h"

namespace orrery {
namespace {

std::string recomputation(const Plan& plan) {
  std::string out = "recompute=" + std::string(to_text(plan.recompute));
  if (!plan.recompute_modules.empty()) {
    out += ", recompute_modules=" + to_text(plan.recompute_modules);
  }
  return out;
}

}  // namespace

std::vector<Derivation> explain(const PredictedStep& step, const Estimate& e) {
  const Plan& p = e.plan;
  const Accelerator& a = step.cluster().accelerator;
  const bool alike = step.cluster().further_sites.empty();
  const double sequences = static_cast<double>(e.training.global_batch);
  const auto length = static_cast<double>(e.training.sequence_length);
  const Flops per_sequence = model_flops_of_a_sequence(step, AttentionCount::full);
  const Flops total = per_sequence * sequences;
  const FlopsPerSecond peak = peak_of(step.cluster(), e.training.precision) / e.gpus;
  const StageReport& critical = e.stages[static_cast<std::size_t>(e.critical_stage)];
  const StageReport& fullest = e.stages[static_cast<std::size_t>(e.peak_memory_stage)];
  std::vector<Derivation> out;
  const DocumentRows* documents = step.costs.cache->documents(step.plan());
  const std::string within = "attention within each document (sum of squares), padding excluded";

  out.push_back(
      {"step_time_s",
       "makespan of the simulated step = sum of the breakdown of the stage that ends last",
       fmt::format("{} microbatches on {} stages x {} chunks; stage {}: busy {}, the rest "
                   "waits or communicates",
                   e.microbatches, p.pp, p.chunks, e.critical_stage,
                   to_text(critical.busy.seconds())),
       to_text(e.step_time),
       "schedule " + p.schedule +
           "; as-soon-as-possible execution of the graph "
           "(docs/simulation.md)"});
  for (std::size_t i = 0; i < kCategories; ++i) {
    const auto c = static_cast<Category>(i);
    if (e.breakdown[c] <= Picoseconds(0)) continue;
    std::string formula = "time of these operators on the critical stage, all microbatches";
    std::string source = "catalog/kernels, docs/models/kernels.md";
    if (is_exposed_communication(c)) {
      formula = "time in which the stage computes nothing and this axis communicates";
      source = "catalog/collectives, docs/models/collectives.md";
    } else if (c == Category::bubble) {
      formula = "time in which the stage waits for computing on other stages";
      source = "simulated order of " + p.schedule;
    } else if (c == Category::contention) {
      formula =
          "min(computing (1/r - 1), communicating (1 - r)), r = 1 - share of compute units "
          "that a collective takes";
      source = "interference in catalog/collectives";
    } else if (c == Category::recompute) {
      formula = "forward of what is computed again, once a microbatch";
      source = "arXiv 2205.05198 s.5; " + recomputation(p);
    } else if (c == Category::optimizer) {
      formula =
          "bytes of gradients, master weights and moments / memory bandwidth + all-reduce of "
          "the gradient norm";
      source = "arXiv 1910.02054 s.3.1; zero=" + std::to_string(p.zero);
    }
    out.push_back({"breakdown_s." + std::string(to_text(c)), std::move(formula),
                   fmt::format("{:.2f} % of the step",
                               100 * e.breakdown[c].count() / e.breakdown.total().count()),
                   to_text(e.breakdown[c].seconds()), std::move(source)});
  }
  out.push_back({"model_flops",
                 std::string(step.costs.passes.backward ? "forward and backward (3x; frozen 2x)"
                                                        : "forward") +
                     " of every matrix product and " +
                     (documents == nullptr ? "full attention" : within) +
                     ", logits included, embedding look-up and recomputation excluded",
                 fmt::format("{} per sequence of {:.0f} tokens x {:.0f} sequences",
                             to_text(per_sequence), length, sequences),
                 to_text(total), "operators of " + step.model().name});
  out.push_back({"tflops_per_gpu", "model FLOPs / (step time x GPUs)",
                 fmt::format("{} / ({} x {})", to_text(total), to_text(e.step_time), e.gpus),
                 to_text(e.achieved_per_gpu), "definition"});
  out.push_back({"mfu", "model FLOPs / (step time x GPUs x peak)",
                 fmt::format("{} / ({} x {} x {})", to_text(total), to_text(e.step_time), e.gpus,
                             to_text(peak)),
                 fmt::format("{:.2f} %", 100 * e.mfu),
                 "dense " + std::string(to_text(e.training.precision)) + " peak of " + a.name +
                     ": " + a.provenance.source + (alike ? "" : "; mean over all sites")});
  out.push_back(
      {"hfu",
       "(model FLOPs + recomputed FLOPs) / (step time x GPUs x peak); all pairs of tokens "
       "count, of which causal kernels compute half",
       recomputation(p), fmt::format("{:.2f} %", 100 * e.hfu), "arXiv 2205.05198 s.6.3"});
  out.push_back({"tokens_per_s", "sequences x tokens / step time",
                 fmt::format("{:.0f} x {:.0f} / {}", sequences,
                             length * (documents == nullptr ? 1 : documents->efficiency()),
                             to_text(e.step_time)),
                 fmt::format("{:.0f}", e.tokens_per_second), "definition"});
  for (Derivation& d : strategy_derivations(step)) out.push_back(std::move(d));
  const MemoryReport& m = fullest.memory;
  const auto size = [](ByteCount b) { return to_text(Bytes(static_cast<double>(b))); };
  out.push_back(
      {"peak_memory_bytes",
       "parameters + gradients + optimizer states + activations + transient + buffers + "
       "fragmentation, of the fullest stage",
       fmt::format("{} + {} + {} + {} + {} + {} + {} on stage {}", size(m.parameters),
                   size(m.gradients), size(m.optimizer_states), size(m.activations),
                   size(m.transient), size(m.buffers), size(m.fragmentation), e.peak_memory_stage),
       size(m.peak),
       "arXiv 1910.02054 s.3, 2205.05198 s.4; zero=" + std::to_string(p.zero) + "; " + m.moment});
  return out;
}

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
    state_shares();
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

  void experts() {
    const ExpertLoad& load = step_.training().expert_load;
    if (load == ExpertLoad{} || step_.model().experts == 0) return;
    const ExpertBalance balance = balance_of_experts(step_.model(), step_.training(), plan_);
    out_.push_back(
        {"expert_imbalance",
         "ep x tokens that the experts of the busiest rank take x (1 + sqrt(2 ln ep / its rows)), "
         "at "
         "most the capacity factor",
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
                          static_cast<double>(plan_.cp) * static_cast<double>(plan_.micro_batch);
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
    const bool all = plan_.averaging == Averaging::all;
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
  if (plan.averaging != Averaging::all) {
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

namespace {

// By convention MFU and HFU count every pair of tokens; a causal kernel computes half of them.
// Where that is much of the step, either may exceed 100 %. Empty where it is not.
std::string attention_note(const PredictedStep& step, const Estimate& e) {
  constexpr double kMuch = 0.25;  // of the FLOPs of the model
  const double computed = model_flops_of_a_sequence(step, AttentionCount::causal) /
                          model_flops_of_a_sequence(step, AttentionCount::full);
  if (1 - computed < kMuch) return "";
  return fmt::format(
      "MFU and HFU count all pairs of tokens{}, as is usual; causal attention leaves out {:.0f} % "
      "of "
      "the model's FLOPs so counted; MFU of what is computed is {:.1f} %",
      e.training.documents.lengths.empty() ? "" : " of a document", 100 * (1 - computed),
      100 * computed * e.mfu);
}

// What attention computes of rows that are made of documents; empty if they are not.
std::string documents_note(const PredictedStep& step) {
  const DocumentRows* rows = step.costs.cache->documents(step.plan());
  if (rows == nullptr) return "";
  const AttentionCore attention = widest_attention(step.model());
  const Plan* plan = &step.plan();  // of the site that the step is as long as
  for (const StepCosts& site : step.costs.sites) {
    if (site.cache == step.costs.cache) plan = &site.plan;
  }
  return fmt::format(
      "documents ({}): {:.3g} in a row, {:.1f} % of its positions; attention computes {:.3g} % of "
      "a causal row's pairs, the rank that the others wait for {:.2f} times the mean; MFU, HFU and "
      "tokens/s count tokens of documents, and pairs within one",
      to_text(step.training().documents.packing), rows->documents_per_row(),
      100 * rows->efficiency(), 100 * rows->computed_pairs(attention),
      rows->unevenness(attention, step.costs.cache->rows(*plan)));
}

// What becomes of tokens that experts have no room for; empty if there are none.
std::string dropped_note(const PredictedStep& step) {
  const double dropped = 1 - kept_tokens(step.model(), step.training(), step.plan());
  if (!(dropped > 0)) return "";
  return fmt::format(
      "{:.3g} % of the tokens that are sent to experts are dropped there: they leave as they came; "
      "tokens/s counts them, MFU, HFU and the FLOP/s do not count what experts would compute of "
      "them",
      100 * dropped);
}

}  // namespace

std::vector<std::string> assumptions(const PredictedStep& step, const Estimate& e) {
  const Scenario& scenario = step.priced->scenario;
  const CostContext& context = step.priced->cache.context();
  const Plan& plan = step.plan();
  std::vector<std::string> out = step.defaults;
  const auto add = [&](const std::vector<std::string>& more) {
    out.insert(out.end(), more.begin(), more.end());
  };
  if (!scenario.software_stated) out.push_back(software_assumption(scenario.software));
  if (!scenario.zero_stated && scenario.software.zero != Plan{}.zero) {
    out.push_back(fmt::format("zero {}: as users of {} run it", plan.zero, scenario.software.name));
  }
  if (plan.pp > 1 && plan.zero > scenario.software.pipeline_zero) {
    out.push_back(fmt::format("{} has no ZeRO {} beside a pipeline: priced as if it had",
                              scenario.software.name, plan.zero));
  }
  if (plan.gradients_in_place && plan.zero >= 3 && context.software.memory.parameters_are_master) {
    out.push_back(
        fmt::format("gradients_in_place saves no memory of the accelerators: with zero 3 {} keeps "
                    "fp32 weights alone, whose place gradients cannot take",
                    context.software.name));
  }
  const std::optional<Model> as_held = scenario.model.family->as_held(
      scenario.model, division(scenario.cluster, scenario.training, plan));
  const Model& held = as_held ? *as_held : scenario.model;
  add(held.assumed);
  if (const ImageModel* image = image_model_of(scenario.model);
      image != nullptr && steers(*image)) {
    out.push_back(
        "the denoiser that it steers is not run: the step is that of the control network alone");
  }
  add(scenario.cluster.assumed);
  const auto add_once = [&](std::string line) {
    if (std::ranges::find(out, line) == out.end()) out.push_back(std::move(line));
  };
  CostCache& cache = step.priced->cache;
  for (std::size_t site = 0; site < cache.sites(); ++site) {
    const KernelParameters& kernels = cache.at_site(site).context().kernels.parameters();
    for (const KernelAssumption& a : kernels.assumed) {
      if (a.concerns(scenario.training.precision, plan.attention)) add_once(a.text);
    }
  }
  add(context.assumed);
  for (std::size_t site = 0; site < cache.sites(); ++site) {
    std::string padded = unaligned_products(held, binding(held, scenario.training, plan),
                                            scenario.training.precision,
                                            cache.at_site(site).context().kernels.parameters());
    if (!padded.empty()) add_once(std::move(padded));
  }
  if (!step.costs.sites.empty() && step.costs.device_site.empty()) {
    for (std::size_t site = 0; site < cache.sites(); ++site) {
      if (&cache.at_site(site) != step.costs.cache) continue;
      add_once(
          fmt::format("all replicas take the time of those in {}, the slowest site, for whose "
                      "gradients they wait",
                      name_of(scenario.cluster, site)));
    }
  }
  for (std::string note :
       {attention_note(step, e), documents_note(step), dropped_note(step), learning_note(plan)}) {
    if (!note.empty()) out.push_back(std::move(note));
  }
  return out;
}

}  // namespace orrery
