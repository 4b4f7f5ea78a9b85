#include "report/drawing/bar.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

namespace orrery {
namespace {

std::string repeated(std::string_view glyph, int n) {
  std::string out;
  for (int i = 0; i < n; ++i) out += glyph;
  return out;
}

double clamped(double share) { return std::isfinite(share) ? std::clamp(share, 0.0, 1.0) : 0.0; }

std::string single(const BarSegment& segment, int width, const TextStyle& style) {
  static constexpr std::array<std::string_view, 8> kEighths = {"",  "▏", "▎", "▍",
                                                               "▌", "▋", "▊", "▉"};
  int eighths = static_cast<int>(std::lround(clamped(segment.share) * width * 8));
  if (segment.share > 0) eighths = std::max(eighths, 1);
  std::string text = repeated("█", eighths / 8);
  text += kEighths[static_cast<std::size_t>(eighths % 8)];
  const int used = (eighths + 7) / 8;
  return painted(text, segment.ink, style) +
         std::string(static_cast<std::size_t>(width - used), ' ');
}

}  // namespace

std::string bar(std::span<const BarSegment> segments, int width, const TextStyle& style) {
  if (width <= 0) return "";
  if (segments.size() == 1) return single(segments[0], width, style);
  static constexpr std::array<std::string_view, 4> kShades = {"█", "▓", "▒", "░"};
  std::string out;
  double sum = 0;
  int used = 0;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    sum = std::min(1.0, sum + clamped(segments[i].share));
    const int until = static_cast<int>(std::lround(sum * width));
    const std::string_view glyph = style.colour ? kShades[0] : kShades[i % kShades.size()];
    out += painted(repeated(glyph, until - used), segments[i].ink, style);
    used = until;
  }
  return out + std::string(static_cast<std::size_t>(width - used), ' ');
}

namespace {

constexpr std::array<std::string_view, 8> kLevels = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};

// The largest of each group of values.
std::vector<double> grouped_to(std::span<const double> values, int width) {
  const std::size_t columns = std::min(values.size(), static_cast<std::size_t>(width));
  std::vector<double> out;
  for (std::size_t i = 0; i < columns; ++i) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(i * values.size() / columns);
    const auto last =
        values.begin() + static_cast<std::ptrdiff_t>((i + 1) * values.size() / columns);
    out.push_back(*std::max_element(first, last));
  }
  return out;
}

std::string_view level(double share) {
  return kLevels[static_cast<std::size_t>(std::lround(std::clamp(share, 0.0, 1.0) * 7))];
}

}  // namespace

std::string sparkline(std::span<const double> values, int width) {
  if (values.empty() || width <= 0) return "";
  const std::vector<double> shown = grouped_to(values, width);
  const auto [low, high] = std::ranges::minmax_element(shown);
  std::string out;
  for (const double v : shown) out += level(*high > *low ? (v - *low) / (*high - *low) : 0.5);
  return out;
}

std::string sparkline(std::span<const double> values, int width, double low, double high) {
  if (values.empty() || width <= 0) return "";
  std::string out;
  for (const double v : grouped_to(values, width)) {
    out += v <= low || high <= low ? std::string_view(" ") : level((v - low) / (high - low));
  }
  return out;
}

}  // namespace orrery
