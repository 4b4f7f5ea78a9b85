// Calls f(i) for many indices i on several threads.
//
// A thread takes the next index as soon as it is free. The result does not depend on which thread
// runs which index, because f(i) writes to memory of its own. An exception of f reaches the caller.
// Uses standard threads only, so that the thread sanitizer sees all of it.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>

namespace orrery {

// The threads that 0 stands for in threads_to_use(); 0: one per core. Set once, by the command line.
inline std::atomic<int>& usual_threads() {
  static std::atomic<int> threads{0};
  return threads;
}

// 0 threads: the usual number.
inline int threads_to_use(int asked) {
  if (asked > 0) return asked;
  if (const int usual = usual_threads(); usual > 0) return usual;
  const auto cores = static_cast<int>(std::thread::hardware_concurrency());
  return cores > 0 ? cores : 1;
}

// Calls f(0) to f(count - 1), which begin in this order, on at most `threads` threads.
void parallel_for(std::size_t count, int threads, const std::function<void(std::size_t i)>& f);

// Is told the share of some work that is done, by the thread that asked for the work. May be empty.
using Progressed = std::function<void(double share)>;

// The same, and tells `progressed`.
void parallel_for(std::size_t count, int threads, const std::function<void(std::size_t i)>& f,
                  const Progressed& progressed);

// What is told of one part of the work, from `begin` to `end` of the whole.
inline Progressed part_of_work(const Progressed& whole, double begin, double end) {
  if (!whole) return {};
  return [&whole, begin, end](double share) { whole(begin + (end - begin) * share); };
}

}  // namespace orrery
