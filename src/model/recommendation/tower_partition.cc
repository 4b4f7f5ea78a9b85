#include "model/recommendation/tower_partition.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>

#include "outcome/parsed_number.h"
#include "outcome/printable.h"

namespace orrery {
namespace {

constexpr int kIterations = 300;    // of the subspace
constexpr int kMeans = 100;         // passes of k-means
constexpr std::size_t kShown = 10;  // problems of a file
constexpr double kSymmetric = 1e-6;

struct Point {
  double x = 0, y = 0;
};
double squared(const Point& a, const Point& b) {
  return (a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y);
}

double distance(const Similarities& s, TowerStrategy strategy, std::size_t i, std::size_t j) {
  if (i == j) return 0;
  const double like = std::abs(s.at(i, j));
  return strategy == TowerStrategy::coherent ? 1 - like : like;
}

// -J d^2 J / 2.
std::vector<double> centred(const Similarities& s, TowerStrategy strategy) {
  const std::size_t n = s.features.size();
  std::vector<double> b(n * n);
  std::vector<double> mean(n);
  double all = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      const double d = distance(s, strategy, i, j);
      b[i * n + j] = d * d;
      mean[i] += d * d / static_cast<double>(n);
    }
    all += mean[i] / static_cast<double>(n);
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      b[i * n + j] = (b[i * n + j] - mean[i] - mean[j] + all) / -2;
    }
  }
  return b;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// The eigenvectors of the two largest eigenvalues, each as long as the root of its value.
std::vector<Point> points_of(std::vector<double> b, std::size_t n) {
  // Distances that no plane has give negative values; a shift makes the largest also the longest.
  double shift = 0;
  for (std::size_t i = 0; i < n; ++i) {
    double row = 0;
    for (std::size_t j = 0; j < n; ++j) row += std::abs(b[i * n + j]);
    shift = std::max(shift, row);
  }
  std::array<std::vector<double>, 2> axes;
  std::array<double, 2> value{};
  for (std::size_t a = 0; a < 2; ++a) {
    std::vector<double>& v = axes[a];
    v.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      v[i] = std::sin(1 + static_cast<double>(i) * static_cast<double>(1 + a));
    }
    std::vector<double> next(n);
    for (int k = 0; k < kIterations; ++k) {
      if (a == 1) {
        const double along = dot(v, axes[0]);
        for (std::size_t i = 0; i < n; ++i) v[i] -= along * axes[0][i];
      }
      const double length = std::sqrt(dot(v, v));
      if (!(length > 0)) break;
      for (double& x : v) x /= length;
      for (std::size_t i = 0; i < n; ++i) {
        next[i] = shift * v[i];
        for (std::size_t j = 0; j < n; ++j) next[i] += b[i * n + j] * v[j];
      }
      value[a] = dot(v, next) - shift;
      if (k + 1 < kIterations) std::swap(v, next);
    }
  }
  std::vector<Point> out(n);
  const double wide = std::sqrt(std::max(0.0, value[0]));
  const double high = std::sqrt(std::max(0.0, value[1]));
  for (std::size_t i = 0; i < n; ++i) out[i] = {wide * axes[0][i], high * axes[1][i]};
  return out;
}

// Towers of n / T points, rounded down or up.
class ConstrainedMeans {
 public:
  ConstrainedMeans(std::vector<Point> points, std::size_t towers)
      : points_(std::move(points)),
        towers_(towers),
        least_(points_.size() / towers),
        larger_(points_.size() % towers) {}

  std::vector<std::int64_t> run() {
    begin();
    for (int i = 0; i < kMeans; ++i) {
      const std::vector<std::int64_t> before = tower_;
      assign();
      while (improve()) {
      }
      if (tower_ == before) break;
      centre();
    }
    return tower_;
  }

