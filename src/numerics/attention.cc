#include "numerics/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "numerics/rounder.h"
#include "parallel/parallel_for.h"

namespace orrery {
namespace {

constexpr std::size_t kRows = 16;  // queries that a thread takes at a time

// sum over positions of p[j] v[j][:]
void weighted_sum(std::span<const double> p, const double* v, std::span<double> out) {
  std::ranges::fill(out, 0.0);
  const std::size_t d = out.size();
  for (std::size_t j = 0; j < p.size(); ++j) {
    const double weight = p[j];
    const double* row = v + j * d;
    for (std::size_t c = 0; c < d; ++c) out[c] += weight * row[c];
  }
}

double largest(std::span<const double> values) { return *std::ranges::max_element(values); }

double sum(std::span<const double> values) {
  double out = 0;
  for (const double x : values) out += x;
  return out;
}

// One way to compute, with room for one row.
class Row {
 public:
  Row(const AttentionNumerics& way, std::size_t keys, std::size_t head_size)
      : way_(way), scores_(keys), p_(keys), product_(head_size) {}

  // `exact`: the scores of all keys that the query sees; at least one. `v`: their values.
  void compute(std::span<const double> exact, const double* v, std::span<double> out) {
    const std::span<double> s(scores_.data(), exact.size());
    std::ranges::copy(exact, s.begin());
    round_all(s, way_.scores);
    if (way_.method == AttentionMethod::baseline) {
      baseline(s, v, out);
    } else {
      tiled(s, v, out);
    }
    round_all(out, way_.output);
  }

 private:
  std::span<double> exponentials(std::span<const double> s, double most) {
    const std::span<double> p(p_.data(), s.size());
    for (std::size_t j = 0; j < s.size(); ++j) p[j] = std::exp(s[j] - most);
    round_all(p, way_.probabilities);
    return p;
  }
  [[nodiscard]] double statistic(double x) const { return rounded(x, way_.statistics); }

  void baseline(std::span<const double> s, const double* v, std::span<double> out) {
    const std::span<double> p = exponentials(s, statistic(largest(s)));
    const double l = statistic(sum(p));
    if (!way_.divides_last) {
      for (double& x : p) x /= l;
      round_all(p, way_.probabilities);
      weighted_sum(p, v, out);
      return;
    }
    weighted_sum(p, v, out);
    round_all(out, way_.accumulator);
    for (double& x : out) x /= l;
  }

  void tiled(std::span<const double> s, const double* v, std::span<double> out) {
    std::ranges::fill(out, 0.0);
    double m = -std::numeric_limits<double>::infinity();
    double l = 0;
    const std::size_t tiles = (s.size() + way_.tile - 1) / way_.tile;
    for (std::size_t t = 0; t < tiles; ++t) {
      const std::size_t tile = way_.order == TileOrder::forward ? t : tiles - 1 - t;
      const std::size_t first = tile * way_.tile;
      const auto part = s.subspan(first, std::min(way_.tile, s.size() - first));
      const double* values = v + first * out.size();
      const double here = statistic(largest(part));
      const double most = std::max(m, here);
      const double a = t == 0 ? 0 : statistic(std::exp(m - most));
      if (way_.method == AttentionMethod::flash1) {
        const auto p = exponentials(part, here);
        const double b = statistic(std::exp(here - most));
        const double sum_here = statistic(sum(p));
        const double next = statistic(statistic(a * l) + statistic(b * sum_here));
        weighted_sum(p, values, product_);
        round_all(product_, way_.accumulator);
        const double kept = statistic(l * a);
        for (std::size_t c = 0; c < out.size(); ++c) {
          const double scaled = rounded(kept * out[c], way_.accumulator);
          const double added = rounded(b * product_[c], way_.accumulator);
          out[c] = rounded(rounded(scaled + added, way_.accumulator) / next, way_.accumulator);
        }
        l = next;
      } else {
        const auto p = exponentials(part, most);
        l = statistic(statistic(a * l) + statistic(sum(p)));
        weighted_sum(p, values, product_);
        round_all(product_, way_.accumulator);
        for (std::size_t c = 0; c < out.size(); ++c) {
          out[c] = rounded(rounded(a * out[c], way_.accumulator) + product_[c], way_.accumulator);
        }
      }
      m = most;
    }
    if (way_.method == AttentionMethod::flash2) {
      for (double& x : out) x /= l;
    }
  }

