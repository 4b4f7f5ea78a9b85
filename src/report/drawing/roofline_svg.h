// The roofline of an accelerator with the operators of a recording, as inline SVG.
//
//   x  FLOPs / byte       y  achieved FLOP/s       both logarithmic
//   roof  min(peak, memory bandwidth x intensity), one for each peak
//
// The area of a point grows with the device time it stands for. Source: Williams, Waterman,
// Patterson, "Roofline" (CACM 52(4), 2009).
#pragma once

#include <string>
#include <vector>

#include "units/quantity.h"

namespace orrery {

struct RooflinePoint {
  double intensity = 0;  // FLOP/byte, above 0
  FlopsPerSecond rate;   // above 0
  double share = 0;      // of the device time, 0 to 1
  std::string css_class;
  std::string tip;
};

struct RooflinePeak {
  std::string label;  // "bf16 989 TFLOP/s"
  FlopsPerSecond rate;
};

struct RooflineChart {
  std::string name;
  BytesPerSecond bandwidth;
  std::string bandwidth_label;
  std::vector<RooflinePeak> peaks = {};
  std::vector<RooflinePoint> points = {};
};

// Empty where there is nothing to show.
std::string roofline_svg(const RooflineChart& chart);

}  // namespace orrery
