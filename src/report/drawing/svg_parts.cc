#include "report/drawing/svg_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/drawing/html_parts.h"

namespace orrery::svg {

std::string number(double x) {
  std::string text = fmt::format("{:.2f}", x);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

std::string open(double width, double height, std::string_view name) {
  return fmt::format(R"(<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">)",
                     number(width), number(height), html_text(name));
}

std::string text(double x, double y, std::string_view css_class, std::string_view text) {
  return fmt::format(R"(<text class="{}" x="{}" y="{}">{}</text>)", css_class, number(x), number(y),
                     html_text(text));
}

std::string line(double x1, double y1, double x2, double y2, std::string_view css_class) {
  return fmt::format(R"(<line class="{}" x1="{}" y1="{}" x2="{}" y2="{}"></line>)", css_class,
                     number(x1), number(y1), number(x2), number(y2));
}

std::string rectangle(double x, double y, double width, double height, std::string_view css_class,
                      std::string_view tip) {
  return fmt::format(
      R"(<rect class="{}" x="{}" y="{}" width="{}" height="{}" data-tip="{}"></rect>)",
      html_text(css_class), number(x), number(y), number(std::max(width, 0.0)),
      number(std::max(height, 0.0)), html_text(tip));
}

}  // namespace orrery::svg
