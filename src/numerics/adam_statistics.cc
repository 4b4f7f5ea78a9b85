#include "numerics/adam_statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>

#include "numerics/tensor_file.h"
#include "parallel/parallel_for.h"
#include "parallel/random_draws.h"

namespace orrery {
namespace {

constexpr std::size_t kMostComponents = 20'000;
constexpr double kMostDraws = 1.1e8;  // of a row: components times steps
constexpr double kNearOne = 0.8;

// Steps after which the moments have forgotten how they began.
int settled_steps(const AdamSettings& s) {
  return static_cast<int>(std::ceil(5 / (1 - std::max(s.b1, s.b2)))) + 30;
}

double correlation(std::span<const float> a, std::span<const float> b) {
  double product = 0;
  double squares_a = 0;
  double squares_b = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    product += static_cast<double>(a[i]) * b[i];
    squares_a += static_cast<double>(a[i]) * a[i];
    squares_b += static_cast<double>(b[i]) * b[i];
  }
  const double norm = std::sqrt(squares_a * squares_b);
  return norm > 0 ? product / norm : 0;
}

// Gradients g[t] = rho g[t - 1] + sqrt(1 - rho^2) n, of variance scale^2 from the beginning.
struct Stationary {
  AdamSettings settings;
  double rho = 0;
  double scale = 1;
};

// Of rows with one pair of decays. All take the same noise, which is drawn once: that takes longer than
// a step of Adam.
std::vector<AdamFigures> stationary(const std::vector<Stationary>& rows, std::uint64_t seed,
                                    int threads) {
  constexpr std::size_t kTogether = 32;  // steps
  const auto steps = static_cast<std::size_t>(settled_steps(rows.front().settings));
  const std::size_t components =
      std::min(kMostComponents, static_cast<std::size_t>(kMostDraws) / steps);
  struct Simulated {
    AdamLayer layer;
    std::vector<double> state;
    std::vector<float> gradient;
  };
  std::vector<Simulated> simulated;
  for (const Stationary& row : rows) {
    simulated.push_back({AdamLayer(components, row.settings), std::vector<double>(components, 0.0),
                         std::vector<float>(components)});
  }
  std::vector<double> noise(kTogether * components);
  for (std::size_t first = 0; first < steps; first += kTogether) {
    const std::size_t together = std::min(kTogether, steps - first);
    parallel_for(together, threads, [&](std::size_t t) {
      const RandomDraws draws(seed, first + t);
      for (std::size_t i = 0; i < components; ++i) noise[t * components + i] = draws.normal(0, i);
    });
    parallel_for(rows.size(), threads, [&](std::size_t r) {
      const double rho = rows[r].rho;
      Simulated& of = simulated[r];
      for (std::size_t t = 0; t < together; ++t) {
        const double* n = noise.data() + t * components;
        const double kept = first + t == 0 ? 0 : rho;
        const double added = first + t == 0 ? 1 : std::sqrt(1 - rho * rho);
        for (std::size_t i = 0; i < components; ++i) {
          of.state[i] = kept * of.state[i] + added * n[i];
          of.gradient[i] = static_cast<float>(rows[r].scale * of.state[i]);
        }
        of.layer.step(of.gradient);
      }
    });
  }
  std::vector<AdamFigures> out;
  for (const Simulated& of : simulated) out.push_back(of.layer.figures());
  return out;
}

struct Burst {
  AdamBurst rms;
  AdamFigures at_peak;
};

// For each k, after one quiet phase.
std::vector<Burst> simulated_bursts(const AdamSettings& settings, std::span<const double> louder,
                                    std::uint64_t seed) {
  constexpr std::size_t kBurstComponents = 1024;
  constexpr int kLoudSteps = 60;
  AdamLayer quiet_layer(kBurstComponents, settings);
  std::vector<float> gradient(kBurstComponents);
  const auto draw = [&](std::uint64_t run, double scale) {
    const RandomDraws draws(seed, run);
    for (std::size_t i = 0; i < kBurstComponents; ++i) {
      gradient[i] = static_cast<float>(scale * draws.normal(0, i));
    }
  };
  const int quiet = settled_steps(settings);
  for (int t = 0; t < quiet; ++t) {
    draw(static_cast<std::uint64_t>(t), 1);
    quiet_layer.step(gradient);
  }
  std::vector<Burst> out;
  for (const double k : louder) {
    AdamLayer layer = quiet_layer;
    draw(static_cast<std::uint64_t>(quiet), k);
    Burst burst;
    for (int t = 1; t <= kLoudSteps; ++t) {
      layer.step(gradient);
      const AdamFigures f = layer.figures();
      if (t == 1) burst.rms.first = f.update_norm;
      if (f.update_norm > burst.rms.peak) {
        burst.rms.peak = f.update_norm;
        burst.rms.peak_step = t;
        burst.at_peak = f;
      }
    }
    out.push_back(burst);
  }
  return out;
}

// The median of the values so far, the upper one of two: the smallest of the larger half.
class RunningMedian {
 public:
  void add(double x) {
    lower_.push(x);
    upper_.push(lower_.top());
    lower_.pop();
    if (upper_.size() <= lower_.size() + 1) return;
    lower_.push(upper_.top());
    upper_.pop();
  }
  // There is a value.
  [[nodiscard]] double value() const { return upper_.top(); }

