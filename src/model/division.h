// How a plan divides a model, and on what: what a family's rules of division are asked about.
#pragma once

#include <cstdint>

#include "units/quantity.h"

namespace orrery {

struct Division {
  std::int64_t tp = 1;
  std::int64_t cp = 1;
  std::int64_t pp = 1;
  std::int64_t ep = 1;
  std::int64_t etp = 1;            // tensor parallelism inside an expert
  bool sequence_parallel = false;  // tp divides the sequence as well
  std::int64_t head_ranks = 1;     // of cp, those that divide heads by an all-to-all
  std::int64_t sequence_length = 0;
  std::int64_t ranks = 1;        // all of the plan
  std::int64_t micro_batch = 1;  // sequences, or samples, of one microbatch on a rank
  bool trains = true;
  Bytes element{2};  // of activations
  // Of one accelerator: its memory, and how fast it reads it and exchanges with ep ranks.
  Bytes memory{};
  BytesPerSecond memory_bandwidth{};
  BytesPerSecond exchange_bandwidth{};
};

}  // namespace orrery
