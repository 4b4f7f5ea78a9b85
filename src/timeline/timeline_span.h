// One operation of a simulated step as a person looks at it: where, what, when.
#pragma once

#include <cstdint>
#include <string>

#include "units/picoseconds.h"

namespace orrery {

struct TimelineSpan {
  int stage = 0;         // rank class, one process of the trace
  std::string stream;    // "compute", "tp", "pp_forward": one thread of the process
  std::string name;      // "attention.qkv"
  std::string category;  // line of the breakdown
  Picoseconds start;
  Picoseconds end;
  int microbatch = -1;  // -1: none
  int chunk = -1;       // -1: none
  // An arrow goes from the span that sends (flow_out) to the one that needs what was sent
  // (flow_in), which starts no earlier. Both carry the same number; -1: none.
  std::int64_t flow_out = -1;
  std::int64_t flow_in = -1;
};

}  // namespace orrery
