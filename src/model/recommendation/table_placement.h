// Places the embedding tables of a recommendation model on the ranks that share them.
//
// Every table gets a kind of division (recommender.h, TableSharding); whole tables and pieces of
// their width are put on ranks, largest first, each on the rank that has least to do (in seconds of
// memory and network) among those with room. Tables whose division is automatic begin whole, or
// replicated where
//
//   4 * 2 P / X + 40 P / M  <  2 b w a / X      (seconds; P parameters, b samples of a rank)
//
// holds, that is, where reducing and applying a dense gradient costs less than exchanging vectors.
// Then the busiest rank's largest piece is halved along its width, down to 32 bytes, or cut by
// rows, as long as that makes ranks more equal; of all placements seen, and of the ones in which
// all automatic tables are divided alike, the one with the least
//
//   t = max over ranks (bytes read and written) / M + 2 exchanged bytes / X + dense gradients
//
// is taken. M is the bandwidth of memory, X that of the exchange. t only chooses: the step is
// priced by the lowering, from the amounts of the placement (model/operator.h, EmbeddingBags).
//
//   work on a rank, of S look-ups of a piece w wide; an element has e bytes in rows, a in vectors:
//     forward   S (ceil32(w e) + 8) + bags w a
//     update    96 S + bags w a + 2 D (ceil32(w e) + state);  D = n (1 - exp(-S / n)) rows differ
//
// ceil32: memory is read in sectors of 32 bytes. 96: each of four passes of a radix sort reads and
// writes 12 bytes of every look-up, a 64-bit row and a 32-bit bag. A bag's gradient is read once
// from memory, then from the cache. D holds for uniform look-ups; skewed ones have fewer, so this
// is an upper bound. Otherwise caches are not counted: a row looked up twice costs twice.
//
// The busiest rank is compared with the mean of the same placement: with tables divided in that way
// no rank can have less to do than the mean. Another division may do less work in all.
//
// Source: pytorch/torchrec, torchrec/distributed/planner (kinds of sharding, greedy partition by
// performance, 15 % of memory reserved). Not modelled: table-row-wise sharding, tables in host
// memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/division.h"
#include "model/operator.h"
#include "model/recommendation/recommender.h"

namespace orrery {

// How one table lies.
struct PlacedTable {
  TableSharding sharding = TableSharding::table;
  std::int64_t shards = 1;  // pieces, of width or rows
  std::string reason;       // why it is not simply whole on one rank
  bool operator==(const PlacedTable&) const = default;
};

struct TablePlacement {
  std::vector<PlacedTable> tables;
  EmbeddingBags bags;          // of the busiest rank
  Bytes replicated_looked_up;  // of data-parallel tables, of a sample of a rank
  Bytes replicated_updated;
  double replicated_parameters = 0;
  double sharded_parameters = 0;  // of the whole model
  double imbalance = 1;           // seconds of the busiest rank over the mean of this placement
  Bytes busiest_memory;           // tables and states
  Bytes mean_memory;
  bool fits = true;  // every rank's tables, within its share of memory
};

// Of a valid recommender and division. O((T + R) log R) for each of at most some hundred rounds.
TablePlacement place_tables(const Recommender& r, const Division& d);

// The placement in sentences: kinds and their number, balance, what decided.
std::vector<std::string> placement_in_words(const Recommender& r, const Division& d,
                                            const TablePlacement& placement);

// Why the tables cannot lie so: all reasons; cheap.
std::vector<std::string> table_division_problems(const Recommender& r, const Division& d);

}  // namespace orrery
