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
  std::string named;  // its node, or the accelerator whose usual node it is
  CollectiveParameters start;
  FabricLevel node;                  // its scale-up domain, of one node or more
  std::vector<FabricLevel> outside;  // levels between domains, as the datasheet has them
  std::int64_t node_size = 1;        // accelerators in one node
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

struct PayloadRange {
  std::string_view name;
  Bytes above, up_to;
};
constexpr Bytes kMebibyte(1024.0 * 1024);
constexpr std::array kPayloads = {
    PayloadRange{"up to 1 MiB", Bytes(0), kMebibyte},
    PayloadRange{"1 to 64 MiB", kMebibyte, kMebibyte * 64},
    PayloadRange{"above 64 MiB", kMebibyte * 64, Bytes(std::numeric_limits<double>::infinity())}};

// What was fitted of several machines.
struct Together {
  std::vector<CollectiveMeasurement> rows;
  std::vector<double> measured;
  CrossValidatedFit fit;
};

void append(std::vector<double>& to, std::span<const double> more) {
  to.insert(to.end(), more.begin(), more.end());
}

// The part of a fit with the errors by payload.
CalibratedPart with_parts(CrossValidatedFit fit, std::span<const CollectiveMeasurement> rows,
                          std::span<const double> measured) {
  fit.judge(measured);
  for (const auto& [name, above, up_to] : kPayloads) {
    fit.add_part_of_rows(std::string(name), measured, [&](std::size_t row) {
      return rows[row].payload > above && rows[row].payload <= up_to;
    });
  }
  return std::move(fit.part);
}

// The same, added to those of other machines; without folds, nothing is left out either.
CalibratedPart with_parts(CrossValidatedFit fit, std::span<const CollectiveMeasurement> rows,
                          std::span<const double> measured, int folds, Together& together) {
  if (folds == 0) fit.left_out.clear();
  together.rows.insert(together.rows.end(), rows.begin(), rows.end());
  append(together.measured, measured);
  append(together.fit.predicted, fit.predicted);
  append(together.fit.held_out, fit.held_out);
  append(together.fit.left_out, fit.left_out);
  return with_parts(std::move(fit), rows, measured);
}

