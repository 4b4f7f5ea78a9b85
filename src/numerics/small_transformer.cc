#include "numerics/small_transformer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "parallel/parallel_for.h"
#include "parallel/random_draws.h"

namespace orrery {
namespace {

using Matrix = std::vector<float>;

constexpr double kB1 = 0.9;
constexpr double kB2 = 0.95;
constexpr double kEps = 1e-8;

// a [m][k] times b [k][n]
Matrix times(std::span<const float> a, std::span<const float> b, std::size_t k) {
  const std::size_t m = a.size() / k;
  const std::size_t n = b.size() / k;
  Matrix out(m * n, 0.0F);
  for (std::size_t i = 0; i < m; ++i) {
    float* row = out.data() + i * n;
    for (std::size_t p = 0; p < k; ++p) {
      const float x = a[i * k + p];
      const float* y = b.data() + p * n;
      for (std::size_t j = 0; j < n; ++j) row[j] += x * y[j];
    }
  }
  return out;
}

Matrix flipped(std::span<const float> a, std::size_t columns) {
  const std::size_t rows = a.size() / columns;
  Matrix out(a.size());
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) out[j * rows + i] = a[i * columns + j];
  }
  return out;
}

void add(Matrix& to, const Matrix& x) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += x[i];
}

// n(x) of each row, and its scale.
struct Normalized {
  Matrix y;
  std::vector<float> scale;
};

class Trainer {
 public:
  Trainer(const SmallTransformer& model, const TrainingNumerics& numerics, std::uint64_t seed)
      : model_(model), numerics_(numerics) {
    const std::size_t d = model.width;
    const auto add_weights = [&](const std::string& name, std::size_t rows, std::size_t columns,
                                 double spread) {
      const RandomDraws draws(seed, weights_.size());
      WrittenTensor t{name, {rows, columns}, std::vector<float>(rows * columns)};
      for (std::size_t i = 0; i < t.values.size(); ++i) {
        t.values[i] = static_cast<float>(spread * draws.normal(0, i));
      }
      weights_.push_back(std::move(t));
    };
    const double narrow = 1 / std::sqrt(static_cast<double>(d));
    add_weights("embedding", model.vocabulary, d, 1);
    add_weights("positions", model.positions, d, 0.3);
    for (std::size_t l = 0; l < model.layers; ++l) {
      const std::string layer = fmt::format("layers.{}.", l);
      for (const char* name : {"query", "key", "value", "output"}) {
        add_weights(layer + name, d, d, narrow);
      }
      add_weights(layer + "up", d, 4 * d, narrow);
      add_weights(layer + "down", 4 * d, d, narrow / 2);
    }
    add_weights("logits", d, model.vocabulary, narrow);
    gradients_ = weights_;
    for (const WrittenTensor& w : weights_) {
      m_.emplace_back(w.values.size(), 0.0F);
      v_.emplace_back(w.values.size(), 0.0F);
    }
  }

  // One step on these tokens, [sequences][positions + 1]; gives the loss.
  double step(std::span<const std::size_t> tokens) {
    for (WrittenTensor& g : gradients_) std::ranges::fill(g.values, 0.0F);
    narrow_.clear();
    for (const WrittenTensor& w : weights_) narrow_.push_back(rounded_copy(w.values));
    const double loss = forward_and_back(tokens);
    update();
    return loss;
  }
  void move(std::size_t weight, std::size_t at, float by) { weights_[weight].values[at] += by; }
  [[nodiscard]] const std::vector<WrittenTensor>& weights() const { return weights_; }
  [[nodiscard]] const std::vector<WrittenTensor>& gradients() const { return gradients_; }

 private:
  struct Layer {
    Normalized before_attention;
    Matrix q, k, v, attended;
    Normalized before_mlp;
    Matrix hidden;
  };

  Matrix rounded_copy(std::vector<float> x) const {
    round_all(x, numerics_.format);
    return x;
  }
  Matrix product_of(std::span<const float> a, std::span<const float> b, std::size_t k) const {
    return rounded_copy(times(a, b, k));
  }

