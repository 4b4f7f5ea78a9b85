// How a model is trained on a cluster: parallel degrees, placement, sharding, recomputation,
// overlap.
//
// A Plan is a plain value. Fields left at their initial value are defaults that `estimate` fills
// and prints (completed_plan.h); what makes a plan impossible is said in words by plan_rules.h.
// Text form:
// "tp=8,pp=16,chunks=8,schedule=interleaved_1f1b,zero=1,recompute=selective".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cost/kernel/kernel_model.h"
#include "document/fields.h"
#include "model/division.h"
#include "model/workload.h"
#include "plan/documents.h"
#include "plan/expert_load.h"
#include "plan/recompute_modules.h"
#include "units/number_format.h"

namespace orrery {

// The axes of the device mesh, and the order in which they are laid out over ranks.
enum class MeshAxis { tp, cp, ep, pp, dp };

// optimal: the cheapest of the others that fits into memory (lower/optimal_recompute.h).
enum class Recompute { none, selective, alternate, full, optimal };
// What travels so that attention sees the whole sequence: keys and values to every rank, at once or
// round a ring; all to all, so that each rank gets all tokens of a part of the heads
// (DeepSpeed-Ulysses, arXiv 2309.14509; Megatron-Core's --cp-comm-type a2a); queries round a ring
// (lower/context_ring.cc); or, where each layer attends along one dimension of a video, the whole
// activation when that dimension changes (lower/dimension_switch.h).
enum class ContextParallel { all_gather, ring, all_to_all, token_ring, dimension_switch };
template <>
inline constexpr char kWordSeparator<ContextParallel> = '-';  // "all-gather"
// Which tokens of a row a context-parallel rank has: one early and one late piece, every c-th
// token of c ranks (striped attention, arXiv 2311.09431), or one piece.
enum class ContextBalance { zigzag, striped, contiguous };
// Which of the two context-parallel groups is on neighbouring ranks (arXiv 2406.18485 s.4): that
// which exchanges heads, or that which passes keys and values.
enum class ContextPlacement { head_first, context_first };
template <>
inline constexpr char kWordSeparator<ContextPlacement> = '-';  // "head-first"
// How many of the context-parallel ranks share a row: all of them, or those that its documents need
// (lower/context_groups.cc).
enum class ContextGroups { fixed, by_length };
template <>
inline constexpr char kWordSeparator<ContextGroups> = '-';  // "by-length"
enum class Optimizer { adamw, sgd };
// Where something lies outside the accelerators: in host memory, or on the node's storage.
enum class Offload { none, cpu, nvme };
// How tokens travel to their experts: one copy for each expert by the library's all-to-all, or one
// for each rank, and over the network for each node, that holds any (DeepEP, HybridEP); or first
// among the ranks at the same place of each node, then inside the nodes (SMILE, arXiv 2212.05191).
enum class ExpertDispatch { all_to_all, deduplicated, two_level };
template <>
inline constexpr char kWordSeparator<ExpertDispatch> = '-';  // "all-to-all"
// How products of experts read the rows of their tokens: from copies in the order of the experts, or
// gathering them themselves (ScatterMoE, arXiv 2403.08245).
enum class ExpertProducts { grouped, scattered };
// What replicas send each other of their gradients: the gradients, 8 bits of each (arXiv
// 1511.04561), or -1, 0 or 1 times the scale of a layer (TernGrad, arXiv 1705.07878).
enum class GradientCode { none, eight_bit, ternary };
template <>
inline constexpr char kWordSeparator<GradientCode> = '-';  // "eight-bit"
// The copies that a copy of the model averages with: all of them, its two neighbours in a ring, or
// one that changes each time (stochastic gradient push, arXiv 1811.10792). By bandwidth: all of
// them, of which each adds up as much as its link has room for (lower/averaging_by_bandwidth.h).
enum class Averaging { all, ring, one_peer, by_bandwidth };
template <>
inline constexpr char kWordSeparator<Averaging> = '-';  // "one-peer"
// What of a microbatch takes turns with the rest, so that the collectives of one half run beside the
// computing of the other: half of its sequences (Domino, arXiv 2409.15241), or half of every
// sequence (ISO, arXiv 2409.11155).
enum class Halves { none, batch, sequence };

// How ranks of sites that differ share what ZeRO divides: evenly, or so that all of them have as much
// memory left (lower/state_division.h).
enum class StateDivision { even, by_memory };
template <>
inline constexpr char kWordSeparator<StateDivision> = '-';  // "by-memory"

// Which experts a rank holds. `numbered`: experts with neighbouring numbers; `balanced`: the most
// popular expert first, each on the rank with the least load so far (lower/expert_balance.h).
enum class ExpertPlacement { numbered, balanced };

// Which transfers run beside computation instead of between it.
struct Overlap {
  bool gradient_reduction = true;  // gradient buckets are reduced while the backward pass goes on
  bool parameter_gather = true;    // parameters are gathered while the forward pass goes on
  bool tensor_parallel =
      false;  // products are cut in tp pieces and pipelined with their collective
  // Reduce-scatters run tile by tile beside the product that makes their input, by copy engines and
  // memory that adds (T3, arXiv 2401.16677).
  bool tensor_tiles = false;
  bool pipeline = true;  // sends and receives do not block the computing stream
  bool expert = false;   // all-to-alls run beside the shared expert
  // All-to-alls of a forward run beside the backward of another microbatch and the other way round
  // (Megatron-Core: overlap_moe_expert_parallel_comm).
  bool expert_batches = false;
  // The optimizer step waits for no gradient norm: it is validated afterwards, and devices start
  // their next step one after the other (arXiv 2401.10241 s.4).
  bool optimizer = false;
  // Copies that take local steps average beside them (Streaming DiLoCo, arXiv 2501.18512).
  bool outer = false;
  // The host updates the states of a block as its gradients arrive, while the backward goes on, and
  // waits for no gradient norm (Fuyou, arXiv 2403.06504).
  bool host_update = false;
  bool operator==(const Overlap&) const = default;
};
Fields<Overlap> fields_of(const Overlap*);

// Local steps that become more as the learning rate falls (arXiv 2310.14423):
//
//   H = max(local_steps, floor((alpha / rate)^2)),   rate = learning_rate (1 + cos(pi t / steps)) / 2
//
// at the step t in which a round begins; the last round ends with the run. The paper also decays
// linearly and in steps; these are not modelled.
struct QuadraticRule {
  double alpha = 0;
  double learning_rate = 0;  // at the peak
  std::int64_t steps = 0;    // of the run; 0: no rule
  bool operator==(const QuadraticRule&) const = default;
};
Fields<QuadraticRule> fields_of(const QuadraticRule*);

struct Plan {
  std::int64_t tp = 1;
  std::int64_t cp = 1;
  std::int64_t pp = 1;
  std::int64_t dp = 0;   // 0: whatever the GPUs leave
  std::int64_t ep = 1;   // experts, or tables, are divided over ep ranks taken from tp*cp*dp
  std::int64_t etp = 0;  // tensor parallelism inside an expert; 0: 1 if ep > 1, else tp
  ExpertDispatch dispatch = ExpertDispatch::all_to_all;
  // In which tokens and gradients are sent to their experts; their results return in 16 bits.
  NumberFormat dispatch_format = NumberFormat::bf16;
  ExpertPlacement expert_placement = ExpertPlacement::numbered;
  ExpertProducts expert_products = ExpertProducts::grouped;
  std::int64_t redundant_experts = 0;  // copies of popular experts beside all experts (EPLB)
  bool sequence_parallel = true;       // matters only if tp > 1
  ContextParallel context_parallel = ContextParallel::all_gather;
  std::int64_t ulysses = 0;  // of cp, the ranks that exchange heads; 0: all if all-to-all, else 1
  ContextBalance context_balance = ContextBalance::zigzag;
  ContextPlacement context_placement = ContextPlacement::head_first;
  std::int64_t inner_ring =
      0;  // of the ranks of a ring, those of an inner one (LoongTrain); 0: one
  ContextGroups context_groups = ContextGroups::fixed;
  // Pieces of a rank's tokens that the loss and the feed-forward part work through one after another
  // (ALST, arXiv 2506.13996).
  std::int64_t loss_tiles = 1;
  std::int64_t mlp_tiles = 1;
  std::string schedule;     // empty: 1f1b, or interleaved_1f1b if chunks > 1
  std::int64_t chunks = 1;  // virtual stages a microbatch crosses, over devices
  std::int64_t group = 0;   // microbatches that pass a chunk together; 0: the schedule's default
  std::vector<std::int64_t> layers;  // layers of each virtual stage; empty: as even as can be
  // Microbatches of a replica in each site, where replicas lie across sites that differ; empty: as
  // many everywhere.
  std::vector<std::int64_t> site_microbatches;
  // Sequences of a microbatch in each site, in place of micro_batch (Cephalo, arXiv 2411.01075);
  // empty: as many everywhere.
  std::vector<std::int64_t> site_micro_batch;
  StateDivision state_division = StateDivision::even;
  std::int64_t micro_batch = 1;  // sequences; with tables 0: all of a replica
  std::int64_t zero = 1;         // 0 none, 1 optimizer states, 2 and gradients, 3 and parameters
  std::int64_t shard_group = 0;  // HSDP: ranks that share one sharded copy; 0: all of dp*cp
  // Under ZeRO 3, blocks whose weights are gathered, or fetched, ahead of the one that runs; 0: the
  // backward gathers a block only behind the reduction of the one before.
  std::int64_t prefetch = 1;
  // Of the ranks that share the optimizer's states, those that share gradients (ZeRO 2, 3) and
  // weights (ZeRO 3), where they are fewer (InternEvo, arXiv 2401.09149 s.4); 0: as many.
  std::int64_t gradient_shard = 0;
  std::int64_t weight_shard = 0;
  Offload offload_optimizer = Offload::none;    // master weights and moments, and their update
  Offload offload_parameters = Offload::none;   // shards of the weights between their uses (ZeRO 3)
  Offload offload_activations = Offload::none;  // what a block keeps until its backward
  double offload_share = 1;  // of the optimizer's states, the part that lies outside
  // Of what lies outside every so many-th part is fetched, updated on the device and sent back
  // (Deep Optimizer States, arXiv 2410.21316); 0: none.
  std::int64_t update_stride = 0;
  // Gradients take the place of the weights they belong to, which return from the fp32 ones behind the
  // update (PatrickStar, arXiv 2108.05818).
  bool gradients_in_place = false;
  // ZeRO++ (arXiv 2306.10209): 8-bit gathers of weights, 4-bit reductions of gradients by
  // all-to-alls in two levels, and a second copy of the weights for the backward, in 16 bits, which
  // so many ranks share; 0: none.
  bool quantized_weights = false;
  bool quantized_gradients = false;
  std::int64_t secondary_shard = 0;
  // Local steps (DiLoCo, arXiv 2311.08105): copies of the model, of shard_group ranks each, average
  // what they have changed once in so many steps.
  std::int64_t local_steps = 1;
  QuadraticRule quadratic;
  Averaging averaging = Averaging::all;
  GradientCode gradient_code = GradientCode::none;
  std::int64_t gradient_bucket_mib = 0;  // of gradients that are reduced at once; 0: a layer's
  Halves halves = Halves::none;
  Recompute recompute = Recompute::none;
  std::vector<RecomputeModule> recompute_modules;  // with selective; empty: core_attn
  std::int64_t recompute_layers = 0;               // of each virtual stage; 0: all
  AttentionKernel attention = AttentionKernel::library;
  // Of embedding tables, which ep ranks share; all of them if ep is 0.
  TableSharding table_sharding = TableSharding::automatic;  // where the model leaves the choice
  std::int64_t towers = 0;  // groups of ranks that hold whole tables; 0: as the model has, or none
  VectorCodec codec = VectorCodec::none;
  Overlap overlap;
  std::vector<MeshAxis> placement = {MeshAxis::tp, MeshAxis::cp, MeshAxis::dp, MeshAxis::pp};
  bool operator==(const Plan&) const = default;
};
Fields<Plan> fields_of(const Plan*);

// What is run of the model, usually its training, apart from how.
struct Training {
  Workload workload = Workload::training;       // `workload` of a specification
  std::int64_t sequence_length = 0;             // 0: the model's own training length
  std::int64_t source_length = 0;               // encoder side; 0: the same
  std::int64_t global_batch = 0;                // sequences a step; 0: the model's own
  NumberFormat precision = NumberFormat::bf16;  // of the matrix products
  Optimizer optimizer = Optimizer::adamw;
  NumberFormat gradients = NumberFormat::fp32;  // accumulated and reduced in this format
  NumberFormat moments = NumberFormat::fp32;    // of the optimizer; fp8: 8-bit (arXiv 2110.02861)
  bool dropout = false;         // on the residual branches and on the attention's probabilities
  Documents documents = {};     // that rows are made of; none stated: every row is one
  ExpertLoad expert_load = {};  // how tokens choose their experts; none stated: evenly
  bool operator==(const Training&) const = default;
};
Fields<Training> fields_of(const Training*);

// Neighbouring ranks that hold whole tables between them: those of a tower, or else of the innermost
// level of the fabric, which has `domain` accelerators.
std::int64_t ranks_of_tower(const Plan& plan, std::int64_t domain);

// Bytes of the optimizer's states of one trained parameter: fp32 master weight and moments.
Bytes optimizer_state(const Training& training);

// Whether copies of the model average with some of the others alone.
bool averages_with_neighbours(const Plan& plan);
// Whether copies of the model, of shard_group ranks each, train apart from each other and average.
bool trains_copies_apart(const Plan& plan);
// Steps of the run divided by how often copies average in it: local_steps, or more by the rule.
double mean_local_steps(const Plan& plan);
// Whether the optimizer step waits until the norm of all gradients is known.
inline bool waits_for_norm(const Plan& plan) {
  return !plan.overlap.optimizer && !plan.overlap.host_update;
}

// Ranks along an axis; 1 along ep, whose ranks are taken from the other axes.
std::int64_t degree(const Plan& plan, MeshAxis axis);

// Whether ranks exchange whole activations where layers change the dimension that they attend along
// (lower/dimension_switch.h).
bool switches_dimension(const Plan& plan);
// Of the context-parallel ranks those that exchange heads among each other, and those that pass
// each other keys and values: cp is their product.
std::int64_t head_ranks(const Plan& plan);
std::int64_t ring_ranks(const Plan& plan);

// Ranks that share the optimizer's states of a dense parameter, its gradients, and its weights.
std::int64_t state_shard(const Plan& plan);
std::int64_t gradient_shard(const Plan& plan);
std::int64_t weight_shard(const Plan& plan);

// Microbatches a replica works through in one step; the plan must be valid and, where sites have
// different microbatches, that of one site (plan/site_division.h).
int microbatches(const Training& training, const Plan& plan);

// Sequences of a microbatch: "2", or "4+1" where sites have different ones.
std::string micro_batch_text(const Plan& plan);

// "tp=8,pp=16,..." over `base`; commas or blanks separate the settings. Keys are those of
// fields_of(Plan) in any case, and of Overlap as "overlap.x"; `vpp`, `mbs` and `sp` are accepted
// for chunks, micro_batch and sequence_parallel, `ulysses`, `a2a` and `p2p` as kinds of
// context_parallel, 0 and 1 for false and true. Error: unknown key (nearest named), bad value, key
// twice.
Result<Plan> parse_plan(std::string_view text, const Plan& base = {});

// The plan's fields that such a text states.
std::vector<std::string> stated_fields(std::string_view text);
// The short form of everything that differs from the default.
std::string to_text(const Plan& plan);

}  // namespace orrery
