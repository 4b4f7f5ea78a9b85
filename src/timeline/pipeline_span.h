// What a pipeline stage does over time, one piece per chunk and microbatch: enough to draw a
// schedule.
#pragma once

#include <cstdint>

#include "units/quantity.h"

namespace orrery {

struct PipelineSpan {
  enum class Kind : std::uint8_t { forward, backward, transfer, optimizer };

  int stage = 0;       // device of the pipeline
  int chunk = 0;       // virtual stage on that device
  int microbatch = 0;  // -1 where none is meant (optimizer)
  Kind kind = Kind::forward;
  Seconds start;
  Seconds end;
};

}  // namespace orrery
