#include "report/drawing/pipeline_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "report/drawing/figures.h"
#include "report/drawing/html_page.h"
#include "report/drawing/pass_style.h"
#include "report/drawing/svg_chart.h"
#include "report/drawing/text_style.h"

namespace orrery {
namespace {

using Kind = PipelineSpan::Kind;

constexpr double kLeft = 58;  // of the first moment
constexpr double kIdlePanel = 214;
constexpr double kMargin = 18;
constexpr double kNarrowest = 0.5;  // of a rectangle that is worth drawing alone
constexpr std::size_t kMostPieces = 24000;

// Structure in greys, what could be bought off in colour.
struct CauseStyle {
  std::string_view css_class, colour;
};
constexpr std::array<CauseStyle, kIdleCauses.size()> kCauses = {{{"q0", "#c3cad2"},
                                                                 {"q1", "#939da8"},
                                                                 {"q2", "#59636e"},
                                                                 {"q3", "#d14a86"},
                                                                 {"q4", "#b58a1b"}}};

constexpr std::string_view kRules =
    "text{font-family:Helvetica,Arial,'Liberation Sans','DejaVu Sans',sans-serif;font-size:11.5px;"
    "fill:#3d4752}"
    ".title{font-size:15px;font-weight:bold;fill:#16202b}.sub{fill:#5b6672}"
    ".end{text-anchor:end}.middle{text-anchor:middle}.strong{fill:#16202b;font-weight:bold}"
    ".lane{fill:#f1f3f6}.grid{stroke:#dfe3e8;stroke-width:1}.axis{stroke:#7b8794;stroke-width:1}"
    ".pass{text-anchor:middle}.way{fill:#0e1620;fill-opacity:0.62}"
    ".curve{fill:none;stroke-width:1.5;stroke-linejoin:miter}"
    ".limit{stroke:#c2364a;stroke-width:1.3;stroke-dasharray:6 4}";

// One colour a device, from dark to light, so that the order can be seen.
std::string device_colour(std::size_t device, std::size_t devices) {
  constexpr std::array<std::array<double, 3>, 4> kRamp = {
      {{38, 34, 88}, {44, 111, 176}, {47, 160, 130}, {230, 160, 50}}};
  const double at = devices < 2 ? 1
                                : static_cast<double>(device) / static_cast<double>(devices - 1) *
                                      (kRamp.size() - 1);
  const auto low = std::min(static_cast<std::size_t>(at), kRamp.size() - 2);
  const double share = at - static_cast<double>(low);
  std::array<int, 3> c{};
  for (std::size_t i = 0; i < 3; ++i) {
    c[i] = static_cast<int>(std::lround(kRamp[low][i] * (1 - share) + kRamp[low + 1][i] * share));
  }
  return fmt::format("#{:02x}{:02x}{:02x}", c[0], c[1], c[2]);
}

double text_width(std::string_view text, double size = 11.5) {
  return display_width(text) * size * 0.58;
}

class PictureWriter {
 public:
  PictureWriter(const PipelinePicture& picture, PipelineLanes lanes)
      : p_(picture), lanes_(std::move(lanes)) {
    right_ = kPictureWidth - kMargin - (p_.idle.empty() ? 0 : kIdlePanel);
    const Seconds last = lanes_.first + p_.makespan;
    whole_ = (std::max(lanes_.last, last) - lanes_.first).value();
    per_second_ = (right_ - kLeft) / whole_;
    const std::size_t rows = lanes_.lanes.size();
    height_ = rows <= 8 ? 31 : rows <= 16 ? 25 : rows <= 32 ? 18 : 12;
    if (lanes_.has(Kind::forward_and_backward)) height_ = std::max(height_, rows <= 16 ? 38.0 : 20);
    if (lanes_.has(Kind::offload)) height_ += 4;
  }

  std::string write() {
    heading();
    const double top = y_;
    lanes(top);
    time_axis(p_.memory.empty());
    if (!p_.idle.empty()) idle(top);
    if (!p_.memory.empty()) memory();
    if (!lanes_.remark.empty()) {
      y_ += 6;
      text(kLeft, y_ + 10, "sub", lanes_.remark);
      y_ += 16;
    }
    const double digits = number_size();
    return fmt::format(
               R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0:.0f} {1:.0f}" )"
               R"(width="{0:.0f}" height="{1:.0f}" role="img" aria-label="{2}">)"
               "\n<style>{3}text.pass{{font-size:{4:.1f}px}}text.small{{font-size:{5:.1f}px}}{6}{7}"
               "</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
               kPictureWidth, y_ + 10, html_text(p_.title), kRules, digits,
               std::min(digits, height_ * 0.3), pass_rules(Page::light), cause_rules()) +
           out_ + "</svg>\n";
  }

