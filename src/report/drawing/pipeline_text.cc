#include "report/drawing/pipeline_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "report/drawing/pass_style.h"

namespace orrery {
namespace {

using Kind = PipelineSpan::Kind;

constexpr int kNobody = -1;

struct Scale {
  double origin = 0;
  double cells_per_second = 0;
  int cells = 0;
};

// What one cell of one row shows: nothing, passes of one kind, or passes of several kinds that are
// too narrow for a cell each.
struct Content {
  enum class Look : std::uint8_t { idle, one_kind, several };
  Look look = Look::idle;
  Kind kind = Kind::forward;
  int chunk = 0;
  int owner = kNobody;  // the span that fills most of it; nobody where many share it
  [[nodiscard]] bool looks_like(const Content& o) const {
    return look == o.look && owner == o.owner && (look != Look::one_kind || kind == o.kind);
  }
};
using Look = Content::Look;

constexpr std::uint8_t kSeveral = 245;
constexpr std::string_view kSeveralShade = "▒";

std::uint8_t colour_of(const Content& c) {
  if (c.look == Look::idle) return 0;
  if (c.look == Look::several) return kSeveral;
  // Two shades by chunk, so that neighbouring virtual stages can be told apart.
  return style(c.kind).terminal[c.chunk % 2 == 0 ? 0 : 1];
}

// What a cell shows where no colour is allowed.
std::string_view shade_of(const Content& c) {
  if (c.look == Look::idle) return " ";
  return c.look == Look::several ? kSeveralShade : style(c.kind).shade;
}

// Where single passes are too narrow for a cell it shows the kind that fills most of it, or that
// several share it. Transfers and copies are shown only where nothing computes. O(spans + cells).
std::vector<Content> contents(const std::vector<int>& of_stage, std::span<const PipelineSpan> spans,
                              const Scale& scale) {
  struct Cover {
    std::array<double, kPipelineSpanKinds> of_kind{};
    double computing = 0;
    double beside = 0;   // transfers and copies
    double largest = 0;  // of a single span that computes
    int owner = kNobody;
    Kind other = Kind::transfer;  // of what runs beside
  };
  std::vector<Cover> cells(static_cast<std::size_t>(scale.cells));
  for (const int s : of_stage) {
    const PipelineSpan& span = spans[static_cast<std::size_t>(s)];
    const double from = (span.start.value() - scale.origin) * scale.cells_per_second;
    const double to = (span.end.value() - scale.origin) * scale.cells_per_second;
    const int first = std::clamp(static_cast<int>(std::floor(from)), 0, scale.cells - 1);
    const int last = std::clamp(static_cast<int>(std::ceil(to)) - 1, first, scale.cells - 1);
    for (int c = first; c <= last; ++c) {
      Cover& cell = cells[static_cast<std::size_t>(c)];
      const double part = std::min<double>(to, c + 1) - std::max<double>(from, c);
      if (!computes(span.kind)) {
        cell.beside += part;
        cell.other = span.kind;
        continue;
      }
      cell.of_kind[static_cast<std::size_t>(span.kind)] += part;
      cell.computing += part;
      if (part > cell.largest) {
        cell.largest = part;
        cell.owner = s;
      }
    }
  }
  std::vector<Content> out;
  for (const Cover& cell : cells) {
    const auto most = std::ranges::max_element(cell.of_kind);
    const auto kind = static_cast<Kind>(most - cell.of_kind.begin());
    const bool shared = *most < 0.75 * cell.computing;
    Content content;
    if (cell.computing >= 0.5 && cell.largest >= 0.5 * cell.computing) {
      const PipelineSpan& span = spans[static_cast<std::size_t>(cell.owner)];
      content = {Look::one_kind, span.kind, span.chunk, cell.owner};
      // Two passes that meet inside a cell are told apart; many that share it are not.
      if (cell.largest < 0.5 && shared) content = {Look::several};
    } else if (cell.computing >= 0.5) {
      content = {shared ? Look::several : Look::one_kind, kind};
    } else if (cell.computing + cell.beside >= 0.5) {
      content = {Look::one_kind, cell.beside >= cell.computing ? cell.other : kind};
    }
    out.push_back(content);
  }
  return out;
}

// Runs of cells of one span, or of one look: [first, last).
struct Run {
  Content content;
  int first = 0;
  int last = 0;
};
std::vector<Run> runs(const std::vector<Content>& cells) {
  std::vector<Run> out;
  for (int c = 0; c < static_cast<int>(cells.size()); ++c) {
    const Content& content = cells[static_cast<std::size_t>(c)];
    if (out.empty() || !out.back().content.looks_like(content)) out.push_back({content, c, c});
    out.back().last = c + 1;
  }
  return out;
}

std::string number_of(const Content& content, std::span<const PipelineSpan> spans) {
  if (content.owner == kNobody) return "";
  const PipelineSpan& span = spans[static_cast<std::size_t>(content.owner)];
  return computes(span.kind) && span.kind != Kind::optimizer && span.microbatch >= 0
             ? std::to_string(span.microbatch)
             : "";
}

std::string plain_row(const std::vector<Content>& row, std::span<const PipelineSpan> spans) {
  std::string out;
  for (const Run& run : runs(row)) {
    const int cells = run.last - run.first;
    std::string number = number_of(run.content, spans);
    // A number that touches its neighbour's would read as one: it needs a cell of shade as well.
    if (static_cast<int>(number.size()) + 1 > cells) number.clear();
    out += number;
    for (int i = static_cast<int>(number.size()); i < cells; ++i) out += shade_of(run.content);
  }
  return out;
}

// `row` has two entries a cell.
std::string coloured_row(const std::vector<Content>& row, std::span<const PipelineSpan> spans) {
  const auto cells = row.size() / 2;
  std::vector<char> letters(cells, ' ');
  for (const Run& run : runs(row)) {
    const std::string number = number_of(run.content, spans);
    const int first = (run.first + 1) / 2;
    const int whole = run.last / 2 - first;
    // One cell stays free, so that the numbers of neighbours do not touch.
    if (number.empty() || static_cast<int>(number.size()) + 1 > whole) continue;
    std::copy(number.begin(), number.end(), letters.begin() + first);
  }
  const auto colour = [](const Content& c) { return static_cast<int>(colour_of(c)); };
  const auto is_pair = [](const Content& c) {
    return c.look == Look::one_kind && c.kind == Kind::forward_and_backward;
  };
  std::string out;
  std::string open;
  for (std::size_t c = 0; c < cells; ++c) {
    const int left = colour(row[2 * c]);
    const int right = colour(row[2 * c + 1]);
    std::string codes;
    std::string glyph = " ";
    if (left == right) {
      glyph = std::string(1, letters[c]);
      if (is_pair(row[2 * c]) && letters[c] == ' ') {
        // A fused pair is a forward above a backward.
        codes = fmt::format("38;5;{};48;5;{}", style(Kind::forward).terminal[0],
                            style(Kind::backward).terminal[0]);
        glyph = "▀";
      } else if (left != 0) {
        codes = fmt::format("38;5;16;48;5;{}", left);
      }
    } else if (left == 0) {
      codes = fmt::format("38;5;{}", right);
      glyph = "▐";
    } else {
      codes = fmt::format("38;5;{}", left);
      if (right != 0) codes += fmt::format(";48;5;{}", right);
      glyph = "▌";
    }
    if (codes != open) {
      if (!open.empty()) out += "\x1b[0m";
      if (!codes.empty()) out += fmt::format("\x1b[{}m", codes);
      open = codes;
    }
    out += glyph;
  }
  return open.empty() ? out : out + "\x1b[0m";
}

// `seen` by kind, then whether several shared a cell.
using Seen = std::array<bool, kPipelineSpanKinds + 1>;

std::string legend(const Seen& seen, const TextStyle& style_of_text) {
  std::string out;
  int used = 0;
  for (std::size_t k = 0; k < seen.size(); ++k) {
    if (!seen[k]) continue;
    Content content{Look::several};
    std::string_view name = "several in turn";
    if (k < kPipelineSpanKinds) {
      content = {Look::one_kind, static_cast<Kind>(k)};
      name = style(content.kind).name;
    }
    const int width = 2 + 2 + 1 + static_cast<int>(name.size());
    if (used > 0 && used + width > usable_width(style_of_text)) {
      out += "\n";
      used = 0;
    }
    const std::string_view glyph = style_of_text.colour ? "█" : shade_of(content);
    const std::string sample = std::string(glyph) + std::string(glyph);
    out += "  " + painted(sample, {.colour = colour_of(content)}, style_of_text) + " " +
           std::string(name);
    used += width;
  }
  return out + "\n";
}

}  // namespace

std::string pipeline_text(std::span<const PipelineSpan> spans, const TextStyle& style,
                          const TimeAxis& axis_unit, int most_rows) {
  if (spans.empty()) return "";
  double first = std::numeric_limits<double>::infinity();
  double last = -first;
  std::map<int, std::vector<int>> by_stage;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    first = std::min(first, spans[i].start.value());
    last = std::max(last, spans[i].end.value());
    by_stage[spans[i].stage].push_back(static_cast<int>(i));
  }
  if (!(last > first)) return "";
  const int label = static_cast<int>(std::to_string(by_stage.rbegin()->first).size());
  const int columns = usable_width(style) - 2 - label - 1;
  const int resolution = style.colour ? 2 : 1;
  const Scale scale{first, columns * resolution / (last - first), columns * resolution};

