#include "model/recommendation/recommender.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <type_traits>

#include "model/model_problems.h"

namespace orrery {

Fields<CrossNetwork> fields_of(const CrossNetwork*) {
  return Fields<CrossNetwork>("cross network")
      .required<&CrossNetwork::layers>("cross layers")
      .optional<&CrossNetwork::rank>("inner width of each layer's matrix; 0: full");
}

Fields<RoutedTopMlp> fields_of(const RoutedTopMlp*) {
  return Fields<RoutedTopMlp>("experts of the top MLP")
      .required<&RoutedTopMlp::num_experts>("experts of each layer, held by every rank")
      .optional<&RoutedTopMlp::top_k>("experts of a sample");
}

Fields<TowerModules> fields_of(const TowerModules*) {
  return Fields<TowerModules>("modules of towers")
      .required<&TowerModules::towers>("groups that the tables are divided into")
      .optional<&TowerModules::compression>("elements before over elements behind a module")
      .optional<&TowerModules::cross_layers>("cross layers of full rank before the projection");
}

Fields<LossyVectors> fields_of(const LossyVectors*) {
  return Fields<LossyVectors>("error-bounded codec of vectors")
      .optional<&LossyVectors::ratio>("bytes before over bytes behind, without ratios")
      .optional<&LossyVectors::ratios>("of each table")
      .required<&LossyVectors::compress>("throughput of one accelerator")
      .required<&LossyVectors::decompress>("throughput of one accelerator");
}

Fields<RowReuse> fields_of(const RowReuse*) {
  return Fields<RowReuse>("reuse of rows")
      .required<&RowReuse::rows>("share of the rows in each class, the coldest first")
      .required<&RowReuse::look_ups>("share of the look-ups in each class");
}

Fields<InteractionTransformer> fields_of(const InteractionTransformer*) {
  using T = InteractionTransformer;
  return Fields<T>("transformer of the interaction")
      .required<&T::layers>("layers")
      .required<&T::heads>("attention heads")
      .required<&T::attention_dim>("width of a token")
      .required<&T::ffn>("width of the feed-forward")
      .required<&T::seq_len>("tokens of a sample");
}

Fields<Recommender> fields_of(const Recommender*) {
  using T = Recommender;
  return Fields<T>("recommendation model")
      .optional<&T::name>("identifier")
      .optional<&T::aliases>("other names of the same entry")
      .optional<&T::family>("models that share a design")
      .required<&T::num_tables>("embedding tables")
      .optional<&T::row_counts>("rows of each table")
      .optional<&T::rows_per_table>("rows of every table, without row_counts")
      .optional<&T::embedding_dims>("width of each table")
      .optional<&T::embedding_dim>("width of every table, without embedding_dims")
      .optional<&T::pooling_list>("look-ups of a sample in each table, the mean")
      .optional<&T::pooling>("look-ups of a sample in every table, without pooling_list")
      .optional<&T::table_shardings>("how each table is divided over ranks")
      .optional<&T::table_sharding>("how every table is divided, without table_shardings")
      .optional<&T::column_shards>("pieces of a column-wise table; 0: as the planner chooses")
      .optional<&T::table_optimizer>("what updates the rows in the backward")
      .optional<&T::embedding_dtype>("number format of the tables")
      .optional<&T::table_memories>("where the rows of each table lie")
      .optional<&T::table_memory>("where the rows of every table lie, without table_memories")
      .optional<&T::cache_share>("share of the rows that a cache of a table holds")
      .optional<&T::reuse>("how often rows are read; absent: all alike")
      .optional<&T::tower_modules>("what towers do to the vectors of their tables")
      .optional<&T::lossy>("what an error-bounded codec makes of vectors")
      .optional<&T::prefetch>("look-ups of the next batch travel during this one")
      .required<&T::bottom_mlp>("widths of the MLP of dense features, its input first")
      .required<&T::top_mlp>("widths of the MLP behind the interaction, its input first")
      .optional<&T::tasks>("top MLPs beside each other")
      .optional<&T::interaction>("what joins bottom MLP and tables")
      .optional<&T::cross>("layers of a cross interaction")
      .optional<&T::transformer>("layers of a transformer interaction")
      .optional<&T::moe>("experts in place of each layer of the top MLP")
      .optional<&T::global_batch>("samples of a step, as published")
      .optional<&T::dense_features>("dense features of a sample")
      .optional<&T::mlp_mflops_per_sample>("1e6 FLOPs of the products, forward")
      .optional<&T::lookup_bytes_per_sample>("bytes of the rows that a sample reads")
      .optional<&T::embedding_params_b>("1e9 parameters of the tables")
      .optional<&T::dense_params_m>("1e6 other parameters")
      .optional<&T::total_params_b>("1e9 parameters in all")
      .optional<&T::dense_dtype>("what the source trains the MLPs in")
      .optional<&T::optimizer>("what the source trains with")
      .optional<&T::published_sharding>("how the source divides the model")
      .optional<&T::provenance>("where the facts come from");
}

namespace {

constexpr std::int64_t kMostTables = 100'000;
constexpr std::int64_t kMostRows = 1'000'000'000'000;
constexpr std::int64_t kMostWidth = 65'536;
constexpr std::int64_t kMostMlpWidth = 1'000'000;
constexpr std::int64_t kMostMlpLayers = 1000;
constexpr double kMostPooling = 100'000;

// One entry of each table, or none.
template <class T>
void check_count(const Recommender& r, const char* key, const std::vector<T>& list,
                 const char* entries, ModelProblems& out) {
  if (list.empty() || std::ssize(list) == r.num_tables) return;
  out.say(fmt::format("{} has {} {} for {} tables", key, list.size(), entries, r.num_tables));
}

// One number of each table: a list, or a number for all of them. Many tables that are wrong alike
// are said once, with the first.
template <class N>
void check_tables(const Recommender& r, const char* list_key, const std::vector<N>& list,
                  const char* key, N all, std::type_identity_t<N> least,
                  std::type_identity_t<N> most, ModelProblems& out) {
  if (list.empty()) out.range(key, all, least, most);
  check_count(r, list_key, list, "numbers", out);
  const auto is_wrong = [&](N n) { return !(n >= least && n <= most); };
  const auto wrong = std::ranges::count_if(list, is_wrong);
  if (wrong == 0) return;
  const auto first = std::ranges::find_if(list, is_wrong);
  out.say(fmt::format("{} of table {} is {}, outside {} to {}{}", list_key, first - list.begin(),
                      *first, least, most,
                      wrong > 1 ? fmt::format(", as of {} more", wrong - 1) : ""));
}

void check_mlp(const char* key, const std::vector<std::int64_t>& widths, ModelProblems& out) {
  out.require(widths.size() >= 2, fmt::format("{} needs an input and at least one layer", key));
  out.require(std::ssize(widths) <= kMostMlpLayers,
              fmt::format("{} has {} widths, more than {}", key, widths.size(), kMostMlpLayers));
  const std::string width = fmt::format("a width of {},", key);
  for (const std::int64_t w : widths) {
    if (!out.range(width, w, 1, kMostMlpWidth)) break;
  }
}

void interaction_problems(const Recommender& r, ModelProblems& out) {
  const std::int64_t expected = interaction_width(r);
  if (!r.top_mlp.empty() && expected > 0 && r.top_mlp.front() != expected) {
    out.say(fmt::format("top_mlp begins with {}, but the {} interaction gives {}",
                        r.top_mlp.front(), to_text(r.interaction), expected));
  }
  const bool needs_equal = r.interaction == Interaction::dot;
  if (needs_equal && !r.bottom_mlp.empty() && r.embedding_dims.empty() &&
      r.bottom_mlp.back() != r.embedding_dim) {
    out.say(
        fmt::format("bottom_mlp ends with {}, but dot products need the width of the tables, {}",
                    r.bottom_mlp.back(), r.embedding_dim));
  }
  if (needs_equal && std::ranges::any_of(r.embedding_dims, [&](std::int64_t w) {
        return !r.bottom_mlp.empty() && w != r.bottom_mlp.back();
      })) {
    out.say("dot products need tables as wide as the end of bottom_mlp; embedding_dims differ");
  }
  if ((r.interaction == Interaction::cross) != r.cross.has_value()) {
    out.say(r.cross ? "cross needs interaction: cross"
                    : "interaction: cross needs the field cross");
  }
  if ((r.interaction == Interaction::transformer) != r.transformer.has_value()) {
    out.say(r.transformer ? "transformer needs interaction: transformer"
                          : "interaction: transformer needs the field transformer");
  }
  if (r.cross) {
    out.range("cross.layers", r.cross->layers, 1, kMostMlpLayers);
    out.range("cross.rank", r.cross->rank, 0, kMostMlpWidth);
  }
  if (const auto& t = r.transformer) {
    out.range("transformer.layers", t->layers, 1, kMostMlpLayers);
    out.range("transformer.heads", t->heads, 1, kMostWidth);
    out.range("transformer.attention_dim", t->attention_dim, 1, kMostMlpWidth);
    out.range("transformer.ffn", t->ffn, 1, kMostMlpWidth);
    out.range("transformer.seq_len", t->seq_len, 1, kMostMlpWidth);
    if (t->heads >= 1 && t->attention_dim % t->heads != 0) {
      out.say(fmt::format("transformer.heads {} does not divide attention_dim {}", t->heads,
                          t->attention_dim));
    }
  }
  if (r.moe) {
    out.range("moe.num_experts", r.moe->num_experts, 1, kMostWidth);
    out.range("moe.top_k", r.moe->top_k, 1, std::max<std::int64_t>(1, r.moe->num_experts));
  }
}

void sharding_problems(const Recommender& r, ModelProblems& out) {
  out.range("column_shards", r.column_shards, 0, kMostWidth);
  check_count(r, "table_shardings", r.table_shardings, "words", out);
  constexpr std::int64_t kMostPieces = 1'000'000;
  if (r.column_shards > 1 && r.num_tables > kMostPieces / r.column_shards) {
    out.say(fmt::format("{} tables in {} pieces each are more than {} pieces", r.num_tables,
                        r.column_shards, kMostPieces));
  }
  check_count(r, "table_memories", r.table_memories, "words", out);
  if (r.column_shards < 2) return;
  const auto undivided = [&](std::int64_t width) { return width % r.column_shards != 0; };
  if (r.embedding_dims.empty() ? undivided(r.embedding_dim)
                               : std::ranges::any_of(r.embedding_dims, undivided)) {
    const std::int64_t width = r.embedding_dims.empty()
                                   ? r.embedding_dim
                                   : *std::ranges::find_if(r.embedding_dims, undivided);
    out.say(
        fmt::format("column_shards {} does not divide the table width {}", r.column_shards, width));
  }
}

void memory_problems(const Recommender& r, ModelProblems& out) {
  out.range("cache_share", r.cache_share, 0.0, 1.0);
  if (!r.reuse) return;
  const auto adds_up = [&](const char* key, const std::vector<double>& shares) {
    double sum = 0;
    for (const double s : shares) {
      if (!(s >= 0)) {
        out.say(fmt::format("reuse.{} has a share of {}; write shares from 0 to 1", key, s));
        return;
      }
      sum += s;
    }
    // Histograms are printed in three digits.
    if (std::abs(sum - 1) <= 0.02) return;
    out.say(fmt::format("reuse.{} are no shares that add up to 1", key));
  };
  adds_up("rows", r.reuse->rows);
  adds_up("look_ups", r.reuse->look_ups);
  if (r.reuse->rows.size() != r.reuse->look_ups.size()) {
    out.say(fmt::format("reuse.rows has {} classes, reuse.look_ups {}", r.reuse->rows.size(),
                        r.reuse->look_ups.size()));
  }
}

std::int64_t width_of_tables(const Recommender& r) {
  std::int64_t width = 0;
  for (const std::int64_t w : r.embedding_dims) width += std::clamp<std::int64_t>(w, 0, kMostWidth);
  if (!r.embedding_dims.empty()) return width;
  return std::clamp<std::int64_t>(r.num_tables, 0, kMostTables) *
         std::clamp<std::int64_t>(r.embedding_dim, 0, kMostWidth);
}

// The divisor of `whole` nearest to `value`, and not above `most`.
std::int64_t nearest_divisor(std::int64_t whole, std::int64_t value, std::int64_t most) {
  for (std::int64_t away = 0; away < value; ++away) {
    if (whole % (value - away) == 0) return value - away;
    if (value + away <= most && whole % (value + away) == 0) return value + away;
  }
  return 1;
}

// Vectors side by side: each tower has as many elements, and leaves one in `compression` of them.
void tower_width_problems(const Recommender& r, ModelProblems& out) {
  const TowerModules& m = *r.tower_modules;
  if (r.interaction != Interaction::concatenation && r.interaction != Interaction::cross) return;
  const std::int64_t width = width_of_tables(r);
  if (m.towers < 1 || m.towers > std::min(r.num_tables, kMostTables) || m.compression < 1 ||
      m.compression > kMostWidth || width % (m.towers * m.compression) == 0) {
    return;
  }
  const std::int64_t towers = nearest_divisor(width, m.towers, r.num_tables);
  out.say(
      fmt::format("tower_modules: towers {} x compression {} does not divide the {} elements of "
                  "all tables; the "
                  "nearest that does is towers {} x compression {}",
                  m.towers, m.compression, width, towers,
                  nearest_divisor(width / towers, m.compression, kMostWidth)));
}

void vector_problems(const Recommender& r, ModelProblems& out) {
  if (const auto& m = r.tower_modules) {
    out.range("tower_modules.towers", m->towers, 1, kMostTables);
    out.range("tower_modules.compression", m->compression, 1, kMostWidth);
    out.range("tower_modules.cross_layers", m->cross_layers, 0, kMostMlpLayers);
    if (m->towers > r.num_tables) {
      out.say(
          fmt::format("tower_modules.towers {} are more than {} tables", m->towers, r.num_tables));
    }
    if (r.interaction == Interaction::dot && m->compression > 0 &&
        r.num_tables % m->compression != 0) {
      out.say(
          fmt::format("tower_modules.compression {} does not divide {} tables, whose vectors "
                      "dot products need",
                      m->compression, r.num_tables));
    }
    tower_width_problems(r, out);
  }
  if (const auto& c = r.lossy) {
    constexpr double kMostRatio = 1e6;
    if (c->ratios.empty()) out.range("lossy.ratio", c->ratio, 1.0, kMostRatio);
    for (const double q : c->ratios) {
      if (!out.range("lossy.ratios", q, 1, kMostRatio)) break;
    }
    check_count(r, "lossy.ratios", c->ratios, "numbers", out);
    if (!(c->compress.value() > 0)) out.say("lossy.compress is not greater than 0");
    if (!(c->decompress.value() > 0)) out.say("lossy.decompress is not greater than 0");
  }
}

}  // namespace

std::vector<std::string> recommender_problems(const Recommender& r) {
  ModelProblems out;
  out.range("num_tables", r.num_tables, 1, kMostTables);
  check_tables(r, "row_counts", r.row_counts, "rows_per_table", r.rows_per_table, 1, kMostRows,
               out);
  check_tables(r, "embedding_dims", r.embedding_dims, "embedding_dim", r.embedding_dim, 1,
               kMostWidth, out);
  constexpr double kLeastPooling = 1e-6;
  check_tables(r, "pooling_list", r.pooling_list, "pooling", r.pooling, kLeastPooling, kMostPooling,
               out);
  check_mlp("bottom_mlp", r.bottom_mlp, out);
  check_mlp("top_mlp", r.top_mlp, out);
  out.range("tasks", r.tasks, 1, kMostMlpLayers);
  out.range("global_batch", r.global_batch, 0, 1'000'000'000);
  interaction_problems(r, out);
  sharding_problems(r, out);
  memory_problems(r, out);
  vector_problems(r, out);
  if (element_size(r.embedding_dtype) <= Bytes(0)) {
    out.say(fmt::format("embedding_dtype {} has no size", to_text(r.embedding_dtype)));
  }
  return std::move(out.all);
}

std::vector<EmbeddingTable> tables_of(const Recommender& r) {
  std::vector<EmbeddingTable> out(static_cast<std::size_t>(r.num_tables));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto of = [i](const auto& list, auto all) { return list.empty() ? all : list[i]; };
    out[i] = {static_cast<double>(of(r.row_counts, r.rows_per_table)),
              static_cast<double>(of(r.embedding_dims, r.embedding_dim)),
              of(r.pooling_list, r.pooling), of(r.table_shardings, r.table_sharding),
              of(r.table_memories, r.table_memory)};
  }
  return out;
}

double cache_hits(const Recommender& r, double share) {
  if (!r.reuse) return std::min(1.0, share);
  const auto sum = [](const std::vector<double>& v) {
    double all = 0;
    for (const double s : v) all += s;
    return all;
  };
  const double all_rows = sum(r.reuse->rows);
  const double all_look_ups = sum(r.reuse->look_ups);
  double hits = 0;
  // The hottest class first; rows of a class are read alike.
  for (std::size_t i = r.reuse->rows.size(); i-- > 0 && share > 0;) {
    const double rows = r.reuse->rows[i] / all_rows;
    const double part = rows > share ? share / rows : 1;
    hits += part * r.reuse->look_ups[i] / all_look_ups;
    share -= rows;
  }
  return std::min(1.0, hits);
}

namespace {

std::int64_t compression(const Recommender& r) {
  return r.tower_modules ? std::max<std::int64_t>(1, r.tower_modules->compression) : 1;
}

}  // namespace

double tower_width(const Recommender& r) {
  const std::int64_t towers =
      r.tower_modules ? std::max<std::int64_t>(1, r.tower_modules->towers) : 1;
  return static_cast<double>(width_of_tables(r)) / static_cast<double>(towers);
}

std::int64_t joined_width(const Recommender& r) { return width_of_tables(r) / compression(r); }

std::int64_t interaction_width(const Recommender& r) {
  if (r.bottom_mlp.empty()) return 0;
  const std::int64_t bottom = std::clamp<std::int64_t>(r.bottom_mlp.back(), 0, kMostMlpWidth);
  switch (r.interaction) {
    case Interaction::none:
    case Interaction::transformer:
      return 0;
    case Interaction::concatenation:
    case Interaction::cross:
      return joined_width(r) + bottom;
    case Interaction::dot: {
      const std::int64_t n =
          std::clamp<std::int64_t>(r.num_tables, 0, kMostTables) / compression(r);
      return n * (n + 1) / 2 + bottom;
    }
  }
  return 0;
}

Bytes row_bytes(const Recommender& r, double width) {
  return element_size(r.embedding_dtype) * width;
}

Bytes row_state(const Recommender& r, double width) {
  constexpr double kFp32Bytes = 4;
  switch (r.table_optimizer) {
    case TableOptimizer::row_wise_adagrad:
      return Bytes(kFp32Bytes);
    case TableOptimizer::adagrad:
      return Bytes(kFp32Bytes * width);
    case TableOptimizer::sgd:
      return Bytes(0);
  }
  return Bytes(0);
}

}  // namespace orrery
