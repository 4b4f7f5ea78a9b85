#include "report/drawing/pipeline_lanes.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>

#include "report/drawing/html_page.h"
#include "report/drawing/pass_style.h"
#include "report/drawing/svg_chart.h"

namespace orrery {
namespace {

using Kind = PipelineSpan::Kind;

bool comes_before(const PipelineSpan& a, const PipelineSpan& b) {
  return std::tuple(a.start, a.end, a.kind, a.chunk, a.microbatch) <
         std::tuple(b.start, b.end, b.kind, b.chunk, b.microbatch);
}

// Neighbours of one kind are merged while they are narrower than `narrowest` seconds.
std::vector<LanePiece> merged(std::vector<PipelineSpan> spans, double narrowest) {
  std::ranges::sort(spans, comes_before);
  std::vector<LanePiece> out;
  std::map<Kind, std::size_t> latest;
  for (const PipelineSpan& span : spans) {
    const auto last = latest.find(span.kind);
    const bool narrow = (span.end - span.start).value() < narrowest;
    if (narrow && last != latest.end()) {
      LanePiece& piece = out[last->second];
      const bool touches = (span.start - piece.span.end).value() < narrowest;
      const bool small = (piece.span.end - piece.span.start).value() < 4 * narrowest;
      if (touches && small) {
        piece.span.end = std::max(piece.span.end, span.end);
        ++piece.passes;
        continue;
      }
    }
    latest[span.kind] = out.size();
    out.push_back({span, 1});
  }
  return out;
}

std::set<int> kept_stages(const std::map<int, std::vector<LanePiece>>& stages, int critical,
                          std::size_t budget) {
  std::size_t all = 0;
  std::vector<int> numbers;
  for (const auto& [stage, pieces] : stages) {
    all += pieces.size();
    numbers.push_back(stage);
  }
  if (all <= budget) return {numbers.begin(), numbers.end()};
  const auto mean = std::max<std::size_t>(all / numbers.size(), 1);
  const std::size_t rows = std::clamp<std::size_t>(budget / mean, 2, numbers.size());
  std::set<int> out;
  for (const std::size_t i : evenly_spread(numbers.size(), rows)) out.insert(numbers[i]);
  if (stages.contains(critical) && !out.contains(critical) && out.size() > 2) {
    // Instead of the nearest one that is neither first nor last.
    const auto after = out.upper_bound(critical);
    const auto victim =
        after != out.end() && std::next(after) != out.end() ? after : std::prev(after);
    if (victim != out.begin()) out.erase(victim);
    out.insert(critical);
  }
  return out;
}

}  // namespace

bool PipelineLanes::has(Kind kind) const {
  return std::ranges::any_of(lanes, [&](const auto& lane) {
    return std::ranges::any_of(lane.second,
                               [&](const LanePiece& piece) { return piece.span.kind == kind; });
  });
}

bool PipelineLanes::has_routes() const {
  return std::ranges::any_of(lanes, [](const auto& lane) {
    return std::ranges::any_of(lane.second, [](const LanePiece& piece) {
      return piece.span.route != 0 || piece.span.backward_route != 0;
    });
  });
}

PipelineLanes pipeline_lanes(std::span<const PipelineSpan> spans, int critical, double narrowest,
                             std::size_t most_pieces) {
  PipelineLanes out;
  if (spans.empty()) return out;
  out.first = spans.front().start;
  out.last = spans.front().end;
  std::map<int, std::vector<PipelineSpan>> by_stage;
  const bool without_transfers = spans.size() > most_pieces;
  std::size_t drawn = 0;
  for (const PipelineSpan& span : spans) {
    out.first = std::min(out.first, span.start);
    out.last = std::max(out.last, span.end);
    out.chunks = std::max({out.chunks, span.chunk + 1, span.backward_chunk + 1});
    if (without_transfers && span.kind == Kind::transfer) continue;
    by_stage[span.stage].push_back(span);
    ++drawn;
  }
  if (!(out.last > out.first)) return out;
  const bool crowded = drawn > most_pieces;
  std::map<int, std::vector<LanePiece>> all;
  for (auto& [stage, mine] : by_stage) {
    all[stage] = merged(std::move(mine), crowded ? narrowest * (out.last - out.first).value() : 0);
  }
  const std::set<int> kept = kept_stages(all, critical, most_pieces);
  for (const int stage : kept) out.lanes[stage] = std::move(all[stage]);
  const auto remark = [&](const std::string& words) {
    out.remark += (out.remark.empty() ? "" : "; ") + words;
  };
  if (kept.size() < all.size()) {
    remark(fmt::format("{} of {} stages are drawn", kept.size(), all.size()));
  }
  if (drawn < spans.size()) remark("transfers are left out");
  if (crowded) remark("passes too narrow to be seen are merged");
  return out;
}

namespace {

class LaneWriter {
 public:
  LaneWriter(const PipelineLanes& lanes, const LaneGeometry& geometry)
      : lanes_(lanes), g_(geometry), thin_(g_.height >= 14 ? 2.5 : 1.5) {
    const bool copies = lanes.has(Kind::offload) || lanes.has(Kind::reload);
    below_ = 1.5 + thin_ + (copies ? thin_ + 1 : 0);
  }

