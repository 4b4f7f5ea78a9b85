// How a plan divides a model, and on what: what a family's rules of division are asked about.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "outcome/enum_names.h"
#include "units/quantity.h"

namespace orrery {

// How an embedding table is divided over the ranks that share tables.
enum class TableSharding {
  automatic,  // by the planner (recommendation/table_placement.h)
  table,      // whole on one rank
  column,     // pieces of its width on several ranks
  row,        // pieces of its rows on all ranks
  table_row,  // pieces of its rows on the ranks of one node, or of one tower
  data,       // whole on all of them, with a dense gradient that is reduced
  torchrec,   // as TorchRec's planner chooses (recommendation/torchrec_planner.h)
};
template <>
inline constexpr char kWordSeparator<TableSharding> = '-';  // "table-row"

// What the vectors of tables are sent as between nodes.
enum class VectorCodec {
  none,   // as they are computed
  bf16,   // two bytes an element
  int8,   // one byte an element, 8 of each row for its scale and offset
  lossy,  // quantised within a bound and coded without loss (numerics/vector_codec.h)
  best,   // for each table what takes the least time by the planner's count
};

struct Model;

// How fast a rank sends what is added to an exchange between some ranks, to be compared with other
// exchanges; infinite where there is but one.
struct ExchangeRates {
  BytesPerSecond vectors{};  // all to all
  BytesPerSecond sums{};     // of partial sums: reduce-scatter, and all-gather of their gradients
};

// What a step takes, and whether its accelerators have the memory for it.
struct StepPrice {
  Seconds time;
  bool fits = true;
};

struct Division {
  std::int64_t tp = 1;
  std::int64_t cp = 1;
  std::int64_t pp = 1;
  std::int64_t ep = 1;
  std::int64_t etp = 1;             // tensor parallelism inside an expert
  bool sequence_parallel = false;   // tp divides the sequence as well
  std::int64_t head_ranks = 1;      // of cp, those that divide heads by an all-to-all
  bool switches_dimension = false;  // cp divides the dimension that a layer does not attend along
  std::int64_t sequence_length = 0;
  std::int64_t ranks = 1;        // all of the plan
  std::int64_t micro_batch = 1;  // sequences, or samples, of one microbatch on a rank
  bool trains = true;
  Bytes element{2};   // of activations
  Bytes gradient{4};  // of dense parameters
  // Of one accelerator: its memory, and how fast kernels read it.
  Bytes memory{};
  BytesPerSecond memory_bandwidth{};
  // Of embedding tables.
  TableSharding table_sharding = TableSharding::automatic;
  VectorCodec codec = VectorCodec::none;
  std::int64_t towers = 1;           // groups of neighbouring ranks that hold all of a table
  std::int64_t tower_ranks = 1;      // of a tower, or of a node without towers
  ExchangeRates between_all{};       // the ep ranks
  ExchangeRates in_tower{};          // the ranks of one
  BytesPerSecond between_towers{};   // the rank of each at the same place, all to all
  BytesPerSecond dense_gradients{};  // that an all-reduce adds up
  // Of one accelerator: its share of the memory and of the disks of its server, the link to the
  // memory, and its share of the rate of the disks.
  Bytes host_memory{};
  Bytes storage{};
  BytesPerSecond host_bandwidth{};
  BytesPerSecond storage_bandwidth{};
  // The step of this plan of the model that lies on its ranks; empty: not priced.
  std::function<StepPrice(const Model& on_ranks)> step_price{};
};

// All-to-alls divide the heads of a tensor-parallel rank over `head_ranks`: why they cannot, and what
// to write instead; nothing if they can. Transformer Engine refuses heads that would be split
// (context_parallel.py, AttnFuncWithCPAndQKVOA2A): it copies no key-value heads for cp.
std::optional<std::string> exchanged_heads_problem(const Division& d, std::int64_t heads,
                                                   std::int64_t key_heads);

}  // namespace orrery
