// Work that may take long: the interpreter runs other threads meanwhile, and Ctrl-C ends it.
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>
#include <chrono>
#include <future>
#include <optional>
#include <utility>

#include "parallel/parallel_for.h"

namespace orrery::python {

// Thrown through the library by what is told of progress, where it has no better way to be stopped.
struct Interrupted {};

struct LongCall {
  std::atomic<bool> interrupted{false};

  // For functions of the library that say how far they are.
  [[nodiscard]] Progressed progressed() {
    return [this](double) {
      if (interrupted) throw Interrupted();
    };
  }
};

// Whether the long call that this thread works for is to end; of other threads false.
inline thread_local const std::atomic<bool>* interrupted_here = nullptr;
inline bool is_interrupted_here() { return interrupted_here != nullptr && *interrupted_here; }

// Calls work(LongCall&) on a thread of its own, and asks twenty times a second whether a signal has
// come. An exception of a signal's handler (KeyboardInterrupt) reaches the caller when the work has
// ended.
template <class Work>
auto long_call(const Work& work) {
  using Answer = decltype(work(std::declval<LongCall&>()));
  constexpr std::chrono::milliseconds kBetween(50);
  LongCall call;
  std::future<Answer> answer = std::async(std::launch::async, [&] {
    interrupted_here = &call.interrupted;
    return work(call);
  });
  std::optional<pybind11::error_already_set> raised;
  while (true) {
    {
      const pybind11::gil_scoped_release others_run;
      if (answer.wait_for(kBetween) == std::future_status::ready) break;
    }
    if (!raised && PyErr_CheckSignals() != 0) {
      raised.emplace();
      call.interrupted = true;
    }
  }
  if (!raised) return answer.get();
  try {
    (void)answer.get();
  } catch (const Interrupted&) {
  }
  throw pybind11::error_already_set(*raised);
}

}  // namespace orrery::python
