// Vocabulary parallelism over V-Half (arXiv 2411.05288).
#pragma once

#include "schedule/schedule.h"

namespace orrery {
extern const Schedule kVHalfVocabulary1;
extern const Schedule kVHalfVocabulary2;
}  // namespace orrery
