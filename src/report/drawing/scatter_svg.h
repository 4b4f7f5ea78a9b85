// Predicted against measured step times as a picture that stands alone.
//
// Both axes are logarithmic with the same range; a point on the diagonal is right, the band beside
// it is 20 % off. Points are coloured by accelerator, those of rare ones alike. The drawing brings
// its own colours, so that it is the same on a page, in a viewer and as PNG (report/drawing/png.h).
#pragma once

#include <span>
#include <string>

#include "validate/judgement.h"

namespace orrery {

// Points of no positive time are left out. Deterministic.
std::string scatter_svg(std::span<const JudgedPoint> points, const std::string& title);

}  // namespace orrery
