// Where tests find the recordings of validation/traces.
#pragma once

#include <string>

namespace orrery {

inline const std::string kTraces = ORRERY_SOURCE_DIR "/validation/traces/";

}  // namespace orrery
