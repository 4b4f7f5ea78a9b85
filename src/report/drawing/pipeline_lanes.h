// The passes of pipeline devices as SVG shapes: one lane a device, time to the right. What HTML
// reports and pictures share.
//
// Shapes are coloured by classes (pass_style.h): the page or the picture brings the rules. A pass
// is one rectangle with the number of its microbatch where that fits; a fused pair two, one above
// the other; a microbatch on the opposite way through the devices has a dark foot. Transfers and
// copies are thin lines below the passes they run beside.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "report/drawing/figures.h"
#include "schedule/pipeline_span.h"

namespace orrery {

struct LanePiece {
  PipelineSpan span;
  int passes = 1;  // how many too narrow to be seen were merged
};

// What of a pipeline is drawn: its lanes, within a budget of pieces.
struct PipelineLanes {
  std::map<int, std::vector<LanePiece>> lanes;  // by device; only those that are kept
  Seconds first, last;                          // of all spans; last > first unless empty
  int chunks = 1;                               // of a device in one direction
  std::string remark;                           // "8 of 64 stages are drawn"; empty if all are
  [[nodiscard]] bool empty() const { return lanes.empty(); }
  [[nodiscard]] bool has(PipelineSpan::Kind kind) const;
  [[nodiscard]] bool has_routes() const;
};

// Where there would be more than `most_pieces`, transfers are left out, then passes narrower than
// `narrowest` of the whole are merged with neighbours of the same kind, then devices are left out:
// the first, the last and `critical` are kept, and as many evenly spread ones between as there is
// room for.
PipelineLanes pipeline_lanes(std::span<const PipelineSpan> spans, int critical, double narrowest,
                             std::size_t most_pieces);

enum class Tips { data_attribute, title_element };

struct LaneGeometry {
  double left = 0;  // of the first moment
  double per_second = 1;
  double top = 0;
  double height = 26;
  double character = 6.2;  // width of a digit
  Tips tips = Tips::data_attribute;
  TimeAxis axis;
};

std::string lane_svg(const PipelineLanes& lanes, const std::vector<LanePiece>& lane,
                     const LaneGeometry& geometry);

// A pipeline as inline SVG: time to the right, one row a stage, one rectangle a pass.
//
// The shapes and what is left out where there are more than `most_rectangles` are those of
// PipelineLanes.
struct PipelineDrawing {
  std::string svg;     // empty without spans
  std::string remark;  // "8 of 64 stages are drawn"; empty if all are
  std::string legend;  // HTML
};

PipelineDrawing pipeline_svg(std::span<const PipelineSpan> spans, int critical_stage,
                             std::size_t most_rectangles = 20000);

}  // namespace orrery
