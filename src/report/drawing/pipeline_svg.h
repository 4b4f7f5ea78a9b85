// A pipeline as inline SVG: time to the right, one row a stage, one rectangle a pass.
//
// The shapes and what is left out where there are more than `most_rectangles`: pipeline_lanes.h.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "report/drawing/pipeline_lanes.h"

namespace orrery {

struct PipelineDrawing {
  std::string svg;     // empty without spans
  std::string remark;  // "8 of 64 stages are drawn"; empty if all are
  std::string legend;  // HTML
};

PipelineDrawing pipeline_svg(std::span<const PipelineSpan> spans, int critical_stage,
                             std::size_t most_rectangles = 20000);

}  // namespace orrery
