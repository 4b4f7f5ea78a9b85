// Everything the step of one plan is made of, priced but not yet arranged in time.
//
// Filled from block costs by sums, so that a candidate plan costs about a microsecond. Two things
// are made of it: a lower bound on the step time (a few additions), and the step's graph.
//
// Where sites of the cluster differ (cluster/cluster.h), a plan is priced once for each site, as if
// all of the cluster were like it. Of a pipeline across them, every stage is taken from the prices
// of its site; of replicas across them, all is taken from those of the site whose step takes longest,
// by its lower bound, for the others wait for its gradients. What travels between sites takes as
// long as at the slower end, and a collective across them as long as at the slowest.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/operation.h"
#include "lower/model_costs.h"
#include "lower/pass_partner.h"
#include "lower/vocabulary_share.h"
#include "schedule/schedule.h"

namespace orrery {

struct VirtualStage {
  std::size_t first_layer = 0;
  std::size_t layers = 0;
  std::size_t recomputed = 0;  // of these, from the first, where others are not
  bool embedding = false;
  bool head = false;
  std::size_t site = 0;  // of its device, where the pipeline lies across sites that differ
  PassTotals totals;
  PassTotals fastest;  // of each pass with a partner or without, whichever is faster
};

// For which pass weights are gathered: a second copy of them may serve the backward.
enum class Gather { forward, backward };

struct StepCosts {
  CostCache* cache = nullptr;
  const RankLayout* layout = nullptr;
  const ModelCosts* kept = nullptr;        // layers that are not recomputed beyond plan.recompute
  const ModelCosts* recomputed = nullptr;  // layers that are
  // Both in passes without a partner; the same where no pass has one.
  const ModelCosts* kept_alone = nullptr;
  const ModelCosts* recomputed_alone = nullptr;
  Plan plan;
  std::int64_t micro_batch = 1;  // sequences of a microbatch of these stages
  PipelineShape shape;
  const Schedule* schedule = nullptr;
  std::vector<VirtualStage> stages;    // by virtual stage
  VocabularyShare vocabulary;          // of every device, if the schedule divides it
  std::vector<Picoseconds> copy;       // of a virtual stage's activations to or from host memory
  std::vector<Picoseconds> transfer;   // activations from device i to i+1 (mod p)
  std::vector<Picoseconds> optimizer;  // by device
  Picoseconds gradient_norm;           // all-reduce of one number over all ranks
  Picoseconds outer;                   // averaging of copies that take local steps, of a mean step
  Picoseconds tied_embedding;          // reduction between first and last stage
  Bytes boundary;                      // of one microbatch's activations between stages
  double gradient_bytes = 4;           // of one accumulated gradient
  // What a rank holds of what ZeRO divides, over the mean of all ranks, and the most that any does
  // (lower/state_division.h).
  double state_share = 1;
  double largest_share = 1;
  double optimizer_bytes = 0;    // read and written for one parameter a rank owns
  Passes passes;                 // of the workload
  double data_share_lost = 0;    // of computing beside data-parallel communication
  double paired_share_lost = 0;  // beside that of the other pass of a pair
  // The prices of each site, where sites differ, and, where the pipeline lies across them, the site
  // of each device. `cache`, `layout`, `kept`, `recomputed` and what is lost are those of one site:
  // ask at() for those of a device.
  std::vector<StepCosts> sites{};
  std::vector<std::size_t> device_site{};

