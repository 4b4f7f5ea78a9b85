#include "report/pipeline_svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "report/html_text.h"
#include "report/svg_chart.h"
#include "units/quantity_text.h"

namespace orrery {
namespace {

using Kind = PipelineSpan::Kind;

constexpr double kWidth = 1080;
constexpr double kGutter = 44;  // stage numbers
constexpr double kRight = kWidth - 4;
constexpr double kNarrowest = 0.6;  // of a rectangle that is worth drawing alone

struct Piece {
  PipelineSpan span;
  int passes = 1;  // how many were merged
};

std::string_view css_class(Kind kind) {
  switch (kind) {
    case Kind::forward:
      return "f";
    case Kind::backward:
      return "b";
    case Kind::transfer:
      return "t";
    case Kind::optimizer:
      return "o";
  }
  return "o";
}

std::string_view words(Kind kind) {
  switch (kind) {
    case Kind::forward:
      return "forward";
    case Kind::backward:
      return "backward";
    case Kind::transfer:
      return "transfer";
    case Kind::optimizer:
      return "optimizer step";
  }
  return "?";
}

bool comes_before(const PipelineSpan& a, const PipelineSpan& b) {
  return std::tuple(a.start, a.end, a.kind, a.chunk, a.microbatch) <
         std::tuple(b.start, b.end, b.kind, b.chunk, b.microbatch);
}

// Neighbours of one kind are merged while they are narrower than `narrowest` seconds.
std::vector<Piece> merged(std::vector<PipelineSpan> spans, double narrowest) {
  std::sort(spans.begin(), spans.end(), comes_before);
  std::vector<Piece> out;
  std::map<Kind, std::size_t> latest;
  for (const PipelineSpan& span : spans) {
    const auto last = latest.find(span.kind);
    const bool narrow = (span.end - span.start).value() < narrowest;
    if (narrow && last != latest.end()) {
      Piece& piece = out[last->second];
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

std::set<int> kept_stages(const std::map<int, std::vector<Piece>>& stages, int critical,
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
  for (std::size_t r = 0; r < rows; ++r) {
    out.insert(numbers[r * (numbers.size() - 1) / (rows - 1)]);
  }
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

PipelineDrawing pipeline_svg(std::span<const PipelineSpan> spans, int critical_stage,
                             std::size_t most_rectangles) {
  if (spans.empty()) return {};
  double first = std::numeric_limits<double>::infinity();
  double last = -first;
  std::map<int, std::vector<PipelineSpan>> by_stage;
  const bool without_transfers = spans.size() > most_rectangles;
  std::size_t drawn = 0;
  for (const PipelineSpan& span : spans) {
    first = std::min(first, span.start.value());
    last = std::max(last, span.end.value());
    if (without_transfers && span.kind == Kind::transfer) continue;
    by_stage[span.stage].push_back(span);
    ++drawn;
  }
  if (!(last > first)) return {};
  const double scale = (kRight - kGutter) / (last - first);
  const bool crowded = drawn > most_rectangles;
  std::map<int, std::vector<Piece>> rows;
  for (auto& [stage, mine] : by_stage) {
    rows[stage] = merged(std::move(mine), crowded ? kNarrowest / scale : 0);
  }
  const std::set<int> kept = kept_stages(rows, critical_stage, most_rectangles);

  const double height = kept.size() <= 20 ? 26 : kept.size() <= 40 ? 18 : 12;
  const double bottom = height * static_cast<double>(kept.size());
  const auto x_of = [&](double seconds) { return kGutter + (seconds - first) * scale; };
  PipelineDrawing out;
  std::string& svg = out.svg;
  auto append = [&]<class... T>(fmt::format_string<T...> text, T&&... arguments) {
    fmt::format_to(std::back_inserter(svg), text, std::forward<T>(arguments)...);
  };
  append(R"(<svg class="chart pipeline" viewBox="0 0 {} {:.0f}" data-width="{}" data-gutter="{}")",
         kWidth, bottom + 34, kWidth, kGutter);
  append(R"( role="img" aria-label="pipeline: time to the right, one row a stage">)");
  const double step = nice_step(last - first, 10);
  for (int i = 0; i * step <= (last - first) * (1 + 1e-9); ++i) {
    const double x = x_of(first + i * step);
    append(R"(<line class="grid" x1="{:.2f}" y1="0" x2="{:.2f}" y2="{}"></line>)", x, x, bottom);
    const std::string label = i == 0 ? "0" : to_text(Seconds(i * step));
    append(R"(<text class="tick {}" x="{:.2f}" y="{}">{}</text>)",
           x > kRight - 40 ? "end" : "middle", x, bottom + 18, html_text(label));
  }
  double y = 0;
  std::string gutter;
  for (const int stage : kept) {
    for (const Piece& piece : rows[stage]) {
      const PipelineSpan& span = piece.span;
      const double x = x_of(span.start.value());
      const double width = std::max((span.end - span.start).value() * scale, 0.3);
      const bool thin = span.kind == Kind::transfer;
      const bool pass = span.kind == Kind::forward || span.kind == Kind::backward;
      std::string tip = fmt::format("stage {} · {}", span.stage, words(span.kind));
      if (piece.passes > 1) {
        tip += fmt::format(" · {} passes", piece.passes);
      } else if (span.microbatch >= 0) {
        tip += fmt::format(" · microbatch {} · chunk {}", span.microbatch, span.chunk);
      }
      tip += fmt::format(" · {} from {}", to_text(span.end - span.start),
                         to_text(span.start - Seconds(first)));
      append(R"(<rect class="{}{}" x="{:.2f}" y="{}" width="{:.2f}" height="{}")",
             css_class(span.kind), pass ? (span.chunk % 2 == 0 ? "0" : "1") : "", x,
             thin ? y + height - 4 : y + 1.5, width, thin ? 2.5 : height - 6);
      if (pass && piece.passes == 1) append(R"( data-m="{}")", span.microbatch);
      append(R"( data-tip="{}"></rect>)", html_text(tip));
      const std::string number = std::to_string(span.microbatch);
      if (pass && piece.passes == 1 && span.microbatch >= 0 && height > 14 &&
          static_cast<double>(number.size()) * 6.2 + 4 < width) {
        append(R"(<text class="pass" x="{:.2f}" y="{:.2f}">{}</text>)", x + width / 2,
               y + height / 2 + 2, number);
      }
    }
    fmt::format_to(
        std::back_inserter(gutter), R"(<text class="tick end{}" x="{}" y="{:.1f}">{}</text>)",
        stage == critical_stage ? " strong" : "", kGutter - 10, y + height / 2 + 3, stage);
    y += height;
  }
  append(R"(<g class="gutter"><rect class="page" x="0" y="0" width="{}" height="{}"></rect>{}</g>)",
         kGutter - 3, bottom + 4, gutter);
  svg += "</svg>";
  const auto remark = [&](const std::string& words) {
    out.remark += (out.remark.empty() ? "" : "; ") + words;
  };
  if (kept.size() < rows.size()) {
    remark(fmt::format("{} of {} stages are drawn", kept.size(), rows.size()));
  }
  if (drawn < spans.size()) remark("transfers are left out");
  if (crowded) remark("passes too narrow to be seen are merged");
  return out;
}

}  // namespace orrery