 private:
  void begin() {
    Point mean;
    const auto n = static_cast<double>(points_.size());
    for (const Point& p : points_) mean = {mean.x + p.x / n, mean.y + p.y / n};
    std::vector<double> nearest(points_.size());
    for (std::size_t i = 0; i < points_.size(); ++i) nearest[i] = squared(points_[i], mean);
    while (centres_.size() < towers_) {
      const auto far = std::ranges::max_element(nearest) - nearest.begin();
      const Point chosen = points_[static_cast<std::size_t>(far)];
      for (std::size_t i = 0; i < points_.size(); ++i) {
        const double d = squared(points_[i], chosen);
        nearest[i] = centres_.empty() ? d : std::min(nearest[i], d);
      }
      centres_.push_back(chosen);
    }
  }

  [[nodiscard]] double cost(std::size_t point, std::size_t tower) const {
    return squared(points_[point], centres_[tower]);
  }
  [[nodiscard]] bool has_room(std::size_t tower) const {
    return size_[tower] < least_ || (size_[tower] == least_ && full_ < larger_);
  }
  void put(std::size_t point, std::size_t tower) {
    tower_[point] = static_cast<std::int64_t>(tower);
    if (++size_[tower] > least_) ++full_;
  }

  void assign() {
    std::vector<std::tuple<double, std::size_t, std::size_t>> pairs;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      for (std::size_t t = 0; t < towers_; ++t) pairs.emplace_back(cost(i, t), i, t);
    }
    std::ranges::sort(pairs);
    tower_.assign(points_.size(), -1);
    size_.assign(towers_, 0);
    full_ = 0;
    for (const auto& [d, point, tower] : pairs) {
      if (tower_[point] < 0 && has_room(tower)) put(point, tower);
    }
  }

  // Moves from a larger tower to a smaller one, and exchanges.
  bool improve() {
    bool changed = false;
    for (std::size_t i = 0; i < points_.size(); ++i) {
      for (std::size_t t = 0; t < towers_; ++t) {
        const auto from = static_cast<std::size_t>(tower_[i]);
        if (size_[from] <= least_ || size_[t] > least_ || !(cost(i, t) < cost(i, from))) continue;
        --size_[from];
        ++size_[t];
        tower_[i] = static_cast<std::int64_t>(t);
        changed = true;
      }
      for (std::size_t j = 0; j < i; ++j) {
        const auto a = static_cast<std::size_t>(tower_[i]);
        const auto b = static_cast<std::size_t>(tower_[j]);
        const double kept = cost(i, a) + cost(j, b);
        if (!(cost(i, b) + cost(j, a) < kept * (1 - 1e-12))) continue;
        std::swap(tower_[i], tower_[j]);
        changed = true;
      }
    }
    return changed;
  }

  void centre() {
    std::vector<Point> sums(towers_);
    for (std::size_t i = 0; i < points_.size(); ++i) {
      const auto t = static_cast<std::size_t>(tower_[i]);
      const auto of = static_cast<double>(size_[t]);
      sums[t] = {sums[t].x + points_[i].x / of, sums[t].y + points_[i].y / of};
    }
    centres_ = std::move(sums);
  }

  std::vector<Point> points_;
  std::size_t towers_, least_, larger_;
  std::size_t full_ = 0;  // towers with a point more than `least_`
  std::vector<Point> centres_;
  std::vector<std::int64_t> tower_;
  std::vector<std::size_t> size_;
};

// Exchanges of two features that bring those of their towers nearer to each other, until none does.
void exchange(std::vector<std::int64_t>& tower, std::size_t towers, const Similarities& s,
              TowerStrategy strategy) {
  constexpr double kLeastGain = 1e-9;
  const std::size_t n = tower.size();
  const auto of = [&](std::size_t i) { return static_cast<std::size_t>(tower[i]); };
  std::vector<double> sums(n * towers);  // of the distances of a feature to those of a tower
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) sums[i * towers + of(j)] += distance(s, strategy, i, j);
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const std::size_t a = of(i);
        const std::size_t b = of(j);
        const double gain = sums[i * towers + a] + sums[j * towers + b] - sums[i * towers + b] -
                            sums[j * towers + a] + 2 * distance(s, strategy, i, j);
        if (a == b || !(gain > kLeastGain)) continue;
        for (std::size_t k = 0; k < n; ++k) {
          const double nearer = distance(s, strategy, k, j) - distance(s, strategy, k, i);
          sums[k * towers + a] += nearer;
          sums[k * towers + b] -= nearer;
        }
        std::swap(tower[i], tower[j]);
        changed = true;
      }
    }
  }
}

}  // namespace