Result<CalibratedPart> fit_messages(const Machine& machine,
                                    const std::vector<CollectiveMeasurement>& rows, int folds,
                                    Together& together) {
  double fastest = 0;
  for (const CollectiveMeasurement& m : rows) {
    fastest = std::max(fastest, (m.payload / m.time).value() / kGiga);
  }
  const bool inside = rows.front().nodes == 1;
  const FabricLevel& stated =
      inside || machine.outside.empty() ? machine.node : machine.outside.front();
  const FitTask task = fit_task(
      inside ? "messages inside a node" : "messages between nodes",
      {in_us("message.latency", 3, 1000), in_gbps("message.rate", fastest)},
      std::span<const CollectiveMeasurement>(rows), &CollectiveMeasurement::time, payload_key,
      [&](std::span<const double> x) {
        FabricLevel level = network_level(BytesPerSecond(x[1] * kGiga), Seconds(x[0] * kMicro));
        if (inside) level.name = machine.node.name;
        level.ordered_delivery = stated.ordered_delivery;
        return [&machine, level](const CollectiveMeasurement& m) {
          return point_to_point(m.payload, level, machine.start);
        };
      });
  ORRERY_TRY(CrossValidatedFit done, cross_validated_fit(task, folds));
  for (const CollectiveMeasurement& m : rows) {
    done.left_out.push_back(point_to_point(m.payload, stated, machine.start).value());
  }
  return with_parts(std::move(done), rows, task.measured, folds, together);
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

Quantity simple_step() {
  return {in_us("ring.network.simple", 14, 500), [](CollectiveParameters& p, double x) {
            p.ring.network.simple = p.tree.network.simple = microseconds(x);
          }};
}

// Of machines whose collectives are rings and trees. Without ordered delivery a network has Simple
// alone.
std::vector<Quantity> ring_quantities(bool ordered_delivery, double fastest_gbps) {
  std::vector<Quantity> out;
  if (ordered_delivery) {
    out.push_back(
        {in_us("ring.network.low_latency", 5, 500),
         [](CollectiveParameters& p, double x) { set_network_low_latency(p, microseconds(x)); }});
  }
  out.push_back(simple_step());
  out.push_back({in_us("ring.node.simple", 5, 100), [](CollectiveParameters& p, double x) {
                   p.ring.nvlink.simple = p.tree.nvlink.simple = p.ring.pcie.simple =
                       p.tree.pcie.simple = microseconds(x);
                 }});
  out.push_back({in_us("network_overhead", 1, 10),
                 [](CollectiveParameters& p, double x) { p.network_overhead = microseconds(x); }});
  if (ordered_delivery) out.push_back(low_latency_ceiling(fastest_gbps));
  return out;
}

// What host and library add to a small collective differs between machines by a factor of two; it
// is one factor of the bases of rings and trees.
Quantity base_share() {
  return {{"base, share of the catalog's", "", 1, 0.2, 8}, [](CollectiveParameters& p, double x) {
            for (ProtocolLatencies* base : {&p.ring.base, &p.tree.base}) {
              *base = {base->low_latency * x, base->low_latency_128 * x, base->simple * x};
            }
          }};
}

// Of rings and trees inside one domain.
std::vector<Quantity> domain_quantities(const CollectiveParameters& start) {
  return {base_share(),
          {{"ring_share", "", start.ring_share, 0.05, 1},
           [](CollectiveParameters& p, double x) { p.ring_share = x; }}};
}

// Of machines whose switches reduce.
std::vector<Quantity> in_switch_quantities(const CollectiveParameters& start, bool between_domains,
                                           bool ordered_delivery, double fastest_gbps) {
  std::vector<Quantity> out = {
      base_share(),
      {in_us("in_switch.step", start.in_switch.step.value() / kMicro, 1000),
       [](CollectiveParameters& p, double x) { p.in_switch.step = microseconds(x); }},
      {{"in_switch.efficiency", "", start.in_switch.efficiency, 0.05, 1},
       [](CollectiveParameters& p, double x) { p.in_switch.efficiency = x; }}};
  if (between_domains) {
    out.push_back(ordered_delivery
                      ? Quantity{in_us("tree.network.low_latency", 5, 500),
                                 [](CollectiveParameters& p, double x) {
                                   set_network_low_latency(p, microseconds(x * 2.7 / 5.0));
                                 }}
                      : simple_step());
    out.push_back({in_us("in_switch.tree_network_step",
                         start.in_switch.tree_network_step.value() / kMicro, 500),
                   [](CollectiveParameters& p, double x) {
                     p.in_switch.tree_network_step = microseconds(x);
                   }});
    if (ordered_delivery) out.push_back(low_latency_ceiling(fastest_gbps));
  }
  return out;
}

void leave_out_low_latency_128(CollectiveParameters& p) {
  const BytesPerSecond none(1e3);
  p.ring_low_latency_128_per_channel = {none, none, none};
  p.tree_low_latency_128_per_channel = {none, none, none};
}

// Ranks of the row in one scale-up domain, which may span several nodes.
int ranks_of_domain(const CollectiveMeasurement& m, const Machine& machine) {
  const std::int64_t nodes =
      std::max<std::int64_t>(1, machine.node.accelerators / machine.node_size);
  return static_cast<int>(std::min<std::int64_t>(m.ranks, m.ranks_of_node() * nodes));
}

std::string collectives_name(bool inside) {
  return inside ? "collectives inside a node" : "collectives between nodes";
}

// By the catalog's parameters and the levels of the datasheet.
std::vector<double> predict_left_out(const Machine& machine,
                                     std::span<const CollectiveMeasurement> rows) {
  std::vector<FabricLevel> levels = {machine.node};
  levels.insert(levels.end(), machine.outside.begin(), machine.outside.end());
  std::vector<double> out;
  for (const CollectiveMeasurement& m : rows) {
    const int own = levels.size() == 1 ? m.ranks : ranks_of_domain(m, machine);
    GroupShape group{m.ranks, std::vector<int>(own < m.ranks ? levels.size() : 1, m.ranks)};
    group.members.front() = own;
    out.push_back(collective(m.kind, m.payload, group, levels, machine.start).time.value());
  }
  return out;
}

Result<CalibratedPart> fit_collectives(const Machine& machine,
                                       const std::vector<CollectiveMeasurement>& rows, int folds,
                                       Together& together) {
  FitTask task;
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
  task.name = collectives_name(members.empty());
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
  const bool ordered = std::ranges::all_of(machine.outside, &FabricLevel::ordered_delivery);
  const std::vector<Quantity> quantities =
      in_switch ? in_switch_quantities(machine.start, !members.empty(), ordered, fastest_of_all)
      : members.empty() ? domain_quantities(machine.start)
                        : ring_quantities(ordered, fastest_of_all);
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
          levels.back().ordered_delivery = ordered;
          group.members.push_back(m.ranks);
        }
        out[i] = collective(m.kind, m.payload, group, levels, p).time.value();
      }
    };
    ORRERY_TRY(CrossValidatedFit done, cross_validated_fit(task, folds));
    if (!best || done.fit.cost < best->fit.cost) best = std::move(done);
  }
  best->left_out = predict_left_out(machine, rows);
  for (const int own : members) {
    best->add_part_of_rows(
        std::to_string(own) + " ranks a node", task.measured,
        [&](std::size_t row) { return ranks_of_domain(rows[row], machine) == own; });
  }
  return with_parts(*std::move(best), rows, task.measured, folds, together);
}

