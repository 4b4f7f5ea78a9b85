// The pieces of markup that all charts are made of. Names and texts are escaped here; CSS classes
// are the caller's own, or escaped by it.
#pragma once

#include <string>
#include <string_view>

namespace orrery::svg {

inline constexpr double kWidth = 1080;     // of a chart over the whole page
inline constexpr double kCharacter = 6.6;  // width of a character of the charts' 12 px text

// A coordinate: it needs no more digits than a screen has pixels.
std::string number(double x);

// The start of a chart; `name` is for readers who cannot see it.
std::string open(double width, double height, std::string_view name);
std::string text(double x, double y, std::string_view css_class, std::string_view text);
std::string line(double x1, double y1, double x2, double y2, std::string_view css_class);
std::string rectangle(double x, double y, double width, double height, std::string_view css_class,
                      std::string_view tip);

}  // namespace orrery::svg
