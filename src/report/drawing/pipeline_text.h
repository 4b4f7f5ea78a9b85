// A pipeline drawn in the terminal: time to the right, one row a stage.
#pragma once

#include <span>
#include <string>

#include "report/drawing/figures.h"
#include "report/drawing/text_style.h"
#include "schedule/pipeline_span.h"

namespace orrery {

// Each cell shows what fills most of it. Where a piece is wide enough it carries the number of its
// microbatch. With colour a cell is two half cells wide. At most `most_rows` stages are drawn, the
// first, the last and evenly spread ones between. Ends with a time axis and a legend; empty without
// spans.
std::string pipeline_text(std::span<const PipelineSpan> spans, const TextStyle& style,
                          const TimeAxis& axis = {}, int most_rows = 32);

}  // namespace orrery
