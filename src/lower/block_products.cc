// Products of a block's forward, with what tensor parallelism sends around them.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "lower/block_lowering.h"

namespace orrery {

void BlockLowering::forward_product(PassBuilder& out, const Operator& op, Category category) {
  const double m = extent(op.m);
  const double n = extent(op.n);
  const double k = extent(op.k);
  const Kernel whole = product(op, m, n, k);
  cast(out, op, m * k / (op.boundary == Boundary::column && sharded_sequence() ? s_.binding.tp : 1),
       category);
  if (s_.binding.tp > 1 && op.boundary == Boundary::column && sharded_sequence()) {
    const Communication gather =
        tensor_collective(CollectiveKind::all_gather, activation_bytes(m, k));
    if (s_.plan.overlap.tensor_parallel) {
      pipelined(out, op, category, gather, "all-gather of inputs", Order::transfer_first, m, n, k);
      return;
    }
    out.wait_for(transfer(out, "all-gather of inputs", gather));
    copy_sequence(out, category, gather.payload);
    out.compute(op.name, category, whole);
  } else if (s_.binding.tp > 1 && op.boundary == Boundary::row) {
    const std::string_view what =
        sharded_sequence() ? "reduce-scatter of outputs" : "all-reduce of outputs";
    const Communication reduce = tensor_collective(reduction(), activation_bytes(m, n));
    if (s_.plan.overlap.tensor_parallel || s_.plan.overlap.tensor_tiles) {
      pipelined(out, op, category, reduce, what, Order::product_first, m, n, k);
      return;
    }
    out.compute(op.name, category, whole);
    if (sums_up(op)) copy_sequence(out, category, reduce.payload);
    sum_up(out, what, sums_up(op) ? reduce : Communication{});
  } else {
    out.compute(op.name, category, whole);
  }
}

// A product cut in tp pieces, each beside a piece of its collective; one piece is local. Tiles
// (overlap.tensor_tiles) leave the product whole: it finishes the pieces one after the other, which
// copy engines send and memory adds, so that it loses memory bandwidth alone,
//
//   share lost = the collective's share of memory x min(1, bytes of the product / bandwidth / time)
//
// and ends t / tp after the slower of the two (arXiv 2401.16677 s.4). Of an all-reduce they are the
// first half.
void BlockLowering::pipelined(PassBuilder& out, const Operator& op, Category category,
                              Communication part, std::string_view what, Order order, double m,
                              double n, double k) {
  const int pieces = s_.binding.tp;
  const bool tiles = order == Order::product_first && s_.plan.overlap.tensor_tiles;
  Kernel piece = product(op, tiles ? m : m / pieces, n, k);
  std::optional<double> lost;
  if (tiles) {
    const Bytes moved = element() * (m * k + k * n + m * n);
    const KernelParameters& kernels = s_.costs.kernels.parameters();
    const double bound = moved / kernels.memory_bandwidth / price(piece, s_.costs);
    lost = s_.costs.interference(CollectiveKind::reduce_scatter, part.payload, s_.layout.tp)
               .memory_share *
           std::min(1.0, bound);
    piece.pieces = pieces;
  }
  const Communication gather = tensor_collective(CollectiveKind::all_gather, part.payload);
  const bool halfway = tiles && part.collective == CollectiveKind::all_reduce;
  if (halfway) part.collective = CollectiveKind::reduce_scatter;
  part.pieces = pieces - 1;
  const Seconds part_time = time(part);
  std::vector<std::optional<NodeIndex>> parts;
  if (order == Order::transfer_first) {
    for (int j = 1; j < pieces; ++j) parts.push_back(transfer(out, what, part));
    for (int j = 0; j < pieces; ++j) {
      if (j > 0) out.wait_for(parts[static_cast<std::size_t>(j) - 1]);
      out.slowed_compute(op.name, category, piece, j + 1 < pieces ? part_time : Seconds(0));
    }
  } else {
    for (int j = 0; j < pieces; ++j) {
      out.slowed_compute(op.name, category, piece, j > 0 ? part_time : Seconds(0), lost);
      if (j + 1 < pieces) parts.push_back(transfer(out, what, part));
    }
    for (const auto& p : parts) out.wait_for(p);
    if (halfway) out.wait_for(transfer(out, "all-gather of sums", gather));
  }
}

}  // namespace orrery