 private:
  template <class... T>
  void append(fmt::format_string<T...> format, T&&... arguments) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<T>(arguments)...);
  }
  void text(double x, double y, std::string_view css_class, std::string_view words) {
    append("<text class=\"{}\" x=\"{:.2f}\" y=\"{:.2f}\">{}</text>\n", css_class, x, y,
           html_text(words));
  }
  void line(double x1, double y1, double x2, double y2, std::string_view css_class) {
    append("<line class=\"{}\" x1=\"{:.2f}\" y1=\"{:.2f}\" x2=\"{:.2f}\" y2=\"{:.2f}\"/>\n",
           css_class, x1, y1, x2, y2);
  }
  void box(double x, double y, double width, double height, std::string_view css_class) {
    append("<rect class=\"{}\" x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\"/>\n",
           css_class, x, y, std::max(width, 0.0), height);
  }
  [[nodiscard]] double number_size() const { return std::clamp(height_ * 0.4, 7.0, 11.5); }
  [[nodiscard]] double x_of(double seconds) const { return kLeft + seconds * per_second_; }
  [[nodiscard]] static std::string cause_rules() {
    std::string out;
    for (const CauseStyle& c : kCauses) out += fmt::format(".{}{{fill:{}}}", c.css_class, c.colour);
    return out;
  }

  void heading() {
    y_ = 26;
    text(kLeft, y_, "title", p_.title);
    text(kLeft + text_width(p_.title, 16.5) + 12, y_, "sub", p_.subtitle);
    y_ += 12;
    double x = kLeft;
    const auto entry = [&](std::string_view css_class, const std::string& words, bool foot) {
      const double width = 13 + 6 + text_width(words) + 16;
      if (x + width > right_ + 8 && x > kLeft) {
        x = kLeft;
        y_ += 19;
      }
      box(x, y_, 13, 13, css_class);
      if (foot) box(x, y_ + 10, 13, 3, "way");
      text(x + 19, y_ + 10.5, "", words);
      x += width;
    };
    for (std::size_t k = 0; k < kPipelineSpanKinds; ++k) {
      const auto kind = static_cast<Kind>(k);
      if (!lanes_.has(kind)) continue;
      if (kind == Kind::forward_and_backward) {
        const double at = x;
        const double before = y_;
        entry("f0", "forward above backward, as one", false);
        box(y_ == before ? at : kLeft, y_ + 6.75, 13, 6.25, "k0");
        continue;
      }
      entry(fmt::format("{}0", style(kind).css_class), std::string(style(kind).name), false);
    }
    if (lanes_.chunks > 1) {
      entry(fmt::format("f{}", tint(1, 2)),
            lanes_.chunks == 2 ? "second chunk" : "later chunks lighter", false);
    }
    if (lanes_.has_routes()) entry("f0", "opposite direction", true);
    y_ += 13 + 11;
    if (!p_.idle.empty()) y_ = std::max(y_, 74.0);
  }

  void lanes(double top) {
    LaneGeometry g;
    g.left = kLeft;
    g.per_second = per_second_;
    g.top = top;
    g.height = height_;
    g.character = number_size() * 0.6;
    g.tips = Tips::title_element;
    g.axis = p_.axis;
    const double all = height_ * static_cast<double>(lanes_.lanes.size());
    ticks(top, top + all);
    for (std::size_t row = 0; row < lanes_.lanes.size(); ++row) {
      box(kLeft, g.top + 1.5, whole_ * per_second_, height_ - 6, "lane");
      g.top += height_;
    }
    append("<g stroke=\"#ffffff\" stroke-width=\"{}\">", crowded() ? 0 : 0.8);
    g.top = top;
    std::string numbers;
    for (const auto& [device, lane] : lanes_.lanes) {
      // Numbers carry no outline.
      std::string shapes = lane_svg(lanes_, lane, g);
      split(shapes, numbers);
      out_ += shapes + "\n";
      g.top += height_;
    }
    out_ += "</g>\n" + numbers + "\n";
    g.top = top;
    for (const auto& [device, lane] : lanes_.lanes) {
      text(kLeft - 9, g.top + height_ / 2 + 2.5, "end", std::to_string(device));
      g.top += height_;
    }
    sideways("device", top + all / 2);
    y_ = top + all;
  }
  // Whether outlines would hide the passes.
  [[nodiscard]] bool crowded() const {
    std::size_t pieces = 0;
    for (const auto& [device, lane] : lanes_.lanes) pieces = std::max(pieces, lane.size());
    return static_cast<double>(pieces) * 5 > right_ - kLeft;
  }
  static void split(std::string& shapes, std::string& numbers) {
    std::string rest;
    std::size_t at = 0;
    while (at < shapes.size()) {
      const std::size_t begin = std::min(shapes.find("<text", at), shapes.size());
      rest.append(shapes, at, begin - at);
      if (begin == shapes.size()) break;
      const std::size_t end = shapes.find("</text>", begin) + 7;
      numbers.append(shapes, begin, end - begin);
      at = end;
    }
    shapes = std::move(rest);
  }
  void sideways(std::string_view words, double y) {
    append("<text class=\"middle sub\" transform=\"translate(18 {:.2f}) rotate(-90)\">{}</text>\n",
           y, html_text(words));
  }

  [[nodiscard]] double tick_step() const {
    const double one = p_.axis.counts_units() ? p_.axis.unit.value() : 1;
    return nice_step(whole_ / one, 12) * one;
  }
  void ticks(double top, double bottom) {
    const double step = tick_step();
    for (int i = 0; i * step <= whole_ * (1 + 1e-9); ++i) {
      line(x_of(i * step), top, x_of(i * step), bottom, "grid");
    }
  }
  void time_axis(bool last_panel) {
    line(kLeft, y_ + 1, right_, y_ + 1, "axis");
    const double step = tick_step();
    for (int i = 0; i * step <= whole_ * (1 + 1e-9); ++i) {
      const double x = x_of(i * step);
      line(x, y_ + 1, x, y_ + 5, "axis");
      text(x, y_ + 18, "middle", i == 0 ? "0" : tick_text(Seconds(i * step), p_.axis));
    }
    y_ += 22;
    if (last_panel) axis_title();
  }
  void axis_title() {
    text((kLeft + right_) / 2, y_ + 12, "middle sub",
         p_.axis.counts_units() ? "time (units)" : "time");
    y_ += 16;
  }

  void idle(double top) {
    const double left = right_ + 26;
    const double width = kPictureWidth - kMargin - left - 48;
    double most = 0;
    IdleTime sum;
    for (const IdleTime& device : p_.idle) {
      most = std::max(most, device.total().count());
      sum += device;
    }
    const double whole_ps = whole_ * 1e12;
    const double share = sum.total().count() / (static_cast<double>(p_.idle.size()) * whole_ps);
    text(left, 26, "strong", "idle " + percent(share));
    double x = left;
    double y = 38;
    for (const IdleCause cause : kIdleCauses) {
      if (sum[cause] <= Picoseconds(0)) continue;
      const std::string words(to_text(cause));
      const double needed = 10 + 5 + text_width(words) + 9;
      if (x + needed > kPictureWidth - 4 && x > left) {
        x = left;
        y += 17;
      }
      box(x, y + 1, 10, 10, kCauses[static_cast<std::size_t>(cause)].css_class);
      text(x + 15, y + 10, "", words);
      x += needed;
    }
    double lane_top = top;
    for (const auto& [device, lane] : lanes_.lanes) {
      const IdleTime& of = p_.idle[static_cast<std::size_t>(device)];
      double at = left;
      const double thick = std::min(height_ - 8, 15.0);
      const double bar_top = lane_top + (height_ - 4.5 - thick) / 2 + 1;
      box(left, bar_top, width, thick, "lane");
      for (const IdleCause cause : kIdleCauses) {
        const double part = most > 0 ? of[cause].count() / most * width : 0;
        box(at, bar_top, part, thick, kCauses[static_cast<std::size_t>(cause)].css_class);
        at += part;
      }
      if (height_ >= 12) {
        text(kPictureWidth - kMargin, lane_top + height_ / 2 + 2.5, "end",
             percent(of.total().count() / whole_ps));
      }
      lane_top += height_;
    }
  }

  void memory() {
    constexpr double kTall = 118;
    const double top = y_ + 12;
    const double bottom = top + kTall;
    double highest = p_.memory_limit;
    for (const auto& curve : p_.memory) {
      for (const MemoryChange& c : curve) highest = std::max(highest, c.held);
    }
    if (!(highest > 0)) highest = 1;
    const double step = nice_step(highest * 1.05, 6);
    const double ceiling = std::max(highest * 1.05, step);
    const auto y_at = [&](double value) { return bottom - value / ceiling * kTall; };
    ticks(top, bottom);
    for (int i = 0; i * step <= ceiling * (1 + 1e-9); ++i) {
      line(kLeft, y_at(i * step), right_, y_at(i * step), i == 0 ? "axis" : "grid");
      text(kLeft - 9, y_at(i * step) + 4, "end", fmt::format("{:.6g}", i * step));
    }
    // The first devices lie on top: in most schedules they hold the most. Few curves are set apart
    // by a pixel, so that equal ones can be seen.
    const std::size_t devices = p_.memory.size();
    for (std::size_t d = devices; d-- > 0;) {
      const double apart =
          devices <= 8 ? (static_cast<double>(d) - static_cast<double>(devices - 1) / 2) * 1.1 : 0;
      append("<path class=\"curve\" stroke=\"{}\" transform=\"translate({:.1f} {:.1f})\" d=\"",
             device_colour(d, devices), apart, -apart);
      append("M{:.1f} {:.1f}", kLeft, y_at(0));
      for (const MemoryChange& c : thinned(p_.memory[d])) {
        append("H{:.1f}V{:.1f}", x_of(c.at.count() * 1e-12), y_at(c.held));
      }
      append("H{:.1f}\"/>\n", x_of(whole_));
    }
    if (p_.memory_limit > 0) {
      line(kLeft, y_at(p_.memory_limit), right_, y_at(p_.memory_limit), "limit");
    }
    sideways("memory", (top + bottom) / 2);
    peaks(top, kTall);
    y_ = bottom;
    time_axis(true);
  }
  // At most two changes a pixel column, its lowest and its highest.
  [[nodiscard]] std::vector<MemoryChange> thinned(const std::vector<MemoryChange>& curve) const {
    if (curve.size() < 4000) return curve;
    std::vector<MemoryChange> out;
    double column = -1;
    MemoryChange low, high;
    const auto flush = [&] {
      if (column < 0) return;
      out.push_back(low.at < high.at ? low : high);
      out.push_back(low.at < high.at ? high : low);
    };
    for (const MemoryChange& c : curve) {
      const double at = std::floor(c.at.count() * 1e-12 * per_second_ * 2);
      if (at != column) {
        flush();
        column = at;
        low = high = c;
      }
      if (c.held < low.held) low = c;
      if (c.held >= high.held) high = c;
    }
    flush();
    out.push_back(curve.back());
    return out;
  }
  // Beside the curves: the colour and the peak of each device, or of the first, the last and some
  // between.
  void peaks(double top, double tall) {
    const double left = p_.idle.empty() ? right_ - 150 : right_ + 26;
    if (p_.idle.empty()) return;
    text(left, top + 4, "strong", "peak");
    text(left + 38, top + 4, "sub", p_.memory_unit);
    const std::size_t devices = p_.memory.size();
    const auto rows = static_cast<std::size_t>((tall - 10) / 16);
    const std::size_t columns = 2;
    const std::vector<std::size_t> all = evenly_spread(devices, rows * columns);
    const std::size_t shown = all.size();
    for (std::size_t i = 0; i < shown; ++i) {
      const std::size_t d = all[i];
      double peak = 0;
      for (const MemoryChange& c : p_.memory[d]) peak = std::max(peak, c.held);
      const std::size_t per_column = (shown + columns - 1) / columns;
      const bool one_column = shown <= rows;
      const std::size_t column = one_column ? 0 : i / per_column;
      const double x = left + 92 * static_cast<double>(column);
      const double y = top + 21 + 16 * static_cast<double>(one_column ? i : i % per_column);
      append(
          "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" "
          "stroke-width=\"3\"/>\n",
          x, y - 4, x + 16, y - 4, device_colour(d, devices));
      text(x + 22, y, "", fmt::format("{}", d));
      text(x + 78, y, "end", fmt::format("{:.4g}", peak));
    }
  }

  const PipelinePicture& p_;
  PipelineLanes lanes_;
  double right_ = 0;
  double whole_ = 0;
  double per_second_ = 0;
  double height_ = 0;
  double y_ = 0;
  std::string out_;
};

}  // namespace

std::string pipeline_picture(const PipelinePicture& picture) {
  PipelineLanes lanes =
      pipeline_lanes(picture.spans, 0, kNarrowest / (kPictureWidth - kLeft), kMostPieces);
  if (lanes.empty()) return "";
  return PictureWriter(picture, std::move(lanes)).write();
}

}  // namespace orrery
