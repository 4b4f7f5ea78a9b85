#include "report/forecasts/distribution.h"

#include <algorithm>
#include <cmath>

#include "report/drawing/bar.h"

namespace orrery {
namespace {

Seconds quantile_at(std::span<const Seconds> times, double p) {
  const auto n = static_cast<double>(times.size());
  return times[static_cast<std::size_t>(std::clamp(std::floor(p * n), 0.0, n - 1))];
}

bool is_a_range(TimeRange range) { return range.high > range.low * (1 + 1e-9); }

}  // namespace

std::vector<Seconds> cdf_of(std::span<const Seconds> times) {
  std::vector<Seconds> out;
  if (times.empty()) return out;
  for (int i = 0; i <= 40; ++i) out.push_back(quantile_at(times, i / 40.0));
  return out;
}

TimeRange usual_range(std::span<const Seconds> times) {
  return {quantile_at(times, 0.001), quantile_at(times, 0.999)};
}

std::vector<double> histogram_of(std::span<const Seconds> times, TimeRange range,
                                 std::size_t bins) {
  const auto n = static_cast<double>(times.size());
  if (bins == 0) bins = static_cast<std::size_t>(std::clamp(2 * std::cbrt(n), 8.0, 60.0));
  std::vector<double> out(bins);
  for (const Seconds t : times) {
    const double at = (t - range.low) / (range.high - range.low) * static_cast<double>(bins);
    if (!(at >= 0 && at <= static_cast<double>(bins))) continue;
    out[std::min(static_cast<std::size_t>(at), bins - 1)] += 1 / n;
  }
  return out;
}

PlotLine histogram_line(std::span<const Seconds> times, TimeRange range, Seconds unit) {
  const std::vector<double> shares = histogram_of(times, range);
  const Seconds width = (range.high - range.low) / static_cast<double>(shares.size());
  PlotLine out;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    for (const std::size_t edge : {i, i + 1}) {
      out.emplace_back((range.low + static_cast<double>(edge) * width) / unit, 100 * shares[i]);
    }
  }
  return out;
}

PlotLine cdf_line(std::span<const Seconds> times, TimeRange range, Seconds unit) {
  constexpr int kPoints = 160;
  PlotLine out;
  for (int i = 0; i <= kPoints; ++i) {
    const Seconds t = range.low + (range.high - range.low) * (i / double{kPoints});
    const auto below = std::ranges::upper_bound(times, t) - times.begin();
    out.emplace_back(t / unit,
                     100 * static_cast<double>(below) / static_cast<double>(times.size()));
  }
  return out;
}

std::string distribution_line(std::span<const Seconds> times, std::string (*words)(Seconds),
                              const TextStyle& style) {
  const TimeRange range = usual_range(times);
  if (!is_a_range(range)) return "";
  const std::string low = words(range.low);
  const std::string high = words(range.high);
  const int room = longest_line(style) - 4 - display_width(low) - display_width(high);
  if (room < 10) return "";
  constexpr int kLongest = 40;
  const std::vector<double> shares =
      histogram_of(times, range, static_cast<std::size_t>(std::min(room, kLongest)));
  return "  " + painted(low, {.dim = true}, style) + " " + sparkline(shares, kLongest) + " " +
         painted(high, {.dim = true}, style) + "\n\n";
}

std::string subject_heading(const Subject& subject, const TextStyle& style) {
  return "  " +
         painted(shortened(printable(model_in_words(subject) + " on " + subject.cluster),
                           longest_line(style) - 2),
                 {.bold = true}, style) +
         "\n";
}

std::string assumed_text(const std::vector<std::string>& sentences, const TextStyle& style) {
  std::string all;
  for (const std::string& one : sentences) all += (all.empty() ? "" : " · ") + one;
  return heading("Assumed", "", style) + wrapped(all, 2, style);
}

}  // namespace orrery
