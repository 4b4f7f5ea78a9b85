// How a plan divides a model: what a family's rules of division are asked about.
#pragma once

#include <cstdint>

namespace orrery {

struct Division {
  std::int64_t tp = 1;
  std::int64_t cp = 1;
  std::int64_t pp = 1;
  std::int64_t ep = 1;
  std::int64_t etp = 1;            // tensor parallelism inside an expert
  bool sequence_parallel = false;  // tp divides the sequence as well
  bool exchanges_heads = false;    // cp divides heads by an all-to-all, not keys and values
  std::int64_t sequence_length = 0;
};

}  // namespace orrery
