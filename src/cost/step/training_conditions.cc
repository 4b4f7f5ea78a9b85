#include "cost/step/training_conditions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

namespace orrery {
namespace {

constexpr double kMostShare = 2;
constexpr double kMostSpread = 0.2;

bool is_share_of_peak(double x) { return x > 0 && x <= kMostShare; }

Failure out_of_range(const Document& document, const std::string& what, double value,
                     const std::string& range) {
  return bad_input(what + " " + std::to_string(value) + " is out of range", document.name, range);
}

Result<void> check(const TrainingConditions& c, const Document& document) {
  for (const AcceleratorConditions& a : c.accelerators) {
    for (const double share : {a.matrix_share, a.memory_share, a.scale_up_share}) {
      if (!is_share_of_peak(share)) {
        return out_of_range(document, "share of " + a.accelerator, share, "above 0, at most 2");
      }
    }
  }
  for (const AttentionConditions& a : c.attention) {
    if (!is_share_of_peak(a.share)) {
      return out_of_range(document, "share of an attention kernel", a.share, "above 0, at most 2");
    }
  }
  for (const NetworkConditions& n : c.networks) {
    if (!is_share_of_peak(n.share)) {
      return out_of_range(document, "share of " + n.technology, n.share, "above 0, at most 2");
    }
  }
  if (!(c.kernel_gap.value() >= 0 && c.kernel_gap.value() <= 1e-3)) {
    return out_of_range(document, "kernel_gap", c.kernel_gap.value(), "0 to 1 ms");
  }
  if (!(c.rank_spread >= 0 && c.rank_spread <= kMostSpread)) {
    return out_of_range(document, "rank_spread", c.rank_spread, "0 to 0.2");
  }
  const auto other = [](const auto& entry) {
    if constexpr (requires { entry.accelerator; }) {
      return entry.accelerator == "*" && entry.architecture.empty();
    } else {
      return entry.technology == "*";
    }
  };
  if (std::ranges::none_of(c.accelerators, other) || std::ranges::none_of(c.networks, other)) {
    return bad_input("there is no entry for every other accelerator or network", document.name,
                     "one named '*'");
  }
  return {};
}

}  // namespace

Fields<AcceleratorConditions> fields_of(const AcceleratorConditions*) {
  return Fields<AcceleratorConditions>("accelerator conditions")
      .required<&AcceleratorConditions::accelerator>("catalog name; \"*\": every other one")
      .optional<&AcceleratorConditions::architecture>(
          "its own; beside \"*\": every other one of this architecture")
      .required<&AcceleratorConditions::matrix_share>("of the rate of matrix units alone")
      .required<&AcceleratorConditions::memory_share>(
          "of the bandwidth of memory-bound kernels alone")
      .required<&AcceleratorConditions::scale_up_share>(
          "of the bandwidth of collectives alone, inside the scale-up domain")
      .optional<&AcceleratorConditions::rows>("measured steps behind it");
}

Fields<AttentionConditions> fields_of(const AttentionConditions*) {
  return Fields<AttentionConditions>("attention conditions")
      .required<&AttentionConditions::kernel>("generation of the fused kernel")
      .required<&AttentionConditions::architecture>("\"*\": every other one")
      .required<&AttentionConditions::share>("of the rate its authors measured")
      .optional<&AttentionConditions::rows>("measured steps behind it");
}

Fields<NetworkConditions> fields_of(const NetworkConditions*) {
  return Fields<NetworkConditions>("network conditions")
      .required<&NetworkConditions::technology>(
          "of the fabric (infiniband of infiniband-ndr); \"carried by hosts\" and "
          "\"*\": every other one")
      .required<&NetworkConditions::share>("of the bandwidth of a collective alone")
      .optional<&NetworkConditions::rows>("measured steps behind it");
}

Fields<TrainingConditions> fields_of(const TrainingConditions*) {
  return Fields<TrainingConditions>("training conditions")
      .required<&TrainingConditions::source>("where the values are from")
      .required<&TrainingConditions::fit>("data, date and error of the fit")
      .required<&TrainingConditions::kernel_gap>("between kernels of one stream")
      .required<&TrainingConditions::rank_spread>("standard deviation of the speed of ranks")
      .required<&TrainingConditions::accelerators>("by accelerator")
      .optional<&TrainingConditions::attention>("by fused attention kernel")
      .required<&TrainingConditions::networks>("by network technology");
}

Result<TrainingConditions> read_training_conditions(const Document& document) {
  ORRERY_TRY(TrainingConditions out, read<TrainingConditions>(document));
  ORRERY_RETURN_IF_ERROR(check(out, document));
  return out;
}

Result<TrainingConditions> load_training_conditions(const Catalog& catalog) {
  ORRERY_TRY(const Document document, catalog.find("step", "training"));
  return read_training_conditions(document);
}

const AcceleratorConditions& conditions_of(const TrainingConditions& conditions,
                                           const Accelerator& accelerator) {
  const auto nearness = [&](const AcceleratorConditions& a) {
    if (a.accelerator == accelerator.name) return 3;
    if (a.accelerator != "*") return 0;
    if (a.architecture.empty()) return 1;
    return a.architecture == accelerator.architecture ? 2 : 0;
  };
  return *std::ranges::max_element(conditions.accelerators, {}, nearness);
}

const NetworkConditions& network_of(const TrainingConditions& conditions,
                                    const FabricLevel& level) {
  const std::string_view technology = technology_of(level);
  const auto nearness = [&](const NetworkConditions& n) {
    if (n.technology == technology) return 3;
    if (n.technology == kCarriedByHost) return carried_by_host(technology) ? 2 : 0;
    return n.technology == "*" ? 1 : 0;
  };
  return *std::ranges::max_element(conditions.networks,
                                   [&](const NetworkConditions& a, const NetworkConditions& b) {
                                     return nearness(a) < nearness(b);
                                   });
}

bool carried_by_host(std::string_view technology) {
  constexpr std::array<std::string_view, 4> kTechnologies = {"omni-path", "tcpx", "ethernet",
                                                             "datacentre-ethernet"};
  return std::ranges::find(kTechnologies, technology) != kTechnologies.end();
}

double attention_share(const TrainingConditions& conditions, AttentionKernel kernel,
                       std::string_view architecture) {
  double share = 1;
  for (const AttentionConditions& a : conditions.attention) {
    if (a.kernel != kernel) continue;
    if (a.architecture == architecture) return a.share;
    if (a.architecture == "*") share = a.share;
  }
  return share;
}

double expected_maximum(double n) {
  // Integral of z n phi(z) Phi(z)^(n-1), by Simpson's rule where the density of the largest is not
  // negligible. Written as phi Phi^(n-1) so that large n underflows to the right value.
  if (!(n > 1)) return 0;
  constexpr int kSteps = 400;  // even
  constexpr double kLow = -9;
  constexpr double kHigh = 11;
  constexpr double kWidth = (kHigh - kLow) / kSteps;
  const auto density = [n](double z) {
    const double phi = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
    // log Phi from the upper tail where Phi is near 1.
    const double tail = std::erfc(z / std::numbers::sqrt2) / 2;
    const double log_phi =
        z > 0 ? std::log1p(-tail) : std::log(std::erfc(-z / std::numbers::sqrt2) / 2);
    return z * n * phi * std::exp((n - 1) * log_phi);
  };
  double sum = density(kLow) + density(kHigh);
  for (int i = 1; i < kSteps; ++i) sum += (i % 2 == 1 ? 4 : 2) * density(kLow + i * kWidth);
  return sum * kWidth / 3;
}

KernelParameters under_training(KernelParameters kernels, const TrainingConditions& conditions,
                                const Cluster& cluster) {
  const AcceleratorConditions& a = conditions_of(conditions, cluster.accelerator);
  const double slowest =
      1 + conditions.rank_spread * expected_maximum(static_cast<double>(cluster.accelerators));
  const double matrix = a.matrix_share / slowest;
  const double memory = a.memory_share / slowest;
  for (FormatParameters& f : kernels.formats) {
    f.ceiling = std::min(f.ceiling * matrix, f.peak);
    f.bandwidth = std::min(f.bandwidth * memory, kernels.memory_peak);
    f.floor += conditions.kernel_gap;
  }
  kernels.sustained_fraction = std::min(1.0, kernels.sustained_fraction / slowest);
  for (std::size_t k = 0; k < kernels.attention.size(); ++k) {
    const double share = attention_share(conditions, static_cast<AttentionKernel>(k),
                                         cluster.accelerator.architecture);
    for (AttentionCurve& curve : kernels.attention[k]) {
      for (std::size_t i = 0; i < curve.size; ++i) {
        curve.points[i].peak_fraction = std::min(1.0, curve.points[i].peak_fraction * share);
      }
    }
  }
  kernels.memory_bandwidth = std::min(kernels.memory_bandwidth * memory, kernels.memory_peak);
  kernels.memory_floor += conditions.kernel_gap;
  return kernels;
}

std::vector<FabricLevel> under_training(std::vector<FabricLevel> levels,
                                        const TrainingConditions& conditions,
                                        const Cluster& cluster) {
  const AcceleratorConditions& a = conditions_of(conditions, cluster.accelerator);
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const bool inside = l == 0 && cluster.accelerators_per_node > 1;
    levels[l].efficiency *= inside ? a.scale_up_share : network_of(conditions, levels[l]).share;
    levels[l].efficiency = std::min(levels[l].efficiency, 1.0);
  }
  return levels;
}

