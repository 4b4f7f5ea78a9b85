// How the passes of a pipeline are called and coloured, in the terminal, in HTML and in pictures.
//
// The hues stand apart for every common kind of colour blindness (after Okabe and Ito, "Color
// Universal Design", 2008): forwards are blue, fused backwards vermilion, input gradients orange,
// weight gradients bluish green, vocabulary layers purple. Later chunks of a device are lighter.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "report/drawing/category_style.h"
#include "schedule/pipeline_span.h"

namespace orrery {

struct PassStyle {
  std::string_view name;                   // "input gradient"
  std::string_view css_class;              // "b": with its tint "b0" to "b3"
  std::string_view shade;                  // a terminal cell without colour
  std::array<std::uint8_t, 2> terminal{};  // even and odd chunks
  std::string_view light;                  // "#rrggbb" on a light page, tint 0
  std::string_view dark;
};

const PassStyle& style(PipelineSpan::Kind kind);

// The tint of a chunk where a device has `chunks` of them in one direction.
int tint(int chunk, int chunks);

enum class Page { light, dark };

// For every kind and tint the rules ".f0{fill:#2c6fb0}" for shapes and ".n-f0{fill:#ffffff}" for
// the numbers on them.
std::string pass_rules(Page page);
// The same colours as variables "--f0:#2c6fb0;".
std::string pass_variables(Page page);

}  // namespace orrery
