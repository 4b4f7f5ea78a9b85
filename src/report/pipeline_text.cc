#include "report/pipeline_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "units/quantity_text.h"

namespace orrery {
namespace {

using Kind = PipelineSpan::Kind;

constexpr int kNobody = -1;

// Two shades by chunk, so that neighbouring virtual stages can be told apart.
std::uint8_t colour_of(Kind kind, int chunk) {
  const bool odd = chunk % 2 != 0;
  switch (kind) {
    case Kind::forward:
      return odd ? 75 : 33;
    case Kind::backward:
      return odd ? 114 : 71;
    case Kind::transfer:
      return 214;
    case Kind::optimizer:
      return 169;
  }
  return 245;
}

// What a cell shows where no colour is allowed.
std::string_view shade_of(Kind kind) {
  switch (kind) {
    case Kind::forward:
      return "░";
    case Kind::backward:
      return "▓";
    case Kind::transfer:
      return "-";
    case Kind::optimizer:
      return "=";
  }
  return "?";
}

struct Scale {
  double origin = 0;
  double cells_per_second = 0;
  int cells = 0;
};

// The span that covers most of each cell of one stage, or nobody. A transfer is shown only where
// nothing computes. O(spans + cells).
std::vector<int> owners(const std::vector<int>& of_stage, std::span<const PipelineSpan> spans,
                        const Scale& scale) {
  std::vector<int> owner(static_cast<std::size_t>(scale.cells), kNobody);
  std::vector<double> covered(static_cast<std::size_t>(scale.cells), 0.0);
  std::vector<double> total(static_cast<std::size_t>(scale.cells), 0.0);
  const auto cover = [&](int s) {
    const PipelineSpan& span = spans[static_cast<std::size_t>(s)];
    const double from = (span.start.value() - scale.origin) * scale.cells_per_second;
    const double to = (span.end.value() - scale.origin) * scale.cells_per_second;
    const int first = std::clamp(static_cast<int>(std::floor(from)), 0, scale.cells - 1);
    const int last = std::clamp(static_cast<int>(std::ceil(to)) - 1, first, scale.cells - 1);
    for (int c = first; c <= last; ++c) {
      const auto cell = static_cast<std::size_t>(c);
      const double part = std::min<double>(to, c + 1) - std::max<double>(from, c);
      total[cell] += part;
      if (part > covered[cell]) {
        covered[cell] = part;
        owner[cell] = s;
      }
    }
  };
  const auto clear_blanks = [&] {
    for (std::size_t c = 0; c < owner.size(); ++c) {
      if (total[c] < 0.5) owner[c] = kNobody;
    }
  };
  const auto is_transfer = [&](int s) {
    return spans[static_cast<std::size_t>(s)].kind == Kind::transfer;
  };
  for (const int s : of_stage) {
    if (!is_transfer(s)) cover(s);
  }
  clear_blanks();
  const std::vector<int> computing = owner;
  for (const int s : of_stage) {
    if (is_transfer(s)) cover(s);
  }
  clear_blanks();
  for (std::size_t c = 0; c < owner.size(); ++c) {
    if (computing[c] != kNobody) owner[c] = computing[c];
  }
  return owner;
}

// Runs of cells with one owner: [first, last).
struct Run {
  int owner = kNobody;
  int first = 0;
  int last = 0;
};
std::vector<Run> runs(const std::vector<int>& owner) {
  std::vector<Run> out;
  for (int c = 0; c < static_cast<int>(owner.size()); ++c) {
    const int who = owner[static_cast<std::size_t>(c)];
    if (out.empty() || out.back().owner != who) out.push_back({who, c, c});
    out.back().last = c + 1;
  }
  return out;
}

std::string number_of(const PipelineSpan& span) {
  return span.microbatch >= 0 && (span.kind == Kind::forward || span.kind == Kind::backward)
             ? std::to_string(span.microbatch)
             : "";
}

std::string plain_row(const std::vector<int>& owner, std::span<const PipelineSpan> spans) {
  std::string out;
  for (const Run& run : runs(owner)) {
    const int cells = run.last - run.first;
    if (run.owner == kNobody) {
      out += std::string(static_cast<std::size_t>(cells), ' ');
      continue;
    }
    const PipelineSpan& span = spans[static_cast<std::size_t>(run.owner)];
    std::string number = number_of(span);
    // A number that touches its neighbour's would read as one: it needs a cell of shade as well.
    if (static_cast<int>(number.size()) + 1 > cells) number.clear();
    out += number;
    for (int i = static_cast<int>(number.size()); i < cells; ++i) out += shade_of(span.kind);
  }
  return out;
}

// `owner` has two entries a cell.
std::string coloured_row(const std::vector<int>& owner, std::span<const PipelineSpan> spans) {
  const auto cells = owner.size() / 2;
  std::vector<char> letters(cells, ' ');
  for (const Run& run : runs(owner)) {
    if (run.owner == kNobody) continue;
    const std::string number = number_of(spans[static_cast<std::size_t>(run.owner)]);
    const int first = (run.first + 1) / 2;
    const int whole = run.last / 2 - first;
    // One cell stays free, so that the numbers of neighbours do not touch.
    if (number.empty() || static_cast<int>(number.size()) + 1 > whole) continue;
    std::copy(number.begin(), number.end(), letters.begin() + first);
  }
  const auto colour = [&](int who) {
    if (who == kNobody) return 0;
    const PipelineSpan& span = spans[static_cast<std::size_t>(who)];
    return static_cast<int>(colour_of(span.kind, span.chunk));
  };
  std::string out;
  std::string open;
  for (std::size_t c = 0; c < cells; ++c) {
    const int left = colour(owner[2 * c]);
    const int right = colour(owner[2 * c + 1]);
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

std::string legend(std::span<const PipelineSpan> spans, const TextStyle& style) {
  std::string out;
  int used = 0;
  const auto entry = [&](Kind kind, std::string_view name) {
    const bool present = std::any_of(spans.begin(), spans.end(),
                                     [&](const PipelineSpan& s) { return s.kind == kind; });
    if (!present) return;
    const int width = 2 + 2 + 1 + static_cast<int>(name.size());
    if (used + width > usable_width(style)) {
      out += "\n";
      used = 0;
    }
    const std::string_view glyph = style.colour ? "█" : shade_of(kind);
    const std::string sample = std::string(glyph) + std::string(glyph);
    out += "  " + painted(sample, {.colour = colour_of(kind, 0)}, style) + " " + std::string(name);
    used += width;
  };
  entry(Kind::forward, "forward");
  entry(Kind::backward, "backward");
  entry(Kind::transfer, "transfer");
  entry(Kind::optimizer, "optimizer");
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
  int previous = by_stage.begin()->first - 1;
  for (const int stage : drawn_stages(by_stage, most_rows)) {
    if (stage != previous + 1) {
      out += painted("  " + fitted("⋮", label, Align::right), {.dim = true}, style) + "\n";
    }
    previous = stage;
    const std::vector<int> owner = owners(by_stage[stage], spans, scale);
    std::string row = style.colour ? coloured_row(owner, spans) : plain_row(owner, spans);
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
  return out + legend(spans, style);
}

}  // namespace orrery
