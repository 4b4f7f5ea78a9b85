#include "validate/step_problem.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "outcome/invariant.h"

namespace orrery {
namespace {

// Coordinates that concern all hardware stand first, in this order.
enum Common : std::size_t {
  at_matrix,
  at_memory,
  at_scale_up,
  at_network,
  at_host_network,
  at_gap,
  at_spread,
  at_attention,
  at_common = at_attention + 4
};
// The fused attention kernels. Unfused attention is made of products and memory-bound kernels.
constexpr std::array<std::pair<AttentionKernel, const char*>, at_common - at_attention> kAttention =
    {{{AttentionKernel::flash_1, "flash-1"},
      {AttentionKernel::flash_2, "flash-2"},
      {AttentionKernel::flash_3, "flash-3"},
      {AttentionKernel::library, "library"}}};
// Those of an architecture, in this order. Links belong to a server, not to its processors.
enum OfArchitecture : std::size_t { at_its_matrix, at_its_memory, at_of_architecture };
// Those of one accelerator, in this order.
enum OfAccelerator : std::size_t {
  at_own_matrix,
  at_own_memory,
  at_own_scale_up,
  at_of_accelerator
};

constexpr double kMostShare = 2;     // as training_conditions allows
constexpr double kLargestLog = 0.8;  // of one coordinate

StepCoordinate log_share(std::string name, double expected, double spread) {
  return {.name = std::move(name),
          .unit = "log",
          .expected = expected,
          .spread = spread,
          .least = -1.5,
          .most = kLargestLog,
          .step = 0.02};
}

Common common_of(std::string_view network) {
  return carried_by_host(network) ? at_host_network : at_network;
}

}  // namespace

StepProblem::StepProblem(std::span<const Cluster> clusters,
                         std::span<const AttentionKernel> attention) {
  ORRERY_INVARIANT(clusters.size() == attention.size());
  std::set<std::pair<AttentionKernel, std::string>> kernels;
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    if (attention[i] != AttentionKernel::unfused) {
      kernels.insert({attention[i], clusters[i].accelerator.architecture});
    }
  }
  attention_.assign(kernels.begin(), kernels.end());
  std::set<std::pair<std::string, std::string>> accelerators;
  std::set<std::string> networks;
  for (const Cluster& c : clusters) {
    accelerators.insert({c.accelerator.name, c.accelerator.architecture});
    for (std::size_t l = 1; l < c.levels.size(); ++l) networks.emplace(technology_of(c.levels[l]));
  }
  accelerators_.assign(accelerators.begin(), accelerators.end());
  std::set<std::string> architectures;
  for (const auto& [name, architecture] : accelerators_) architectures.insert(architecture);
  architectures_.assign(architectures.begin(), architectures.end());
  networks_.assign(networks.begin(), networks.end());

  coordinates_ = {
      // Kernel benchmarks already hold the sustained clock of long products; a step adds cold
      // caches and neighbours on the memory bus.
      log_share("matrix share, all", std::log(0.92), 0.1),
      log_share("memory share, all", std::log(0.9), 0.2),
      log_share("scale-up share, all", std::log(0.9), 0.2),
      log_share("network share, carried by adapters", std::log(0.85), 0.2),
      // A guess, and wide: processors that share their time with the training run the protocol.
      log_share("network share, carried by hosts", std::log(0.5), 0.5),
      // Kernels of one stream follow each other within 1 to 2 us on the device.
      {.name = "kernel gap",
       .unit = "us",
       .expected = 1,
       .spread = 1,
       .least = 0,
       .most = 20,
       .step = 0.25},
      // Accelerators of one model differ by a percent or two in sustained clock.
      {.name = "rank spread",
       .unit = "",
       .expected = 0.01,
       .spread = 0.01,
       .least = 0,
       .most = 0.1,
       .step = 0.002}};
  // What authors publish of their kernels is measured at few shapes, and on one clock.
  constexpr double kAttentionSpread = 0.075;
  for (const auto& [kernel, name] : kAttention) {
    coordinates_.push_back(log_share(std::string("attention share, ") + name, 0, kAttentionSpread));
  }
  for (const std::string& architecture : architectures_) {
    coordinates_.push_back(log_share("matrix share, all of " + architecture, 0, 0.1));
    coordinates_.push_back(log_share("memory share, all of " + architecture, 0, 0.15));
  }
  // Accelerators of one architecture differ by their clock, power and memory, not by their design.
  for (const auto& [name, architecture] : accelerators_) {
    coordinates_.push_back(log_share("matrix share, " + name, 0, 0.05));
    coordinates_.push_back(log_share("memory share, " + name, 0, 0.075));
    coordinates_.push_back(log_share("scale-up share, " + name, 0, 0.15));
  }
  for (const std::string& network : networks_) {
    const double spread = carried_by_host(network) ? 0.5 : 0.15;
    coordinates_.push_back(log_share("network share, " + network, 0, spread));
  }
  for (const auto& [kernel, architecture] : attention_) {
    coordinates_.push_back(
        log_share("attention share, " + std::string(to_text(kernel)) + " on " + architecture, 0,
                  kAttentionSpread));
  }
}

std::size_t StepProblem::first_of(const std::string& architecture) const {
  const auto found = std::lower_bound(architectures_.begin(), architectures_.end(), architecture);
  return at_common + static_cast<std::size_t>(found - architectures_.begin()) * at_of_architecture;
}

