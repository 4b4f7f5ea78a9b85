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

// How a table is divided over the ranks that share tables.
enum class TableSharding {
  automatic,  // by the planner (table_placement.h)
  table,      // whole on one rank
  column,     // pieces of its width on several ranks
  row,        // pieces of its rows on all ranks
  data,       // whole on all of them, with a dense gradient that is reduced
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
const Fields<Recommender>& fields_of(const Recommender*);

struct EmbeddingTable {
  double rows = 0;
  double width = 0;
  double pooling = 0;  // look-ups of a sample
  TableSharding sharding = TableSharding::automatic;
  bool operator==(const EmbeddingTable&) const = default;
};

// All numbers in range and consistent, or every reason why not.
std::vector<std::string> recommender_problems(const Recommender& r);
// Of a recommender without problems.
std::vector<EmbeddingTable> tables_of(const Recommender& r);
// Elements of a sample that the interaction hands to the top MLP; 0: unknown (Interaction::none and
// ::transformer).
std::int64_t interaction_width(const Recommender& r);

// Bytes of a row, without and with the optimizer's state.
Bytes row_bytes(const Recommender& r, double width);
Bytes row_state(const Recommender& r, double width);

}  // namespace orrery
