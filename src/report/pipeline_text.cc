#include "report/pipeline_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "units/quantity_text.h"

namespace orrery {
namespace {

using Kind = PipelineSpan::Kind;

constexpr int kNobody = -1;

struct Scale {
  double origin = 0;
  double cells_per_second = 0;
  int cells = 0;
};

// What one cell of one row shows.
struct Content {
  enum class Look : std::uint8_t { idle, forward, backward, both, transfer, optimizer };
  Look look = Look::idle;
  int chunk = 0;
  int owner = kNobody;  // the span that fills most of it; nobody where many share it
};
using Look = Content::Look;

Look look_of(Kind kind) {
  switch (kind) {
    case Kind::forward:
      return Look::forward;
    case Kind::backward:
      return Look::backward;
    case Kind::transfer:
      return Look::transfer;
    case Kind::optimizer:
      return Look::optimizer;
  }
  return Look::idle;
}

// Two shades by chunk, so that neighbouring virtual stages can be told apart.
std::uint8_t colour_of(Look look, int chunk) {
  const bool odd = chunk % 2 != 0;
  switch (look) {
    case Look::idle:
      return 0;
    case Look::forward:
      return odd ? 75 : 33;
    case Look::backward:
      return odd ? 114 : 71;
    case Look::both:
      return 37;
    case Look::transfer:
      return 214;
    case Look::optimizer:
      return 169;
  }
  return 0;
}

// What a cell shows where no colour is allowed.
std::string_view shade_of(Look look) {
  switch (look) {
    case Look::idle:
      return " ";
    case Look::forward:
      return "░";
    case Look::backward:
      return "▓";
    case Look::both:
      return "▒";
    case Look::transfer:
      return "-";
    case Look::optimizer:
      return "=";
  }
  return "?";
}

// Where single passes are too narrow for a cell it shows the kind that fills most of it, or that
// forward and backward share it. A transfer is shown only where nothing computes. O(spans + cells).
std::vector<Content> contents(const std::vector<int>& of_stage, std::span<const PipelineSpan> spans,
                              const Scale& scale) {
  struct Cover {
    std::array<double, 4> of_kind{};
    double largest = 0;  // of a single span that computes
    int owner = kNobody;
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
      cell.of_kind[static_cast<std::size_t>(span.kind)] += part;
      if (span.kind != Kind::transfer && part > cell.largest) {
        cell.largest = part;
        cell.owner = s;
      }
    }
  }
  std::vector<Content> out;
  for (const Cover& cell : cells) {
    const double forward = cell.of_kind[static_cast<std::size_t>(Kind::forward)];
    const double backward = cell.of_kind[static_cast<std::size_t>(Kind::backward)];
    const double optimizer = cell.of_kind[static_cast<std::size_t>(Kind::optimizer)];
    const double transfer = cell.of_kind[static_cast<std::size_t>(Kind::transfer)];
    const double computing = forward + backward + optimizer;
    Content content;
    if (computing >= 0.5 && cell.largest >= 0.5 * computing) {
      const PipelineSpan& span = spans[static_cast<std::size_t>(cell.owner)];
      content = {look_of(span.kind), span.chunk, cell.owner};
      // Two passes that meet inside a cell are told apart; many that share it are not.
      if (cell.largest < 0.5 && std::min(forward, backward) > 0.25 * computing) {
        content = {Look::both, 0, kNobody};
      }
    } else if (computing >= 0.5) {
      content.look = forward > backward ? Look::forward : Look::backward;
      if (std::min(forward, backward) > 0.25 * computing) content.look = Look::both;
      if (optimizer > 0.5 * computing) content.look = Look::optimizer;
    } else if (computing + transfer >= 0.5) {
      content.look = transfer >= computing
                         ? Look::transfer
                         : look_of(spans[static_cast<std::size_t>(cell.owner)].kind);
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
    const bool same = !out.empty() && out.back().content.owner == content.owner &&
                      out.back().content.look == content.look;
    if (!same) out.push_back({content, c, c});
    out.back().last = c + 1;
  }
  return out;
}

std::string number_of(const Content& content, std::span<const PipelineSpan> spans) {
  if (content.owner == kNobody) return "";
  const PipelineSpan& span = spans[static_cast<std::size_t>(content.owner)];
  const bool pass = span.kind == Kind::forward || span.kind == Kind::backward;
  return pass && span.microbatch >= 0 ? std::to_string(span.microbatch) : "";
}

std::string plain_row(const std::vector<Content>& row, std::span<const PipelineSpan> spans) {
  std::string out;
  for (const Run& run : runs(row)) {
    const int cells = run.last - run.first;
    std::string number = number_of(run.content, spans);
    // A number that touches its neighbour's would read as one: it needs a cell of shade as well.
    if (static_cast<int>(number.size()) + 1 > cells) number.clear();
    out += number;
    for (int i = static_cast<int>(number.size()); i < cells; ++i) out += shade_of(run.content.look);
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
  const auto colour = [&](const Content& c) {
    return static_cast<int>(colour_of(c.look, c.chunk));
  };
  std::string out;
  std::string open;
  for (std::size_t c = 0; c < cells; ++c) {
    const int left = colour(row[2 * c]);
    const int right = colour(row[2 * c + 1]);
    std::string codes;
    std::string glyph = " ";
    if (left == right) {
      if (left != 0) codes = fmt::format("38;5;16;48;5;{}", left);
      glyph = std::string(1, letters[c]);
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

std::vector<int> drawn_stages(const std::map<int, std::vector<int>>& by_stage, int most_rows) {
  std::vector<int> all;
  for (const auto& [stage, spans] : by_stage) all.push_back(stage);
  const int rows = std::max(2, most_rows);
  if (static_cast<int>(all.size()) <= rows) return all;
  std::vector<int> out;
  for (int r = 0; r < rows; ++r) {
    out.push_back(
        all[static_cast<std::size_t>(r) * (all.size() - 1) / static_cast<std::size_t>(rows - 1)]);
  }
  return out;
}

std::string legend(const std::set<Look>& seen, const TextStyle& style) {
  static constexpr std::array<std::pair<Look, std::string_view>, 5> kNames = {
      {{Look::forward, "forward"},
       {Look::backward, "backward"},
       {Look::both, "both in turn"},
       {Look::transfer, "transfer"},
       {Look::optimizer, "optimizer"}}};
  std::string out;
  int used = 0;
  for (const auto& [look, name] : kNames) {
    if (!seen.contains(look)) continue;
    const int width = 2 + 2 + 1 + static_cast<int>(name.size());
    if (used + width > usable_width(style)) {
      out += "\n";
      used = 0;
    }
    const std::string_view glyph = style.colour ? "█" : shade_of(look);
    const std::string sample = std::string(glyph) + std::string(glyph);
    out += "  " + painted(sample, {.colour = colour_of(look, 0)}, style) + " " + std::string(name);
    used += width;
  }
  return out + "\n";
}

}  // namespace

std::string pipeline_text(std::span<const PipelineSpan> spans, const TextStyle& style,
                          int most_rows) {
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
  std::set<Look> seen;
  int previous = by_stage.begin()->first - 1;
  for (const int stage : drawn_stages(by_stage, most_rows)) {
    if (stage != previous + 1) {
      out += painted("  " + fitted("⋮", label, Align::right), {.dim = true}, style) + "\n";
    }
    previous = stage;
    const std::vector<Content> cells = contents(by_stage[stage], spans, scale);
    for (const Content& cell : cells) seen.insert(cell.look);
    std::string row = style.colour ? coloured_row(cells, spans) : plain_row(cells, spans);
    row.erase(row.find_last_not_of(' ') + 1);
    out += "  " +
           painted(fitted(std::to_string(stage), label, Align::right), {.dim = true}, style) + " " +
           row + "\n";
  }
  const std::string end = to_text(Seconds(last - first));
  const std::string axis =
      "0" +
      std::string(static_cast<std::size_t>(std::max(1, columns - 1 - display_width(end))), ' ') +
      end;
  out += std::string(static_cast<std::size_t>(label) + 3, ' ') +
         painted(shortened(axis, columns), {.dim = true}, style) + "\n";
  return out + legend(seen, style);
}

}  // namespace orrery
