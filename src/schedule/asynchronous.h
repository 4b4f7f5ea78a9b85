// Pipelines without a flush: PipeDream (arXiv 1806.03377), PipeDream-2BW (arXiv 2006.09503) and
// pipelined backpropagation (arXiv 2003.11666).
#pragma once

#include "schedule/schedule.h"

namespace orrery {
extern const Schedule kPipeDream;
extern const Schedule kPipeDream2Bw;
extern const Schedule kPipelinedBackpropagation;
}  // namespace orrery
