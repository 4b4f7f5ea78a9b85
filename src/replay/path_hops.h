// Collects a critical path operation by operation and joins them into stretches and sums.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <tuple>

#include "replay/step_path.h"

namespace orrery {

// One operation of a path.
struct PathHop {
  std::int64_t rank = 0;
  std::uint64_t place = 0;  // identifies the thread or stream
  std::string_view name;    // must live as long as the collection
  PathBound bound = PathBound::host;
  StretchCause cause = StretchCause::window;  // where the place changes
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
};

class PathHops {
 public:
  explicit PathHops(StepPath path) : path_(std::move(path)) {}

  // First to last; each begins where the one before ended.
  void add(const PathHop& hop, const std::string& on);
  [[nodiscard]] StepPath path();

 private:
  struct Sum {
    std::int64_t count = 0;
    std::int64_t total_ns = 0;
  };
  using Key = std::tuple<std::int64_t, std::string_view, PathBound>;

  void close_stretch();

  StepPath path_;
  std::map<Key, Sum> names_;
  std::map<std::int64_t, std::int64_t> ranks_;
  std::map<Key, std::int64_t> in_stretch_;
  std::uint64_t place_ = 0;
};

}  // namespace orrery
