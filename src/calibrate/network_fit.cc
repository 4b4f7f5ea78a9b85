#include "calibrate/network_fit.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <set>
#include <string_view>

#include "calibrate/collective_measurements.h"
#include "calibrate/cross_validated_fit.h"
#include "cost/collective/collective_parameters.h"

namespace orrery {
namespace {

struct Machine {
  std::string name;
  std::string accelerator;
  CollectiveParameters start;
  FabricLevel node;            // its scale-up domain, of one node or more
  std::int64_t node_size = 1;  // accelerators in one node
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

// One fitted quantity, and the parameters of the model that it determines.
struct Quantity {
  FitParameter parameter;
  std::function<void(CollectiveParameters&, double)> set;
};

Seconds microseconds(double us) { return Seconds(us * kMicro); }

// Trees against rings, as in NCCL's tuner (graph/tuning.cc): LL 5.0 and 2.7 us, LL128 8.5 and
// 4.0 us of a ring's step, Simple 14 and 14 us.
void set_network_low_latency(CollectiveParameters& p, Seconds step) {
  p.ring.network.low_latency = step;
  p.ring.network.low_latency_128 = step * (4.0 / 2.7);
  p.tree.network.low_latency = step * (5.0 / 2.7);
  p.tree.network.low_latency_128 = step * (8.5 / 2.7);
}

Quantity low_latency_ceiling(double fastest_gbps) {
  return {in_gbps("low_latency", fastest_gbps / 4), [](CollectiveParameters& p, double x) {
            p.low_latency_total.two_nodes = p.low_latency_total.more_nodes =
                BytesPerSecond(x * kGiga);
          }};
}

// Of machines whose collectives are rings and trees.
std::vector<Quantity> ring_quantities(double fastest_gbps) {
  return {{in_us("ring.network.low_latency", 5, 500),
           [](CollectiveParameters& p, double x) { set_network_low_latency(p, microseconds(x)); }},
          {in_us("ring.network.simple", 14, 500),
           [](CollectiveParameters& p, double x) {
             p.ring.network.simple = p.tree.network.simple = microseconds(x);
           }},
          {in_us("ring.node.simple", 5, 100),
           [](CollectiveParameters& p, double x) {
             p.ring.nvlink.simple = p.tree.nvlink.simple = p.ring.pcie.simple = p.tree.pcie.simple =
                 microseconds(x);
           }},
          {in_us("network_overhead", 1, 10),
           [](CollectiveParameters& p, double x) { p.network_overhead = microseconds(x); }},
          low_latency_ceiling(fastest_gbps)};
}

// Of machines whose switches reduce. What host and library add to a small collective differs
// between machines by a factor of two; it is one factor of the bases of rings and trees.
std::vector<Quantity> in_switch_quantities(const CollectiveParameters& start, bool between_domains,
                                           double fastest_gbps) {
  std::vector<Quantity> out = {
      {{"base, share of the catalog's", "", 1, 0.2, 8},
       [](CollectiveParameters& p, double x) {
         for (ProtocolLatencies* base : {&p.ring.base, &p.tree.base}) {
           *base = {base->low_latency * x, base->low_latency_128 * x, base->simple * x};
         }
       }},
      {in_us("in_switch.step", start.in_switch.step.value() / kMicro, 1000),
       [](CollectiveParameters& p, double x) { p.in_switch.step = microseconds(x); }},
      {{"in_switch.efficiency", "", start.in_switch.efficiency, 0.05, 1},
       [](CollectiveParameters& p, double x) { p.in_switch.efficiency = x; }}};
  if (between_domains) {
    out.push_back(
        {in_us("tree.network.low_latency", 5, 500), [](CollectiveParameters& p, double x) {
           set_network_low_latency(p, microseconds(x * 2.7 / 5.0));
         }});
    out.push_back({in_us("in_switch.tree_network_step",
                         start.in_switch.tree_network_step.value() / kMicro, 500),
                   [](CollectiveParameters& p, double x) {
                     p.in_switch.tree_network_step = microseconds(x);
                   }});
    out.push_back(low_latency_ceiling(fastest_gbps));
  }
  return out;
}

void leave_out_low_latency_128(CollectiveParameters& p) {
  const BytesPerSecond none(1e3);
  p.ring_low_latency_128_per_channel = {none, none, none};
  p.tree_low_latency_128_per_channel = {none, none, none};
}

struct PayloadRange {
  std::string_view name;
  Bytes above, up_to;
};
constexpr Bytes kMebibyte(1024.0 * 1024);
constexpr std::array kPayloads = {
    PayloadRange{"up to 1 MiB", Bytes(0), kMebibyte},
    PayloadRange{"1 to 64 MiB", kMebibyte, kMebibyte * 64},
    PayloadRange{"above 64 MiB", kMebibyte * 64, Bytes(std::numeric_limits<double>::infinity())}};

// Ranks of the row in one scale-up domain, which may span several nodes.
int ranks_of_domain(const CollectiveMeasurement& m, const Machine& machine) {
  const std::int64_t nodes =
      std::max<std::int64_t>(1, machine.node.accelerators / machine.node_size);
  return static_cast<int>(std::min<std::int64_t>(m.ranks, m.ranks_of_node() * nodes));
}

Result<CalibratedPart> fit_collectives_between(const Machine& machine,
                                               const std::vector<CollectiveMeasurement>& rows,
                                               int folds) {
  FitTask task;
  task.name = "collectives between nodes";
  std::set<int> sizes;  // ranks in a domain, of groups that span several
  bool in_switch = false;
  for (const CollectiveMeasurement& m : rows) {
    task.measured.push_back(m.time.value());
    task.keys.push_back(payload_key(m));
    const int own = ranks_of_domain(m, machine);
    if (own < m.ranks) sizes.insert(own);
    in_switch = in_switch ||
                (machine.node.in_switch_reduction && own >= machine.start.in_switch.least_ranks);
  }
  const std::vector<int> members(sizes.begin(), sizes.end());
  const auto place = [&](int own) {
    return static_cast<std::size_t>(std::ranges::find(members, own) - members.begin());
  };
  double fastest_of_all = 0.1;
  std::vector<double> fastest(members.size(), 0.1);
  for (const CollectiveMeasurement& m : rows) {
    const std::size_t at = place(ranks_of_domain(m, machine));
    if (at == members.size()) continue;
    fastest[at] = std::max(fastest[at], 1.5 * (m.payload / m.time).value() / kGiga);
    fastest_of_all = std::max(fastest_of_all, fastest[at]);
  }
  const std::vector<Quantity> quantities =
      in_switch ? in_switch_quantities(machine.start, !members.empty(), fastest_of_all)
                : ring_quantities(fastest_of_all);
  for (const Quantity& quantity : quantities) task.parameters.push_back(quantity.parameter);
  for (std::size_t i = 0; i < members.size(); ++i) {
    task.parameters.push_back(
        in_gbps("rate of " + std::to_string(members[i]) + " ranks a node", fastest[i]));
  }

  std::optional<CrossValidatedFit> best;
  for (const bool low_latency_128 : {false, true}) {
    task.predict = [&](std::span<const double> x, std::span<const std::size_t> of,
                       std::span<double> out) {
      CollectiveParameters p = machine.start;
      for (std::size_t i = 0; i < quantities.size(); ++i) quantities[i].set(p, x[i]);
      if (!low_latency_128) leave_out_low_latency_128(p);
      for (std::size_t i = 0; i < of.size(); ++i) {
        const CollectiveMeasurement& m = rows[of[i]];
        const int own = ranks_of_domain(m, machine);
        std::vector<FabricLevel> levels = {machine.node};
        GroupShape group{m.ranks, {own}};
        if (own < m.ranks) {
          const double rate = x[quantities.size() + place(own)] * kGiga;
          levels.push_back(network_level(BytesPerSecond(rate / own), Seconds(0)));
          group.members.push_back(m.ranks);
        }
        out[i] = collective(m.kind, m.payload, group, levels, p).time.value();
      }
    };
    ORRERY_TRY(CrossValidatedFit done, cross_validated_fit(task, folds));
    if (!best || done.fit.cost < best->fit.cost) best = std::move(done);
  }
  for (const int own : members) {
    best->add_part_of_rows(
        std::to_string(own) + " ranks a node", task.measured,
        [&](std::size_t row) { return ranks_of_domain(rows[row], machine) == own; });
  }
  for (const auto& [name, above, up_to] : kPayloads) {
    best->add_part_of_rows(std::string(name), task.measured, [&](std::size_t row) {
      return rows[row].payload > above && rows[row].payload <= up_to;
    });
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
      const MeasuredNode* node = nodes.of(m.accelerator, m.ranks);
      if (node == nullptr) {
        out.problems.push_back({m.where, "the catalog has no node of '" + m.accelerator + "'"});
        continue;
      }
      ORRERY_TRY(CollectiveParameters start,
                 load_collective_parameters(*request.catalog, node->architecture));
      at = machines.insert(
          machines.end(),
          {m.machine, m.accelerator, std::move(start), node->level, node->size, {}});
    }
    if (m.ranks_of_node() > at->node_size) {
      out.problems.push_back({m.where, "a node of " + m.accelerator + " holds " +
                                           std::to_string(at->node_size) + ", not " +
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
