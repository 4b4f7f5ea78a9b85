// What TorchRec's planner thinks one piece of an embedding table costs, to compare its plans with
// ours.
//
// The equations of pytorch/torchrec, torchrec/distributed/planner/shard_estimators.py (commit
// d95efd61, EmbeddingPerfEstimator; parts and sizes of exchanged elements as in its test of commit
// 06572ad2), with the constants of constants.py. For a batch of B samples a rank, L look-ups of a
// sample, n ranks, w columns of e bytes, and device bandwidth M:
//
//   read     table, column: 8 B L n;  row and data: 8 B L;  table-row: 8 B L n / ranks of a node
//   look-up  as many look-ups times w e; of whole tables and columns times max(w, 32) e
//   written  B n w o for sums of o bytes; of sequences what is read times w o; data: B w e
//   forward  (read + look-up + written) p / M,    p = 1.15 below 128 columns, 1.75 below 64; else 1
//            (whole tables and columns only)
//   exchange written / bandwidth, inside the node if it holds all ranks; table-row-wise both ways
//   backward 2 forward;  row and table-row-wise also copy 2.455 written / M behind the exchange
//   data     all-reduce of the table over the network and 9.22 passes over it
//
// TorchRec divides bytes per second by 1000 and calls the results milliseconds with GiB for GB; the
// numbers here are the same, in its milliseconds. Its planner compares sums of the four parts.
#pragma once

#include "outcome/enum_names.h"

namespace orrery {

enum class TorchRecSharding { table_wise, column_wise, row_wise, table_row_wise, data_parallel };
// Where the rows lie: in memory of the accelerator (data-parallel: dense), of the host, or of the
// host with a cache of `caching_ratio` of them.
enum class TorchRecKernel { fused, dense, fused_uvm, fused_uvm_caching };

struct TorchRecShard {
  TorchRecSharding sharding = TorchRecSharding::table_wise;
  TorchRecKernel kernel = TorchRecKernel::fused;
  double batch = 512;  // samples of a rank
  double pooling = 1;  // look-ups of a sample
  double rows = 0;     // of the piece
  double columns = 0;
  double element_bytes = 4;
  double exchanged_bytes = 4;  // of an element that is exchanged
  double caching_ratio = 0.2;
  double ranks = 1;
  double ranks_of_node = 1;
  bool pooled = true;
};

// In TorchRec's milliseconds.
struct TorchRecPerf {
  double forward_compute = 0;
  double forward_exchange = 0;
  double backward_compute = 0;
  double backward_exchange = 0;
  [[nodiscard]] double total() const {
    return forward_compute + forward_exchange + backward_compute + backward_exchange;
  }
};

TorchRecPerf torchrec_perf(const TorchRecShard& shard);

}  // namespace orrery