  // Communication of the data-parallel ranks for a block or a device with these parameters.
  // Reduced is what is trained; gathered what was changed, under ZeRO 3 the frozen as well.
  [[nodiscard]] Picoseconds reduce(const RankParameters& trained) const;
  [[nodiscard]] Picoseconds gather(const RankParameters& trained, const RankParameters& frozen,
                                   Gather pass) const;
  // The same as what moves (lower/step_parts.cc), as are the other parts below; groups are
  // StepGroup.
  [[nodiscard]] OperationParts reduce_parts(const RankParameters& trained) const;
  [[nodiscard]] OperationParts gather_parts(const RankParameters& trained,
                                            const RankParameters& frozen, Gather pass) const;
  [[nodiscard]] OperationParts transfer_parts(std::size_t boundary_index) const;
  [[nodiscard]] OperationParts gradient_norm_parts() const;
  [[nodiscard]] OperationParts tied_embedding_parts() const;
  [[nodiscard]] OperationParts optimizer_parts(int device) const;
  // Where gradients or weights are shared by fewer ranks than the optimizer's states (InternEvo,
  // arXiv 2401.09149 s.4), once a step: with R_P, R_G and R_O ranks that share weights, gradients and
  // states, a reduce-scatter of g / R_G bytes of each parameter among R_O / R_G ranks, and behind the
  // update an all-gather of w / R_P among R_O / R_P. Nothing overlaps with them.
  //
  // Copies that take local steps average, once in that many steps, what they have changed, in fp32:
  // the mean over the steps of an all-reduce of 4 bytes of each parameter a rank owns and of the
  // outer update, which reads and writes weights, agreed weights and momentum (28 bytes). Source:
  // arXiv 2311.08105 s.2. Copies that average with k neighbours send each of them as much, and add
  // up own and received weights (4 (2 + k) bytes): arXiv 2410.11998 s.3. Not modelled: that copies
  // which average with neighbours alone need not wait for the slowest of all.
  [[nodiscard]] OperationParts outer_parts() const;
  // What cutting so many tensors into one piece a rank takes the host while the device waits: each
  // piece is a view made and a copy launched, two operators,
  //
  //   t = 2 tensors ranks c_kernel
  //
  // where the profile says so (plan/software.h, ShardTransfers) and weights are fully sharded; else
  // 0. Source: microsoft/DeepSpeed of 2021, deepspeed/runtime/zero/partition_parameters.py
  // (_allgather_param synchronises, narrows a buffer once a rank and hands over the list; PyTorch
  // copies its entries one by one).
  [[nodiscard]] Seconds listing(int tensors) const;
  // Bytes that kernels read and write to move fully sharded weights out of the buffer they are
  // gathered into, and gradients into the buffer they are reduced from, for weights of w bytes and
  // reductions of g; per parameter:
  //
  //             gathered     reduced
  //   in place  0            0
  //   flat      0            w + w joined, w + g cast where g is not w, g + g divided
  //   copied    w + w        w + g
  //
  // Source: PyTorch, torch/distributed/fsdp/_runtime_utils.py (_reduce_grad: cast, _div_if_needed;
  // views of the flat parameter are split, so that their gradients are concatenated) and
  // torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py (all_gather_copy_out,
  // reduce_scatter_copy_in).
  //
  // Quantised gathers (arXiv 2306.10209 s.3.1) add a kernel that reads the 16-bit shard and writes
  // 8 bits, and one that reads these and writes 16: 3 + 3/ranks. Quantised reductions (s.3.3) add
  // what writes 4 bits of the gradients (g + 1/2), adds up what a node sends and writes 4 bits again
  // (1/2 + 1/2 of a part), and adds that up (1/2 of a part).
  //
  // Coded gradients of c bytes (GradientCode) travel between nodes: ranks of a node first add up theirs
  // as they are (reduce-scatter), then each sends codes of its part to the nodes' ranks that own pieces
  // of it, which decode what all P send and add it up; sums of c' bytes return, and are gathered in the
  // node, unless shards of them stay. In one node all is coded, P its ranks. Kernels write the code
  // (g + c), read what arrives (c), write the sum's code (c'/P) and decode it (c' + g), or write a
  // shard (g/P), of 1 / ranks of a node of the gradients. 8 bits: c = c' = 1 (arXiv 1511.04561
  // s.3). Of -1, 0 and 1: c = log2(3) / 8, and the sum of P has 2P + 1 values: c' = log2(2P + 1) /
  // 8 (arXiv 1705.07878 s.3.1); real codes hold five of three values in a byte, 1 % more. Scales of
  // layers are left out. Both papers have one accelerator a node. Gradients of experts are coded
  // whole, P the ranks that hold them.
  [[nodiscard]] Bytes copied_gathered(double parameters, Gather pass) const;
  [[nodiscard]] Bytes copied_reduced(const RankParameters& parameters) const;
  [[nodiscard]] Picoseconds copying(Bytes moved) const;  // by such a kernel; none: 0
  // Whether gradients of g bytes are all-reduced in fp32, and what kernels then read and write for
  // each parameter beside: joined and divided (2 g each), widened and narrowed (g + 4 each, where g
  // is less), copied back (2 g); under ZeRO 1 all ranks also scale all gradients and take their
  // norm (3 g), and weights of w bytes are gathered through a list (2 w). Source:
  // Aleph-Alpha/scaling 737f855 src/scaling/core/optimizer/allreduce.py:7-59, optimizer.py:144-149,
  // parameter_group.py:452-466 and 490-498.
  [[nodiscard]] bool widens_gradients() const;
  [[nodiscard]] double widening_bytes() const;

