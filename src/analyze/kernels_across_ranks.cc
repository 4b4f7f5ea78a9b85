#include "analyze/kernels_across_ranks.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>

namespace orrery {

std::vector<RunKernelRow> kernels_across_ranks(const std::vector<KernelsOfRank>& ranks) {
  std::map<std::string_view, RunKernelRow> by_name;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    for (const KernelRow& row : *ranks[r].rows) {
      RunKernelRow& all = by_name[ranks[r].trace->texts[row.name]];
      const double mean = row.duration.mean_ns();
      if (all.ranks == 0 || mean < all.least_mean_ns) {
        all.least_mean_ns = mean;
        all.fastest = r;
      }
      if (all.ranks == 0 || mean > all.greatest_mean_ns) {
        all.greatest_mean_ns = mean;
        all.slowest = r;
      }
      all.kind = row.kind;
      ++all.ranks;
      all.count += row.duration.count;
      all.total_ns += row.duration.total_ns;
    }
  }
  std::vector<RunKernelRow> rows;
  rows.reserve(by_name.size());
  for (auto& [name, row] : by_name) {
    row.name = name;
    rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(rows, std::ranges::greater(), &RunKernelRow::total_ns);
  return rows;
}

}  // namespace orrery
