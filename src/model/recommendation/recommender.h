// The numbers that a recommendation model is built from: embedding tables, a bottom MLP for dense
// features, an interaction of all vectors, and a top MLP for each task.
//
// A sample is one row of a batch: dense features, and for each table a bag of look-ups whose rows
// are added up. Source of the design: DLRM, arXiv 1906.00091; DCN v2, arXiv 2008.13535; the models
// of MAD-Max, arXiv 2310.02784 (transformer as interaction, experts in the top MLP).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "document/fields.h"
#include "document/provenance.h"
#include "model/division.h"
#include "units/number_format.h"

namespace orrery {

// What joins the bottom MLP's output and the vectors of the tables.
enum class Interaction {
  none,           // unknown to the source: the vectors are read, the top MLP is stated
  concatenation,  // all of them in a row
  dot,            // products of all pairs, beside the bottom MLP's output
  cross,          // DCN v2: x' = x0 * (W x + b) + x over the concatenation
  transformer,    // of the vectors as tokens
};

// Where the rows of a table lie.
enum class TableMemory {
  device,     // in memory of the accelerators
  automatic,  // there, or cached if all of them do not fit: those that are read least for their size
  cached,     // in memory of the host; `cache_share` of the rows, the hottest, on the accelerator
  host,       // in memory of the host, read over its link
  storage,    // on disks of the host; `cache_share` of the rows on the accelerator
};

// What updates the rows. States of a row: 4 bytes, 4 bytes an element, none.
enum class TableOptimizer { row_wise_adagrad, adagrad, sgd };
template <>
inline constexpr char kWordSeparator<TableOptimizer> = '-';  // "row-wise-adagrad"

struct CrossNetwork {
  std::int64_t layers = 3;
  std::int64_t rank = 0;  // W = U V of this inner width; 0: full
  bool operator==(const CrossNetwork&) const = default;
};
struct RoutedTopMlp {
  std::int64_t num_experts = 0;
  std::int64_t top_k = 1;
  bool operator==(const RoutedTopMlp&) const = default;
};
struct InteractionTransformer {
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t attention_dim = 0;
  std::int64_t ffn = 0;
  std::int64_t seq_len = 0;  // tokens of a sample
  bool operator==(const InteractionTransformer&) const = default;
};

// What each tower of a disaggregated multi-tower model does to the vectors of its tables before they
// leave it (arXiv 2403.00877): cross layers of full rank, then a projection to `compression` times
// fewer elements. Towers are equally wide, and each leaves whole elements.
struct TowerModules {
  std::int64_t towers = 0;
  std::int64_t compression = 1;
  std::int64_t cross_layers = 0;
  bool operator==(const TowerModules&) const = default;
};

// What an error-bounded codec makes of the vectors: measured by `orrery numerics vectors`, which
// counts four bytes an element before, whatever the vectors are computed in: an exchange of elements
// of e bytes sends 4 / ratio / e of them, and vectors as they are where that is no less.
struct LossyVectors {
  double ratio = 0;            // bytes before over bytes behind, or of each table:
  std::vector<double> ratios;  //
  BytesPerSecond compress;     // of one accelerator, bytes before
  BytesPerSecond decompress;
  bool operator==(const LossyVectors&) const = default;
};

// How often rows are read, in classes from the coldest to the hottest: the share of the rows in each
// class, and that of the look-ups.
struct RowReuse {
  std::vector<double> rows;
  std::vector<double> look_ups;
  bool operator==(const RowReuse&) const = default;
};

struct Recommender {
  std::string name = "unnamed";
  std::vector<std::string> aliases;
  std::string family;
  std::int64_t num_tables = 0;
  std::vector<std::int64_t> row_counts;  // of each table, or rows_per_table
  std::int64_t rows_per_table = 0;
  std::vector<std::int64_t> embedding_dims;  // of each table, or embedding_dim
  std::int64_t embedding_dim = 0;
  std::vector<double> pooling_list;  // look-ups of a sample, the mean; or pooling
  double pooling = 0;
  std::vector<TableSharding> table_shardings;  // of each table, or table_sharding
  TableSharding table_sharding = TableSharding::automatic;
  std::int64_t column_shards = 0;  // of a column-wise table; 0: the planner's
  TableOptimizer table_optimizer = TableOptimizer::row_wise_adagrad;
  NumberFormat embedding_dtype = NumberFormat::fp32;
  std::vector<TableMemory> table_memories;  // of each table, or table_memory
  TableMemory table_memory = TableMemory::device;
  double cache_share = 0.2;       // of the rows
  std::optional<RowReuse> reuse;  // of every table; absent: all rows alike
  std::optional<TowerModules> tower_modules;
  std::optional<LossyVectors> lossy;
  bool prefetch = true;                  // look-ups of the next batch travel during this one
  std::vector<std::int64_t> bottom_mlp;  // widths, the input's first
  std::vector<std::int64_t> top_mlp;
  std::int64_t tasks = 1;  // top MLPs beside each other
  Interaction interaction = Interaction::dot;
  std::optional<CrossNetwork> cross;
  std::optional<InteractionTransformer> transformer;
  std::optional<RoutedTopMlp> moe;
  std::int64_t global_batch = 0;  // samples of a step, as published
  // Published facts that nothing is computed from; tests compare them with what is computed.
  std::int64_t dense_features = 0;
  double mlp_mflops_per_sample = 0;
  double lookup_bytes_per_sample = 0;
  double embedding_params_b = 0;
  double dense_params_m = 0;
  double total_params_b = 0;
  std::string dense_dtype;
  std::string optimizer;
  std::string published_sharding;
  Provenance provenance;
  bool operator==(const Recommender&) const = default;
};
Fields<Recommender> fields_of(const Recommender*);

struct EmbeddingTable {
  double rows = 0;
  double width = 0;
  double pooling = 0;  // look-ups of a sample
  TableSharding sharding = TableSharding::automatic;
  TableMemory memory = TableMemory::device;
  bool operator==(const EmbeddingTable&) const = default;
};

// All numbers in range and consistent, or every reason why not.
std::vector<std::string> recommender_problems(const Recommender& r);
// Of a recommender without problems.
std::vector<EmbeddingTable> tables_of(const Recommender& r);
// Look-ups that a static cache of the hottest rows serves, as a share of all; `share` of the rows.
double cache_hits(const Recommender& r, double share);
// Of the vectors of a tower, before and behind its module, and of all tables behind modules.
double tower_width(const Recommender& r);
std::int64_t joined_width(const Recommender& r);
// Elements of a sample that the interaction hands to the top MLP; 0: unknown (Interaction::none and
// ::transformer).
std::int64_t interaction_width(const Recommender& r);

// Bytes of a row, without and with the optimizer's state.
Bytes row_bytes(const Recommender& r, double width);
Bytes row_state(const Recommender& r, double width);

}  // namespace orrery
