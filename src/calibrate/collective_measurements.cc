#include "calibrate/collective_measurements.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "calibrate/measurement_cells.h"
#include "cluster/accelerator.h"
#include "cluster/cluster.h"
#include "cost/collective/collective_parameters.h"

namespace orrery {
namespace {

constexpr std::array<std::string_view, 6> kCollectiveColumns = {
    "accelerator", "collective", "dtype", "num_gpus", "bytes", "latency_us"};
constexpr Seconds kCollectiveLaunch(20e-6);
constexpr Seconds kStep(1e-6);  // of each rank

constexpr std::array<std::string_view, 7> kNetworkColumns = {
    "machine", "accelerator", "collective", "num_gpus", "num_nodes", "bytes", "latency_us"};
constexpr double kMostRanksOfMachine = 65536;
// Above any node's network: tells bytes from bits and micro- from milliseconds.
constexpr BytesPerSecond kFastestNode(20e12);
// One common network card (100 Gb/s), and a message to each rank in turn. The slowest of the
// published rows takes 3 times that.
constexpr BytesPerSecond kCard(12.5e9);
constexpr Seconds kMessage(20e-6);

// Bytes that one rank must at least receive.
double least_received(CollectiveKind kind, double payload, int ranks) {
  const double others = (ranks - 1.0) / ranks;
  return kind == CollectiveKind::all_reduce || kind == CollectiveKind::broadcast ? payload
                                                                                 : payload * others;
}

CollectiveMeasurement measurement(MeasurementCells& cells, bool between_nodes) {
  CollectiveMeasurement m;
  m.where = cells.where();
  m.machine = cells.text("machine");
  m.accelerator = cells.text("accelerator");
  if (between_nodes) m.node = cells.text("node");
  if (between_nodes && m.machine.empty()) cells.complain("machine is empty");
  std::string name(cells.text("collective"));
  std::ranges::replace(name, '-', '_');
  m.message = between_nodes && name == "send_recv";
  if (const auto kind = parse_enum<CollectiveKind>(name)) {
    m.kind = *kind;
  } else if (!m.message) {
    cells.complain(fmt::format(
        "collective is '{}': not all-reduce, all-gather, reduce-scatter, all-to-all{}",
        cells.text("collective"), between_nodes ? ", broadcast or send-recv" : " or broadcast"));
  }
  m.reduces_in_switch = cells.text("dtype") != "int8";
  const double most = between_nodes ? kMostRanksOfMachine : kMostRanks;
  m.ranks = static_cast<int>(cells.count("num_gpus", 2, most));
  if (between_nodes) m.nodes = static_cast<int>(cells.count("num_nodes", 1, most));
  m.payload = Bytes(cells.number("bytes", 0, kMostBytes));
  m.time = Seconds(cells.number("latency_us", 0, kLongest) * 1e-6);
  return m;
}

}  // namespace

std::string CollectiveMeasurement::shape() const {
  return std::string(to_text(kind)) + " of " + std::to_string(ranks) + ": " +
         std::to_string(payload.value());
}

bool holds_collective_measurements(const CommaSeparated& table) {
  return has_columns(table, kCollectiveColumns);
}

bool holds_network_measurements(const CommaSeparated& table) {
  return has_columns(table, kNetworkColumns);
}

std::vector<CollectiveMeasurement> collective_measurements(std::span<const CommaSeparated> tables,
                                                           const Catalog& catalog,
                                                           std::vector<RowProblem>& problems) {
  std::vector<CollectiveMeasurement> out;
  std::map<std::string, BytesPerSecond> links;  // of an accelerator to its node, nominal
  SeenRows seen;
  for_each_record(tables, problems, [&](MeasurementCells cells) {
    CollectiveMeasurement m = measurement(cells, false);
    if (!cells.usable()) return;
    const auto [known, added] = links.try_emplace(m.accelerator);
    if (added) {
      if (const auto found = load_accelerator(catalog, m.accelerator)) {
        known->second = std::max(found->scale_up.bandwidth,
                                 found->host_link.bandwidth.value_or(BytesPerSecond(0)));
      }
    }
    const BytesPerSecond link = known->second;
    if (link <= BytesPerSecond(0)) {
      return cells.complain("the catalog has no accelerator '" + m.accelerator + "' with a link");
    }
    const double rate =
        least_received(m.kind, m.payload.value(), m.ranks) / m.time.value() / link.value();
    if (rate > 1) {
      return cells.complain("each rank would receive at " + std::to_string(rate) +
                            " times the bandwidth of its links: wrong unit?");
    }
    if (cells.not_too_slow(m.time, m.payload / link + kCollectiveLaunch + kStep * m.ranks) &&
        seen.add(fmt::format("{} {} {}", m.accelerator, m.shape(), cells.text("dtype")), cells)) {
      out.push_back(std::move(m));
    }
  });
  return out;
}

std::vector<CollectiveMeasurement> network_measurements(std::span<const CommaSeparated> tables,
                                                        std::vector<RowProblem>& problems) {
  std::vector<CollectiveMeasurement> out;
  SeenRows seen;
  for_each_record(tables, problems, [&](MeasurementCells cells) {
    CollectiveMeasurement m = measurement(cells, true);
    if (!cells.usable()) return;
    if (m.ranks % m.nodes != 0) {
      return cells.complain(
          fmt::format("num_gpus is {}: not a multiple of num_nodes, {}", m.ranks, m.nodes));
    }
    if (m.message && m.ranks != 2) {
      return cells.complain(fmt::format("send-recv joins 2 ranks, not {}", m.ranks));
    }
    if (m.payload / m.time > kFastestNode) {
      return cells.complain("more than 20 TB/s through one node: wrong unit?");
    }
    if (cells.not_too_slow(m.time, m.payload / kCard + kMessage * m.ranks) &&
        seen.add(
            fmt::format("{} {} {} {} {}", m.machine, m.accelerator, m.message, m.nodes, m.shape()),
            cells)) {
      out.push_back(std::move(m));
    }
  });
  return out;
}

const MeasuredNode* MeasuredNodes::of(const std::string& name, std::int64_t ranks) {
  const std::int64_t size = std::max<std::int64_t>(ranks, 8);
  const auto [at, added] = known_.try_emplace({name, size});
  if (added) {
    const auto cluster = parse_cluster_name(name + ":" + std::to_string(size), catalog_);
    if (cluster && !cluster->levels.empty()) {
      at->second = MeasuredNode{cluster->accelerator.architecture,
                                cluster->accelerator.clock.value_or(Hertz(0)),
                                cluster->levels.front(),
                                {cluster->levels.begin() + 1, cluster->levels.end()},
                                cluster->accelerators_per_node};
    }
  }
  return at->second ? &*at->second : nullptr;
}

}  // namespace orrery
