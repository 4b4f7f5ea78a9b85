#include "report/drawing/pipeline_svg.h"

#include <fmt/format.h>

#include <iterator>

#include "report/drawing/html_page.h"
#include "report/drawing/pass_style.h"
#include "report/drawing/svg_chart.h"

namespace orrery {
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
