// A pipeline as inline SVG: time to the right, one row a stage, one rectangle a pass.
//
// At most `most_rectangles` are drawn. Where there would be more, transfers are left out, then
// passes too narrow to be seen are merged with their neighbours of the same kind, then rows are
// left out: the first, the last and
// the critical stage are kept, and as many evenly spread ones between as there is room for; what
// was left out is said in words. Transfers are a thin line below the passes they run beside.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "timeline/pipeline_span.h"

namespace orrery {

struct PipelineDrawing {
  std::string svg;     // empty without spans
  std::string remark;  // "8 of 64 stages are drawn"; empty if all are
};

PipelineDrawing pipeline_svg(std::span<const PipelineSpan> spans, int critical_stage,
                             std::size_t most_rectangles = 20000);

}  // namespace orrery