std::vector<std::string> assumed_conditions(const TrainingConditions& conditions,
                                            const Cluster& cluster) {
  constexpr double kWorthSaying = 0.95;  // of a network's bandwidth
  std::vector<std::string> out;
  if (conditions.fit.rows == 0) return out;  // nothing was fitted, so nothing can be borrowed
  const AcceleratorConditions& a = conditions_of(conditions, cluster.accelerator);
  if (a.accelerator != cluster.accelerator.name || a.rows == 0) {
    out.push_back("no training step was measured on " + cluster.accelerator.name +
                  ": clocks and bandwidths under load as on accelerators " +
                  (a.architecture.empty() ? "on average" : "of its architecture on average"));
  }
  for (std::size_t l = cluster.accelerators_per_node > 1 ? 1 : 0; l < cluster.levels.size(); ++l) {
    const NetworkConditions& network = network_of(conditions, cluster.levels[l]);
    const bool by_host = network.technology == kCarriedByHost;
    const bool measured = network.technology != "*" && !by_host;
    if (measured && (network.rows == 0 || network.share > kWorthSaying)) continue;
    const std::string technology(technology_of(cluster.levels[l]));
    std::string note =
        measured ? fmt::format(
                       "collectives over {} reach {:.0f} % of its bandwidth and efficiency "
                       "under load, as in {} measured steps",
                       technology, 100 * network.share, network.rows)
                 : "no training step was measured over " + technology +
                       ": bandwidth under load as over networks " +
                       (by_host ? "that hosts carry, on average" : "on average");
    if (std::ranges::find(out, note) == out.end()) out.push_back(std::move(note));
  }
  return out;
}

}  // namespace orrery