 private:
  std::priority_queue<double> lower_;
  std::priority_queue<double, std::vector<double>, std::greater<>> upper_;
};

}  // namespace

AdamLayer::AdamLayer(std::size_t components, const AdamSettings& settings)
    : settings_(settings),
      m_(components, 0.0),
      v_(components, 0.0),
      latest_(kAdamLags.back() + 1, std::vector<float>(components, 0.0F)) {}

void AdamLayer::step(std::span<const float> gradient) {
  std::vector<float>& now = latest_[static_cast<std::size_t>(steps_) % latest_.size()];
  ++steps_;
  for (std::size_t i = 0; i < m_.size(); ++i) {
    const bool finite = std::isfinite(gradient[i]);
    not_finite_ += finite ? 0 : 1;
    now[i] = finite ? gradient[i] : 0;
    const double g = now[i];
    m_[i] = settings_.b1 * m_[i] + (1 - settings_.b1) * g;
    v_[i] = settings_.b2 * v_[i] + (1 - settings_.b2) * g * g;
  }
}

const std::vector<float>& AdamLayer::gradient_of(std::int64_t step) const {
  return latest_[static_cast<std::size_t>(step) % latest_.size()];
}

AdamFigures AdamLayer::figures() const {
  const std::vector<float>& now = gradient_of(steps_ - 1);
  const auto t = static_cast<double>(steps_);
  const double m_share = 1 - std::pow(settings_.b1, t);
  const double v_share = 1 - std::pow(settings_.b2, t);
  AdamFigures out;
  std::array<double, 5> moments = {};  // sums of r^0 to r^4
  double products = 0;
  double squares_g = 0;
  double squares_m = 0;
  double sum_v = 0;
  for (std::size_t i = 0; i < m_.size(); ++i) {
    const double g = now[i];
    const double m = m_[i] / m_share;
    const double root = std::sqrt(v_[i] / v_share);
    const double r = root + settings_.eps > 0 ? m / (root + settings_.eps) : 0;
    double power = 1;
    for (double& moment : moments) {
      moment += power;
      power *= r;
    }
    products += r * g;
    squares_g += g * g;
    squares_m += m * m;
    sum_v += root * root;
    out.near_one += std::abs(r) > kNearOne ? 1 : 0;
    out.eps_dominated += root < settings_.eps ? 1 : 0;
  }
  const auto n = static_cast<double>(m_.size());
  if (n == 0) return out;
  const double mean = moments[1] / n;
  const double second = moments[2] / n;
  const double variance = second - mean * mean;
  const double third = moments[3] / n - 3 * mean * second + 2 * mean * mean * mean;
  const double fourth = moments[4] / n - 4 * mean * moments[3] / n + 6 * mean * mean * second -
                        3 * mean * mean * mean * mean;
  out.update_norm = std::sqrt(second);
  if (variance > 0 && fourth > 0) {
    const double skewness = third / std::pow(variance, 1.5);
    out.bimodality = (skewness * skewness + 1) / (fourth / (variance * variance));
  }
  const double norms = std::sqrt(moments[2] * squares_g);
  out.cosine = norms > 0 ? products / norms : 0;
  out.near_one /= n;
  out.eps_dominated /= n;
  out.variance_ratio = sum_v > 0 ? std::sqrt(squares_m / sum_v) : 0;
  out.gradient_rms = std::sqrt(squares_g / n);
  for (std::size_t lag = 0; lag < kAdamLags.size(); ++lag) {
    const std::int64_t before = steps_ - 1 - static_cast<std::int64_t>(kAdamLags[lag]);
    if (before >= 0) out.autocorrelation[lag] = correlation(now, gradient_of(before));
  }
  return out;
}

AdamBurst burst(const AdamSettings& settings, double k, std::uint64_t seed) {
  return simulated_bursts(settings, {&k, 1}, seed).front().rms;
}

