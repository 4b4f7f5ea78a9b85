#include "report/drawing/scatter_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "report/drawing/html_page.h"

namespace orrery {
namespace {

constexpr double kSize = 640;  // of the square plot
constexpr double kLeft = 80;
constexpr double kTop = 50;
constexpr double kLegend = 190;
constexpr double kBottom = 60;
constexpr double kBand = 1.2;
// Okabe and Ito, colours that everyone can tell apart, and two greys.
constexpr std::array<const char*, 10> kColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                  "#e69f00", "#56b4e9", "#8c6d00", "#000000",
                                                  "#7f7f7f", "#b0b0b0"};

}  // namespace

std::string scatter_svg(std::span<const JudgedPoint> points, const std::string& title) {
  double low = HUGE_VAL;
  double high = 0;
  std::map<std::string, int> counts;
  for (const JudgedPoint& p : points) {
    if (!(p.measured.value() > 0 && p.predicted.value() > 0)) continue;
    low = std::min({low, p.measured.value(), p.predicted.value()});
    high = std::max({high, p.measured.value(), p.predicted.value()});
    ++counts[p.accelerator];
  }
  if (counts.empty()) low = high = 1;
  const double first = std::floor(std::log10(low));
  const double last = std::max(first + 1, std::ceil(std::log10(high)));
  const auto along = [&](double value) { return (std::log10(value) - first) / (last - first); };
  const auto x_of = [&](double value) { return kLeft + kSize * along(value); };
  const auto y_of = [&](double value) { return kTop + kSize * (1 - along(value)); };

  std::string out;
  const auto add = [&]<class... A>(fmt::format_string<A...> text, A&&... values) {
    fmt::format_to(std::back_inserter(out), text, std::forward<A>(values)...);
  };
  add(R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {:.0f} {:.0f}" )"
      R"(font-family="DejaVu Sans, sans-serif" font-size="14">)"
      "\n",
      kLeft + kSize + kLegend, kTop + kSize + kBottom);
  add(R"(<rect width="100%" height="100%" fill="#ffffff"/>)"
      "\n");
  add(R"(<text x="{:.0f}" y="28" font-size="17" fill="#222222">{}</text>)"
      "\n",
      kLeft, html_text(title));
  for (double decade = first; decade <= last; ++decade) {
    const double value = std::pow(10, decade);
    add(R"(<path d="M{0:.1f} {1:.1f}V{2:.1f}M{3:.1f} {4:.1f}H{5:.1f}" stroke="#dddddd"/>)"
        "\n",
        x_of(value), kTop, kTop + kSize, kLeft, y_of(value), kLeft + kSize);
    add(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="middle" fill="#444444">{:g} s</text>)"
        "\n",
        x_of(value), kTop + kSize + 20, value);
    add(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="end" fill="#444444">{:g} s</text>)"
        "\n",
        kLeft - 8, y_of(value) + 5, value);
  }
  // The band, cut at the frame, and the diagonal.
  const double a = std::pow(10, first);
  const double b = std::pow(10, last);
  add(R"(<path d="M{:.1f} {:.1f}L{:.1f} {:.1f}L{:.1f} {:.1f}L{:.1f} {:.1f}L{:.1f} {:.1f}L{:.1f} )"
      R"({:.1f}Z" fill="#f0f0f0"/>)"
      "\n",
      x_of(a), y_of(a), x_of(a), y_of(a * kBand), x_of(b / kBand), y_of(b), x_of(b), y_of(b),
      x_of(b), y_of(b / kBand), x_of(a * kBand), y_of(a));
  add(R"(<path d="M{:.1f} {:.1f}L{:.1f} {:.1f}" stroke="#888888"/>)"
      "\n",
      x_of(a), y_of(a), x_of(b), y_of(b));
  // Those with most points have a colour each; where there are more, the others share the last.
  std::vector<std::pair<std::string, int>> series(counts.begin(), counts.end());
  std::ranges::stable_sort(series,
                           [](const auto& s, const auto& t) { return s.second > t.second; });
  std::map<std::string, const char*> colour;
  for (const auto& [name, count] : series) {
    colour[name] = kColours[std::min(colour.size(), kColours.size() - 1)];
  }
  if (series.size() > kColours.size()) {
    const auto others = series.begin() + std::ptrdiff_t{kColours.size() - 1};
    const int rest = std::accumulate(others, series.end(), 0,
                                     [](int sum, const auto& s) { return sum + s.second; });
    series.erase(others, series.end());
    series.emplace_back("others", rest);
    colour["others"] = kColours.back();
  }
  for (const JudgedPoint& p : points) {
    if (!(p.measured.value() > 0 && p.predicted.value() > 0)) continue;
    add(R"(<circle cx="{:.1f}" cy="{:.1f}" r="3.5" fill="{}" fill-opacity="0.55"/>)"
        "\n",
        x_of(p.measured.value()), y_of(p.predicted.value()), colour[p.accelerator]);
  }
  double y = kTop + 10;
  for (const auto& [name, count] : series) {
    add(R"(<circle cx="{:.1f}" cy="{:.1f}" r="5" fill="{}"/>)"
        R"(<text x="{:.1f}" y="{:.1f}" fill="#222222">{} ({})</text>)"
        "\n",
        kLeft + kSize + 18, y, colour[name], kLeft + kSize + 30, y + 5, html_text(name), count);
    y += 22;
  }
  add(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="middle" fill="#222222">measured step time</text>)"
      "\n",
      kLeft + kSize / 2, kTop + kSize + 46);
  add(R"svg(<text transform="translate(18 {:.1f}) rotate(-90)" text-anchor="middle" fill="#222222">)svg"
      "predicted, held out</text>\n",
      kTop + kSize / 2);
  return out + "</svg>\n";
}

}  // namespace orrery
