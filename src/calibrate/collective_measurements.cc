#include "calibrate/collective_measurements.h"

#include <algorithm>
#include <array>
#include <map>

#include "calibrate/measurement_cells.h"
#include "cluster/accelerator.h"
#include "cost/collective/collective_parameters.h"

namespace orrery {
namespace {

constexpr std::array<std::string_view, 6> kCollectiveColumns = {
    "accelerator", "collective", "dtype", "num_gpus", "bytes", "latency_us"};
constexpr Seconds kCollectiveLaunch(20e-6);
constexpr Seconds kStep(1e-6);  // of each rank

// Bytes that one rank must at least receive.
double least_received(CollectiveKind kind, double payload, int ranks) {
  const double others = (ranks - 1.0) / ranks;
  return kind == CollectiveKind::all_reduce || kind == CollectiveKind::broadcast ? payload
                                                                                 : payload * others;
}

// Bandwidth of all of an accelerator's links to its node, nominal; 0: unknown accelerator.
class LinkBandwidths {
 public:
  explicit LinkBandwidths(const Catalog& catalog) : catalog_(catalog) {}
  BytesPerSecond of(const std::string& accelerator) {
    const auto [at, added] = known_.try_emplace(accelerator);
    if (!added) return at->second;
    if (const auto found = load_accelerator(catalog_, accelerator)) {
      at->second = std::max(found->scale_up.bandwidth,
                            found->host_link.bandwidth.value_or(BytesPerSecond(0)));
    }
    return at->second;
  }

 private:
  const Catalog& catalog_;
  std::map<std::string, BytesPerSecond> known_;
};

}  // namespace

std::string CollectiveMeasurement::shape() const {
  return std::string(to_text(kind)) + " of " + std::to_string(ranks) + ": " +
         std::to_string(payload.value());
}

bool holds_collective_measurements(const CommaSeparated& table) {
  return has_columns(table, kCollectiveColumns);
}

std::vector<CollectiveMeasurement> collective_measurements(std::span<const CommaSeparated> tables,
                                                           const Catalog& catalog,
                                                           std::vector<RowProblem>& problems) {
  std::vector<CollectiveMeasurement> out;
  LinkBandwidths links(catalog);
  SeenRows seen;
  for (const CommaSeparated& table : tables) {
    for (RowProblem& problem : refused_records(table)) problems.push_back(std::move(problem));
    for (const CommaSeparated::Record& record : table.records) {
      MeasurementCells cells(table, record, problems);
      CollectiveMeasurement m;
      m.where = cells.where();
      m.accelerator = cells.text("accelerator");
      std::string name(cells.text("collective"));
      std::ranges::replace(name, '-', '_');
      const auto kind = parse_enum<CollectiveKind>(name);
      if (kind) {
        m.kind = *kind;
      } else {
        cells.complain("collective is '" + std::string(cells.text("collective")) +
                       "': not all-reduce, all-gather, reduce-scatter, all-to-all or broadcast");
      }
      const std::string dtype(cells.text("dtype"));
      m.reduces_in_switch = dtype != "int8";
      m.ranks = static_cast<int>(cells.count("num_gpus", 2, kMostRanks));
      m.payload = Bytes(cells.number("bytes", 0, kMostBytes));
      m.time = Seconds(cells.number("latency_us", 0, kLongest) * 1e-6);
      if (!cells.usable()) continue;
      const BytesPerSecond link = links.of(m.accelerator);
      if (link <= BytesPerSecond(0)) {
        cells.complain("the catalog has no accelerator '" + m.accelerator + "' with a link");
        continue;
      }
      const double rate =
          least_received(m.kind, m.payload.value(), m.ranks) / m.time.value() / link.value();
      if (rate > 1) {
        cells.complain("each rank would receive at " + std::to_string(rate) +
                       " times the bandwidth of its links: wrong unit?");
        continue;
      }
      if (!cells.not_too_slow(m.time, m.payload / link + kCollectiveLaunch + kStep * m.ranks))
        continue;
      if (!seen.add(m.accelerator + ' ' + m.shape() + ' ' + dtype, cells)) continue;
      out.push_back(std::move(m));
    }
  }
  return out;
}

}  // namespace orrery
