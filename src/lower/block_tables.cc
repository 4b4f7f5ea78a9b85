// Embedding tables that are divided over the expert-parallel ranks (lower/block_lowering.h):
// look-up with sum pooling, the exchanges of look-ups, vectors and gradients, and the update of the
// rows.
//
//   forward    look-ups travel to the ranks that hold the rows (all-to-all), or did so beside the
//              largest layer of the batch before; rows are read and summed; vectors travel to the
//              ranks of their samples:
//              an all-to-all where a rank holds all rows of a feature, a reduce-scatter where each
//              holds some. Both run beside whatever stands between the look-up and the operator
//              that needs the vectors: the bottom MLP.
//   backward   gradients travel back the same ways (all-to-all, all-gather) beside the backward of
//              the bottom MLP; one chain of kernels sorts the look-ups, adds up the gradients of
//              each row and updates it with its optimizer. Tables have no gradients that are kept
//              or reduced.
//
// Source: pytorch/torchrec, torchrec/distributed/embeddingbag.py and train_pipeline (the look-ups
// of the next batch are distributed during this one); pytorch/FBGEMM, fbgemm_gpu split table
// batched embedding kernels (fused backward and optimizer). What is summed over ranks is arXiv
// 1906.00091 s.4.
// Not modelled: that two collectives of different groups share the links while both run.
#include <algorithm>
#include <string_view>

#include "lower/block_lowering.h"

namespace orrery {
namespace {

// Kernels of a look-up: the received look-ups are permuted by table, lengths become offsets, rows
// are read. Of an update: look-ups are sorted in four passes, runs are found, rows are updated.
constexpr int kLookUpKernels = 3;
constexpr int kUpdateKernels = 6;

const Operator* bags_of(const Block& block) {
  const auto found =
      std::ranges::find(block.operators, OperatorKind::embedding_bag, &Operator::kind);
  return found == block.operators.end() ? nullptr : &*found;
}

Communication within_tables(CollectiveKind kind, Bytes payload) {
  return {.collective = kind, .group = index(StepGroup::expert), .payload = payload};
}

}  // namespace

// The two exchanges of vectors, or of gradients the other way.
void BlockLowering::exchange_pooled(PassBuilder& out, const Operator& op, std::string_view name,
                                    Way way) {
  const Bytes of_element = element() * extent(op.m);
  const CollectiveKind partial =
      way == Way::tokens_back ? CollectiveKind::reduce_scatter : CollectiveKind::all_gather;
  for (const Communication& c :
       {within_tables(CollectiveKind::all_to_all, of_element * op.bags.pooled),
        within_tables(partial, of_element * op.bags.partial)}) {
    pooled_.push_back(out.transfer(name, StepStream::ep, Category::exposed_ep, c));
  }
}

void BlockLowering::look_up(PassBuilder& out, const Operator& op, Category category) {
  const double samples = extent(op.m);
  if (!op.bags.prefetched) {
    out.wait_for(
        out.transfer("look-ups to tables", StepStream::ep, Category::exposed_ep,
                     within_tables(CollectiveKind::all_to_all, op.bags.indices * samples)));
  }
  if (op.bags.looked_up > Bytes(0)) {
    out.compute(op.name, category, memory_bound(op.bags.looked_up * samples, kLookUpKernels));
  }
  exchange_pooled(out, op, "vectors from tables", Way::tokens_back);
}

// Before the operator that needs the vectors runs.
void BlockLowering::receive_pooled(PassBuilder& out) {
  for (const auto& transfer : pooled_) out.wait_for(transfer);
  pooled_.clear();
}

// Look-ups of the next batch that travel beside an operator of this one: a third beside its
// forward, the rest beside its backward, which is twice as long.
void BlockLowering::prefetch(PassBuilder& out, const Operator& op, Phase phase) {
  if (op.kind == OperatorKind::embedding_bag || op.bags.indices <= Bytes(0)) return;
  Communication c = within_tables(CollectiveKind::all_to_all, op.bags.indices * extent(op.m));
  if (passes_of(s_.training.workload).backward) c.pieces = phase == Phase::forward ? 3 : 1.5;
  prefetched_ = out.transfer("look-ups of the next batch", StepStream::ep, Category::exposed_ep, c);
}

// Behind the backward of the operator that read the vectors.
void BlockLowering::send_gradients(PassBuilder& out) {
  if (const Operator* tables = bags_of(block_)) {
    exchange_pooled(out, *tables, "gradients to tables", Way::gradients_out);
  }
}

void BlockLowering::update_tables(PassBuilder& out, const Operator& op, Category category) {
  for (const auto& transfer : pooled_) out.wait_for(transfer);
  pooled_.clear();
  if (op.bags.updated > Bytes(0)) {
    out.compute("update of tables", category,
                memory_bound(op.bags.updated * extent(op.m), kUpdateKernels));
  }
  if (op.bags.replicated) {
    out.wait_for(out.transfer("average of replicated tables", StepStream::ep, Category::exposed_ep,
                              Communication{.collective = CollectiveKind::all_reduce,
                                            .group = index(StepGroup::expert_replicas),
                                            .payload = op.bags.weights}));
  }
}

}  // namespace orrery
