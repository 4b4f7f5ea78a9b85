// How text for a terminal may look, and the text operations that respect it.
//
// The command line fills TextStyle from the terminal (COLUMNS, isatty, NO_COLOR); the library never
// asks the environment. Widths are terminal cells: UTF-8 is decoded, combining marks take none,
// East Asian wide characters and emoji two (Unicode Standard Annex 11, ranges of version 15).
// Text that came from outside goes through printable(), so that a name cannot move the cursor.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "outcome/printable.h"

namespace orrery {

struct TextStyle {
  int width = 100;      // terminal cells a line may take; taken as at least 20
  bool colour = false;  // escape codes allowed
  bool cuts = true;     // what is longer than a line is shortened; in a pipe it is wrapped
};

// Colour is an index into the 256-colour palette; 0 is the terminal's own text colour.
struct Ink {
  std::uint8_t colour = 0;
  bool bold = false;
  bool dim = false;
};
inline constexpr Ink kBold = {.bold = true};
inline constexpr Ink kDim = {.dim = true};

inline constexpr int kNarrowestText = 20;
[[nodiscard]] int usable_width(const TextStyle& style);
// Beyond it, what cannot be wrapped is cut.
[[nodiscard]] int longest_line(const TextStyle& style);

// Text in that ink, or the text alone where colour is not allowed.
std::string painted(std::string_view text, Ink ink, const TextStyle& style);

// Cells a terminal uses for the text; it must hold no escape codes.
int display_width(std::string_view text);

// All that is printed passes here last: lines stay lines and, where colour is allowed, the codes of
// painted() stay; everything else becomes printable().
std::string terminal_text(std::string_view text, const TextStyle& style);

// The text with an ASCII character in place of every other: what text is drawn with has its
// counterparts, the rest becomes '?'.
std::string in_ascii(std::string_view text);

// At most `width` cells; what was cut is shown by an ellipsis.
std::string shortened(std::string_view text, int width);

// Its lines of at most `width` cells, broken at blanks and behind commas; what has neither stays
// whole. At least one.
std::vector<std::string> lines_within(std::string_view text, int width);

enum class Align { left, right };
// Filled with spaces, or shortened, to exactly `width` cells.
std::string fitted(std::string_view text, int width, Align align);

// Paragraph broken at spaces (a no-break space becomes a space that is no place to break); lines
// begin with `indent` spaces. Ends with a newline unless empty.
std::string wrapped(std::string_view text, int indent, const TextStyle& style);

// A paragraph of a report: two cells from the margin.
std::string paragraph(const TextStyle& style, std::string_view text);
template <class First, class... Others>
std::string paragraph(const TextStyle& style, fmt::format_string<First, Others...> text,
                      First&& first, Others&&... others) {
  return paragraph(style, std::string_view(fmt::format(text, std::forward<First>(first),
                                                       std::forward<Others>(others)...)));
}

// What a text is about, on its first line.
std::string title_line(std::string_view title, const TextStyle& style, Ink ink = kBold);
// A blank line and a title, with a remark beside it where there is room.
std::string heading(std::string_view title, std::string_view remark, const TextStyle& style);

}  // namespace orrery