  Normalized normalized(const Matrix& x) const {
    const std::size_t d = model_.width;
    Normalized out{x, {}};
    for (std::size_t i = 0; i < x.size(); i += d) {
      float squares = 0;
      for (std::size_t c = 0; c < d; ++c) squares += x[i + c] * x[i + c];
      out.scale.push_back(1 / std::sqrt(squares / static_cast<float>(d) + 1e-5F));
      for (std::size_t c = 0; c < d; ++c) out.y[i + c] *= out.scale.back();
    }
    round_all(out.y, numerics_.format);
    return out;
  }
  // Gradient of x from that of n(x).
  Matrix back_through(const Normalized& n, const Matrix& dy) const {
    const std::size_t d = model_.width;
    Matrix out(dy.size());
    for (std::size_t i = 0; i < dy.size(); i += d) {
      float along = 0;
      for (std::size_t c = 0; c < d; ++c) along += dy[i + c] * n.y[i + c];
      along /= static_cast<float>(d);
      for (std::size_t c = 0; c < d; ++c) {
        out[i + c] = n.scale[i / d] * (dy[i + c] - n.y[i + c] * along);
      }
    }
    return rounded_copy(std::move(out));
  }

  // [sequence][position][head][c] as [sequence][head][position][c], and back.
  template <class To, class From>
  std::vector<To> by_head(const std::vector<From>& x, bool back) const {
    const std::size_t n = model_.positions;
    const std::size_t h = model_.heads;
    const std::size_t d = model_.width / h;
    std::vector<To> out(x.size());
    for (std::size_t s = 0; s < model_.batch; ++s) {
      for (std::size_t p = 0; p < n; ++p) {
        for (std::size_t head = 0; head < h; ++head) {
          const std::size_t flat = ((s * n + p) * h + head) * d;
          const std::size_t split = ((s * h + head) * n + p) * d;
          for (std::size_t c = 0; c < d; ++c) {
            out[(back ? flat : split) + c] = static_cast<To>(x[(back ? split : flat) + c]);
          }
        }
      }
    }
    return out;
  }

  Matrix attended(const Layer& l) const {
    const std::size_t heads = model_.batch * model_.heads;
    const AttentionInputs inputs{
        {model_.positions, model_.positions, model_.width / model_.heads, heads, heads, true},
        by_head<double>(l.q, false),
        by_head<double>(l.k, false),
        by_head<double>(l.v, false)};
    const auto out = attention(inputs, {&numerics_.attention, 1}, 1);
    return rounded_copy(by_head<float>(out.front(), true));
  }

  // Gradients of q, k and v from that of the attended values; probabilities are computed again.
  std::array<Matrix, 3> back_through_attention(const Layer& l, const Matrix& d_out) const {
    const std::size_t n = model_.positions;
    const std::size_t d = model_.width / model_.heads;
    const float c = 1 / std::sqrt(static_cast<float>(d));
    const std::vector<float> q = by_head<float>(l.q, false);
    const std::vector<float> k = by_head<float>(l.k, false);
    const std::vector<float> v = by_head<float>(l.v, false);
    const std::vector<float> g = by_head<float>(d_out, false);
    std::array<Matrix, 3> out = {Matrix(q.size(), 0.0F), Matrix(q.size(), 0.0F),
                                 Matrix(q.size(), 0.0F)};
    std::vector<double> p(n);
    std::vector<float> dp(n);
    for (std::size_t head = 0; head < q.size(); head += n * d) {
      for (std::size_t i = 0; i < n; ++i) {
        const std::span<double> row(p.data(), i + 1);
        const std::size_t at = head + i * d;
        const auto dot = [&](const std::vector<float>& a, const std::vector<float>& b,
                             std::size_t j) {
          float sum = 0;
          for (std::size_t x = 0; x < d; ++x) sum += a[at + x] * b[head + j * d + x];
          return sum;
        };
        for (std::size_t j = 0; j <= i; ++j) row[j] = c * dot(q, k, j);
        round_all(row, numerics_.attention.scores);
        const double most = *std::ranges::max_element(row);
        double sum = 0;
        for (double& x : row) sum += x = std::exp(x - most);
        for (double& x : row) x /= sum;
        round_all(row, numerics_.attention.probabilities);
        float along = 0;
        for (std::size_t j = 0; j <= i; ++j) {
          dp[j] = dot(g, v, j);
          along += static_cast<float>(row[j]) * dp[j];
        }
        for (std::size_t j = 0; j <= i; ++j) {
          const auto pj = static_cast<float>(row[j]);
          const float ds = rounded(pj * (dp[j] - along), numerics_.format) * c;
          for (std::size_t x = 0; x < d; ++x) {
            const std::size_t key = head + j * d + x;
            out[0][at + x] += ds * k[key];
            out[1][key] += ds * q[at + x];
            out[2][key] += pj * g[at + x];
          }
        }
      }
    }
    for (Matrix& x : out) x = rounded_copy(by_head<float>(x, true));
    return out;
  }

