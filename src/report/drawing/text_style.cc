#include "report/drawing/text_style.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace orrery {
namespace {

struct Range {
  char32_t first, last;
};

bool in(const auto& ranges, char32_t point) {
  return std::ranges::any_of(ranges,
                             [&](const Range& r) { return point >= r.first && point <= r.last; });
}

int cells(char32_t point) {
  static constexpr auto kNone = std::to_array<Range>({{0x0300, 0x036F},
                                                      {0x1AB0, 0x1AFF},
                                                      {0x1DC0, 0x1DFF},
                                                      {0x200B, 0x200F},
                                                      {0x202A, 0x202E},
                                                      {0x2060, 0x2064},
                                                      {0x20D0, 0x20FF},
                                                      {0xFE00, 0xFE0F},
                                                      {0xFE20, 0xFE2F},
                                                      {0xFEFF, 0xFEFF}});
  static constexpr auto kWide = std::to_array<Range>({{0x1100, 0x115F},
                                                      {0x2E80, 0x303E},
                                                      {0x3041, 0xA4CF},
                                                      {0xA960, 0xA97F},
                                                      {0xAC00, 0xD7A3},
                                                      {0xF900, 0xFAFF},
                                                      {0xFE30, 0xFE6F},
                                                      {0xFF00, 0xFF60},
                                                      {0xFFE0, 0xFFE6},
                                                      {0x1F300, 0x1F64F},
                                                      {0x1F680, 0x1F6FF},
                                                      {0x1F900, 0x1FAFF},
                                                      {0x20000, 0x3FFFD}});
  if (point < 0x0300) return 1;
  if (in(kNone, point)) return 0;
  return in(kWide, point) ? 2 : 1;
}

constexpr std::string_view kEllipsis = "…";
constexpr std::string_view kNoBreakSpace = "\u00A0";

// The length of what painted() writes before and after a text, at the front of this one; or 0.
std::size_t ink_code(std::string_view text) {
  if (!text.starts_with("\x1b[")) return 0;
  const std::size_t end = text.find_first_not_of("0123456789;", 2);
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

}  // namespace

int usable_width(const TextStyle& style) { return std::max(style.width, kNarrowestText); }

int longest_line(const TextStyle& style) {
  constexpr int kUnbounded = 1 << 20;
  return style.cuts ? usable_width(style) : kUnbounded;
}

std::string painted(std::string_view text, Ink ink, const TextStyle& style) {
  if (!style.colour || text.empty() || (ink.colour == 0 && !ink.bold && !ink.dim)) {
    return std::string(text);
  }
  std::string codes;
  const auto code = [&](const std::string& c) { codes += (codes.empty() ? "" : ";") + c; };
  if (ink.bold) code("1");
  if (ink.dim) code("2");
  if (ink.colour != 0) code(fmt::format("38;5;{}", ink.colour));
  return fmt::format("\x1b[{}m{}\x1b[0m", codes, text);
}

int display_width(std::string_view text) {
  int width = 0;
  while (!text.empty()) {
    const Decoded d = decoded(text);
    width += d.valid ? cells(d.point) : 1;
    text.remove_prefix(d.bytes);
  }
  return width;
}

std::string terminal_text(std::string_view text, const TextStyle& style) {
  std::string out;
  while (!text.empty()) {
    const std::size_t kept = text[0] == '\n' ? 1 : style.colour ? ink_code(text) : 0;
    const std::size_t next = std::max(kept, std::min(text.find_first_of("\n\x1b", 1), text.size()));
    out += kept > 0 ? std::string(text.substr(0, kept)) : printable(text.substr(0, next));
    text.remove_prefix(kept > 0 ? kept : next);
  }
  return out;
}

std::string in_ascii(std::string_view text) {
  static constexpr auto kCounterparts = std::to_array<std::pair<char32_t, char>>(
      {{U'\u00A0', ' '}, {U'²', '2'}, {U'µ', 'u'}, {U'·', '-'}, {U'×', 'x'},  {U'–', '-'},
       {U'…', '~'},      {U'─', '-'}, {U'│', '|'}, {U'▁', '_'}, {U'▂', '_'},  {U'▃', '_'},
       {U'▄', '='},      {U'▅', '='}, {U'▆', '#'}, {U'▇', '#'}, {U'█', '#'},  {U'▉', '#'},
       {U'▊', '#'},      {U'▋', '#'}, {U'▌', '='}, {U'▍', '='}, {U'▎', '-'},  {U'▏', '-'},
       {U'▐', '='},      {U'░', '.'}, {U'▒', '+'}, {U'▓', '%'}, {U'▚', '\\'}, {U'▞', '/'},
       {U'●', '*'},      {U'✓', '+'}, {U'✗', 'x'}, {U'⋮', ':'}, {U'→', '>'},  {U'└', '`'},
       {U'▀', '"'},      {U'↑', '^'}, {U'↓', 'v'}});
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Decoded next = decoded(text);
    const auto* found =
        std::ranges::find(kCounterparts, next.point, &std::pair<char32_t, char>::first);
    if (next.valid && next.point < 0x80) {
      out += static_cast<char>(next.point);
    } else {
      out += next.valid && found != kCounterparts.end() ? found->second : '?';
    }
    text.remove_prefix(next.bytes);
  }
  return out;
}

