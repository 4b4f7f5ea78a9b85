#include "calibrate/network_measurements.h"

#include <algorithm>
#include <array>

#include "calibrate/measurement_cells.h"
#include "cost/collective/collective_parameters.h"

namespace orrery {
namespace {

constexpr std::array<std::string_view, 7> kNetworkColumns = {
    "machine", "accelerator", "collective", "num_gpus", "num_nodes", "bytes", "latency_us"};
constexpr double kMostRanksOfMachine = 65536;
// Above any node's network: tells bytes from bits and micro- from milliseconds.
constexpr BytesPerSecond kFastestNode(20e12);
// One common network card (100 Gb/s), and a message to each rank in turn. The slowest of the
// published rows takes 3 times that.
constexpr BytesPerSecond kCard(12.5e9);
constexpr Seconds kMessage(20e-6);

}  // namespace

bool holds_network_measurements(const CommaSeparated& table) {
  return has_columns(table, kNetworkColumns);
}

std::vector<NetworkMeasurement> network_measurements(std::span<const CommaSeparated> tables,
                                                     std::vector<RowProblem>& problems) {
  std::vector<NetworkMeasurement> out;
  SeenRows seen;
  for (const CommaSeparated& table : tables) {
    for (RowProblem& problem : refused_records(table)) problems.push_back(std::move(problem));
    for (const CommaSeparated::Record& record : table.records) {
      MeasurementCells cells(table, record, problems);
      NetworkMeasurement m;
      m.where = cells.where();
      m.machine = cells.text("machine");
      m.accelerator = cells.text("accelerator");
      if (m.machine.empty()) cells.complain("machine is empty");
      std::string name(cells.text("collective"));
      std::ranges::replace(name, '-', '_');
      const auto kind = parse_enum<CollectiveKind>(name);
      if (kind) {
        m.kind = *kind;
      } else if (name != "send_recv") {
        cells.complain("collective is '" + std::string(cells.text("collective")) +
                       "': not all-reduce, all-gather, reduce-scatter, all-to-all, broadcast or "
                       "send-recv");
      }
      m.ranks = static_cast<int>(cells.count("num_gpus", 2, kMostRanksOfMachine));
      m.nodes = static_cast<int>(cells.count("num_nodes", 2, kMostRanksOfMachine));
      m.payload = Bytes(cells.number("bytes", 0, kMostBytes));
      m.time = Seconds(cells.number("latency_us", 0, kLongest) * 1e-6);
      if (!cells.usable()) continue;
      if (m.ranks % m.nodes != 0) {
        cells.complain("num_gpus is " + std::to_string(m.ranks) +
                       ": not a multiple of num_nodes, " + std::to_string(m.nodes));
        continue;
      }
      if (!m.kind && m.ranks != 2) {
        cells.complain("send-recv joins 2 ranks, not " + std::to_string(m.ranks));
        continue;
      }
      if (m.payload / m.time > kFastestNode) {
        cells.complain("more than 20 TB/s through one node: wrong unit?");
        continue;
      }
      if (!cells.not_too_slow(m.time, m.payload / kCard + kMessage * m.ranks)) continue;
      const std::string key = m.machine + ' ' + m.accelerator + ' ' + name + ' ' +
                              std::to_string(m.ranks) + ' ' + std::to_string(m.nodes) + ' ' +
                              std::to_string(m.payload.value());
      if (!seen.add(key, cells)) continue;
      out.push_back(std::move(m));
    }
  }
  return out;
}

}  // namespace orrery
