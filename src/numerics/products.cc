#include "numerics/products.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <numbers>

#include "numerics/rounder.h"
#include "numerics/study_size.h"
#include "numerics/sweep.h"
#include "parallel/parallel_for.h"

namespace orrery {
namespace {

constexpr double kDraw = 16;  // additions that the draw of a number takes the time of
constexpr std::size_t kMostInner = std::size_t{1} << 24U;
constexpr std::size_t kMostRanks = 65536;

// How far storing alone is from theory's reach: shared scales.
std::optional<double> if_unscaled(const TensorFormat& format, double variances) {
  if (format.scale != ScaleRule::none || format.element.exponent_bits == 0) return std::nullopt;
  return std::sqrt(variances * rounding_variance(format.element));
}

std::vector<double> wide(std::span<const float> x) { return {x.begin(), x.end()}; }

void store_rows(std::vector<float>& x, std::size_t row, const TensorFormat& format) {
  // Blocks begin anew with each row; a scale of the whole tensor is one for all rows.
  if (format.scale == ScaleRule::none || format.block == 0 || row % format.block == 0) {
    return store(x, format);
  }
  for (std::size_t i = 0; i < x.size(); i += row) store(std::span(x).subspan(i, row), format);
}

Result<ProductQuestion> with(ProductQuestion q, const std::string& axis, const std::string& value) {
  if (axis == "format") {
    ORRERY_TRY(q.format, parse_tensor_format(value));
  } else if (axis == "accumulator") {
    ORRERY_TRY(q.accumulation.format, parse_float_format(value));
  } else if (axis == "k") {
    ORRERY_TRY(q.inner, parse_size(value, 1, kMostInner));
  } else if (axis == "group") {
    ORRERY_TRY(q.accumulation.group, parse_size(value, 1, kMostInner));
  } else if (axis == "promote") {
    ORRERY_TRY(q.accumulation.promote, parse_size(value, 0, kMostInner));
  }
  return q;
}

Result<ReductionQuestion> with(ReductionQuestion q, const std::string& axis,
                               const std::string& value) {
  if (axis == "format") {
    ORRERY_TRY(q.format, parse_tensor_format(value));
  } else if (axis == "ranks") {
    ORRERY_TRY(q.ranks, parse_size(value, 2, kMostRanks));
  }
  return q;
}

}  // namespace

std::vector<float> drawn_tensor(Distribution distribution, std::size_t rows, std::size_t columns,
                                std::uint64_t seed, std::uint64_t run) {
  constexpr std::size_t kOutlierChannels = 64;
  constexpr float kOutlier = 30;
  const RandomDraws draws(seed, run);
  std::vector<float> out(rows * columns);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<float>(distribution == Distribution::uniform ? 2 * draws.uniform(0, i) - 1
                                                                      : draws.normal(0, i));
    if (distribution == Distribution::outliers && i % columns % kOutlierChannels == 0) {
      out[i] *= kOutlier;
    }
  }
  return out;
}

double rounding_variance(const FloatFormat& format) {
  return format.epsilon() * format.epsilon() / 12 * 3 / (8 * std::numbers::ln2);
}

std::vector<double> product(std::span<const float> a, std::span<const float> b, std::size_t k,
                            const Accumulation& accumulation, int threads) {
  const std::size_t rows = a.size() / k;
  const std::size_t columns = b.size() / k;
  std::vector<double> out(rows * columns);
  const Rounder<double> rounder(accumulation.format);
  const bool exact = Rounder<double>::holds_all(accumulation.format);
  const std::size_t part = accumulation.promote > 0 ? accumulation.promote : k;
  parallel_for(rows, threads, [&](std::size_t i) {
    for (std::size_t j = 0; j < columns; ++j) {
      const float* x = a.data() + i * k;
      const float* y = b.data() + j * k;
      double total = 0;
      for (std::size_t first = 0; first < k; first += part) {
        const std::size_t last = std::min(first + part, k);
        double accumulator = 0;
        for (std::size_t p = first; p < last;) {
          const std::size_t end = std::min(p + accumulation.group, last);
          double group = 0;
          for (; p < end; ++p) group += static_cast<double>(x[p]) * static_cast<double>(y[p]);
          accumulator += group;
          if (!exact) accumulator = rounder(accumulator);
        }
        total = accumulation.promote > 0 ? rounded(total + accumulator, kFloat32) : accumulator;
      }
      out[i * columns + j] = total;
    }
  });
  return out;
}

