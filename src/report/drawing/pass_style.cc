#include "report/drawing/pass_style.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace orrery {
namespace {

using Kind = PipelineSpan::Kind;
constexpr int kPassTints = 4;  // 0 is the full colour

// clang-format off
constexpr std::array<PassStyle, kPipelineSpanKinds> kStyles = {{
    {"forward",               "f",  "░", {33, 75},   "#2c6fb0", "#4a8fd6"},
    {"backward",              "k",  "▓", {167, 209}, "#cf5a2c", "#e0703f"},
    {"input gradient",        "b",  "▚", {214, 221}, "#eda437", "#e0972a"},
    {"weight gradient",       "w",  "▞", {36, 79},   "#2f9677", "#35a584"},
    {"forward and backward",  "p",  "█", {98, 140},  "#7a5ba8", "#9a7bc8"},
    {"output layer",          "s",  "s", {97, 140},  "#8a5fae", "#a57cc9"},
    {"output layer gradient", "u",  "t", {176, 182}, "#c08fc8", "#c99bd0"},
    {"input layer",           "i",  "i", {244, 248}, "#7c8794", "#8b97a5"},
    {"input layer gradient",  "g",  "g", {250, 252}, "#b2bac3", "#66717d"},
    {"offload",               "ho", "↑", {240, 240}, "#6b7580", "#98a4b1"},
    {"reload",                "hr", "↓", {240, 240}, "#3d4650", "#c6d0da"},
    {"transfer",              "t",  "-", {246, 246}, "#9aa3ad", "#7b8794"},
    {"optimizer step",        "o",  "=", {169, 169}, "#a3457f", "#c964a4"},
}};
// clang-format on

using Channels = std::array<double, 3>;

Channels channels(std::string_view hex) {
  Channels out{};
  for (std::size_t i = 0; i < 3; ++i) {
    int value = 0;
    std::from_chars(hex.data() + 1 + 2 * i, hex.data() + 3 + 2 * i, value, 16);
    out[i] = value;
  }
  return out;
}

Channels mixed(Kind kind, int tint, Page page) {
  constexpr std::array<double, kPassTints> kWhite = {0, 0.26, 0.48, 0.66};
  constexpr std::array<double, kPassTints> kBlack = {0, 0.22, 0.40, 0.54};
  const auto t = static_cast<std::size_t>(std::clamp(tint, 0, kPassTints - 1));
  const bool light = page == Page::light;
  Channels colour = channels(light ? style(kind).light : style(kind).dark);
  const Channels background = light ? Channels{255, 255, 255} : Channels{21, 27, 35};
  const double share = light ? kWhite[t] : kBlack[t];
  for (std::size_t i = 0; i < 3; ++i) {
    colour[i] = std::round(colour[i] * (1 - share) + background[i] * share);
  }
  return colour;
}

}  // namespace

const PassStyle& style(Kind kind) { return kStyles[static_cast<std::size_t>(kind)]; }

int tint(int chunk, int chunks) {
  if (chunks <= 1) return 0;
  if (chunks == 2) return chunk == 0 ? 0 : 2;
  return static_cast<int>(std::lround(chunk * (kPassTints - 1.0) / (chunks - 1)));
}

namespace {

// "#rrggbb": the style's colour mixed with the page's.
std::string tinted(Kind kind, int tint, Page page) {
  const Channels c = mixed(kind, tint, page);
  return fmt::format("#{:02x}{:02x}{:02x}", static_cast<int>(c[0]), static_cast<int>(c[1]),
                     static_cast<int>(c[2]));
}

// Whether text on it is better dark than white. Contrast by relative luminance (WCAG 2.2), between
// white and a near-black.
bool wants_dark_text(Kind kind, int tint, Page page) {
  const Channels c = mixed(kind, tint, page);
  const auto linear = [](double channel) {
    const double x = channel / 255;
    return x <= 0.04045 ? x / 12.92 : std::pow((x + 0.055) / 1.055, 2.4);
  };
  const double luminance = 0.2126 * linear(c[0]) + 0.7152 * linear(c[1]) + 0.0722 * linear(c[2]);
  const double on_white = 1.05 / (luminance + 0.05);
  const double on_dark = (luminance + 0.05) / 0.06;
  return on_dark > 1.4 * on_white;
}

template <class Visit>
void for_all(Visit visit) {
  for (std::size_t k = 0; k < kPipelineSpanKinds; ++k) {
    for (int t = 0; t < kPassTints; ++t) visit(static_cast<Kind>(k), t);
  }
}

}  // namespace

std::string pass_rules(Page page) {
  std::string out;
  for_all([&](Kind kind, int t) {
    out +=
        fmt::format(".{0}{1}{{fill:{2}}}.n-{0}{1}{{fill:{3}}}", style(kind).css_class, t,
                    tinted(kind, t, page), wants_dark_text(kind, t, page) ? "#16202b" : "#ffffff");
  });
  return out;
}

std::string pass_variables(Page page) {
  std::string out;
  for_all([&](Kind kind, int t) {
    out += fmt::format("--{}{}:{};", style(kind).css_class, t, tinted(kind, t, page));
  });
  return out;
}

}  // namespace orrery