  // Adds x^T dy to the gradient of a weight, and gives dy W^T.
  Matrix back_through_product(const Matrix& x, const Matrix& dy, std::size_t weight) {
    const std::size_t inputs = weights_[weight].shape[0];
    const std::size_t outputs = weights_[weight].shape[1];
    add(gradients_[weight].values, times(flipped(x, inputs), dy, dy.size() / outputs));
    return product_of(dy, flipped(narrow_[weight], outputs), outputs);
  }

  double forward_and_back(std::span<const std::size_t> tokens) {
    const std::size_t d = model_.width;
    const std::size_t n = model_.positions;
    const std::size_t rows = model_.batch * n;
    const auto token = [&](std::size_t row, std::size_t later) {
      return tokens[row / n * (n + 1) + row % n + later];
    };
    Matrix x(rows * d);
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t c = 0; c < d; ++c) {
        x[r * d + c] = narrow_[0][token(r, 0) * d + c] + narrow_[1][r % n * d + c];
      }
    }
    round_all(x, numerics_.format);
    std::vector<Layer> layers(model_.layers);
    for (std::size_t l = 0; l < layers.size(); ++l) {
      Layer& layer = layers[l];
      const std::size_t w = 2 + 6 * l;
      layer.before_attention = normalized(x);
      layer.q = product_of(layer.before_attention.y, narrow_[w], d);
      layer.k = product_of(layer.before_attention.y, narrow_[w + 1], d);
      layer.v = product_of(layer.before_attention.y, narrow_[w + 2], d);
      layer.attended = attended(layer);
      add(x, product_of(layer.attended, narrow_[w + 3], d));
      round_all(x, numerics_.format);
      layer.before_mlp = normalized(x);
      layer.hidden = product_of(layer.before_mlp.y, narrow_[w + 4], d);
      for (float& h : layer.hidden) h = std::max(h, 0.0F);
      add(x, product_of(layer.hidden, narrow_[w + 5], 4 * d));
      round_all(x, numerics_.format);
    }
    const Normalized last = normalized(x);
    const std::size_t logits_weight = weights_.size() - 1;
    Matrix logits = product_of(last.y, narrow_[logits_weight], d);
    double loss = 0;
    const std::size_t vocabulary = model_.vocabulary;
    const float scale = loss_scale() / static_cast<float>(rows);
    for (std::size_t r = 0; r < rows; ++r) {
      const std::span<float> row(logits.data() + r * vocabulary, vocabulary);
      const float most = *std::ranges::max_element(row);
      float sum = 0;
      for (const float z : row) sum += std::exp(z - most);
      loss += std::log(sum) + most - row[token(r, 1)];
      for (float& z : row) z = scale * std::exp(z - most) / sum;
      row[token(r, 1)] -= scale;
    }
    round_all(logits, numerics_.format);
    Matrix dx = back_through(last, back_through_product(last.y, logits, logits_weight));
    for (std::size_t l = layers.size(); l-- > 0;) {
      const Layer& layer = layers[l];
      const std::size_t w = 2 + 6 * l;
      Matrix dh = back_through_product(layer.hidden, dx, w + 5);
      for (std::size_t i = 0; i < dh.size(); ++i) dh[i] = layer.hidden[i] > 0 ? dh[i] : 0;
      add(dx, back_through(layer.before_mlp, back_through_product(layer.before_mlp.y, dh, w + 4)));
      round_all(dx, numerics_.format);
      const auto dqkv =
          back_through_attention(layer, back_through_product(layer.attended, dx, w + 3));
      Matrix dy(dx.size(), 0.0F);
      for (std::size_t i = 0; i < dqkv.size(); ++i) {
        add(dy, back_through_product(layer.before_attention.y, dqkv[i], w + i));
      }
      add(dx, back_through(layer.before_attention, rounded_copy(std::move(dy))));
      round_all(dx, numerics_.format);
    }
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t c = 0; c < d; ++c) {
        gradients_[0].values[token(r, 0) * d + c] += dx[r * d + c];
        gradients_[1].values[r % n * d + c] += dx[r * d + c];
      }
    }
    for (WrittenTensor& g : gradients_) {
      for (float& value : g.values) value /= loss_scale();
    }
    return loss / static_cast<double>(rows);
  }

  [[nodiscard]] float loss_scale() const {
    return numerics_.format.exponent_bits < 8 ? 1024.0F : 1.0F;
  }

  void update() {
    ++steps_;
    const double m_share = 1 - std::pow(kB1, steps_);
    const double v_share = 1 - std::pow(kB2, steps_);
    for (std::size_t w = 0; w < weights_.size(); ++w) {
      for (std::size_t i = 0; i < m_[w].size(); ++i) {
        const float g = gradients_[w].values[i];
        m_[w][i] = static_cast<float>(kB1 * m_[w][i] + (1 - kB1) * g);
        v_[w][i] = static_cast<float>(kB2 * v_[w][i] + (1 - kB2) * g * g);
        weights_[w].values[i] -= static_cast<float>(model_.learning_rate * (m_[w][i] / m_share) /
                                                    (std::sqrt(v_[w][i] / v_share) + kEps));
      }
    }
  }

  SmallTransformer model_;
  TrainingNumerics numerics_;
  std::vector<WrittenTensor> weights_;
  std::vector<WrittenTensor> gradients_;
  std::vector<Matrix> narrow_;  // weights in the format
  std::vector<Matrix> m_;
  std::vector<Matrix> v_;
  int steps_ = 0;
};