Result<DeviationStudy> product_study(const ProductQuestion& question, std::string_view sweep,
                                     int threads) {
  ORRERY_TRY(const Sweep swept,
             parse_sweep(sweep, {"format", "k", "accumulator", "group", "promote"}));
  std::vector<ProductQuestion> questions;
  double work = 0;
  for (const std::string& value : swept.values) {
    ORRERY_TRY(const ProductQuestion q, at("--sweep", with(question, swept.axis, value)));
    const auto results = static_cast<double>(q.rows * q.columns);
    const double operands = static_cast<double>(q.rows + q.columns) * static_cast<double>(q.inner);
    work += (results * static_cast<double>(q.inner) * 4 + operands * kDraw) * q.seeds;
    // Operands in fp32; three results and their deviations in double.
    ORRERY_RETURN_IF_ERROR(check_bytes(4 * operands + 8 * 4 * results));
    questions.push_back(q);
  }
  ORRERY_RETURN_IF_ERROR(check_work(work, "additions"));
  const Accumulation& acc = question.accumulation;
  DeviationStudy out{
      "gemm",
      {{"shape", fmt::format("{} x {}, K = {}", question.rows, question.columns, question.inner)},
       {"operands", question.format.name},
       {"accumulator",
        fmt::format("{}, {} products at once{}", to_text(acc.format), acc.group,
                    acc.promote > 0 ? fmt::format(", to fp32 every {}", acc.promote) : "")},
       {"inputs", std::string(to_text(question.distribution))},
       {"seeds", std::to_string(question.seeds)}},
      swept.axis,
      kBf16};
  for (std::size_t n = 0; n < questions.size(); ++n) {
    const ProductQuestion& q = questions[n];
    const auto means = mean_over_seeds(q.seed, q.seeds, [&](std::uint64_t seed) {
      std::vector<float> a = drawn_tensor(q.distribution, q.rows, q.inner, seed, 0);
      std::vector<float> b = drawn_tensor(Distribution::normal, q.columns, q.inner, seed, 1);
      const Accumulation exact{kFp64, q.inner, 0};
      const auto golden = product(a, b, q.inner, exact, threads);
      store_rows(a, q.inner, q.format);
      store_rows(b, q.inner, q.format);
      const auto of_stored = product(a, b, q.inner, exact, threads);
      const auto computed = product(a, b, q.inner, q.accumulation, threads);
      return std::vector{deviation(of_stored, golden, kBf16), deviation(computed, of_stored, kBf16),
                         deviation(computed, golden, kBf16)};
    });
    const std::size_t part =
        q.accumulation.promote > 0 ? std::min(q.accumulation.promote, q.inner) : q.inner;
    const double additions =
        std::ceil(static_cast<double>(part) / static_cast<double>(q.accumulation.group));
    const double of_accumulator =
        std::sqrt(rounding_variance(q.accumulation.format) * (additions + 1) / 2);
    const auto of_operands = if_unscaled(q.format, 2);
    out.rows.push_back(
        {"operands", swept.values[n], means[0], of_operands, q.format.bits_an_element()});
    out.rows.push_back({"accumulation", swept.values[n], means[1], of_accumulator});
    out.rows.push_back(
        {"both", swept.values[n], means[2],
         of_operands ? std::optional(std::hypot(*of_operands, of_accumulator)) : std::nullopt});
  }
  out.remarks = {
      "operands: stored operands, exact sums; accumulation: against exact sums of the stored "
      "operands; both: against the product of the operands as drawn",
      "expected: independent roundings of terms with mean zero, no operands whose scales are "
      "shared; sums of products with few bits may be exact"};
  return out;
}

std::vector<float> reduced(const std::vector<std::vector<float>>& contributions,
                           const TensorFormat& format, ReductionOrder order,
                           const RandomDraws* draws) {
  const std::size_t n = contributions.size();
  const std::size_t size = contributions.front().size();
  std::uint64_t stores = 0;
  const auto stored = [&](std::vector<float> x) {
    if (draws == nullptr) {
      store(x, format);
    } else {
      const RandomDraws own(draws->bits(0, stores++), 0);
      store(x, format, &own);
    }
    return x;
  };
  const auto add = [](std::vector<float>& sum, const std::vector<float>& x) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += x[i];
  };
  switch (order) {
    case ReductionOrder::ring: {
      std::vector<float> sum = stored(contributions[0]);
      for (std::size_t r = 1; r < n; ++r) {
        add(sum, stored(contributions[r]));
        sum = stored(std::move(sum));
      }
      return sum;
    }
    case ReductionOrder::tree: {
      std::vector<std::vector<float>> parts;
      for (const std::vector<float>& c : contributions) parts.push_back(stored(c));
      for (std::size_t distance = 1; distance < n; distance *= 2) {
        for (std::size_t r = 0; r + distance < n; r += 2 * distance) {
          add(parts[r], parts[r + distance]);
          parts[r] = stored(std::move(parts[r]));
        }
      }
      return parts.front();
    }
    case ReductionOrder::two_steps: {
      std::vector<float> sum(size, 0.0F);
      for (const std::vector<float>& c : contributions) add(sum, stored(c));
      return stored(std::move(sum));
    }
  }
  return {};
}

