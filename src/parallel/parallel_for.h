// Calls f(i) for many indices i on several threads.
//
// A thread takes the next index as soon as it is free. The result does not depend on which thread
// runs which index, because f(i) writes to memory of its own. An exception of f reaches the caller.
// Uses standard threads only, so that the thread sanitizer sees all of it.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <future>
#include <system_error>
#include <thread>
#include <vector>

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

template <class F>
void parallel_for(std::size_t count, int threads, const F& f) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) f(i);
  };
  std::vector<std::future<void>> others;
  try {
    for (std::size_t t = 1; t < static_cast<std::size_t>(threads) && t < count; ++t) {
      others.push_back(std::async(std::launch::async, work));
    }
  } catch (const std::system_error&) {
    threads = static_cast<int>(others.size()) + 1;  // that could be started do all of it
  }
  work();
  for (std::future<void>& other : others) other.get();
}

// Is told the share of some work that is done, by the thread that asked for the work. May be empty.
using Progressed = std::function<void(double share)>;

// The same, and tells `progressed`.
template <class F>
void parallel_for(std::size_t count, int threads, const F& f, const Progressed& progressed) {
  const auto caller = std::this_thread::get_id();
  parallel_for(count, threads, [&](std::size_t i) {
    f(i);
    if (progressed && std::this_thread::get_id() == caller) {
      progressed(static_cast<double>(i + 1) / static_cast<double>(count));
    }
  });
}

// What is told of one part of the work, from `begin` to `end` of the whole.
inline Progressed part_of_work(const Progressed& whole, double begin, double end) {
  if (!whole) return {};
  return [&whole, begin, end](double share) { whole(begin + (end - begin) * share); };
}

}  // namespace orrery