  // The plan that `cache` and `kept` are prices of: where replicas lie on sites that differ, as those
  // of the slowest run it.
  [[nodiscard]] const Plan& priced_plan() const;
  [[nodiscard]] const StepCosts& at(const VirtualStage& stage) const {
    return device_site.empty() ? *this : sites[stage.site];
  }
  [[nodiscard]] const StepCosts& at(int device) const {
    return device_site.empty() ? *this : sites[device_site[static_cast<std::size_t>(device)]];
  }
  // The prices of the end of a boundary between devices where a transfer takes longer.
  [[nodiscard]] const StepCosts& slower_end(std::size_t boundary_index) const;
  // Whether the parts of this all-reduce across sites are those that their links have room for.
  [[nodiscard]] bool averages_by_bandwidth(const Communication& communication) const;
  // The prices of the site where the communication takes longest.
  [[nodiscard]] const StepCosts& slowest_at(const Communication& communication) const;
  // What these take; communication across sites that differ, as at the slowest of them, or shared
  // by their bandwidth.
  [[nodiscard]] Seconds price(const Communication& communication) const;
  [[nodiscard]] Picoseconds price(const OperationParts& parts) const { return price(parts, *this); }
  // The same, where a rank of `site` computes what is not communication.
  [[nodiscard]] Picoseconds price(const OperationParts& parts, const StepCosts& site) const;
  // Memory of an accelerator of the device; of replicas on sites that differ, of those with the least
  // room left.
  [[nodiscard]] Bytes memory_capacity(int device) const;

  [[nodiscard]] const BlockCost& block(const VirtualStage& stage, std::size_t layer,
                                       Partner partner = Partner::other_microbatch) const;
  // Whether gradients have copies elsewhere to be reduced with.
  [[nodiscard]] bool replicated() const {
    return layout->dense_shard.size * layout->dense_outer.size > 1 ||
           layout->expert_shard.size * layout->expert_outer.size > 1 || schedule->routes > 1;
  }
  // Chunks a device holds: of every route of the schedule.
  [[nodiscard]] int chunks_held() const { return shape.chunks * schedule->routes; }
  // What the chunks of a device have together, with its part of a divided vocabulary.
  [[nodiscard]] PassTotals held(int device) const;
  // Whether the device holds the first or the last virtual stage.
  [[nodiscard]] bool holds_an_end(int device) const;
  // How often in a step a device works on one of its chunks.
  [[nodiscard]] int passes_a_chunk() const { return shape.microbatches / schedule->routes; }
  [[nodiscard]] const VirtualStage& chunk(int device, int chunk) const {
    return stages[static_cast<std::size_t>(schedule->virtual_stage(shape, device, chunk))];
  }
};

// What the plan's schedule is asked for: its shape and, if its order depends on them, the times.
ScheduleRequest schedule_request(const StepCosts& step);

// `plan` must be complete and valid for the cache's model and cluster.
StepCosts step_costs(CostCache& cache, const Plan& plan);

// No execution of this plan is faster:
//
//   max( max over devices i of  max( path(s_i) + W_i, W_i + tail_i, W_i + V_i, D_i ),  path(S) )
//   + gradient norm + slowest optimizer,      path(s) = sum_{k<s} (F_k + B_k + 2 c)
//   W_i = m sum_chunks (F + B) + what computing loses beside gathers and reductions, and to copies
//   D_i = all gathers and reductions of the device, which share a stream
//   tail_i = the shortest last reduction, less what is lost beside it; V_i: a divided vocabulary
//
// s_i is the first virtual stage on device i: the device cannot start before one microbatch has
// passed the stages before s_i, works through all its operations one after the other, and its last
// backward must still travel back to stage 0. c is the least transfer between devices. Where the
// backward is split, or there is none, only F counts on the way; where passes are paired, what they
// communicate may be hidden, and of a pass with a partner and without, the faster counts; where no
// device waits for the optimizer of another, path(s_i) does not count at all. Gathers and reductions
// are counted as often as they must be (shard_moves.h). O(virtual stages).
Picoseconds lower_bound(const StepCosts& step);

}  // namespace orrery
