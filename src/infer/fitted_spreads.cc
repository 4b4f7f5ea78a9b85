#include "infer/fitted_spreads.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <utility>

namespace orrery {
namespace {

constexpr double kTwoRegimes = 0.75;         // of the variance, explained by a threshold
constexpr std::size_t kMostFitted = 10'000;  // samples of a law, evenly chosen of more

double square(double x) { return x * x; }

// Sum, sum of squares of deviations, count.
struct Deviations {
  double mean = 0, squares = 0;
  std::size_t count = 0;
  void add(double x) {  // Welford 1962
    ++count;
    const double off = x - mean;
    mean += off / static_cast<double>(count);
    squares += off * (x - mean);
  }
  [[nodiscard]] double variance() const {
    return count > 1 ? squares / static_cast<double>(count - 1) : 0;
  }
};

std::vector<Seconds> fitted_times(std::span<const DurationSample> samples) {
  const std::size_t n = std::min(samples.size(), kMostFitted);
  std::vector<Seconds> out;
  for (std::size_t i = 0; i < n; ++i) out.emplace_back(samples[i * samples.size() / n].seconds);
  return out;
}

// Of samples sorted by place and step: the factors of places, of what varies about them, and all.
void set_factors(FittedSpread& out, std::span<const DurationSample> samples) {
  const bool whole_pass = out.signature.work == SampledWork::pass;
  for (const DurationSample& s : samples) out.factors.push_back(s.seconds / out.mean.value());
  for (std::size_t i = 0; i < samples.size();) {
    const std::int32_t of_place = samples[i].place;
    Deviations place;
    std::vector<double> times;  // of passes, or means over the calls of a step
    while (i < samples.size() && samples[i].place == of_place) {
      Deviations cell;
      const std::int32_t step = samples[i].step;
      for (; i < samples.size() && samples[i].place == of_place && samples[i].step == step; ++i) {
        cell.add(samples[i].seconds);
        place.add(samples[i].seconds);
        if (whole_pass) times.push_back(samples[i].seconds);
      }
      if (!whole_pass) times.push_back(cell.mean);
    }
    out.spatial_factors.push_back(place.mean / out.mean.value());
    for (const double time : times) out.temporal_factors.push_back(time / place.mean);
  }
}

FittedSpread fitted(const DurationSignature& signature, std::vector<DurationSample> samples) {
  FittedSpread out;
  out.signature = signature;
  const bool may_wait = std::ranges::any_of(samples, &DurationSample::may_wait);
  if (may_wait && samples.size() >= kLeastTimes) {
    std::vector<double> values;
    for (const DurationSample& s : samples) values.push_back(s.seconds);
    if (const auto threshold = otsu_threshold(std::move(values))) {
      out.waited = static_cast<std::int64_t>(
          std::erase_if(samples, [&](const DurationSample& s) { return s.seconds > *threshold; }));
    }
  }
  Deviations all;
  std::set<std::int32_t> places;
  std::set<std::int32_t> steps;
  std::set<std::pair<std::int32_t, std::int32_t>> cells;
  for (const DurationSample& s : samples) {
    cells.emplace(s.place, s.step);
    all.add(s.seconds);
    places.insert(s.place);
    steps.insert(s.step);
  }
  out.samples = static_cast<std::int64_t>(samples.size());
  out.places = static_cast<std::int64_t>(places.size());
  out.steps = static_cast<std::int64_t>(steps.size());
  out.mean = Seconds(all.mean);
  out.total = Seconds(all.mean * static_cast<double>(all.count));
  out.variation = std::sqrt(all.variance()) / all.mean;
  out.parts = spread_parts(samples);
  out.calls = static_cast<double>(samples.size()) / static_cast<double>(cells.size());
  set_factors(out, samples);
  if (const auto fits = fit_laws(fitted_times(samples))) out.nearest = fits->front();
  return out;
}

bool is_of(const FittedSpread& row, std::span<const SampledWork> works) {
  return std::ranges::find(works, row.signature.work) != works.end();
}

std::optional<double> spatial_square(const FittedSpread& row) {
  return row.parts.spatial ? std::optional(square(*row.parts.spatial)) : std::nullopt;
}
// From pass to pass.
std::optional<double> temporal_square(const FittedSpread& row) {
  if (!row.parts.temporal) return std::nullopt;
  const double calls = row.signature.work == SampledWork::pass ? 1 : row.calls;
  return square(*row.parts.temporal) + square(row.parts.within.value_or(0)) / calls;
}
std::optional<double> whole_square(const FittedSpread& row) { return square(row.variation); }

using Factors = std::vector<double> FittedSpread::*;

// What one number of a variability, and its law, are fitted to.
struct FittedNumber {
  std::string_view key;
  Factors factors;
  std::span<const SampledWork> works;
  std::optional<double> (*square_of)(const FittedSpread& row);
  double kept;
  std::string_view lacks;  // signatures with enough samples that have no square
};

// The law of the factors of several signatures, each scaled from its own spread to that of the kind.
std::optional<LawFit> law_of_kind(const FittedNumber& number, double spread,
                                  std::span<const FittedSpread> rows) {
  std::vector<Seconds> all;
  for (const FittedSpread& row : rows) {
    if (!is_of(row, number.works) || !row.signature.alike || !row.nearest) continue;
    // Fewer, such as the ranks of a small job, have the form that their own mean and spread force
    // on them.
    if ((row.*number.factors).size() < kLeastTimes) continue;
    Deviations own;
    for (const double factor : row.*number.factors) own.add(factor);
    if (own.variance() <= 0) continue;
    const double scale = spread / std::sqrt(own.variance());
    for (const double factor : row.*number.factors) {
      all.emplace_back(std::max(std::round((1 + scale * (factor - own.mean)) * 1e6) / 1e6, 0.0));
    }
  }
  if (all.empty()) return std::nullopt;
  std::ranges::sort(all);
  const auto quantiles = [&all](std::size_t count) {
    std::vector<Seconds> out;
    for (std::size_t i = 0; i < count; ++i)
      out.push_back(all[(2 * i + 1) * all.size() / (2 * count)]);
    return out;
  };
  const std::vector<Seconds> some = quantiles(std::min(all.size(), kMostFitted));
  if (const auto fits = fit_laws(some)) {
    const double most = 1.36 / std::sqrt(static_cast<double>(some.size()));
    for (const LawFit& fit : *fits) {
      if (fit.distance <= most && check(fit.law)) return fit;
    }
  }
  const TimeLaw sampled{.law = TimeForm::sampled, .samples = quantiles(kQuantiles)};
  // Rarer times than the quantiles show leave nothing that varies.
  if (sampled.samples.front() == sampled.samples.back()) return std::nullopt;
  return LawFit{sampled, kolmogorov_smirnov(sampled, some)};
}

KindSpread spread_of_kind(const FittedNumber& number, std::span<const FittedSpread> rows) {
  double squares = 0;
  double time = 0;
  std::int64_t fitted = 0;
  std::int64_t all = 0;
  bool sizes = true;
  bool enough = false;
  for (const FittedSpread& row : rows) {
    if (!is_of(row, number.works)) continue;
    all += row.samples;
    sizes = sizes && row.signature.alike;
    if (!row.signature.alike || !row.nearest) continue;
    enough = true;
    if (const auto value = number.square_of(row)) {
      fitted += row.samples;
      squares += row.total.value() * *value;
      time += row.total.value();
    }
  }
  KindSpread out{std::string(number.key), number.kept, number.kept, fitted, ""};
  if (time > 0) {
    out.value = std::sqrt(squares / time);
    if (out.value > 0) out.law = law_of_kind(number, out.value, rows);
    return out;
  }
  out.samples = all;
  out.kept_because = all == 0 ? "not recorded"
                     : enough ? std::string(number.lacks)
                     : !sizes ? "sizes are not recorded"
                              : fmt::format("fewer than {} samples of any signature", kLeastTimes);
  return out;
}

// Intraclass correlation by step of z = (ln x - mean) / deviation of its signature.
KindSpread correlation_of(const DurationSamples& samples, double kept) {
  KindSpread out{"communication.correlation", kept, kept, 0, ""};
  std::map<std::uint32_t, Deviations> logarithms;
  const auto counts = [&](const DurationSample& s) {
    const DurationSignature& signature = samples.signatures[s.signature];
    return communicates(signature.work) && signature.alike && !s.may_wait;
  };
  for (const DurationSample& s : samples.samples) {
    if (counts(s)) logarithms[s.signature].add(std::log(s.seconds));
  }
  std::map<std::int32_t, Deviations> steps;
  for (const DurationSample& s : samples.samples) {
    if (!counts(s)) continue;
    const Deviations& of = logarithms[s.signature];
    if (of.count < kLeastTimes || of.squares <= 0) continue;
    steps[s.step].add((std::log(s.seconds) - of.mean) / std::sqrt(of.variance()));
    ++out.samples;
  }
  if (steps.size() < kLeastTimes) {
    out.kept_because =
        fmt::format("fewer than {} steps of communication without waiting", kLeastTimes);
    return out;
  }
  // n0 = (N - sum n^2 / N) / (k - 1),  r = (between - within) / (between + (n0 - 1) within)
  const auto k = static_cast<double>(steps.size());
  const auto n = static_cast<double>(out.samples);
  double between = 0;
  double within = 0;
  double counts_squared = 0;
  for (const auto& [step, of] : steps) {
    between += static_cast<double>(of.count) * square(of.mean);  // the mean of all is 0
    within += of.squares;
    counts_squared += square(static_cast<double>(of.count));
  }
  between /= k - 1;
  within /= std::max(n - k, 1.0);
  const double n0 = (n - counts_squared / n) / (k - 1);
  const double whole = between + (n0 - 1) * within;
  out.value = whole > 0 ? std::clamp((between - within) / whole, 0.0, 1.0) : 0;
  return out;
}

}  // namespace

double FittedSpread::largest_distance() const {
  return 1.36 / std::sqrt(static_cast<double>(
                    std::min<std::int64_t>(std::max<std::int64_t>(samples, 1), kMostFitted)));
}

std::optional<double> otsu_threshold(std::vector<double> values) {
  std::ranges::sort(values);
  double sum = 0;
  double squares = 0;
  for (double& v : values) {
    v = std::log(v);
    sum += v;
  }
  const auto n = static_cast<double>(values.size());
  for (const double v : values) squares += square(v - sum / n);
  double best = 0;
  std::size_t split = 0;
  double below = 0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    below += values[i - 1];
    const auto n0 = static_cast<double>(i);
    const double between = n0 * (n - n0) / n * square(below / n0 - (sum - below) / (n - n0));
    if (between > best && values[i - 1] < values[i]) {
      best = between;
      split = i;
    }
  }
  if (split == 0 || best <= kTwoRegimes * squares) return std::nullopt;
  return std::exp((values[split - 1] + values[split]) / 2);
}

