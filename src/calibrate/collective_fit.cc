#include "calibrate/collective_fit.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "cost/collective/communication_path.h"

namespace orrery {
namespace {

using P = CollectiveParameters;

double microseconds(Seconds s) { return s.value() * 1e6; }

// One number of the parameters: how to read and to write it in the unit it is fitted in.
struct Adjustable {
  FitParameter limits;
  std::function<double(const P&)> value;
  std::function<void(P&, double)> set;
};

Adjustable latency(std::string name, double least, double most,
                   const std::function<Seconds&(P&)>& of) {
  return {{std::move(name), "us", least, least, most},
          [of](const P& p) {
            P copy = p;
            return microseconds(of(copy));
          },
          [of](P& p, double x) { of(p) = Seconds(x / 1e6); }};
}

Adjustable rate(std::string name, double least, double most,
                const std::function<BytesPerSecond&(P&)>& of) {
  return {{std::move(name), "GB/s", least, least, most},
          [of](const P& p) {
            P copy = p;
            return of(copy).value() * 1e-9;
          },
          [of](P& p, double x) { of(p) = BytesPerSecond(x * 1e9); }};
}

Adjustable share(std::string name, double least, double most,
                 const std::function<double&(P&)>& of) {
  return {{std::move(name), "", least, least, most},
          [of](const P& p) {
            P copy = p;
            return of(copy);
          },
          [of](P& p, double x) { of(p) = x; }};
}

ProtocolLatencies& steps(AlgorithmLatencies& table, LinkKind link) {
  return link == LinkKind::pcie ? table.pcie : table.nvlink;
}

std::vector<Adjustable> adjustables(const P& start, LinkKind link, Seconds least_step) {
  // A step shorter than the link's own latency would not show.
  const double step = std::max(0.05, least_step.value() * 1e6);
  std::vector<Adjustable> out = {
      latency("ring.base.low_latency", 1, 20,
              [](P& p) -> Seconds& { return p.ring.base.low_latency; }),
      latency("ring.base.low_latency_128", 1, 60,
              [](P& p) -> Seconds& { return p.ring.base.low_latency_128; }),
      latency("ring.base.simple", 1, 150, [](P& p) -> Seconds& { return p.ring.base.simple; }),
      latency("ring.step.low_latency", step, 5,
              [link](P& p) -> Seconds& { return steps(p.ring, link).low_latency; }),
      latency("ring.step.low_latency_128", step, 8,
              [link](P& p) -> Seconds& { return steps(p.ring, link).low_latency_128; }),
      // NCCL's tuner has 3.4 us for NVLink; a longer one would be a node's trait that must not be
      // carried over to rings through many nodes.
      latency("ring.step.simple", step, link == LinkKind::pcie ? 25 : 4,
              [link](P& p) -> Seconds& { return steps(p.ring, link).simple; }),
      rate("low_latency_total.one_node", 1, 600,
           [](P& p) -> BytesPerSecond& { return p.low_latency_total.one_node; }),
      share("ring_share", 0.3, 1, [](P& p) -> double& { return p.ring_share; }),
      rate("local_copy", 50, 8000, [](P& p) -> BytesPerSecond& { return p.local_copy; }),
      latency("pairwise.base.low_latency", 1, 40,
              [](P& p) -> Seconds& { return p.pairwise.latency.base.low_latency; }),
      latency("pairwise.base.simple", 1, 100,
              [](P& p) -> Seconds& { return p.pairwise.latency.base.simple; }),
      latency("pairwise.peer", 0, 5, [](P& p) -> Seconds& { return p.pairwise.peer; }),
      share("pairwise.efficiency", 0.3, 1, [](P& p) -> double& { return p.pairwise.efficiency; }),
      rate("pairwise.low_latency_ceiling", 1, 400,
           [](P& p) -> BytesPerSecond& { return p.pairwise.low_latency_ceiling; }),
  };
  if (link == LinkKind::pcie) {
    out.push_back(
        share("low_latency_share", 0.3, 1, [](P& p) -> double& { return p.low_latency_share; }));
  } else {
    out.push_back(share("low_latency_128_share", 0.2, 1,
                        [](P& p) -> double& { return p.low_latency_128_share; }));
  }
  if (start.in_switch.efficiency > 0) {
    out.push_back(
        latency("in_switch.step", 5, 200, [](P& p) -> Seconds& { return p.in_switch.step; }));
    // Eight ranks would not reduce in the switch were it slower than their ring:
    // n (1 + 1/g) / (e b) against 2 n (g-1) / (g b).
    constexpr double kLeast = 9.0 / 14;
    out.push_back(share("in_switch.efficiency", kLeast, 1,
                        [](P& p) -> double& { return p.in_switch.efficiency; }));
  }
  if (start.host_path.direct_ranks > 0) {
    out.push_back(rate("host_path.socket", 0.1, 60,
                       [](P& p) -> BytesPerSecond& { return p.host_path.socket; }));
    out.push_back(
        rate("host_path.node", 0.1, 60, [](P& p) -> BytesPerSecond& { return p.host_path.node; }));
  }
  return out;
}

// Scaled, to three digits.
Seconds part_of(Seconds step, double share) {
  return Seconds(three_digits(microseconds(step) * share) / 1e6);
}

// Trees differ from rings, and pairwise steps from a ring's, as in NCCL's tuner (graph/tuning.cc):
// base 6.8 and 6.6 us with LL; NVLink steps 1.25 and 1.9, 4.0 and 3.4; PCIe 1.9 and 2.5, 4.0 and
// 5.7 us.
void tie(P& p, LinkKind link) {
  const bool pcie = link == LinkKind::pcie;
  p.tree.base = p.ring.base;
  p.tree.base.low_latency =
      Seconds(three_digits(microseconds(p.ring.base.low_latency) + 0.2) / 1e6);
  const ProtocolLatencies& ring = steps(p.ring, link);
  steps(p.tree, link) = {ring.low_latency,
                         part_of(ring.low_latency_128, pcie ? 1.9 / 2.5 : 1.25 / 1.9),
                         part_of(ring.simple, pcie ? 4.0 / 5.7 : 4.0 / 3.4)};
  p.pairwise.latency.base.low_latency_128 = p.pairwise.latency.base.low_latency;
  steps(p.pairwise.latency, link) = {ring.low_latency, ring.low_latency, ring.simple};
}

constexpr double kMebibyte = 1024.0 * 1024.0;
// Between powers of two, where no measurement lies.
constexpr double kBetween = 1.41;

}  // namespace

Seconds predicted_time(const CollectiveGeneration& generation, std::size_t row,
                       const CollectiveParameters& parameters) {
  const CollectiveMeasurement& m = generation.rows[row];
  return collective(m.kind, m.payload, {m.ranks, {m.ranks}}, generation.levels[row], parameters)
      .time;
}

P typical_parameters(const P& facts, LinkKind link, Hertz clock,
                     std::span<const CollectiveGeneration> others) {
  P out = facts;
  if (others.empty()) return out;
  for (const Adjustable& a : adjustables(facts, link, Seconds(0))) {
    double sum = 0;
    for (const CollectiveGeneration& other : others) sum += std::log(a.value(other.start));
    a.set(out, std::exp(sum / static_cast<double>(others.size())));
  }
  out.low_latency_total = facts.low_latency_total;
  double clock_ratio = 1;  // to the geometric mean of theirs
  for (const CollectiveGeneration& other : others) {
    clock_ratio *= std::pow(clock / other.clock, 1.0 / static_cast<double>(others.size()));
  }
  if (std::isfinite(clock_ratio) && clock_ratio > 0) {
    out.local_copy = BytesPerSecond(three_digits(out.local_copy.value() * clock_ratio));
  }
  tie(out, link);
  return out;
}

Result<std::vector<CollectiveGeneration>> collective_generations(
    std::vector<CollectiveMeasurement> rows, const Catalog& catalog,
    std::vector<RowProblem>& problems) {
  MeasuredNodes nodes(catalog);
  std::vector<CollectiveGeneration> out;
  for (CollectiveMeasurement& m : rows) {
    const MeasuredNode* node = nodes.of(m.accelerator);
    if (node == nullptr || m.ranks > node->level.accelerators) {
      problems.push_back({m.where, "the catalog has no node that joins " + std::to_string(m.ranks) +
                                       " of " + m.accelerator});
      continue;
    }
    auto generation =
        std::ranges::find(out, node->architecture, &CollectiveGeneration::architecture);
    if (generation == out.end()) {
      ORRERY_TRY(CollectiveParameters start,
                 load_collective_parameters(catalog, node->architecture));
      generation =
          out.insert(out.end(), {node->architecture, node->clock, std::move(start), {}, {}});
    }
    FabricLevel level = node->level;
    level.in_switch_reduction = level.in_switch_reduction && m.reduces_in_switch;
    generation->levels.push_back({std::move(level)});
    generation->rows.push_back(std::move(m));
  }
  return out;
}

Result<FittedCollectives> fit_collectives(const CollectiveGeneration& generation,
                                          std::span<const std::size_t> rows) {
  if (rows.empty()) return bad_input("no row of " + generation.architecture + " to fit");
  const FabricLevel& level = generation.levels[rows.front()].front();
  const LinkKind link = link_kind(level, 0);
  const std::vector<Adjustable> parameters = adjustables(generation.start, link, level.latency);
  std::vector<FitParameter> limits;
  for (const Adjustable& a : parameters) {
    limits.push_back(a.limits);
    limits.back().start = std::clamp(a.value(generation.start), a.limits.least, a.limits.most);
  }

  const auto fitted_with = [&](const P& shape, int iterations) -> Result<FittedCollectives> {
    const auto with = [&](std::span<const double> x) {
      P p = shape;
      for (std::size_t i = 0; i < x.size(); ++i) parameters[i].set(p, x[i]);
      tie(p, link);
      return p;
    };
    const Residuals residuals = [&](std::span<const double> x, std::span<double> out) {
      const P p = with(x);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        out[i] = std::log(predicted_time(generation, rows[i], p) / generation.rows[rows[i]].time);
      }
    };
    FitOptions options;
    options.max_iterations = iterations;
    ORRERY_TRY(Fit done, fit(limits, rows.size(), residuals, options));
    // Three digits are what a file can honestly say; a bound is kept.
    for (std::size_t i = 0; i < limits.size(); ++i) {
      double& value = done.parameters[i].value;
      value = std::clamp(three_digits(value), limits[i].least, limits[i].most);
    }
    P p = with(done.values());
    return FittedCollectives{std::move(p), std::move(done)};
  };

  // Which of the library's choices fits best shows after a few iterations.
  std::optional<FittedCollectives> best;
  for (const double overlap : {1.0, 2.0}) {
    for (const double until : {0.0, 0.5, 1.0, 2.0}) {
      P shape = generation.start;
      shape.latency_overlap = overlap;
      shape.low_latency_until = Bytes(until * kBetween * kMebibyte);
      ORRERY_TRY(FittedCollectives tried, fitted_with(shape, 12));
      if (!best || tried.fit.cost < best->fit.cost) best = std::move(tried);
    }
  }
  for (std::size_t i = 0; i < limits.size(); ++i) limits[i].start = best->fit.values()[i];
  return fitted_with(best->parameters, 60);
}

}  // namespace orrery
