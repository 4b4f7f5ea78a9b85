#include "lower/expert_balance.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>
#include <random>
#include <vector>

namespace orrery {
namespace {

constexpr int kShuffles = 16;

// Parts of the tokens that the experts get; they add up to 1.
std::vector<double> popularity(const ExpertLoad& load, std::size_t experts) {
  std::vector<double> out(experts, 1);
  if (!load.tokens.empty()) out = load.tokens;
  for (std::size_t i = 0; load.power_law > 0 && i < experts; ++i) {
    out[i] = std::pow(static_cast<double>(i + 1), -load.power_law);
  }
  if (load.max_violation > 0 && experts > 1) {
    const auto e = static_cast<double>(experts);
    if (load.max_violation < e - 1) {
      out.front() = (1 + load.max_violation) * (e - 1) / (e - 1 - load.max_violation);
    } else {
      std::fill(out.begin() + 1, out.end(), 0);
    }
  }
  const double sum = std::accumulate(out.begin(), out.end(), 0.0);
  for (double& p : out) p /= sum;
  return out;
}

// E[max(0, X - most)] of a normal X with this mean and variance.
double excess(double mean, double most) {
  if (!(mean > 0)) return 0;
  const double deviation = std::sqrt(mean);
  const double z = (most - mean) / deviation;
  const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
  const double above = std::erfc(z / std::numbers::sqrt2) / 2;
  return std::max(0.0, deviation * density + (mean - most) * above);
}

// Copies of the experts, as many more as are redundant, each with its part of the tokens.
std::vector<double> with_copies(const std::vector<double>& loads, std::int64_t redundant) {
  std::vector<double> copies(loads.size(), 1);
  for (std::int64_t i = 0; i < redundant; ++i) {
    std::size_t most = 0;
    for (std::size_t j = 1; j < loads.size(); ++j) {
      if (loads[j] / copies[j] > loads[most] / copies[most]) most = j;
    }
    copies[most] += 1;
  }
  std::vector<double> out;
  for (std::size_t j = 0; j < loads.size(); ++j) {
    out.insert(out.end(), static_cast<std::size_t>(copies[j]), loads[j] / copies[j]);
  }
  return out;
}

double heaviest_neighbours(const std::vector<double>& loads, std::size_t ranks) {
  const std::size_t places = loads.size() / ranks;
  double most = 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    const auto first = loads.begin() + static_cast<std::ptrdiff_t>(r * places);
    most = std::max(most, std::accumulate(first, first + static_cast<std::ptrdiff_t>(places), 0.0));
  }
  return most;
}

double heaviest_packed(std::vector<double> loads, std::size_t ranks) {
  std::ranges::sort(loads, std::greater<>());
  const std::size_t places = loads.size() / ranks;
  std::vector<double> sum(ranks);
  std::vector<std::size_t> taken(ranks);
  for (const double load : loads) {
    std::size_t least = ranks;
    for (std::size_t r = 0; r < ranks; ++r) {
      if (taken[r] < places && (least == ranks || sum[r] < sum[least])) least = r;
    }
    sum[least] += load;
    ++taken[least];
  }
  return *std::ranges::max_element(sum);
}

double heaviest(const ExpertLoad& load, const Plan& plan, const std::vector<double>& kept) {
  const auto ranks = static_cast<std::size_t>(plan.ep);
  std::vector<double> placed = with_copies(kept, plan.redundant_experts);
  if (plan.expert_placement == ExpertPlacement::balanced || plan.redundant_experts > 0) {
    return heaviest_packed(std::move(placed), ranks);
  }
  if (load.power_law == 0) return heaviest_neighbours(placed, ranks);
  std::mt19937 random(20240827);
  double sum = 0;
  for (int i = 0; i < kShuffles; ++i) {
    // Fisher and Yates, with draws that every library makes alike.
    for (std::size_t j = placed.size(); j > 1; --j) std::swap(placed[j - 1], placed[random() % j]);
    sum += heaviest_neighbours(placed, ranks);
  }
  return sum / kShuffles;
}

}  // namespace

ExpertBalance expert_balance(const ExpertLoad& load, const Plan& plan, std::int64_t experts,
                             double rows) {
  const auto ep = static_cast<double>(plan.ep);
  const double capacity = load.capacity_factor;
  ExpertBalance out;
  double most = 1;
  if (!(load == ExpertLoad{})) {
    std::vector<double> kept = popularity(load, static_cast<std::size_t>(experts));
    if (capacity > 0) {
      const double taken = capacity * rows / static_cast<double>(experts);
      double sum = 0;
      for (double& p : kept) {
        p -= std::min(p, excess(rows * p, taken) / rows);
        sum += p;
      }
      out.dropped = std::clamp(1 - sum, 0.0, 1.0);
    }
    most = plan.ep > 1 ? ep * heaviest(load, plan, kept) : 1 - out.dropped;
  }
  const double mean = std::max(1.0, rows * most);
  out.busiest = plan.ep > 1 ? most * (1 + std::sqrt(2 * std::log(ep) / mean)) : most;
  if (capacity > 0) out.busiest = load.padded ? capacity : std::min(out.busiest, capacity);
  return out;
}

}  // namespace orrery