SpreadParts spread_parts(std::span<const DurationSample> samples) {
  Deviations places;
  double within = 0;    // squares
  double of_steps = 0;  // squares of the cells' means
  std::size_t cells = 0;
  double calls = 0;  // sum of 1 / calls of a cell
  double steps = 0;  // sum of 1 / cells of a place
  double sum = 0;
  for (std::size_t i = 0; i < samples.size();) {
    Deviations place;
    const std::int32_t of_place = samples[i].place;
    while (i < samples.size() && samples[i].place == of_place) {
      Deviations cell;
      const std::int32_t step = samples[i].step;
      for (; i < samples.size() && samples[i].place == of_place && samples[i].step == step; ++i) {
        cell.add(samples[i].seconds);
        sum += samples[i].seconds;
      }
      place.add(cell.mean);
      within += cell.squares;
      calls += 1 / static_cast<double>(cell.count);
      ++cells;
    }
    of_steps += place.squares;
    steps += 1 / static_cast<double>(place.count);
    places.add(place.mean);
  }
  const auto count = static_cast<double>(samples.size());
  const auto per_mean = [&](double variance) {
    return std::sqrt(std::max(variance, 0.0)) / (sum / count);
  };
  SpreadParts out;
  double call_variance = 0;
  double cell_variance = 0;  // of the means of cells, about their place
  if (samples.size() > cells) {
    call_variance = within / (count - static_cast<double>(cells));
    out.within = per_mean(call_variance);
  }
  if (cells > places.count) {
    cell_variance = of_steps / static_cast<double>(cells - places.count);
    out.temporal = per_mean(cell_variance - call_variance * calls / static_cast<double>(cells));
  } else if (cells > 0) {
    cell_variance = call_variance * calls / static_cast<double>(cells);
  }
  if (places.count > 1) {
    out.spatial =
        per_mean(places.variance() - cell_variance * steps / static_cast<double>(places.count));
  }
  return out;
}