Result<Similarities> similarities_of(const CommaSeparated& table) {
  ORRERY_RETURN_IF_ERROR(table.complete());
  const std::size_t n = table.columns.size();
  std::vector<std::string> problems;
  if (table.records.size() != n) {
    problems.push_back(
        fmt::format("{} rows of {} features: one row each", table.records.size(), n));
  }
  Similarities out{table.columns, {}};
  for (const CommaSeparated::Record& record : table.records) {
    for (const std::string& text : record.fields) {
      const auto value = parsed_number<double>(text);
      if (!value || !(std::abs(*value) <= 1)) {
        problems.push_back(fmt::format("line {}: '{}' is not a similarity from -1 to 1",
                                       record.line, printable(text)));
      }
      out.values.push_back(value.value_or(0));
    }
  }
  for (std::size_t i = 0; problems.empty() && i < n; ++i) {
    if (std::abs(out.at(i, i) - 1) > kSymmetric) {
      problems.push_back(fmt::format("the similarity of {} to itself is {}, not 1",
                                     printable(out.features[i]), out.at(i, i)));
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (std::abs(out.at(i, j) - out.at(j, i)) <= kSymmetric) continue;
      problems.push_back(fmt::format("the similarity of {} and {} is {}, that of {} and {} is {}",
                                     printable(out.features[i]), printable(out.features[j]),
                                     out.at(i, j), printable(out.features[j]),
                                     printable(out.features[i]), out.at(j, i)));
    }
  }
  if (problems.empty()) {
    // Exactly symmetric: or else an exchange and its reverse may both seem to gain.
    for (std::size_t i = 0; i < n; ++i) {
      out.values[i * n + i] = 1;
      for (std::size_t j = 0; j < i; ++j) {
        out.values[i * n + j] = out.values[j * n + i] = (out.at(i, j) + out.at(j, i)) / 2;
      }
    }
    return out;
  }
  std::string message;
  for (std::size_t i = 0; i < std::min(problems.size(), kShown); ++i) {
    message += (i > 0 ? "; " : "") + problems[i];
  }
  if (problems.size() > kShown) message += fmt::format("; and {} more", problems.size() - kShown);
  return bad_input(std::move(message), table.name,
                   "a header that names the features, and a symmetric matrix");
}

Result<TowerPartition> partition_towers(const Similarities& s, std::int64_t towers,
                                        TowerStrategy strategy) {
  const std::size_t n = s.features.size();
  if (towers < 2 || towers > static_cast<std::int64_t>(n)) {
    return bad_input(fmt::format("{} towers cannot be made of {} features", towers, n), "towers",
                     fmt::format("2 to {}", n));
  }
  TowerPartition out;
  out.tower =
      ConstrainedMeans(points_of(centred(s, strategy), n), static_cast<std::size_t>(towers)).run();
  exchange(out.tower, static_cast<std::size_t>(towers), s, strategy);
  double pairs_inside = 0;
  double pairs_across = 0;
  double inside = 0;
  double across = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const bool same = out.tower[i] == out.tower[j];
      (same ? pairs_inside : pairs_across) += 1;
      (same ? inside : across) += std::abs(s.at(i, j));
    }
  }
  if (pairs_inside > 0) out.inside = inside / pairs_inside;
  if (pairs_across > 0) out.across = across / pairs_across;
  return out;
}

}  // namespace orrery