  std::string out;
  Seen seen{};
  int previous = by_stage.begin()->first - 1;
  const std::vector<std::pair<int, std::vector<int>>> stages(by_stage.begin(), by_stage.end());
  for (const std::size_t s :
       evenly_spread(stages.size(), static_cast<std::size_t>(std::max(most_rows, 2)))) {
    const auto& [stage, of_stage] = stages[s];
    if (stage != previous + 1) {
      out += painted("  " + fitted("⋮", label, Align::right), {.dim = true}, style) + "\n";
    }
    previous = stage;
    const std::vector<Content> cells = contents(of_stage, spans, scale);
    for (const Content& cell : cells) {
      if (cell.look == Look::several) seen[kPipelineSpanKinds] = true;
      if (cell.look == Look::one_kind) seen[static_cast<std::size_t>(cell.kind)] = true;
    }
    std::string row = style.colour ? coloured_row(cells, spans) : plain_row(cells, spans);
    row.erase(row.find_last_not_of(' ') + 1);
    out += "  " +
           painted(fitted(std::to_string(stage), label, Align::right), {.dim = true}, style) + " " +
           row + "\n";
  }
  const std::string end = time_text(Seconds(last - first), axis_unit);
  const std::string axis =
      "0" +
      std::string(static_cast<std::size_t>(std::max(1, columns - 1 - display_width(end))), ' ') +
      end;
  out += std::string(static_cast<std::size_t>(label) + 3, ' ') +
         painted(shortened(axis, columns), {.dim = true}, style) + "\n";
  return out + legend(seen, style);
}

}  // namespace orrery