Result<FittedSpreads> fitted_spreads(const DurationSamples& samples, const Variability& kept,
                                     const std::string& name, const std::string& recording) {
  if (samples.samples.empty()) {
    return bad_input("no kernel or operation of a marked step is recorded", recording,
                     "record with ProfilerActivity.CUDA, and mark steps with profiler.step()");
  }
  FittedSpreads out;
  out.ranks = samples.ranks;
  out.steps = samples.steps;
  out.samples = static_cast<std::int64_t>(samples.samples.size());
  out.kept_name = kept.name;
  out.assumed = samples.assumed;
  if (samples.without_time > 0) {
    out.remarks.push_back(fmt::format(
        "{} durations are left out: they end before the last participant began, on its clock",
        samples.without_time));
  }
  for (auto from = samples.samples.begin(); from != samples.samples.end();) {
    const auto to = std::find_if(from, samples.samples.end(), [&](const DurationSample& s) {
      return s.signature != from->signature;
    });
    out.rows.push_back(fitted(samples.signatures[from->signature], {from, to}));
    from = to;
  }
  std::ranges::stable_sort(out.rows, std::ranges::greater(), &FittedSpread::total);

  Variability& v = out.variability = kept;
  constexpr std::array kProducts = {SampledWork::products, SampledWork::pass};
  constexpr std::array kAttention = {SampledWork::attention, SampledWork::pass};
  constexpr std::array kMemoryBound = {SampledWork::memory_bound, SampledWork::pass};
  constexpr std::array kWithin = {SampledWork::within_node};
  constexpr std::array kBetween = {SampledWork::between_nodes};
  constexpr Factors kSpatial = &FittedSpread::spatial_factors;
  constexpr Factors kTemporal = &FittedSpread::temporal_factors;
  constexpr Factors kAll = &FittedSpread::factors;
  constexpr std::string_view kOneRank = "every signature is of one rank";
  constexpr std::string_view kOneStep = "every signature is of one step";
  for (const FittedNumber& number :
       std::to_array<FittedNumber>({{"products.spatial", kSpatial, kProducts, spatial_square,
                                     kept.products.spatial, kOneRank},
                                    {"products.temporal", kTemporal, kProducts, temporal_square,
                                     kept.products.temporal, kOneStep},
                                    {"attention.spatial", kSpatial, kAttention, spatial_square,
                                     kept.attention.spatial, kOneRank},
                                    {"attention.temporal", kTemporal, kAttention, temporal_square,
                                     kept.attention.temporal, kOneStep},
                                    {"memory_bound.spatial", kSpatial, kMemoryBound, spatial_square,
                                     kept.memory_bound.spatial, kOneRank},
                                    {"memory_bound.temporal", kTemporal, kMemoryBound,
                                     temporal_square, kept.memory_bound.temporal, kOneStep},
                                    {"communication.within_node", kAll, kWithin, whole_square,
                                     kept.communication.within_node, ""},
                                    {"communication.between_nodes", kAll, kBetween, whole_square,
                                     kept.communication.between_nodes, ""}})) {
    out.kinds.push_back(spread_of_kind(number, out.rows));
  }
  out.kinds.push_back(correlation_of(samples, kept.communication.correlation));
  std::string fits;
  std::string keeps;
  for (KindSpread& kind : out.kinds) {
    kind.value = std::round(kind.value * 1e6) / 1e6;
    if (auto set = with_settings(v, fmt::format("{}={}", kind.key, kind.value))) {
      v = std::move(*set);
      auto* const law = law_named(v, kind.key);
      if (law != nullptr && kind.kept_because.empty()) {
        *law = kind.law ? std::optional(kind.law->law) : std::nullopt;
      }
    } else {
      kind.kept_because = set.error().message + " is recorded, and cannot be drawn";
      kind.value = kind.kept;
      kind.law.reset();
    }
    std::string& of = kind.kept_because.empty() ? fits : keeps;
    of += (of.empty() ? "" : ", ") + kind.key;
  }
  v.name = name;
  v.title = recording;
  v.provenance = {.source = fmt::format("{} ({} ranks, {} steps, {} durations)", recording,
                                        out.ranks, out.steps, out.samples),
                  .verified = false,
                  .unverified = {},
                  .notes = "fitted by orrery trace spreads: " + (fits.empty() ? "none" : fits)};
  if (!keeps.empty()) {
    v.provenance.notes +=
        fmt::format("; kept of {}, {}: {}", kept.name, kept.provenance.source, keeps);
  }
  return out;
}

}  // namespace orrery
