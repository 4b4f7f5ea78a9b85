#include "parallel/parallel_for.h"

#include <future>
#include <system_error>
#include <vector>

namespace orrery {

void parallel_for(std::size_t count, int threads, const std::function<void(std::size_t i)>& f) {
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
    threads = static_cast<int>(others.size()) + 1;  // the threads that did start do all the work
  }
  work();
  for (std::future<void>& other : others) other.get();
}

void parallel_for(std::size_t count, int threads, const std::function<void(std::size_t i)>& f,
                  const Progressed& progressed) {
  const auto caller = std::this_thread::get_id();
  parallel_for(count, threads, [&](std::size_t i) {
    f(i);
    if (progressed && std::this_thread::get_id() == caller) {
      progressed(static_cast<double>(i + 1) / static_cast<double>(count));
    }
  });
}

}  // namespace orrery
