#include "lower/document_rows.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "lower/rank_layout.h"

namespace orrery {
namespace {

constexpr double kSampledRows = 512;            // of the sample
constexpr std::size_t kMostRingRanks = 128;     // whose steps are told apart
constexpr std::size_t kMostSampledRows = 8192;  // of documents far longer than a row
constexpr double kFewestDocuments = 1024;
constexpr double kMostDocuments = 262'144;
constexpr std::size_t kGridCells = 256;  // of the grid of a sum
constexpr double kNegligible = 1e-12;    // probability beyond either end of the grid

// Pairs of the first x queries of a document.
double pairs_of_first(double x, double window) {
  if (x <= 0) return 0;
  return window > 0 && x > window ? window * window / 2 + (x - window) * window : x * x / 2;
}

// Mean over the documents.
template <class F>
double mean(const Documents& documents, F&& of) {
  double sum = 0;
  double weight = 0;
  for (const DocumentLength& l : documents.lengths) {
    sum += l.count * of(static_cast<double>(l.tokens));
    weight += l.count;
  }
  return sum / weight;
}

// So many lengths, each as often as its share, in an order without order.
std::vector<double> sampled_lengths(const Documents& documents, std::size_t count) {
  std::vector<DocumentLength> sorted = documents.lengths;
  std::ranges::sort(sorted, {}, &DocumentLength::tokens);
  double all = 0;
  for (const DocumentLength& l : sorted) all += l.count;
  std::vector<double> out;
  std::size_t at = 0;
  double before = sorted.front().count;
  for (std::size_t k = 0; k < count; ++k) {
    const double quantile = (static_cast<double>(k) + 0.5) / static_cast<double>(count) * all;
    while (at + 1 < sorted.size() && before < quantile) before += sorted[++at].count;
    out.push_back(static_cast<double>(sorted[at].tokens));
  }
  std::mt19937_64 random(20240731);
  for (std::size_t i = out.size(); i > 1; --i) std::swap(out[i - 1], out[random() % i]);
  return out;
}

std::vector<std::vector<double>> cut_stream(const std::vector<double>& lengths, double row) {
  std::vector<std::vector<double>> out(1);
  double space = row;
  for (double left : lengths) {
    while (left > 0 && out.size() <= kMostSampledRows) {
      const double piece = std::min(left, space);
      out.back().push_back(piece);
      left -= piece;
      space -= piece;
      if (space > 0) continue;
      out.emplace_back();
      space = row;
    }
  }
  if (out.size() > 1) out.pop_back();  // which is not full
  return out;
}

// Best fit of the longest first.
std::vector<std::vector<double>> packed_rows(std::vector<double> lengths, double row) {
  std::ranges::sort(lengths, std::greater<>());
  std::vector<std::vector<double>> out;
  std::multimap<double, std::size_t> space;  // left in rows
  for (const double length : lengths) {
    auto best = space.lower_bound(length);
    if (best == space.end()) {
      best = space.emplace(row, out.size());
      out.emplace_back();
    }
    const auto [left, index] = *best;
    out[index].push_back(length);
    space.erase(best);
    space.emplace(left - length, index);
  }
  return out;
}

// Probabilities of the values first, first + step, ...
struct Grid {
  double first = 0;
  double step = 0;
  std::vector<double> mass;
};

// With cells twice as wide; a value between two of them is divided among both, which keeps the mean.
Grid coarser(const Grid& grid) {
  Grid out{grid.first, 2 * grid.step, std::vector<double>(grid.mass.size() / 2 + 1)};
  for (std::size_t i = 0; i < grid.mass.size(); ++i) {
    out.mass[i / 2] += i % 2 == 0 ? grid.mass[i] : grid.mass[i] / 2;
    if (i % 2 == 1) out.mass[i / 2 + 1] += grid.mass[i] / 2;
  }
  return out;
}

Grid fitted(Grid grid) {
  std::size_t begin = 0;
  std::size_t end = grid.mass.size();
  for (double beyond = 0; begin + 1 < end; ++begin) {
    beyond += grid.mass[begin];
    if (beyond > kNegligible) break;
  }
  for (double beyond = 0; end > begin + 1; --end) {
    beyond += grid.mass[end - 1];
    if (beyond > kNegligible) break;
  }
  grid.mass = {grid.mass.begin() + static_cast<std::ptrdiff_t>(begin),
               grid.mass.begin() + static_cast<std::ptrdiff_t>(end)};
  grid.first += static_cast<double>(begin) * grid.step;
  while (grid.mass.size() > kGridCells) grid = coarser(grid);
  return grid;
}

Grid sum(Grid a, Grid b) {
  while (a.step < b.step) a = coarser(a);
  while (b.step < a.step) b = coarser(b);
  Grid out{a.first + b.first, a.step, std::vector<double>(a.mass.size() + b.mass.size() - 1)};
  for (std::size_t i = 0; i < a.mass.size(); ++i) {
    for (std::size_t j = 0; j < b.mass.size(); ++j) out.mass[i + j] += a.mass[i] * b.mass[j];
  }
  return fitted(std::move(out));
}

}  // namespace

double expected_largest_sum(std::span<const double> values, std::int64_t m, std::int64_t n) {
  const auto [least, most] = std::ranges::minmax(values);
  if (most <= least) return static_cast<double>(m) * most;
  Grid power{least, (most - least) / static_cast<double>(kGridCells - 1),
             std::vector<double>(kGridCells)};
  for (const double value : values) {
    const double at = (value - least) / power.step;
    const std::size_t cell = std::min(static_cast<std::size_t>(at), kGridCells - 2);
    const double above = at - static_cast<double>(cell);
    power.mass[cell] += (1 - above) / static_cast<double>(values.size());
    power.mass[cell + 1] += above / static_cast<double>(values.size());
  }
  Grid all{0, power.step, {1}};
  for (std::int64_t left = m; left > 0; left /= 2) {
    if (left % 2 == 1) all = sum(all, power);
    if (left > 1) power = sum(power, power);
  }
  double expected = 0;
  double below = 0;
  double before = 0;  // F^n of the cell before
  for (std::size_t i = 0; i < all.mass.size(); ++i) {
    below = std::min(1.0, below + all.mass[i]);
    const double largest = i + 1 == all.mass.size() ? 1 : std::pow(below, static_cast<double>(n));
    expected += (all.first + static_cast<double>(i) * all.step) * (largest - before);
    before = largest;
  }
  return expected;
}

DocumentRows::DocumentRows(const Documents& documents, std::int64_t sequence_length)
    : documents_(documents), length_(static_cast<double>(sequence_length)) {
  mean_ = mean(documents, [](double l) { return l; });
  for (const DocumentLength& l : documents.lengths) {
    longest_ = std::max(longest_, std::min(static_cast<double>(l.tokens), length_));
  }
  if (documents.packing == Packing::padded) {
    efficiency_ = mean_ / length_;
    longest_ = length_;
    return;
  }
  const double count = std::clamp(kSampledRows * length_ / mean_, kFewestDocuments, kMostDocuments);
  std::vector<double> lengths = sampled_lengths(documents, static_cast<std::size_t>(count));
  if (documents.packing == Packing::concatenated) {
    sample_ = cut_stream(lengths, length_);
    return;
  }
  double tokens = 0;
  for (const double l : lengths) tokens += l;
  sample_ = packed_rows(std::move(lengths), length_);
  efficiency_ = tokens / (static_cast<double>(sample_.size()) * length_);
}

DocumentRows::DocumentRows(const Documents& documents, std::int64_t sequence_length,
                           std::int64_t ranks)
    : documents_(documents), length_(static_cast<double>(sequence_length)) {
  const std::int64_t own = sequence_length / ranks;
  mean_ = mean(documents, [](double l) { return l; });
  double positions = 0;
  std::int64_t shorter = 0;
  for (const std::int64_t size : context_group_sizes(ranks)) {
    Group& group = groups_.emplace_back(Group{.ranks = size});
    Documents of_group = documents;
    std::erase_if(of_group.lengths, [&](const DocumentLength& l) {
      return l.tokens <= shorter || l.tokens > own * size;
    });
    shorter = own * size;
    if (of_group.lengths.empty()) continue;
    group.rows = std::make_unique<DocumentRows>(of_group, own * size);
    longest_ = group.rows->longest();
    for (const DocumentLength& l : of_group.lengths) {
      group.share += l.count * static_cast<double>(l.tokens) / group.rows->efficiency();
    }
    positions += group.share;
  }
  efficiency_ = 0;
  for (Group& group : groups_) {
    group.share /= positions;
    if (group.rows) efficiency_ += group.share * group.rows->efficiency();
  }
}

double DocumentRows::documents_per_row() const { return efficiency_ * length_ / mean_; }

double DocumentRows::real_pairs(const AttentionCore& attention) const {
  if (!groups_.empty()) {
    const auto causal = [&](double length) { return pairs_of_first(length, attention.window); };
    const auto most = static_cast<double>(groups_.back().ranks);
    double pairs = 0;
    for (const Group& g : groups_) {
      if (!g.rows) continue;
      const auto ranks = static_cast<double>(g.ranks);
      pairs += g.share * g.rows->real_pairs(attention) * causal(length_ * ranks / most) / ranks;
    }
    return pairs / (causal(length_) / most);
  }
  const bool pieces = attention.chunked && attention.window > 0 && attention.window < length_;
  const double row = pieces ? attention.window : length_;
  const double window = attention.chunked ? 0 : attention.window;
  double pairs = 0;
  if (documents_.packing == Packing::concatenated || pieces) {
    pairs = mean(documents_,
                 [&](double l) {
                   const double a = std::min({l, row, window > 0 ? window : row});
                   return row * l * a - (row + l) * a * a / 2 + a * a * a / 3;
                 }) /
            mean_ * efficiency_;
  } else {
    pairs =
        documents_per_row() * mean(documents_, [&](double l) { return pairs_of_first(l, window); });
  }
  return pairs / pairs_of_first(row, window);
}

double DocumentRows::computed_pairs(const AttentionCore& attention) const {
  return documents_.packing == Packing::padded ? 1 : real_pairs(attention);
}

double DocumentRows::real_share(const Operator& op) const {
  return op.kind == OperatorKind::attention ? real_pairs(op.attention) : efficiency_;
}

std::vector<double> DocumentRows::row_pairs(double window, const RowDivision& division) const {
  const bool striped = division.balance == ContextBalance::striped;
  const bool zigzag = division.balance == ContextBalance::zigzag;
  const auto ranks = static_cast<std::size_t>(striped ? 1 : division.pieces);
  const std::size_t pieces = ranks * (zigzag && ranks > 1 ? 2 : 1);
  const bool in_steps = division.in_steps && ranks > 1 && ranks <= kMostRingRanks && window == 0;
  const double width = length_ / static_cast<double>(pieces);
  const auto rank_of = [&](std::size_t piece) {
    return piece < ranks ? piece : 2 * ranks - 1 - piece;
  };
  std::vector<double> out;
  std::vector<double> of_rank(ranks);
  std::vector<double> of_step(in_steps ? ranks * ranks : 0);  // by step and rank
  for (const std::vector<double>& row : sample_) {
    std::ranges::fill(of_rank, 0);
    std::ranges::fill(of_step, 0);
    double begin = 0;
    for (const double length : row) {
      const double end = begin + length;
      // Queries of a piece of the row that are in the document, counted from its beginning.
      const auto span = [&](std::size_t piece) {
        const double at = static_cast<double>(piece) * width;
        return std::pair(std::max(at, begin) - begin, std::min(at + width, end) - begin);
      };
      const auto first = std::min(static_cast<std::size_t>(begin / width), pieces - 1);
      for (std::size_t p = first; p < pieces; ++p) {
        const auto [from, to] = span(p);
        if (to <= from) break;
        of_rank[rank_of(p)] += pairs_of_first(to, window) - pairs_of_first(from, window);
        for (std::size_t k = first; in_steps && k <= p; ++k) {
          const auto [key_from, key_to] = span(k);
          const double pairs = k == p ? (to - from) * (to - from) / 2
                                      : (to - from) * std::max(0.0, key_to - key_from);
          const std::size_t step = (rank_of(p) + ranks - rank_of(k)) % ranks;
          of_step[step * ranks + rank_of(p)] += pairs;
        }
      }
      begin = end;
    }
    double pace = *std::ranges::max_element(of_rank);
    if (in_steps) {
      pace = 0;
      for (std::size_t s = 0; s < ranks; ++s) {
        const auto step = of_step.begin() + static_cast<std::ptrdiff_t>(s * ranks);
        pace += *std::max_element(step, step + static_cast<std::ptrdiff_t>(ranks));
      }
    }
    out.push_back(pace * static_cast<double>(ranks));
  }
  return out;
}

double DocumentRows::unevenness(const AttentionCore& attention, const RowDivision& division) const {
  if (documents_.packing == Packing::padded || !groups_.empty()) return 1;
  const double window = attention.chunked ? 0 : attention.window;
  const Asked asked{window, division};
  const std::scoped_lock lock(mutex_);
  if (const auto known = unevenness_.find(asked); known != unevenness_.end()) return known->second;
  const std::vector<double> even = row_pairs(window, RowDivision{});
  const std::vector<double> pace = row_pairs(window, division);
  double mean_pairs = 0;
  for (const double pairs : even) mean_pairs += pairs / static_cast<double>(even.size());
  const double largest = expected_largest_sum(pace, division.together, division.replicas);
  const double out = std::max(1.0, largest / (mean_pairs * static_cast<double>(division.together)));
  return unevenness_.emplace(asked, out).first->second;
}

AttentionCore widest_attention(const Model& model) {
  AttentionCore out;
  bool found = false;
  for (const Block& block : model.blocks) {
    for (const Operator& op : block.operators) {
      if (op.kind != OperatorKind::attention || (found && op.attention.window > 0)) continue;
      out = op.attention;
      found = true;
    }
  }
  return out;
}

RowDivision row_division(const Training& training, const Plan& plan, bool reduces_each_microbatch) {
  const std::int64_t rows = plan.micro_batch * microbatches(training, plan);
  return {.pieces = ring_ranks(plan),
          .balance = plan.context_balance,
          .in_steps = plan.context_parallel == ContextParallel::ring,
          .replicas = plan.dp,
          .together = reduces_each_microbatch ? plan.micro_batch : rows};
}

}  // namespace orrery