  const AttentionNumerics& way_;
  std::vector<double> scores_;
  std::vector<double> p_;
  std::vector<double> product_;
};

// [positions][head size] as [head size][positions]
std::vector<double> transposed(std::span<const double> x, std::size_t head_size) {
  std::vector<double> out(x.size());
  const std::size_t positions = x.size() / head_size;
  for (std::size_t j = 0; j < positions; ++j) {
    for (std::size_t c = 0; c < head_size; ++c) out[c * positions + j] = x[j * head_size + c];
  }
  return out;
}

}  // namespace

AttentionNumerics all_in(const FloatFormat& format, AttentionMethod method, std::size_t tile) {
  return {method, format, format, format, format, format, tile};
}

AttentionNumerics kernel_numerics(const FloatFormat& format, const FloatFormat& wide,
                                  AttentionMethod method, std::size_t tile) {
  return {method, wide, format, wide, wide, format, tile};
}

std::vector<std::vector<double>> attention(const AttentionInputs& inputs,
                                           std::span<const AttentionNumerics> ways, int threads) {
  const AttentionSizes& shape = inputs.shape;
  const std::size_t d = shape.head_size;
  const std::size_t of_head = shape.keys * d;
  std::vector<std::vector<double>> out(ways.size(),
                                       std::vector<double>(shape.query_heads * shape.queries * d));
  std::vector<std::vector<double>> keys;
  for (std::size_t h = 0; h < shape.key_heads; ++h) {
    keys.push_back(transposed(std::span(inputs.k).subspan(h * of_head, of_head), d));
  }
  const double c = 1 / std::sqrt(static_cast<double>(d));
  const std::size_t groups = (shape.queries + kRows - 1) / kRows;
  parallel_for(shape.query_heads * groups, threads, [&](std::size_t index) {
    const std::size_t head = index / groups;
    const std::size_t key_head = head / (shape.query_heads / shape.key_heads);
    const double* v = inputs.v.data() + key_head * of_head;
    std::vector<double> scores(shape.keys);
    std::vector<Row> rows;
    rows.reserve(ways.size());
    for (const AttentionNumerics& way : ways) rows.emplace_back(way, shape.keys, d);
    const std::size_t first = index % groups * kRows;
    for (std::size_t i = first; i < std::min(first + kRows, shape.queries); ++i) {
      const std::size_t hidden = shape.causal ? shape.queries - 1 - i : 0;
      const std::span<double> s(scores.data(), shape.keys - hidden);
      std::ranges::fill(s, 0.0);
      const std::size_t row = (head * shape.queries + i) * d;
      for (std::size_t x = 0; x < d; ++x) {
        const double q = inputs.q[row + x];
        const double* k = keys[key_head].data() + x * shape.keys;
        for (std::size_t j = 0; j < s.size(); ++j) s[j] += q * k[j];
      }
      for (double& x : s) x *= c;
      for (std::size_t w = 0; w < ways.size(); ++w) {
        rows[w].compute(s, v, std::span(out[w]).subspan(row, d));
      }
    }
  });
  return out;
}

AttentionInputs drawn_inputs(const AttentionSizes& shape, double query_scale,
                             const FloatFormat& format, std::uint64_t seed) {
  const auto drawn = [&](std::uint64_t run, std::size_t heads, std::size_t positions,
                         double scale) {
    const RandomDraws draws(seed, run);
    std::vector<double> out(heads * positions * shape.head_size);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = scale * draws.normal(0, i);
    round_all(out, format);
    return out;
  };
  return {shape, drawn(0, shape.query_heads, shape.queries, query_scale),
          drawn(1, shape.key_heads, shape.keys, 1), drawn(2, shape.key_heads, shape.keys, 1)};
}

AttentionTiles tiles_for(std::size_t elements, std::size_t head_size) {
  const std::size_t keys =
      std::max<std::size_t>(1, (elements + 4 * head_size - 1) / (4 * head_size));
  return {keys, std::min(keys, head_size)};
}

}  // namespace orrery
