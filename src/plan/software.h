// What a training framework does with a plan: a named set of facts about its kernels and its host.
//
// The same plan runs differently on Megatron-LM of 2021 and on PyTorch FSDP. A profile says which
// element-wise chains one kernel does and which are a row of framework operators, how gradients of
// microbatches are added up, what surrounds the optimizer, and what a kernel costs the host. From
// such a fact follow bytes (lower/operator_work.h counts reads and writes) and launches; a profile
// holds no factor on time and nothing fitted to step times. catalog/software has one file each,
// with its sources; docs/software.md explains every field.
//
// Not modelled: allocator stalls, data loading, checkpoints, garbage collection, stragglers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "catalog/catalog.h"
#include "cost/memory/memory_facts.h"
#include "document/fields.h"
#include "document/provenance.h"
#include "graph/kernel_shape.h"
#include "plan/plan.h"
#include "units/quantity.h"

namespace orrery {

// One kernel, or framework operators that each read and write memory.
enum class Kernels { fused, eager };

// How the weight gradient of a microbatch joins those before it.
enum class GradientAccumulation {
  in_product,  // the product adds into the accumulated gradient as it writes
  separate,    // it writes its own; another kernel adds
};

// Whether a stage computes while its activations travel.
enum class PipelineTransfers {
  overlapped,
  overlapped_with_chunks,  // interleaved schedules only; a plain 1F1B sends and receives blockingly
  blocking,
};

// What is copied around the kernel of attention.
enum class AttentionCopies {
  none,
  layout,         // queries, keys, values and outputs, between the layouts of products and kernel
  kept_layout,    // the same; both copies of the output are kept for the backward
  repeated_keys,  // keys and values, once for every query head that shares them
};

// How fully sharded weights are gathered and their gradients reduced.
enum class ShardTransfers {
  in_place,  // products read what was gathered and write what is reduced
  flat,      // one tensor a unit, whose views are the weights: gradients are joined to one, cast to
             // the format they are reduced in, and divided
  copied,    // one buffer a unit: weights are copied out of it, gradients into it, cast on the way
  lists,     // copied, one tensor at a time through lists of one piece a rank, each of which the
             // host cuts and copies
  broadcasts,  // in place; under ZeRO 1 and 2 ranks broadcast their weights in turn behind the step
};

// How replicas exchange gradients that each of them holds whole (ZeRO 0 and 1).
enum class GradientExchange {
  to_owners,    // as accumulated: to all ranks, or under ZeRO 1 to the rank that updates them
  fp32_to_all,  // to all ranks even under ZeRO 1, in buckets that are joined, divided, widened to
                // fp32, all-reduced, narrowed and copied back
};

// For how long a pipeline keeps sharded weights and gradients unsharded.
enum class PipelineShards {
  chunk,  // one chunk of several while microbatches pass it in a row; the only one never
  step,   // every chunk from its first pass to its last
};

// What stands between the host and the device.
enum class LaunchPath {
  each,      // every kernel is launched by the framework
  compiled,  // torch.compile: element-wise chains are fused, guards and launches remain
  graphs,    // CUDA graphs: a pass is one launch
};

// For what the host waits until the device is done, so that its lead is lost: transfers between
// pipeline stages; and the longest sequence of a batch, read back from the device to call
// attention, so that the device stands still until the host has launched it.
enum class HostWaits { never, transfers, transfers_and_attention };

// Products of the experts that a rank holds: a launch each, or one for all.
enum class ExpertLaunches { each, together };

// What scales the operands of fp8 products: greatest magnitudes of earlier steps, one for a tensor;
// its own; or those of blocks.
enum class Fp8Scaling { delayed, current, blocks };

// Parts of a layer whose kernels its graph launches: attention with its norm; router with its norm
// and the shared expert; what counts the tokens of every expert.
enum class GraphModule { attention, router, counting };

// Of what the host does a step of a recommendation model once: in all, for each kind of division
// of its tables whose vectors are exchanged, for each product with weights.
enum class HostWorkOf { step, division, product };

// A row of operators of the framework beside those that are lowered one by one.
struct HostWork {
  std::string what;
  HostWorkOf each = HostWorkOf::step;
  Direction pass = Direction::forward;
  std::int64_t kernels = 0;      // and copies
  std::int64_t operators = 0;    // that launch nothing: views, shapes, events
  std::int64_t collectives = 0;  // of a few bytes
  bool operator==(const HostWork&) const = default;
};
Fields<HostWork> fields_of(const HostWork*);

struct HostCosts {
  LaunchPath launches = LaunchPath::each;
  Seconds kernel{9e-6};       // of the host, to dispatch one operator and launch its kernel
  Seconds dispatch{4.5e-6};   // of an operator that launches nothing
  Seconds product{105e-6};    // of a matrix product more: module, autograd node, casts
  Seconds collective{30e-6};  // of a collective: bookkeeping, stream events, launch
  HostWaits waits = HostWaits::never;
  ExpertLaunches expert_launches = ExpertLaunches::each;
  // How many tokens each expert gets is read back before they are sent, and how many look-ups each
  // table, so that the host cannot run ahead of the device from one such layer to the next.
  bool reads_counts = true;
  std::vector<HostWork> work = {};              // of a recommendation model
  std::vector<GraphModule> graph_modules = {};  // of launches: each
  bool operator==(const HostCosts&) const = default;
};
Fields<HostCosts> fields_of(const HostCosts*);

// The initial values are those of the default profile, catalog/software/megatron-core-0.12.yaml,
// but for its schedules: a profile that does not say which it has is not taken to have those.
struct SoftwareProfile {
  std::string name = "megatron-core-0.12";
  std::string title;
  Kernels norm = Kernels::fused;        // eager: RMSNorm as a chain of casts and products
  Kernels activation = Kernels::fused;  // eager: gate, product and bias apart
  Kernels rotary = Kernels::fused;
  Kernels router = Kernels::eager;         // softmax, top-k, map and balancing loss of the router
  Kernels residual = Kernels::fused;       // eager: dropout apart from bias and sum
  Kernels cross_entropy = Kernels::fused;  // eager: fp32 copies of the logits, Megatron's own chain
  // eager: biases of convolutions are added by a kernel of their own, and images are copied between
  // the order of channels of convolutions and that of group norms.
  Kernels convolution = Kernels::fused;
  Kernels optimizer = Kernels::fused;  // eager: one pass a step of the formula (foreach)
  AttentionCopies attention_copies = AttentionCopies::none;
  // Under context parallelism each rank's keys are attended to by a kernel of their own, and what
  // it found is added to an fp32 sum; gradients of keys and values travel on in fp32 meanwhile.
  bool attends_in_pieces = false;
  Kernels softmax = Kernels::fused;  // of unfused attention; eager: mask, scale and softmax apart
  // Full recomputation of a block ends with the last tensor that its backward reads, so that the
  // block's last product does not run again.
  bool recompute_stops_early = false;
  GradientAccumulation accumulation = GradientAccumulation::in_product;
  // Rows of each expert's product are filled up to a multiple of this (MegaBlocks: 128, arXiv
  // 2211.15841 s.5.1; none of ScatterMoE, arXiv 2403.08245).
  std::int64_t expert_row_multiple = 1;
  Fp8Scaling fp8_scaling = Fp8Scaling::delayed;  // decides how experts' operands are cast
  // The reduction of input gradients over tensor-parallel ranks runs beside the weight gradient.
  bool overlaps_input_gradients = true;
  PipelineTransfers transfers = PipelineTransfers::overlapped_with_chunks;
  // Pipeline schedules that it has, as schedule/schedule.h names them; empty: it has no pipeline;
  // nothing: not known, so that none is ruled out.
  std::optional<std::vector<std::string>> schedules;
  // What tensor-parallel ranks gather along the sequence is copied out of the order of the ranks,
  // and what they reduce and scatter along it is copied into that order.
  bool copies_sequence_shards = false;
  // Without sequence parallelism the activations between stages are the same on all tensor-parallel
  // ranks: each sends a piece, and they are gathered behind (arXiv 2104.04473 s.4.1).
  bool splits_transfers = false;
  bool clips_gradients = true;  // their norm is read, and they are scaled
  bool scales_loss = false;     // gradients are unscaled and checked for overflow
  ShardTransfers shard_transfers = ShardTransfers::in_place;
  GradientExchange gradient_exchange = GradientExchange::to_owners;
  std::int64_t zero = 1;  // the ZeRO stage that its users run where a plan states none, 0 to 3
  AttentionKernel attention = AttentionKernel::library;  // likewise
  std::int64_t pipeline_zero = 1;  // the highest ZeRO stage it has beside a pipeline, 0 to 3
  PipelineShards pipeline_shards = PipelineShards::chunk;
  HostCosts host;
  MemoryFacts memory;
  Provenance provenance;
};
// A field of a plan that takes, where nobody states it, the value that users of the software run.
template <class T>
struct FieldBySoftware {
  std::string_view name;
  T Plan::* chosen;
  T SoftwareProfile::* usual;
  bool of_backward = false;  // means nothing in a workload that runs forwards alone
};
inline constexpr std::tuple kFieldsBySoftware = {
    FieldBySoftware{"zero", &Plan::zero, &SoftwareProfile::zero, true},
    FieldBySoftware{"attention", &Plan::attention, &SoftwareProfile::attention}};

template <class Visit>
void for_each_field_by_software(Visit visit) {
  std::apply([&](const auto&... field) { (visit(field), ...); }, kFieldsBySoftware);
}

Fields<SoftwareProfile> fields_of(const SoftwareProfile*);

// Errors: a negative time, an unknown field or schedule, facts without a source.
Result<SoftwareProfile> read_software(const Document& document);

// The profile of that name. Error: unknown, with the nearest known.
Result<SoftwareProfile> load_software(const Catalog& catalog, std::string_view name);

inline bool repeats_keys(const SoftwareProfile& software) {
  return software.attention_copies == AttentionCopies::repeated_keys;
}

// Whether that schedule is among those it has, or which it has is not known.
bool has_schedule(const SoftwareProfile& software, std::string_view schedule);

// Gives a plan of several stages that names no schedule the first of the software's that its chunks
// suit, where it has neither kind of 1F1B for them.
void choose_schedule(Plan& plan, const SoftwareProfile& software);

// "megatron-core-0.12 does not have dualpipev, only 1f1b, interleaved_1f1b", or "llm-foundry has no
// pipeline": why it cannot run a completed plan. Empty if it can, as far as is known.
std::string lacking_schedule(const SoftwareProfile& software, const Plan& plan);

// Sets the plan's pipeline transfers to blocking where the framework's are.
void blocking_transfers(Plan& plan, const SoftwareProfile& software);

// What a report says of a profile nobody chose.
std::string software_assumption(const SoftwareProfile& software);

}  // namespace orrery
