// Vocabulary parallelism over 1F1B (arXiv 2411.05288).
#pragma once

#include "schedule/schedule.h"

namespace orrery {
extern const Schedule kVocabulary1;
extern const Schedule kVocabulary2;
}  // namespace orrery
