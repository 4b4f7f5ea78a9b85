// How TorchRec's planner divides embedding tables: by its own cost model, which knows neither the
// accelerator nor what the host launches.
//
// Every table that leaves its division open has these options, in each of which its rows may lie in
// memory of the accelerator, cached from the host, or in memory of the host (on every rank only the
// first):
//
//   data, table, column, row, table-row
//
// An option costs, of each of its pieces, the time of torchrec_costs.h, and storage: rows with the
// optimizer's state, look-ups and vectors of a batch (of cached ones also 4 bytes a row and 16 a row
// of the cache). Pieces of a width are the narrowest divisor of it that four divides, from 128
// columns; a table without one stays in one piece. Rows are cut into equal pieces, rounded up, so that
// the last ranks may get none. Proposals are made in four ways:
//
//   grid      all combinations, where they are at most 10,000
//   greedy    each table has the option whose largest piece costs least; then the table with the
//             largest piece in storage takes its next option, until none is left
//   greedy    so by the sum over pieces
//   uniform   all tables alike
//
// A proposal is put on ranks: first what lies on all of them; then, the table with the most storage
// first, rows of a node on the node, and other pieces on the rank, with the least cost so far that has
// room, at equal cost the first of a node and the first node. Of the proposals that have room the one
// whose busiest rank costs least is taken, the earliest of equal ones.
//
// Source: pytorch/torchrec, commit a48cef79, torchrec/distributed/planner: enumerators.py, proposers.py
// (GridSearchProposer, GreedyProposer, UniformProposer), partitioners.py (GreedyPerfPartitioner),
// perf_models.py (NoopPerfModel), planners.py (EmbeddingShardingPlanner: the four proposers, 15 % of
// memory reserved), shard_estimators.py (calculate_shard_storages); torchrec/distributed/
// embedding_types.py (BaseEmbeddingSharder) and sharding_plan.py. Costs are those of releases since
// v0.1.1 of May 2022; what table-row sends between nodes was corrected in March 2025 (5f2ffd97), and
// stands as before.
//
// TorchRec takes 32 GiB an accelerator and one look-up of a sample unless it is told; here it is told
// the memory, of which room() is left, and the look-ups. Where rows lie follows from the model, so that
// proposals which move them to the host are passed over; they cost 40 times as much. Pieces of a width
// within a node are left out, which cost what they do on any rank. The planner's own time is limited.
#pragma once

#include <vector>

#include "model/recommendation/table_costs.h"
#include "model/recommendation/torchrec_costs.h"

namespace orrery {

// Of one piece of a table. `ranks_of_node`: at most d.ep.
TorchRecPerf torchrec_perf(const Recommender& r, const Division& d, const EmbeddingTable& t,
                           const TableChoice& c, std::int64_t ranks_of_node);

// Of each table; as it is stated, where it is. By rows where nothing else has room.
std::vector<TableChoice> torchrec_choices(const Recommender& r, const Division& d,
                                          const TableCosts& costs);

}  // namespace orrery