bool are_finite(const std::vector<WrittenTensor>& tensors) {
  return std::ranges::all_of(tensors, [](const WrittenTensor& t) {
    return std::ranges::all_of(t.values, [](float x) { return std::isfinite(x); });
  });
}

std::vector<std::size_t> drawn_tokens(const SmallTransformer& model, std::uint64_t seed, int step) {
  constexpr double kRuled = 0.9;
  const RandomDraws rules(seed, 0);
  const RandomDraws draws(seed, static_cast<std::uint64_t>(step) + 1);
  const auto below = [&](double u) {
    return static_cast<std::size_t>(u * static_cast<double>(model.vocabulary));
  };
  std::vector<std::size_t> out;
  for (std::size_t s = 0; s < model.batch; ++s) {
    std::size_t before = 0;
    std::size_t last = 0;
    for (std::size_t p = 0; p <= model.positions; ++p) {
      const std::size_t i = out.size();
      const bool ruled = p >= 2 && draws.uniform(0, i) < kRuled;
      const std::size_t next = ruled ? below(rules.uniform(0, before * model.vocabulary + last))
                                     : below(draws.uniform(1, i));
      out.push_back(next);
      before = last;
      last = next;
    }
  }
  return out;
}

}  // namespace

Result<std::vector<WrittenTensor>> train(
    const SmallTransformer& model, const TrainingNumerics& numerics, int steps, std::uint64_t seed,
    std::uint64_t data_seed, const std::function<void(const TrainingStep&)>& after_step) {
  Trainer trainer(model, numerics, seed);
  for (int step = 1; step <= steps; ++step) {
    const double loss = trainer.step(drawn_tokens(model, data_seed, step));
    const bool learns = std::isfinite(loss);
    if (!learns || !are_finite(trainer.weights())) {
      return bad_input(
          fmt::format("the training with seed {} ends: after step {}, {} infinite or NaN",
                      data_seed, step, learns ? "a weight is" : "the loss is"),
          "", "choose a format with more bits or a smaller learning rate");
    }
    if (after_step) after_step({step, loss, trainer.weights(), trainer.gradients()});
  }
  return trainer.weights();
}

double training_loss(const SmallTransformer& model, const TrainingNumerics& numerics,
                     std::uint64_t seed, std::uint64_t data_seed, std::size_t weight,
                     std::size_t at, float moved) {
  Trainer trainer(model, numerics, seed);
  trainer.move(weight, at, moved);
  return trainer.step(drawn_tokens(model, data_seed, 1));
}