  std::string write(const std::vector<LanePiece>& lane) {
    for (const LanePiece& piece : lane) {
      if (!computes(piece.span.kind)) {
        const double up = piece.span.kind == Kind::reload ? 0 : thin_ + 1;
        const bool two = below_ > 2 + thin_ + 1;
        shape(piece, tag(piece.span.kind, 0), bottom() - (two ? up : 0), thin_, "");
      } else if (piece.span.kind == Kind::forward_and_backward && piece.passes == 1) {
        pair(piece);
      } else {
        pass(piece);
      }
    }
    return std::move(out_);
  }

 private:
  template <class... T>
  void append(fmt::format_string<T...> text, T&&... arguments) {
    fmt::format_to(std::back_inserter(out_), text, std::forward<T>(arguments)...);
  }
  [[nodiscard]] double top() const { return g_.top + 1.5; }
  [[nodiscard]] double tall() const { return g_.height - 3 - below_; }
  [[nodiscard]] double bottom() const { return g_.top + g_.height - 1.5 - thin_; }
  [[nodiscard]] double x(const LanePiece& p) const {
    return g_.left + (p.span.start - lanes_.first).value() * g_.per_second;
  }
  [[nodiscard]] double width(const LanePiece& p) const {
    return std::max((p.span.end - p.span.start).value() * g_.per_second, 0.3);
  }
  [[nodiscard]] std::string tag(Kind kind, int chunk) const {
    return fmt::format("{}{}", style(kind).css_class, tint(chunk, lanes_.chunks));
  }

  [[nodiscard]] std::string tip(const LanePiece& piece) const {
    const PipelineSpan& span = piece.span;
    std::string text = fmt::format("stage {} · {}", span.stage, style(span.kind).name);
    const auto half = [&](std::string_view what, int microbatch, int chunk) {
      text += fmt::format("{} · microbatch {} · chunk {}", what, microbatch, chunk);
    };
    if (piece.passes > 1) {
      text += fmt::format(" · {} passes", piece.passes);
    } else if (span.kind == Kind::forward_and_backward) {
      half(" · forward", span.microbatch, span.chunk);
      half(" · backward", span.backward_microbatch, span.backward_chunk);
    } else if (span.microbatch >= 0) {
      half("", span.microbatch, span.chunk);
    }
    return text + fmt::format(" · {} from {}", time_text(span.end - span.start, g_.axis),
                              time_text(span.start - lanes_.first, g_.axis));
  }

  void shape(const LanePiece& piece, const std::string& css_class, double y, double height,
             const std::string& number) {
    append(R"(<rect class="{}" x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}")", css_class,
           x(piece), y, width(piece), height);
    if (!number.empty()) append(R"( data-m="{}")", number);
    if (g_.tips == Tips::data_attribute) {
      append(R"( data-tip="{}"></rect>)", html_text(tip(piece)));
    } else {
      append(R"(><title>{}</title></rect>)", html_text(tip(piece)));
    }
  }
  // A number in the middle of [y, y + height), where it fits.
  void number(const LanePiece& piece, const std::string& css_class, double y, double height,
              const std::string& text) {
    const double room = static_cast<double>(text.size()) * g_.character + 3;
    if (text.empty() || height < 7.5 || room > width(piece)) return;
    // Two numbers above each other are smaller.
    const bool small = height < 0.75 * tall();
    append(R"(<text class="pass{} n-{}" x="{:.2f}" y="{:.2f}">{}</text>)", small ? " small" : "",
           css_class, x(piece) + width(piece) / 2,
           y + height / 2 + (small ? 0.48 : 0.58) * g_.character, text);
  }
  void foot(const LanePiece& piece, double bottom) {
    const double height = g_.height >= 14 ? 2.6 : 1.6;
    append(R"(<rect class="way" x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}"></rect>)",
           x(piece), bottom - height, width(piece), height);
  }