Result<DeviationStudy> reduction_study(const ReductionQuestion& question, std::string_view sweep,
                                       int threads) {
  ORRERY_TRY(const Sweep swept, parse_sweep(sweep, {"format", "ranks"}));
  std::vector<ReductionQuestion> questions;
  double work = 0;
  for (const std::string& value : swept.values) {
    ORRERY_TRY(const ReductionQuestion q, at("--sweep", with(question, swept.axis, value)));
    const double numbers = static_cast<double>(q.ranks) * static_cast<double>(q.elements);
    if (numbers > 1e9) {
      return unsupported(fmt::format("{:.0e} contributions are more than 1e9", numbers), "",
                         "choose fewer ranks or elements");
    }
    work += numbers * (4 + kDraw) * q.seeds;
    // Contributions, those of the tree again, the golden sum in double, and for each order its sum,
    // what is added to it and their deviations in double.
    ORRERY_RETURN_IF_ERROR(
        check_bytes(8 * numbers + static_cast<double>(q.elements) * (8 + 3 * (4 + 4 + 8 + 8))));
    questions.push_back(q);
  }
  ORRERY_RETURN_IF_ERROR(check_work(work, "additions"));
  DeviationStudy out{"allreduce",
                     {{"ranks", std::to_string(question.ranks)},
                      {"elements", std::to_string(question.elements)},
                      {"format", question.format.name},
                      {"rounding", std::string(to_text(question.rounding))},
                      {"inputs", std::string(to_text(question.distribution))},
                      {"seeds", std::to_string(question.seeds)}},
                     swept.axis,
                     kBf16};
  constexpr auto kOrders =
      std::array{ReductionOrder::ring, ReductionOrder::tree, ReductionOrder::two_steps};
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const ReductionQuestion& q = questions[i];
    const auto means = mean_over_seeds(q.seed, q.seeds, [&](std::uint64_t seed) {
      std::vector<std::vector<float>> contributions;
      std::vector<double> golden(q.elements, 0.0);
      for (std::size_t r = 0; r < q.ranks; ++r) {
        contributions.push_back(drawn_tensor(q.distribution, 1, q.elements, seed, r));
        for (std::size_t e = 0; e < q.elements; ++e) golden[e] += contributions[r][e];
      }
      std::vector<Deviation> of_seed(kOrders.size());
      parallel_for(kOrders.size(), threads, [&](std::size_t o) {
        const RandomDraws draws(seed, q.ranks + o);
        const bool at_random = q.rounding == Rounding::stochastic;
        const auto sum = reduced(contributions, q.format, kOrders[o], at_random ? &draws : nullptr);
        of_seed[o] = deviation(wide(sum), golden, kBf16);
      });
      return of_seed;
    });
    const auto n = static_cast<double>(q.ranks);
    // Stochastic rounding has twice the variance: that of both neighbours.
    const double twice = q.rounding == Rounding::stochastic ? 2 : 1;
    const std::array<double, kOrders.size()> variances = {1 + (n + 1) / 2 - 1 / n,
                                                          1 + std::ceil(std::log2(n)), 2};
    for (std::size_t o = 0; o < kOrders.size(); ++o) {
      out.rows.push_back({std::string(to_text(kOrders[o])), swept.values[i], means[o],
                          if_unscaled(q.format, twice * variances[o]), q.format.bits_an_element()});
    }
  }
  out.remarks = {
      "what travels is stored in the format, contributions first; ring: partial sums pass n - 1 "
      "ranks; tree: pairs of pairs; two-steps: the owner adds all contributions in fp32",
      "expected: independent roundings of sums with mean zero; none where elements share scales"};
  return out;
}

