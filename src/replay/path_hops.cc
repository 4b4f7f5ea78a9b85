#include "replay/path_hops.h"

#include <algorithm>

namespace orrery {

void PathHops::add(const PathHop& hop, const std::string& on) {
  const std::int64_t ns = hop.end_ns - hop.begin_ns;
  const bool goes_on = !path_.stretches.empty() && place_ == hop.place;
  if (!goes_on) {
    close_stretch();
    path_.stretches.push_back({.rank = hop.rank,
                               .on = on,
                               .cause = hop.cause,
                               .begin_ns = hop.begin_ns,
                               .end_ns = hop.begin_ns,
                               .operations = 0,
                               .longest = {},
                               .bound = hop.bound});
    place_ = hop.place;
  }
  PathStretch& stretch = path_.stretches.back();
  stretch.end_ns = hop.end_ns;
  ++stretch.operations;
  ++path_.operations;
  path_.length_ns += ns;
  const auto bound = static_cast<std::size_t>(hop.bound);
  path_.by_bound_ns[bound] += ns;
  if (hop.rank != path_.rank) path_.on_others_ns[bound] += ns;
  ranks_[hop.rank] += ns;
  const Key key(hop.rank, hop.name, hop.bound);
  in_stretch_[key] += ns;
  Sum& sum = names_[key];
  ++sum.count;
  sum.total_ns += ns;
}

void PathHops::close_stretch() {
  if (in_stretch_.empty()) return;
  const auto longest =
      std::max_element(in_stretch_.begin(), in_stretch_.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  path_.stretches.back().longest = std::get<1>(longest->first);
  path_.stretches.back().bound = std::get<2>(longest->first);
  in_stretch_.clear();
}

StepPath PathHops::path() {
  close_stretch();
  for (const auto& [rank, ns] : ranks_) path_.ranks.push_back({rank, ns});
  std::stable_sort(path_.ranks.begin(), path_.ranks.end(),
                   [](const RankShare& a, const RankShare& b) { return a.total_ns > b.total_ns; });
  path_.names.reserve(names_.size());
  for (const auto& [key, sum] : names_) {
    path_.names.push_back({.name = std::string(std::get<1>(key)),
                           .bound = std::get<2>(key),
                           .rank = std::get<0>(key),
                           .count = sum.count,
                           .total_ns = sum.total_ns});
  }
  std::stable_sort(path_.names.begin(), path_.names.end(),
                   [](const PathShare& a, const PathShare& b) { return a.total_ns > b.total_ns; });
  return std::move(path_);
}

}  // namespace orrery
