// Embedding tables that are divided over the expert-parallel ranks (lower/block_lowering.h):
// look-up with sum pooling, the exchanges of look-ups, vectors and gradients, and the update of the
// rows.
//
//   forward    look-ups travel to the ranks that hold the rows (all-to-all), or did so beside the
//              largest layer of the batch before; rows are read and summed, those of the host over
//              its link; vectors travel to the ranks of their samples (model/operator.h,
//              VectorExchange): within towers or nodes, then between them, or among all ranks.
//              Modules of towers work between the two. Exchanges run beside whatever stands between
//              the operator that sends and the one that needs the vectors: the bottom MLP.
//   backward   gradients travel back the same ways beside the backward of the bottom MLP; one chain
//              of kernels sorts the look-ups, adds up the gradients of each row and updates it with
//              its optimizer. Tables have no gradients that are kept or reduced. Those of a tower's
//              modules are reduced among its ranks, behind the modules' backward.
//   codec      a kernel before and one behind an exchange in a direction in which fewer bytes travel
//
// Source: pytorch/torchrec, torchrec/distributed/embeddingbag.py and train_pipeline (the look-ups
// of the next batch are distributed during this one); pytorch/FBGEMM, fbgemm_gpu split table
// batched embedding kernels (fused backward and optimizer). What is summed over ranks is arXiv
// 1906.00091 s.4.
// Not modelled: that two collectives of different groups share the links while both run.

#include "lower/block_lowering.h"