WeightDistance weight_distance(const std::vector<WrittenTensor>& a,
                               const std::vector<WrittenTensor>& b) {
  WeightDistance out;
  double elements = 0;
  for (std::size_t t = 0; t < a.size(); ++t) {
    std::vector<float> x = a[t].values;
    std::vector<float> y = b[t].values;
    const auto distance = [&](std::size_t i) {
      return std::abs(static_cast<double>(x[i]) - static_cast<double>(y[i]));
    };
    for (std::size_t i = 0; i < x.size(); ++i) {
      out.largest = std::max(out.largest, distance(i));
      out.mean += distance(i);
    }
    std::ranges::sort(x);
    std::ranges::sort(y);
    for (std::size_t i = 0; i < x.size(); ++i) out.wasserstein += distance(i);
    elements += static_cast<double>(x.size());
  }
  out.mean /= elements;
  out.wasserstein /= elements;
  return out;
}

Result<TrainingStudy> training_study(const TrainingQuestion& question, int threads,
                                     const Progressed& progressed) {
  enum Run : std::size_t { base, flash, narrow, single, other, runs };
  constexpr std::array kRuns = {"baseline", "flash", "narrow", "fp32", "other-seed"};
  constexpr std::size_t kLogged = 512;  // components of a tensor
  std::vector<int> shown;               // halved again and again
  for (int step = question.steps; step > 0 && shown.size() < 8; step /= 2) shown.push_back(step);
  const auto numerics_of = [&](std::size_t run) {
    const FloatFormat format = run == single ? kFloat32 : question.format;
    return TrainingNumerics{
        run == narrow ? question.format : kFloat32,
        kernel_numerics(format, kFloat32,
                        run == flash ? AttentionMethod::flash2 : AttentionMethod::baseline,
                        question.tile)};
  };
  const auto seeds = static_cast<std::size_t>(question.seeds);
  TrainingStudy out{question, {}, std::vector<double>(seeds), std::vector<double>(seeds), {}, {}};
  using Snapshots = std::map<int, std::vector<WrittenTensor>>;
  std::vector<Snapshots> snapshots(seeds * runs);
  std::vector<std::optional<Error>> failures(snapshots.size());
  const auto train_one = [&](std::size_t index) {
    const std::size_t run = index % runs;
    const std::uint64_t seed = question.seed + index / runs;
    const std::uint64_t initial = run == other ? seed + 1'000'000 : seed;
    const auto trained = train(
        question.model, numerics_of(run), question.steps, initial, seed,
        [&](const TrainingStep& s) {
          if (std::ranges::find(shown, s.step) != shown.end()) snapshots[index][s.step] = s.weights;
          if (run != base) return;
          if (s.step == 1) out.first_loss[index / runs] = s.loss;
          out.last_loss[index / runs] = s.loss;
          if (index / runs > 0) return;
          if (out.gradients.empty()) {
            for (const WrittenTensor& g : s.gradients) {
              out.gradients.push_back(
                  {g.name,
                   {static_cast<std::uint64_t>(question.steps), std::min(kLogged, g.values.size())},
                   {}});
            }
          }
          for (std::size_t t = 0; t < s.gradients.size(); ++t) {
            const std::vector<float>& g = s.gradients[t].values;
            out.gradients[t].values.insert(
                out.gradients[t].values.end(), g.begin(),
                g.begin() + static_cast<std::ptrdiff_t>(std::min(kLogged, g.size())));
          }
        });
    if (!trained) failures[index] = at(kRuns[run], trained.error());
  };
  parallel_for(snapshots.size(), threads, train_one, progressed);
  for (const std::optional<Error>& failure : failures) {
    if (failure) return fail(*failure);
  }
  for (std::size_t s = 0; s < seeds; ++s) {
    const auto* of = &snapshots[s * runs];
    for (const auto& [step, weights] : of[base]) {
      out.pairs.push_back({question.seed + s, step, weight_distance(weights, of[flash].at(step)),
                           weight_distance(of[narrow].at(step), of[single].at(step)),
                           weight_distance(weights, of[other].at(step))});
    }
  }
  for (std::size_t r = 0; r < runs; ++r) {
    out.runs.emplace_back(kRuns[r], snapshots[r].at(question.steps));
  }
  return out;
}

}  // namespace orrery