// Of too few collectives to fit.
CalibratedPart unfitted(const Machine& machine, std::span<const CollectiveMeasurement> rows) {
  CrossValidatedFit out;
  std::vector<double> measured;
  for (const CollectiveMeasurement& m : rows) measured.push_back(m.time.value());
  out.part.name = collectives_name(ranks_of_domain(rows.front(), machine) == rows.front().ranks);
  out.predicted = predict_left_out(machine, rows);
  return with_parts(std::move(out), rows, measured);
}

Result<CalibrationReport> calibrated(const Machine& machine, int folds, Together& together) {
  // Messages and collectives, each inside a domain and between several.
  std::array<std::vector<CollectiveMeasurement>, 4> kinds;
  for (const CollectiveMeasurement& m : machine.rows) {
    const bool inside = m.message ? m.nodes == 1 : ranks_of_domain(m, machine) == m.ranks;
    kinds[(m.message ? 0U : 2U) + (inside ? 0U : 1U)].push_back(m);
  }
  CalibrationReport out;
  out.kind = "networks";
  out.subject = machine.name;
  constexpr std::size_t kLeast = 10;  // fewer rows than that determine nothing
  for (const std::vector<CollectiveMeasurement>& rows : kinds) {
    if (rows.empty()) continue;
    const bool messages = rows.front().message;
    if (rows.size() < kLeast) {
      out.notes.push_back(std::to_string(rows.size()) + (messages ? " messages" : " collectives") +
                          " are too few to fit: the errors are those of the datasheet.");
      if (!messages) out.parts.push_back(unfitted(machine, rows));
      continue;
    }
    ORRERY_TRY(CalibratedPart part, messages ? fit_messages(machine, rows, folds, together)
                                             : fit_collectives(machine, rows, folds, together));
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
    const std::string& named = m.node.empty() ? m.accelerator : m.node;
    if (at == machines.end()) {
      const MeasuredNode* node = nodes.of(named, m.ranks);
      if (node == nullptr) {
        out.problems.push_back({m.where, "the catalog has no node of '" + named + "'"});
        continue;
      }
      ORRERY_TRY(CollectiveParameters start,
                 load_collective_parameters(*request.catalog, node->architecture));
      at = machines.insert(
          machines.end(),
          {m.machine, m.accelerator, named, std::move(start), node->level, {}, node->size, {}});
    } else if (at->named != named) {
      out.problems.push_back(
          {m.where, "rows of one machine name two nodes: '" + at->named + "' and '" + named + "'"});
      continue;
    }
    // The widest group has every level.
    if (const MeasuredNode* all = nodes.of(named, m.nodes * at->node_size);
        all != nullptr && all->outside.size() > at->outside.size()) {
      at->outside = all->outside;
    }
    if (m.ranks_of_node() > at->node_size) {
      out.problems.push_back({m.where, "a node of " + m.accelerator + " holds " +
                                           std::to_string(at->node_size) + ", not " +
                                           std::to_string(m.ranks_of_node())});
      continue;
    }
    at->rows.push_back(std::move(m));
  }
  Together together;
  for (const Machine& machine : machines) {
    out.used += machine.rows.size();
    ORRERY_TRY(CalibrationReport report,
               calibrated(machine, request.cross_validate ? request.folds : 0, together));
    out.reports.push_back(std::move(report));
  }
  if (machines.size() > 1 && !together.rows.empty()) {
    CalibrationReport all;
    all.kind = "networks";
    all.subject = "all machines";
    together.fit.part.name = "all that were fitted";
    all.parts.push_back(with_parts(std::move(together.fit), together.rows, together.measured));
    all.parts.back().errors = {};
    out.reports.push_back(std::move(all));
  }
  return out;
}

}  // namespace

MeasurementKind network_measurement_kind() {
  return {"networks", "machine, accelerator, collective, num_gpus, num_nodes, bytes, latency_us",
          holds_network_measurements, calibrate_networks};
}

}  // namespace orrery
