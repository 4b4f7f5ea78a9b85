// Calls f(i) for many indices i on several threads.
//
// A thread takes the next index as soon as it is free. The result does not depend on which thread
// runs which index, because f(i) writes to memory of its own. An exception of f reaches the caller.
// Uses standard threads only, so that the thread sanitizer sees all of it.
#pragma once

#include <atomic>
#include <cstddef>
#include <future>
#include <thread>
#include <vector>

namespace orrery {

// 0 threads: one per core.
inline int threads_to_use(int asked) {
  if (asked > 0) return asked;
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  return cores > 0 ? cores : 1;
}

template <class F>
void parallel_for(std::size_t count, int threads, const F& f) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) f(i);
  };
  std::vector<std::future<void>> others;
  for (std::size_t t = 1; t < static_cast<std::size_t>(threads) && t < count; ++t) {
    others.push_back(std::async(std::launch::async, work));
  }
  work();
  for (std::future<void>& other : others) other.get();
}

}  // namespace orrery