AdamStudy simulated_adam(const AdamSettings& settings, std::uint64_t seed, int threads) {
  constexpr std::array kCorrelations = {0.0, 0.5, 0.9, 0.99, 0.999};
  constexpr std::array kSizes = {100.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.01};
  constexpr std::array kLouder = {10.0, 100.0, 1000.0};
  struct Mitigation {
    std::string name;
    AdamSettings settings;
  };
  std::vector<Mitigation> mitigations = {{"as it is", settings},
                                         {"b1 = 0.8", {0.8, settings.b2, settings.eps}},
                                         {"b2 = 0.95", {settings.b1, 0.95, settings.eps}},
                                         {"eps = 0", {settings.b1, settings.b2, 0}}};
  AdamStudy out{settings, {}, {}};
  std::vector<Stationary> noises;
  for (const double rho : kCorrelations) {
    noises.push_back({settings, rho, 1});
    out.rows.push_back({"lag-one correlation", fmt::format("{:g}", rho), {}});
  }
  for (const double size : kSizes) {
    noises.push_back({{settings.b1, settings.b2, 1}, 0, size});
    out.rows.push_back({"spread over eps", fmt::format("{:g}", size), {}});
  }
  const std::vector<AdamFigures> figures = stationary(noises, seed, threads);
  for (std::size_t i = 0; i < figures.size(); ++i) out.rows[i].figures = figures[i];
  if (settings.eps == 0) {
    out.rows.front().expected_update_norm = std::sqrt((1 - settings.b1) / (1 + settings.b1));
  }
  std::vector<std::vector<Burst>> bursts(mitigations.size());
  parallel_for(mitigations.size(), threads, [&](std::size_t m) {
    bursts[m] = simulated_bursts(mitigations[m].settings, kLouder, seed);
  });
  for (std::size_t m = 0; m < mitigations.size(); ++m) {
    for (std::size_t k = 0; k < kLouder.size(); ++k) {
      out.rows.push_back({"quiet, then louder: " + mitigations[m].name,
                          fmt::format("{:g}", kLouder[k]), bursts[m][k].at_peak});
    }
    const AdamSettings& s = mitigations[m].settings;
    const AdamBurst& loudest = bursts[m].back().rms;
    out.remarks.push_back(fmt::format(
        "quiet, then 1000 times louder, {}: the first step has the norm {:.3f} (limit {:.3f}), "
        "step {} the largest, {:.2f}",
        mitigations[m].name, loudest.first, (1 - s.b1) / std::sqrt(1 - s.b2), loudest.peak_step,
        loudest.peak));
  }
  return out;
}

Result<AdamStudy> logged_adam(const std::string& file, const AdamSettings& settings) {
  ORRERY_TRY(const TensorFile tensors, TensorFile::open(file));
  AdamStudy out{settings, {}, {}};
  for (const StoredTensor& t : tensors.tensors()) {
    if (t.shape.size() != 2 || t.elements == 0) {
      return bad_input("has the shape " + shape_text(t), file + ": tensor '" + t.name + "'",
                       "a log of gradients has a tensor [steps, components] for each layer");
    }
    ORRERY_TRY(const std::vector<float> log, read_tensor(tensors, t.name));
    const std::size_t components = t.shape[1];
    AdamLayer layer(components, settings);
    RunningMedian norms;
    AdamFigures last;
    AdamFigures worst;
    std::size_t worst_step = 0;
    for (std::size_t step = 0; step < t.shape[0]; ++step) {
      layer.step(std::span(log).subspan(step * components, components));
      last = layer.figures();
      constexpr std::size_t kWarmUp = 10;  // the first updates are as large as they can be
      if (step >= kWarmUp && last.update_norm > worst.update_norm) {
        worst = last;
        worst_step = step;
      }
      if (step > kWarmUp && last.update_norm > 3 * norms.value() && std::abs(last.cosine) < 0.02 &&
          last.autocorrelation[0] > 0.5) {
        out.remarks.push_back(fmt::format(
            "{}, step {}: the update is large and does not follow the gradient", t.name, step));
      }
      norms.add(last.update_norm);
    }
    out.rows.push_back({t.name, fmt::format("step {}", t.shape[0] - 1), last});
    if (worst_step > 0) {
      out.rows.push_back({t.name, fmt::format("step {}, largest update", worst_step), worst});
    }
    if (layer.not_finite() > 0) {
      out.remarks.push_back(fmt::format("{}: {} gradients are infinite or NaN, taken as 0", t.name,
                                        layer.not_finite()));
    }
  }
  return out;
}

}  // namespace orrery
