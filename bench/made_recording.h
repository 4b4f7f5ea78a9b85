// A recording of any size in the words of the PyTorch profiler, for measurements of sizes that
// nobody publishes: data-parallel training of one rank, step after step.
//
// A step holds what real ones do: its annotation, a forward pass of layers on one thread with
// Python functions, operators with shapes, launches with arrows, kernels with launch sizes; a
// backward pass on a second thread; an all-reduce of every layer on a stream of its own, which
// waits for the kernels' stream by a recorded wait; the optimizer; a synchronization. Kernels start
// when launched and when their stream is free. No random numbers: the same size gives the same
// bytes.
#pragma once

#include <cstdint>
#include <string>

#include "outcome/result.h"

namespace orrery {

struct MadeRecording {
  std::uint64_t bytes = 0;  // of JSON
  std::int64_t entries = 0;
  std::int64_t steps = 0;
};

// Whole steps, until there are `bytes`; gzip if the name ends in .gz. Errors: io.
Result<MadeRecording> make_recording(const std::string& file, std::uint64_t bytes);

}  // namespace orrery
