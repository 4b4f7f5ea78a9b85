#include "analyze/copy_rates.h"

#include <algorithm>
#include <map>

#include "trace/recorded_time.h"

namespace orrery {
namespace {

void spread_over_bins(std::vector<double>& bytes, const Utilization& bins, std::int64_t start,
                      std::int64_t end, double moved) {
  for (std::int64_t at = std::max(start, bins.window.start); at < std::min(end, bins.window.end);) {
    const std::int64_t bin = (at - bins.window.start) / bins.bin_ns;
    const std::int64_t until = std::min(end, bins.window.start + (bin + 1) * bins.bin_ns);
    bytes[static_cast<std::size_t>(bin)] +=
        moved * static_cast<double>(until - at) / static_cast<double>(end - start);
    at = until;
  }
}

}  // namespace

BytesPerSecond CopyRates::rate() const {
  return total_ns == 0 ? BytesPerSecond(0)
                       : Bytes(static_cast<double>(bytes)) / seconds_of_ns(total_ns);
}

std::vector<CopyRates> copy_rates(const RecordedTrace& trace, const Utilization& bins) {
  struct Gathered {
    CopyRates row;
    std::vector<double> rates;
  };
  std::map<std::uint32_t, Gathered> kinds;
  for (std::size_t e = 0; e < trace.size(); ++e) {
    if (trace.kind[e] != EventKind::copy && trace.kind[e] != EventKind::fill) continue;
    if (trace.details[e] == kNoDetails || trace.duration_ns[e] <= 0) continue;
    const std::int64_t bytes = trace.copies[trace.details[e]].bytes;
    if (bytes == kNotRecorded || bytes < 0) continue;
    Gathered& kind = kinds[trace.name[e]];
    if (kind.rates.empty()) kind.row.bytes_per_s.assign(bins.busy.size(), 0);
    ++kind.row.count;
    kind.row.bytes += bytes;
    kind.row.total_ns += trace.duration_ns[e];
    const auto moved = static_cast<double>(bytes);
    kind.rates.push_back(moved / seconds_of_ns(trace.duration_ns[e]).value());
    spread_over_bins(kind.row.bytes_per_s, bins, trace.start_ns[e], trace.end_ns(e), moved);
  }
  std::vector<CopyRates> rows;
  for (auto& [name, kind] : kinds) {
    std::ranges::sort(kind.rates);
    kind.row.name = name;
    kind.row.least = BytesPerSecond(kind.rates.front());
    kind.row.median = BytesPerSecond(kind.rates[(kind.rates.size() - 1) / 2]);
    kind.row.greatest = BytesPerSecond(kind.rates.back());
    for (std::size_t i = 0; i < kind.row.bytes_per_s.size(); ++i) {
      const std::int64_t from = bins.window.start + static_cast<std::int64_t>(i) * bins.bin_ns;
      const std::int64_t width = std::min(bins.bin_ns, bins.window.end - from);
      kind.row.bytes_per_s[i] /= seconds_of_ns(width).value();
    }
    rows.push_back(std::move(kind.row));
  }
  std::ranges::sort(rows, [&](const CopyRates& a, const CopyRates& b) {
    if (a.total_ns != b.total_ns) return a.total_ns > b.total_ns;
    return trace.texts[a.name] < trace.texts[b.name];
  });
  return rows;
}

}  // namespace orrery
