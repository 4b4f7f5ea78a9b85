// A pipeline as a picture that stands alone, fit for a paper: SVG with its own fonts and colours.
//
//   title and legend
//   one lane a device, time to the right, beside them what each device's idle time was lost to
//   below, on the same time axis, what each device holds of activations
//
// Panels without data are left out. Shapes: pipeline_lanes.h. Where there are more passes than can
// be seen some are merged or left out, and the picture says so.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/drawing/pipeline_lanes.h"
#include "schedule/bubble.h"
#include "schedule/memory_curve.h"

namespace orrery {

struct PipelinePicture {
  std::string title;
  std::string subtitle;
  std::span<const PipelineSpan> spans;
  TimeAxis axis;
  Seconds makespan;                                        // zero: of the spans
  std::span<const IdleTime> idle = {};                     // by device
  std::span<const std::vector<MemoryChange>> memory = {};  // by device
  std::string memory_unit = "microbatches of a stage";
  double memory_limit = 0;  // a line across; 0: none
};

inline constexpr double kPictureWidth = 1120;  // of the viewBox

// Empty without spans.
std::string pipeline_picture(const PipelinePicture& picture);

}  // namespace orrery