  void pass(const LanePiece& piece) {
    const PipelineSpan& span = piece.span;
    const std::string css_class = tag(span.kind, span.chunk);
    const bool numbered = piece.passes == 1 && span.microbatch >= 0 && span.kind != Kind::optimizer;
    const std::string text = numbered ? std::to_string(span.microbatch) : "";
    shape(piece, css_class, top(), tall(), text);
    number(piece, css_class, top(), tall(), text);
    if (span.route != 0) foot(piece, top() + tall());
  }
  void pair(const LanePiece& piece) {
    const PipelineSpan& span = piece.span;
    const std::string forward = tag(Kind::forward, span.chunk);
    const std::string backward = tag(Kind::backward, span.backward_chunk);
    const double half = tall() / 2;
    const std::string first = std::to_string(span.microbatch);
    const std::string second = std::to_string(span.backward_microbatch);
    shape(piece, forward, top(), half - 0.25, first);
    shape(piece, backward, top() + half + 0.25, half - 0.25, second);
    number(piece, forward, top(), half, first);
    number(piece, backward, top() + half, half, second);
    if (span.route != 0) foot(piece, top() + half);
    if (span.backward_route != 0) foot(piece, top() + tall());
  }

  const PipelineLanes& lanes_;
  const LaneGeometry& g_;
  double thin_;
  double below_ = 0;
  std::string out_;
};

}  // namespace

std::string lane_svg(const PipelineLanes& lanes, const std::vector<LanePiece>& lane,
                     const LaneGeometry& geometry) {
  return LaneWriter(lanes, geometry).write(lane);
}

namespace {

constexpr double kWidth = 1080;
constexpr double kGutter = 44;  // stage numbers
constexpr double kRight = kWidth - 4;
constexpr double kNarrowest = 0.6;  // of a rectangle that is worth drawing alone

std::string legend_of(const PipelineLanes& lanes) {
  std::vector<std::pair<std::string, std::string>> entries;
  for (std::size_t k = 0; k < kPipelineSpanKinds; ++k) {
    const PassStyle& pass = style(static_cast<PipelineSpan::Kind>(k));
    if (lanes.has(static_cast<PipelineSpan::Kind>(k))) {
      entries.emplace_back(pass.name, fmt::format("{}0", pass.css_class));
    }
  }
  if (lanes.chunks > 1) entries.emplace_back("later chunks are lighter", "f2");
  if (lanes.has_routes()) entries.emplace_back("a dark foot: the opposite way", "ink");
  return html_legend(entries);
}

}  // namespace

PipelineDrawing pipeline_svg(std::span<const PipelineSpan> spans, int critical_stage,
                             std::size_t most_rectangles) {
  const PipelineLanes lanes =
      pipeline_lanes(spans, critical_stage, kNarrowest / (kRight - kGutter), most_rectangles);
  if (lanes.empty()) return {};
  const double whole = (lanes.last - lanes.first).value();
  const std::size_t rows = lanes.lanes.size();
  const double height = rows <= 20 ? 26 : rows <= 40 ? 18 : 12;
  const double bottom = height * static_cast<double>(rows);
  LaneGeometry geometry;
  geometry.left = kGutter;
  geometry.per_second = (kRight - kGutter) / whole;
  geometry.height = height;

  PipelineDrawing out;
  out.remark = lanes.remark;
  out.legend = legend_of(lanes);
  std::string& svg = out.svg;
  auto append = [&]<class... T>(fmt::format_string<T...> text, T&&... arguments) {
    fmt::format_to(std::back_inserter(svg), text, std::forward<T>(arguments)...);
  };
  append(R"(<svg class="chart pipeline" viewBox="0 0 {} {:.0f}" data-width="{}" data-gutter="{}")",
         kWidth, bottom + 34, kWidth, kGutter);
  append(R"( role="img" aria-label="pipeline: time to the right, one row a stage">)");
  const double step = nice_step(whole, 10);
  for (int i = 0; i * step <= whole * (1 + 1e-9); ++i) {
    const double x = kGutter + i * step * geometry.per_second;
    append(R"(<line class="grid" x1="{:.2f}" y1="0" x2="{:.2f}" y2="{}"></line>)", x, x, bottom);
    const std::string label = i == 0 ? "0" : tick_text(Seconds(i * step), geometry.axis);
    append(R"(<text class="tick {}" x="{:.2f}" y="{}">{}</text>)",
           x > kRight - 40 ? "end" : "middle", x, bottom + 18, html_text(label));
  }
  std::string gutter;
  for (const auto& [stage, lane] : lanes.lanes) {
    svg += lane_svg(lanes, lane, geometry);
    fmt::format_to(std::back_inserter(gutter),
                   R"(<text class="tick end{}" x="{}" y="{:.1f}">{}</text>)",
                   stage == critical_stage ? " strong" : "", kGutter - 10,
                   geometry.top + height / 2 + 3, stage);
    geometry.top += height;
  }
  append(R"(<g class="gutter"><rect class="page" x="0" y="0" width="{}" height="{}"></rect>{}</g>)",
         kGutter - 3, bottom + 4, gutter);
  svg += "</svg>";
  return out;
}

}  // namespace orrery