std::size_t StepProblem::first_accelerator() const {
  return at_common + architectures_.size() * at_of_architecture;
}

std::size_t StepProblem::first_network() const {
  return first_accelerator() + accelerators_.size() * at_of_accelerator;
}

std::size_t StepProblem::first_attention() const { return first_network() + networks_.size(); }

std::vector<ConcernedCoordinate> StepProblem::concerned(const Cluster& cluster,
                                                        AttentionKernel attention) const {
  std::vector<ConcernedCoordinate> out = {
      {at_matrix, at_matrix}, {at_memory, at_memory}, {at_gap, at_gap}};
  const bool many = cluster.accelerators > 1;
  if (many) out.push_back({at_spread, at_spread});
  if (many) out.push_back({at_scale_up, at_scale_up});
  for (std::size_t a = 0; a < accelerators_.size(); ++a) {
    if (accelerators_[a].first != cluster.accelerator.name) continue;
    const std::size_t its = first_of(accelerators_[a].second);
    out.push_back({its + at_its_matrix, at_matrix});
    out.push_back({its + at_its_memory, at_memory});
    const std::size_t first = first_accelerator() + a * at_of_accelerator;
    out.push_back({first + at_own_matrix, at_matrix});
    out.push_back({first + at_own_memory, at_memory});
    if (many) out.push_back({first + at_own_scale_up, at_scale_up});
  }
  // What all networks of a kind share is added to each of those that the cluster has.
  std::map<Common, std::vector<std::size_t>> networks;
  for (std::size_t n = 0; n < networks_.size(); ++n) {
    const bool used =
        std::any_of(cluster.levels.begin() + 1, cluster.levels.end(),
                    [&](const FabricLevel& level) { return technology_of(level) == networks_[n]; });
    if (used) networks[common_of(networks_[n])].push_back(first_network() + n);
  }
  for (const auto& [common, own] : networks) {
    out.push_back({common, own.size() == 1 ? own.front() : common});
    for (const std::size_t n : own) out.push_back({n, n});
  }
  for (std::size_t k = 0; k < kAttention.size(); ++k) {
    if (kAttention[k].first == attention) out.push_back({at_attention + k, at_attention});
  }
  for (std::size_t k = 0; k < attention_.size(); ++k) {
    if (attention_[k] == std::pair{attention, cluster.accelerator.architecture}) {
      out.push_back({first_attention() + k, at_attention});
    }
  }
  std::ranges::sort(out, {}, &ConcernedCoordinate::coordinate);
  return out;
}

TrainingConditions StepProblem::conditions(std::span<const double> x) const {
  ORRERY_INVARIANT(x.size() == coordinates_.size());
  const auto share = [&](Common all, double own) {
    return std::min(std::exp(x[all] + own), kMostShare);
  };
  TrainingConditions out;
  out.kernel_gap = Seconds(x[at_gap] * 1e-6);
  out.rank_spread = x[at_spread];
  for (std::size_t a = 0; a < accelerators_.size(); ++a) {
    const std::span<const double> its = x.subspan(first_of(accelerators_[a].second));
    const std::span<const double> own = x.subspan(first_accelerator() + a * at_of_accelerator);
    out.accelerators.push_back(
        {.accelerator = accelerators_[a].first,
         .architecture = accelerators_[a].second,
         .matrix_share = share(at_matrix, its[at_its_matrix] + own[at_own_matrix]),
         .memory_share = share(at_memory, its[at_its_memory] + own[at_own_memory]),
         .scale_up_share = share(at_scale_up, own[at_own_scale_up])});
  }
  for (const std::string& architecture : architectures_) {
    const std::span<const double> its = x.subspan(first_of(architecture));
    out.accelerators.push_back({.accelerator = "*",
                                .architecture = architecture,
                                .matrix_share = share(at_matrix, its[at_its_matrix]),
                                .memory_share = share(at_memory, its[at_its_memory]),
                                .scale_up_share = share(at_scale_up, 0)});
  }
  out.accelerators.push_back({.accelerator = "*",
                              .architecture = "",
                              .matrix_share = share(at_matrix, 0),
                              .memory_share = share(at_memory, 0),
                              .scale_up_share = share(at_scale_up, 0)});
  for (std::size_t k = 0; k < kAttention.size(); ++k) {
    const auto common = static_cast<Common>(at_attention + k);
    for (std::size_t a = 0; a < attention_.size(); ++a) {
      if (attention_[a].first != kAttention[k].first) continue;
      out.attention.push_back({.kernel = attention_[a].first,
                               .architecture = attention_[a].second,
                               .share = share(common, x[first_attention() + a])});
    }
    out.attention.push_back(
        {.kernel = kAttention[k].first, .architecture = "*", .share = share(common, 0)});
  }
  for (std::size_t n = 0; n < networks_.size(); ++n) {
    const double own = x[first_network() + n];
    out.networks.push_back(
        {.technology = networks_[n], .share = share(common_of(networks_[n]), own)});
  }
  out.networks.push_back(
      {.technology = std::string(kCarriedByHost), .share = share(at_host_network, 0)});
  out.networks.push_back({.technology = "*", .share = share(at_network, 0)});
  return out;
}

}  // namespace orrery
