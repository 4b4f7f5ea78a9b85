// A drawing as pixels: SVG text to the bytes of a PNG file.
//
// For pages that show no SVG and for documents that need a picture. librsvg draws the SVG through
// cairo on white, scaled to the width asked for; the height follows from the drawing's own
// proportions (its width and height, else its viewBox). The drawing must bring its own colours:
// librsvg knows no var(), so styles that a page supplies are missing here. Text is set in the fonts
// of the machine. Nothing is fetched: references to other files are not followed.
#pragma once

#include <string>
#include <string_view>

#include "outcome/result.h"

namespace orrery {

inline constexpr int kWidestPng = 16384;  // pixels; cairo's limit is 32767 either way

// Errors: text that is no SVG, a drawing without a size, a width outside [1, kWidestPng], a height
// above it.
Result<std::string> png_of_svg(std::string_view svg, int width_pixels);

}  // namespace orrery
