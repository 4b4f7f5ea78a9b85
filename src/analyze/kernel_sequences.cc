#include "analyze/kernel_sequences.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace orrery {
namespace {

struct Piece {
  std::uint32_t call_of;  // outermost operator
  std::uint32_t call;
  std::uint32_t work;
  auto operator<=>(const Piece&) const = default;
};

std::vector<Piece> pieces(const RecordedTrace& trace, const LaunchLinks& links) {
  std::vector<Piece> all;
  for (std::uint32_t e = 0; e < trace.size(); ++e) {
    if (!is_device_work(trace.kind[e])) continue;
    if (links.operator_of(e) == kNoEvent) continue;
    all.push_back({links.outer_operator(e), links.call[e], e});
  }
  // Events are in the order of time, so that calls are too.
  std::ranges::sort(all);
  return all;
}

}  // namespace

std::vector<KernelSequence> kernel_sequences(const RecordedTrace& trace, const LaunchLinks& links) {
  const std::vector<Piece> all = pieces(trace, links);
  std::map<std::pair<std::uint32_t, std::vector<std::uint32_t>>, KernelSequence> found;
  for (std::size_t from = 0; from < all.size();) {
    std::size_t to = from;
    std::vector<std::uint32_t> kernels;
    std::int64_t device_ns = 0;
    for (; to < all.size() && all[to].call_of == all[from].call_of; ++to) {
      kernels.push_back(trace.name[all[to].work]);
      device_ns += trace.duration_ns[all[to].work];
    }
    const std::uint32_t of = all[from].call_of;
    from = to;
    if (kernels.size() < 2) continue;
    KernelSequence& row = found[{trace.name[of], std::move(kernels)}];
    ++row.count;
    row.device_ns += device_ns;
    row.host_ns += trace.duration_ns[of];
  }
  std::vector<KernelSequence> rows;
  rows.reserve(found.size());
  for (auto& [key, row] : found) {
    row.operator_name = key.first;
    row.kernels = key.second;
    rows.push_back(std::move(row));
  }
  const auto before = [&](const KernelSequence& a, const KernelSequence& b) {
    const auto key = [](const KernelSequence& s) {
      return std::tuple(-s.launches(), -s.device_ns);
    };
    if (key(a) != key(b)) return key(a) < key(b);
    if (a.operator_name != b.operator_name) {
      return trace.texts[a.operator_name] < trace.texts[b.operator_name];
    }
    return std::lexicographical_compare(
        a.kernels.begin(), a.kernels.end(), b.kernels.begin(), b.kernels.end(),
        [&](std::uint32_t x, std::uint32_t y) { return trace.texts[x] < trace.texts[y]; });
  };
  std::ranges::sort(rows, before);
  return rows;
}

}  // namespace orrery