namespace orrery {
namespace {

// Kernels of a look-up: the received look-ups are permuted by table, lengths become offsets, rows
// are read. Of an update: look-ups are sorted in four passes, runs are found, rows are updated.
constexpr int kLookUpKernels = 3;
constexpr int kUpdateKernels = 6;

Communication within_tables(CollectiveKind kind, Bytes payload) {
  return {.collective = kind, .group = index(StepGroup::expert), .payload = payload};
}

GroupIndex group_of(VectorExchange::Ranks among) {
  switch (among) {
    case VectorExchange::Ranks::tower:
      return index(StepGroup::tower);
    case VectorExchange::Ranks::peers:
      return index(StepGroup::tower_peers);
    case VectorExchange::Ranks::all:
      break;
  }
  return index(StepGroup::expert);
}

}  // namespace

// Of what the operator sends in the forward, or of gradients for it. They follow each other.
void BlockLowering::exchange_vectors(PassBuilder& out, const Operator& op, Phase phase) {
  const bool forward = phase == Phase::forward;
  const double samples = extent(block_.operators.front().m);  // of the look-up
  const auto exchange = [&](const VectorExchange& e) {
    const GroupIndex group = group_of(e.among);
    if (s_.layout.groups[group.value()].shape.size <= 1) return;
    const double share = forward ? e.forward : e.backward;
    const bool coded = share < 1 && e.encode > Seconds(0);
    if (coded) {
      out.compute("encode vectors", Category::embedding, StatedTime{e.encode * samples}, 1);
      decoding_ += e.decode * samples;
    }
    const CollectiveKind kind = !e.partial ? CollectiveKind::all_to_all
                                : forward  ? CollectiveKind::reduce_scatter
                                           : CollectiveKind::all_gather;
    pooled_.push_back(
        out.transfer(forward ? "vectors from tables" : "gradients to tables", StepStream::ep,
                     Category::exposed_ep,
                     Communication{.collective = kind,
                                   .group = group,
                                   .payload = element() * (samples * e.elements * share)}));
  };
  if (forward) {
    for (const VectorExchange& e : op.sends) exchange(e);
  } else {
    for (std::size_t i = op.sends.size(); i-- > 0;) exchange(op.sends[i]);
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
  if (op.bags.fetched > Bytes(0)) {
    out.compute("rows from the host", category, HostCopy{op.bags.fetched * samples}, 1);
  }
  if (op.bags.stored > Seconds(0)) {
    out.compute("rows from disks", category, StatedTime{op.bags.stored * (samples / 2)}, 1);
  }
}

// Before the operator that needs the vectors runs.
void BlockLowering::receive_pooled(PassBuilder& out) {
  for (const auto& transfer : pooled_) out.wait_for(transfer);
  pooled_.clear();
  if (decoding_ > Seconds(0)) {
    out.compute("decode vectors", Category::embedding, StatedTime{decoding_}, 1);
    decoding_ = Seconds(0);
  }
}

// Look-ups of the next batch that travel beside an operator of this one: a third beside its
// forward, the rest beside its backward, which is twice as long.
void BlockLowering::prefetch(PassBuilder& out, const Operator& op, Phase phase) {
  if (op.kind == OperatorKind::embedding_bag || op.bags.indices <= Bytes(0)) return;
  Communication c = within_tables(CollectiveKind::all_to_all, op.bags.indices * extent(op.m));
  if (passes_of(s_.training.workload).backward) c.pieces = phase == Phase::forward ? 3 : 1.5;
  prefetched_ = out.transfer("look-ups of the next batch", StepStream::ep, Category::exposed_ep, c);
}

// Behind the backward of the operator that read the vectors: to the last one before it that sent.
void BlockLowering::send_gradients(PassBuilder& out, const Operator& from) {
  for (auto i = static_cast<std::size_t>(&from - block_.operators.data()); i-- > 0;) {
    if (block_.operators[i].sends.empty()) continue;
    exchange_vectors(out, block_.operators[i], Phase::input_gradient);
    return;
  }
}

// What the framework launches for the operator beside its own kernels (plan/software.h, HostWork).
// Kernels of a few bytes take the device as long as its shortest.
void BlockLowering::host_work(PassBuilder& out, const Operator& op, Category category,
                              Direction pass) const {
  const bool tables = op.kind == OperatorKind::embedding_bag;
  if (!tables && !has_weight_gradient(op)) return;
  for (const HostWork& work : s_.costs.software.host.work) {
    if (work.pass != pass || (work.each == HostWorkOf::product) == tables) continue;
    const int times = work.each == HostWorkOf::division ? op.bags.divisions : 1;
    const int kernels = static_cast<int>(work.kernels) * times;
    if (kernels > 0) out.compute(work.what, category, memory_bound(Bytes(0), kernels));
    if (s_.binding.ep > 1) out.launch(0, static_cast<int>(work.collectives) * times);
    out.dispatch(static_cast<int>(work.operators) * times);
  }
}

void BlockLowering::update_tables(PassBuilder& out, const Operator& op, Category category) {
  if (op.bags.updated > Bytes(0)) {
    out.compute("update of tables", category,
                memory_bound(op.bags.updated * extent(op.m), kUpdateKernels));
  }
  if (op.bags.returned > Bytes(0)) {
    out.compute("rows to the host", category, HostCopy{op.bags.returned * extent(op.m)}, 1);
  }
  if (op.bags.stored > Seconds(0)) {
    out.compute("rows to disks", category, StatedTime{op.bags.stored * (extent(op.m) / 2)}, 1);
  }
  if (op.bags.replicated) {
    out.wait_for(out.transfer("average of replicated tables", StepStream::ep, Category::exposed_ep,
                              Communication{.collective = CollectiveKind::all_reduce,
                                            .group = index(StepGroup::expert_replicas),
                                            .payload = op.bags.weights}));
  }
}

// Weights that the ranks of a tower copy: their gradients are reduced among these, and AdamW reads
// weight, gradient and two moments and writes all but the gradient.
void BlockLowering::update_module(PassBuilder& out, const Operator& op) {
  constexpr double kMoved = 14;  // times the 2 bytes of a weight
  out.wait_for(out.transfer("gradients of a tower's modules", StepStream::ep, Category::exposed_ep,
                            Communication{.collective = CollectiveKind::all_reduce,
                                          .group = index(StepGroup::tower),
                                          .payload = op.bags.weights}));
  out.compute("update of a tower's modules", Category::optimizer,
              memory_bound(kMoved * op.bags.weights));
}

}  // namespace orrery
