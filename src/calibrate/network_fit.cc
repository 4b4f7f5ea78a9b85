#include "calibrate/network_fit.h"

#include <algorithm>
#include <limits>
#include <set>

#include "calibrate/collective_measurements.h"
#include "calibrate/cross_validated_fit.h"
#include "cost/collective/collective_parameters.h"

namespace orrery {
namespace {

struct Machine {
  std::string name;
  std::string accelerator;
  CollectiveParameters start;
  FabricLevel node;
  std::vector<CollectiveMeasurement> rows;
};

// Of a fabric without a name: all is in the parameters of the fit.
FabricLevel network_level(BytesPerSecond rate, Seconds latency) {
  FabricLevel out;
  out.name = "infiniband";
  out.accelerators = std::numeric_limits<std::int32_t>::max();
  out.bandwidth = rate;
  out.latency = latency;
  return out;
}

constexpr double kGiga = 1e9;

FitParameter in_us(std::string name, double start, double most) {
  return {std::move(name), "us", start, 0.05, most};
}
FitParameter in_gbps(std::string name, double start) {
  return {std::move(name), "GB/s", std::clamp(start, 0.05, 2000.0), 0.05, 2000};
}

std::string payload_key(const CollectiveMeasurement& m) {
  return std::to_string(m.payload.value());
}

Result<CalibratedPart> fit_messages(const Machine& machine,
                                    const std::vector<CollectiveMeasurement>& rows, int folds) {
  double fastest = 0;
  for (const CollectiveMeasurement& m : rows) {
    fastest = std::max(fastest, (m.payload / m.time).value() / kGiga);
  }
  const FitTask task = fit_task(
      "messages between nodes",
      {in_us("message.latency", 3, 1000), in_gbps("message.rate", fastest)},
      std::span<const CollectiveMeasurement>(rows), &CollectiveMeasurement::time, payload_key,
      [&](std::span<const double> x) {
        return
            [&machine, level = network_level(BytesPerSecond(x[1] * kGiga), Seconds(x[0] * kMicro))](
                const CollectiveMeasurement& m) {
              return point_to_point(m.payload, level, machine.start);
            };
      });
  ORRERY_TRY(CrossValidatedFit done, cross_validated_fit(task, folds));
  return std::move(done.part);
}

// The latencies and the ceiling of one machine's rings and trees, from the head of the parameters.
constexpr std::size_t kShared = 5;
CollectiveParameters parameters_of(const CollectiveParameters& start, std::span<const double> x,
                                   bool low_latency_128) {
  CollectiveParameters p = start;
  const auto time = [](double us) { return Seconds(us * kMicro); };
  // Trees and pairs against rings, as in NCCL's tuner (graph/tuning.cc): LL 5.0 and 2.7 us, LL128
  // 8.5 and 4.0 us of a ring's step, Simple 14 and 14 us.
  p.ring.network = {time(x[0]), time(x[0] * 4.0 / 2.7), time(x[1])};
  p.tree.network = {time(x[0] * 5.0 / 2.7), time(x[0] * 8.5 / 2.7), time(x[1])};
  p.ring.nvlink.simple = p.tree.nvlink.simple = p.ring.pcie.simple = p.tree.pcie.simple =
      time(x[2]);
  p.network_overhead = time(x[3]);
  p.low_latency_total.two_nodes = p.low_latency_total.more_nodes = BytesPerSecond(x[4] * kGiga);
  if (!low_latency_128) {
    const BytesPerSecond none(1e3);
    p.ring_low_latency_128_per_channel = {none, none, none};
    p.tree_low_latency_128_per_channel = {none, none, none};
  }
  return p;
}

Result<CalibratedPart> fit_collectives_between(const Machine& machine,
                                               const std::vector<CollectiveMeasurement>& rows,
                                               int folds) {
  FitTask task;
  task.name = "collectives between nodes";
  std::set<int> sizes;
  for (const CollectiveMeasurement& m : rows) {
    task.measured.push_back(m.time.value());
    task.keys.push_back(payload_key(m));
    sizes.insert(m.ranks_of_node());
  }
  const std::vector<int> members(sizes.begin(), sizes.end());
  task.parameters = {in_us("ring.network.low_latency", 5, 500),
                     in_us("ring.network.simple", 14, 500), in_us("ring.node.simple", 5, 100),
                     in_us("network_overhead", 1, 10)};
  double fastest_of_all = 0;
  std::vector<double> fastest(members.size(), 0.1);
  for (const CollectiveMeasurement& m : rows) {
    const auto at =
        static_cast<std::size_t>(std::ranges::find(members, m.ranks_of_node()) - members.begin());
    fastest[at] = std::max(fastest[at], 1.5 * (m.payload / m.time).value() / kGiga);
    fastest_of_all = std::max(fastest_of_all, fastest[at]);
  }
  task.parameters.push_back(in_gbps("low_latency", fastest_of_all / 4));
  for (std::size_t i = 0; i < members.size(); ++i) {
    task.parameters.push_back(
        in_gbps("rate of " + std::to_string(members[i]) + " ranks a node", fastest[i]));
  }

  std::optional<CrossValidatedFit> best;
  for (const bool low_latency_128 : {false, true}) {
    task.predict = [&](std::span<const double> x, std::span<const std::size_t> of,
                       std::span<double> out) {
      const CollectiveParameters p = parameters_of(machine.start, x, low_latency_128);
      std::vector<std::vector<FabricLevel>> levels;
      for (std::size_t i = 0; i < members.size(); ++i) {
        levels.push_back(
            {machine.node,
             network_level(BytesPerSecond(x[kShared + i] * kGiga / members[i]), Seconds(0))});
      }
      for (std::size_t i = 0; i < of.size(); ++i) {
        const CollectiveMeasurement& m = rows[of[i]];
        const int own = m.ranks_of_node();
        const auto at = static_cast<std::size_t>(std::ranges::find(members, own) - members.begin());
        out[i] =
            collective(m.kind, m.payload, {m.ranks, {own, m.ranks}}, levels[at], p).time.value();
      }
    };
    ORRERY_TRY(CrossValidatedFit done, cross_validated_fit(task, folds));
    if (!best || done.fit.cost < best->fit.cost) best = std::move(done);
  }
  for (std::size_t i = 0; i < members.size(); ++i) {
    best->add_part_of_rows(
        std::to_string(members[i]) + " ranks a node", task.measured,
        [&](std::size_t row) { return rows[row].ranks_of_node() == members[i]; });
  }
  return std::move(best->part);
}

Result<CalibrationReport> calibrated(const Machine& machine, int folds) {
  std::vector<CollectiveMeasurement> messages;
  std::vector<CollectiveMeasurement> collectives;
  for (const CollectiveMeasurement& m : machine.rows) {
    (m.message ? messages : collectives).push_back(m);
  }
  CalibrationReport out;
  out.kind = "networks";
  out.subject = machine.name;
  constexpr std::size_t kLeast = 10;  // fewer rows than that determine nothing
  for (const auto& [rows, fit_rows] :
       {std::pair(&messages, &fit_messages), std::pair(&collectives, &fit_collectives_between)}) {
    if (rows->empty()) continue;
    if (rows->size() < kLeast) {
      out.notes.push_back(std::to_string(rows->size()) +
                          (rows == &messages ? " messages" : " collectives") +
                          " are too few to fit.");
      continue;
    }
    ORRERY_TRY(CalibratedPart part, fit_rows(machine, *rows, folds));
    out.parts.push_back(std::move(part));
  }
  out.notes.emplace_back("No file is written: the rates are those of this machine.");
  return out;
}

Result<Calibration> calibrate_networks(std::span<const CommaSeparated> tables,
                                       const CalibrationRequest& request) {
  Calibration out;
  for (const CommaSeparated& t : tables) out.rows += t.records.size() + t.refused.size();
  std::vector<Machine> machines;
  MeasuredNodes nodes(*request.catalog);
  for (CollectiveMeasurement& m : network_measurements(tables, out.problems)) {
    if (!request.accelerator.empty() && request.accelerator != m.accelerator) continue;
    auto at = std::ranges::find_if(machines, [&](const Machine& machine) {
      return machine.name == m.machine && machine.accelerator == m.accelerator;
    });
    if (at == machines.end()) {
      const MeasuredNode* node = nodes.of(m.accelerator);
      if (node == nullptr) {
        out.problems.push_back({m.where, "the catalog has no node of '" + m.accelerator + "'"});
        continue;
      }
      ORRERY_TRY(CollectiveParameters start,
                 load_collective_parameters(*request.catalog, node->architecture));
      at = machines.insert(machines.end(),
                           {m.machine, m.accelerator, std::move(start), node->level, {}});
    }
    if (m.ranks_of_node() > at->node.accelerators) {
      out.problems.push_back({m.where, "a node of " + m.accelerator + " holds " +
                                           std::to_string(at->node.accelerators) + ", not " +
                                           std::to_string(m.ranks_of_node())});
      continue;
    }
    at->rows.push_back(std::move(m));
  }
  for (const Machine& machine : machines) {
    out.used += machine.rows.size();
    ORRERY_TRY(CalibrationReport report,
               calibrated(machine, request.cross_validate ? request.folds : 0));
    out.reports.push_back(std::move(report));
  }
  return out;
}

}  // namespace

MeasurementKind network_measurement_kind() {
  return {"networks", "machine, accelerator, collective, num_gpus, num_nodes, bytes, latency_us",
          holds_network_measurements, calibrate_networks};
}

}  // namespace orrery