std::string shortened(std::string_view text, int width) {
  if (display_width(text) <= width) return std::string(text);
  if (width <= 0) return "";
  std::string out;
  int used = 0;
  while (!text.empty()) {
    const Decoded d = decoded(text);
    const int next = d.valid ? cells(d.point) : 1;
    if (used + next > width - 1) break;
    out += text.substr(0, d.bytes);
    used += next;
    text.remove_prefix(d.bytes);
  }
  return out += kEllipsis;
}

std::vector<std::string> lines_within(std::string_view text, int width) {
  std::vector<std::string> out(1);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" ,"), text.size() - 1) + 1;
    std::string_view piece = text.substr(0, end);
    text.remove_prefix(end);
    const std::string_view shown = piece.substr(0, piece.find_last_not_of(' ') + 1);
    if (!out.back().empty() && display_width(out.back()) + display_width(shown) > width) {
      out.emplace_back();
    }
    out.back() += piece;
  }
  for (std::string& line : out) line.erase(line.find_last_not_of(' ') + 1);
  return out;
}

std::string fitted(std::string_view text, int width, Align align) {
  std::string out = shortened(text, width);
  const auto missing = static_cast<std::size_t>(std::max(0, width - display_width(out)));
  return align == Align::left ? out + std::string(missing, ' ') : std::string(missing, ' ') + out;
}

std::string wrapped(std::string_view text, int indent, const TextStyle& style) {
  indent = std::min(indent, usable_width(style) - 10);
  const int room = usable_width(style) - indent;
  const std::string margin(static_cast<std::size_t>(indent), ' ');
  std::string out;
  std::string line;
  const auto flush = [&] {
    for (std::size_t at = 0; (at = line.find(kNoBreakSpace, at)) != std::string::npos; ++at) {
      line.replace(at, kNoBreakSpace.size(), " ");
    }
    if (!line.empty()) out += margin + line + "\n";
    line.clear();
  };
  const std::string clean = printable(text);
  std::string_view rest = clean;
  while (!rest.empty()) {
    const std::size_t space = std::min(rest.find(' '), rest.size());
    std::string word(rest.substr(0, space));
    rest.remove_prefix(std::min(space + 1, rest.size()));
    if (word.empty()) continue;
    const bool fits = display_width(line) + 1 + display_width(word) <= room;
    if (!line.empty() && !fits) flush();
    if (!line.empty()) line += ' ';
    line += shortened(word, longest_line(style) - indent);
  }
  flush();
  return out;
}

std::string paragraph(const TextStyle& style, std::string_view text) {
  return wrapped(text, 2, style);
}

std::string title_line(std::string_view title, const TextStyle& style, Ink ink) {
  const std::string shown = shortened(printable(title), longest_line(style) - 2);
  return "  " + painted(shown, ink, style) + "\n";
}

std::string heading(std::string_view title, std::string_view remark, const TextStyle& style) {
  const int room = longest_line(style) - 2;
  const std::string head = shortened(title, room);
  std::string out = "\n  " + painted(head, {.bold = true}, style);
  const int left = room - display_width(head) - 2;
  if (!remark.empty() && left > 8) {
    out += "  " + painted(shortened(remark, left), {.dim = true}, style);
  }
  return out + "\n";
}

}  // namespace orrery
