// Places the embedding tables of a recommendation model on the ranks that share them.
//
// Every table gets a kind of division (model/division.h, TableSharding). Tables cut by rows within
// a node are put on nodes, whole tables and pieces of a width on ranks, the one with the most to do
// first, each where there is least to do (in seconds of memory and network) among those with room.
// Tables whose division is automatic begin whole, or replicated where
//
//   g P / R + 40 P / M  <  2 b w a / X          (seconds; P parameters, b samples of a rank)
//
// holds, that is, where reducing and applying a dense gradient costs less than exchanging vectors.
// Then the busiest rank's largest piece is halved along its width, down to 32 bytes, or cut by
// rows, as long as that makes ranks more equal. This is done in several ways: from whole tables, or
// from tables by rows of a node, each with a quarter to four times the right side above; and with
// all automatic tables divided alike, replicated ones apart or not.
// Of each way the placement with the least
//
//   t = max over ranks (bytes read and written) / M + (bytes of the host) / H
//       + sum over exchanges (bytes sent, both ways) / X + dense gradients
//
// is kept. M, H, X and R are the rates of memory, of the link to the host, of the exchange, and of
// all-reduces of gradients of g bytes (model/division.h, ExchangeRates). t knows neither latencies
// nor what runs beside an exchange. Of the placements that are kept, the one is taken with which the
// step of the plan has room and takes the least time (Division::step_price). The step is made of
// the same amounts (model/operator.h, EmbeddingBags and VectorExchange).
//
//   work on a rank, of S look-ups of a piece w wide; an element has e bytes in rows, a in vectors:
//     forward   S (ceil32(w e) + 8) + bags w a
//     update    96 S + bags w a + 2 D (ceil32(w e) + state);  D = n (1 - exp(-S / n)) rows differ
//   exchanges, of b samples of each of G ranks, in towers (or nodes) of L:
//     whole tables, columns   b w a G           from a rank, all to all
//     rows                    b w a G           from every rank, reduce-scatter, whose rings use
//                                               the links of all ranks of a node at once
//     rows of a node          b w a G           from its ranks, reduce-scatter within it; then
//                             b w a G / L       all to all between the ranks of the same place
//     whole or in columns     b w a G           from a rank, all to all within its tower; then so,
//                             of which modules leave one part in `compression`
//
// ceil32: memory is read in sectors of 32 bytes. 96: each of four passes of a radix sort reads and
// writes 12 bytes of every look-up, a 64-bit row and a 32-bit bag. A bag's gradient is read once
// from memory, then from the cache. D holds for uniform look-ups; skewed ones have fewer, so this
// is an upper bound. Otherwise caches are not counted: a row looked up twice costs twice.
//
// Rows in memory of the host are fetched over its link, but for the share of look-ups that a static
// cache of the hottest rows serves (recommender.h, cache_hits); disks take half of their time in
// the forward. Updated rows are written back to where they came from.
//
// No placement of these kinds takes less than the bound
//
//   max over l >= 0 of  sum over tables min over kinds (t_k + l m_k) - l room
//
// of t_k and m_k, the mean over ranks of what a kind takes by itself: the dual of the linear
// program in which a table may be divided in several ways at once, under the memory of all ranks
// together.
//
// The busiest rank is compared with the mean of the same placement: with tables divided in that way
// no rank can have less to do than the mean. Another division may do less work in all.
//
// Source: pytorch/torchrec, torchrec/distributed/planner (kinds of sharding, greedy partition by
// performance, 15 % of memory reserved, caches of tables in host memory); towers: arXiv 2403.00877.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/division.h"
#include "model/operator.h"
#include "model/recommendation/recommender.h"

namespace orrery {

// Share of a rank's memory that the planner gives to tables; pytorch/torchrec,
// planner/storage_reservations.py, HeuristicalStorageReservation, percentage 0.15. Whether a step
// fits is judged by all of its memory.
inline constexpr double kMemoryForTables = 0.85;

// How one table lies.
struct PlacedTable {
  TableSharding sharding = TableSharding::table;
  std::int64_t shards = 1;  // pieces, of width or rows
  TableMemory memory = TableMemory::device;
  VectorCodec codec = VectorCodec::none;
  std::string reason;  // why it is not simply whole on one rank, in its memory
  bool operator==(const PlacedTable&) const = default;
};

struct TablePlacement {
  std::vector<PlacedTable> tables;
  EmbeddingBags bags;                        // of the busiest rank
  std::vector<VectorExchange> sends;         // behind the look-up
  std::vector<VectorExchange> module_sends;  // behind the modules of towers
  Bytes replicated_looked_up;                // of data-parallel tables, of a sample of a rank
  Bytes replicated_updated;
  double replicated_parameters = 0;
  double sharded_parameters = 0;  // of the whole model
  double imbalance = 1;           // seconds of the busiest rank over the mean of this placement
  Bytes busiest_memory;           // tables and states
  Bytes mean_memory;
  Bytes host_memory;  // the mean
  Bytes storage;
  Seconds time;      // t of the planner; no placement takes less than the bound
  Seconds bound;     //
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