DeviationStudy storage_study(std::span<const float> tensor, std::span<const TensorFormat> formats,
                             std::span<const double> bounds) {
  DeviationStudy out{"quantize", {{"elements", std::to_string(tensor.size())}}, "", kBf16};
  const std::vector<double> golden = wide(tensor);
  double largest = 0;
  for (const double x : golden) {
    if (std::isfinite(x)) largest = std::max(largest, std::abs(x));
  }
  for (const TensorFormat& format : formats) {
    std::vector<float> x(tensor.begin(), tensor.end());
    store(x, format);
    out.rows.push_back({format.name, "", deviation(wide(x), golden, kBf16), if_unscaled(format, 1),
                        format.bits_an_element()});
  }
  for (const double share : bounds) {
    const double step = 2 * share * largest;
    std::map<std::int64_t, std::int64_t> counts;
    std::vector<double> x(golden.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      // What is not finite is kept beside the codes.
      const double code =
          step > 0 && std::isfinite(golden[i]) ? std::nearbyint(golden[i] / step) : 0;
      x[i] = std::isfinite(golden[i]) ? code * step : golden[i];
      ++counts[static_cast<std::int64_t>(code)];
    }
    double entropy = 0;
    for (const auto& [code, count] : counts) {
      const double p = static_cast<double>(count) / static_cast<double>(x.size());
      entropy -= p * std::log2(p);
    }
    out.rows.push_back({fmt::format("within {:g} of the largest", share), "",
                        deviation(x, golden, kBf16), std::nullopt, entropy});
  }
  return out;
}

Result<DeviationStudy> optimizer_state_study(std::size_t elements, int steps, std::uint64_t seed) {
  constexpr double kSearch = 16;  // additions that the search of a code takes the time of
  const auto numbers = static_cast<double>(elements);
  // A gradient, two moments and what is kept of them in fp32, and a deviation in double.
  ORRERY_RETURN_IF_ERROR(check_bytes(numbers * (4 * 5 + 8 * 3)));
  ORRERY_RETURN_IF_ERROR(check_work(numbers * steps * (kDraw + 2 * kSearch), "additions"));
  constexpr double kFirstDecay = 0.9;
  constexpr double kSecondDecay = 0.999;
  struct Moment {
    std::string name;
    double decay;
    bool is_signed;
    std::vector<float> exact;
    std::vector<float> kept;
  };
  std::array<Moment, 2> moments = {Moment{"first moment", kFirstDecay, true, {}, {}},
                                   Moment{"second moment", kSecondDecay, false, {}, {}}};
  for (Moment& m : moments) m.exact = m.kept = std::vector<float>(elements, 0.0F);
  DeviationStudy out{"quantize",
                     {{"elements", std::to_string(elements)},
                      {"steps", std::to_string(steps)},
                      {"moments", "b1 = 0.9, b2 = 0.999, independent gradients"}},
                     "step",
                     kBf16};
  std::string shares;
  for (int step = 1; step <= steps; ++step) {
    const auto gradient =
        drawn_tensor(Distribution::normal, 1, elements, seed, static_cast<std::uint64_t>(step));
    const bool is_shown = step == steps || std::has_single_bit(static_cast<unsigned>(step));
    for (Moment& m : moments) {
      const TensorFormat format =
          *parse_tensor_format(m.is_signed ? "dynamic8" : "dynamic8-unsigned");
      for (std::size_t i = 0; i < elements; ++i) {
        const double g = m.is_signed ? gradient[i] : gradient[i] * gradient[i];
        m.exact[i] = static_cast<float>(m.decay * m.exact[i] + (1 - m.decay) * g);
        m.kept[i] = static_cast<float>(m.decay * m.kept[i] + (1 - m.decay) * g);
      }
      store(m.kept, format);
      if (!is_shown) continue;
      out.rows.push_back({m.name, std::to_string(step),
                          deviation(wide(m.kept), wide(m.exact), kBf16), std::nullopt,
                          format.bits_an_element()});
      if (step != 1 && step != steps) continue;
      // In codes of the kept block's scale.
      const auto codes = dynamic_codes(m.is_signed);
      std::size_t near = 0;
      for (std::size_t first = 0; first < elements; first += format.block) {
        const std::size_t last = std::min(first + format.block, elements);
        float scale = 0;
        for (std::size_t i = first; i < last; ++i) scale = std::max(scale, std::abs(m.kept[i]));
        for (std::size_t i = first; i < last && scale > 0; ++i) {
          const int off = static_cast<int>(nearest_code(m.kept[i] / scale, codes)) -
                          static_cast<int>(nearest_code(m.exact[i] / scale, codes));
          near += std::abs(off) <= 1 ? 1 : 0;
        }
      }
      shares +=
          fmt::format("{}{} after step {}: {:.1f} %", shares.empty() ? "" : "; ", m.name, step,
                      100.0 * static_cast<double>(near) / static_cast<double>(elements));
    }
  }
  out.remarks = {"codes at most one from that of the fp32 moment: " + shares};
  return out;
}

}  // namespace orrery
