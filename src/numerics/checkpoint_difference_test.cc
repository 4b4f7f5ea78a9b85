#include "numerics/checkpoint_difference.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "document/value.h"
#include "parallel/random_draws.h"

namespace orrery {
namespace {

std::vector<float> weights(std::size_t n, std::uint64_t run, double scale = 0.02) {
  const RandomDraws draws(4, run);
  std::vector<float> out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<float>(scale * draws.normal(0, i));
  return out;
}

std::string checkpoint(const char* name, std::vector<WrittenTensor> tensors) {
  const std::string file = testing::TempDir() + name;
  EXPECT_TRUE(write_file(file, safetensors_text(tensors)).has_value());
  return file;
}
std::string checkpoint(const char* name, const std::vector<float>& w) {
  return checkpoint(name, {{"w", {w.size()}, w}});
}
// The same rounded to bf16 and stored so.
std::string bf16_checkpoint(const char* name, const std::vector<float>& w) {
  const std::string json = "{\"w\":{\"dtype\":\"BF16\",\"shape\":[" + std::to_string(w.size()) +
                           "],\"data_offsets\":[0," + std::to_string(2 * w.size()) + "]}}";
  std::vector<std::uint16_t> codes(w.size());
  encode(w, kBf16, codes);
  const std::uint64_t length = json.size();
  std::string out(sizeof length, '\0');
  std::memcpy(out.data(), &length, sizeof length);
  out += json;
  out.append(reinterpret_cast<const char*>(codes.data()), 2 * codes.size());
  const std::string file = testing::TempDir() + name;
  EXPECT_TRUE(write_file(file, out).has_value());
  return file;
}

// The mean of the absolute differences of both, sorted: W1 of equal counts.
double sorted_wasserstein(std::vector<float> a, std::vector<float> b) {
  std::ranges::sort(a);
  std::ranges::sort(b);
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
  }
  return sum / static_cast<double>(a.size());
}

TensorDifference only(const std::string& a, const std::string& b, int threads = 2) {
  const auto d = checkpoint_difference(a, b, threads);
  EXPECT_TRUE(d.has_value()) << d.error().text();
  return d ? d->tensors.front() : TensorDifference();
}

TEST(CheckpointDifference, OfEqualFilesIsZero) {
  const std::string a = checkpoint("a.safetensors", weights(5000, 0));
  const TensorDifference d = only(a, a);
  EXPECT_EQ(d.largest, 0);
  EXPECT_EQ(d.mean, 0);
  EXPECT_EQ(d.wasserstein, 0);
  EXPECT_EQ(d.wasserstein_at_most, 0);
}

// fp32: the sorted mean lies within the bounds, which are narrow where the runs are apart.
TEST(CheckpointDifference, BoundsTheDistanceOfSortedValues) {
  const std::vector<float> a = weights(700'000, 0);
  for (const double scale : {0.02, 0.021, 0.05, 1e-7, 300.0}) {
    const std::vector<float> b = weights(a.size(), 1, scale);
    const double exact = sorted_wasserstein(a, b);
    const TensorDifference d = only(checkpoint("a.safetensors", a), checkpoint("b.safetensors", b));
    EXPECT_LE(d.wasserstein, exact * (1 + 1e-9)) << scale;
    EXPECT_GE(d.wasserstein_at_most, exact * (1 - 1e-9)) << scale;
    EXPECT_LE(d.wasserstein_at_most, d.largest);
    if (scale == 0.02) continue;
    EXPECT_LT(d.wasserstein_at_most / d.wasserstein, 1.02) << scale;
  }
  // Weights that hardly moved: at most the mean difference.
  std::vector<float> near = a;
  for (std::size_t i = 0; i < near.size(); ++i) near[i] += i % 2 == 0 ? 1e-6F : -1e-6F;
  const TensorDifference d =
      only(checkpoint("a.safetensors", a), checkpoint("b.safetensors", near));
  const double exact = sorted_wasserstein(a, near);
  EXPECT_LE(d.wasserstein, exact);
  EXPECT_GE(d.wasserstein_at_most, exact * (1 - 1e-9));
  EXPECT_LE(d.wasserstein_at_most, d.mean);
}

TEST(CheckpointDifference, IsExactForSixteenBits) {
  std::vector<float> a = weights(100'000, 0);
  std::vector<float> b = weights(100'000, 1);
  const TensorDifference d =
      only(bf16_checkpoint("a.safetensors", a), bf16_checkpoint("b.safetensors", b));
  round_all(a, kBf16);
  round_all(b, kBf16);
  EXPECT_NEAR(d.wasserstein, sorted_wasserstein(a, b), 1e-12 * d.wasserstein + 1e-15);
  EXPECT_EQ(d.wasserstein, d.wasserstein_at_most);
}

// W1 does not see the order of values, the largest difference does.
TEST(CheckpointDifference, OnlyTheLargestSeesPermutations) {
  const std::vector<float> a = weights(10'000, 0);
  std::vector<float> b = a;
  std::ranges::reverse(b);
  const TensorDifference d =
      only(bf16_checkpoint("a.safetensors", a), bf16_checkpoint("b.safetensors", b));
  EXPECT_EQ(d.wasserstein, 0);
  EXPECT_GT(d.largest, 0.01);
}

TEST(CheckpointDifference, DoesNotDependOnThreads) {
  const std::string a = checkpoint("a.safetensors", weights(900'000, 0));
  const std::string b = checkpoint("b.safetensors", weights(900'000, 1));
  const TensorDifference one = only(a, b, 1);
  for (const int threads : {2, 3, 64}) {
    const TensorDifference d = only(a, b, threads);
    EXPECT_EQ(d.mean, one.mean);
    EXPECT_EQ(d.wasserstein, one.wasserstein);
    EXPECT_EQ(d.wasserstein_at_most, one.wasserstein_at_most);
  }
}

TEST(CheckpointDifference, CountsWhatIsNotFinite) {
  std::vector<float> a = {1, 2, std::nanf(""), 4};
  std::vector<float> b = {1, std::numeric_limits<float>::infinity(), std::nanf(""), 3};
  const TensorDifference d = only(checkpoint("a.safetensors", a), checkpoint("b.safetensors", b));
  EXPECT_EQ(d.not_finite_first, 1);
  EXPECT_EQ(d.not_finite_second, 2);
  EXPECT_EQ(d.largest, 1);
  EXPECT_EQ(d.mean, 0.5);
  EXPECT_EQ(d.wasserstein_at_most, 0.5);
}

TEST(CheckpointDifference, OfTensorsWithoutElementsIsZero) {
  const std::string empty = checkpoint("a.safetensors", {{"w", {0}, {}}, {"x", {0, 4}, {}}});
  const auto d = checkpoint_difference(empty, empty, 1);
  ASSERT_TRUE(d.has_value()) << d.error().text();
  EXPECT_EQ(d->tensors.size(), 2U);
  for (const double figure :
       {d->all.largest, d->all.mean, d->all.wasserstein, d->all.wasserstein_at_most, d->all.rms}) {
    EXPECT_EQ(figure, 0);
  }
}

TEST(CheckpointDifference, MayBeAboveSinglePrecision) {
  const TensorDifference d =
      only(checkpoint("a.safetensors", {3e38F, 1}), checkpoint("b.safetensors", {-3e38F, 1}));
  EXPECT_EQ(d.largest, 2 * static_cast<double>(3e38F));
  EXPECT_EQ(d.mean, static_cast<double>(3e38F));
  EXPECT_TRUE(std::isfinite(d.wasserstein) && std::isfinite(d.wasserstein_at_most));
}

TEST(CheckpointDifference, RefusesOtherTensors) {
  const std::string a = checkpoint("a.safetensors", {{"w", {2}, {1, 2}}, {"bias", {1}, {1}}});
  const auto refusal = [&](std::vector<WrittenTensor> tensors) {
    const std::string b = checkpoint("b.safetensors", std::move(tensors));
    std::string text = checkpoint_difference(a, b, 1).error().text();
    for (const auto& [path, name] : {std::pair{a, "A"}, {b, "B"}}) {
      for (std::size_t at = text.find(path); at != std::string::npos; at = text.find(path)) {
        text.replace(at, path.size(), name);
      }
    }
    return text;
  };
  EXPECT_EQ(refusal({{"w", {2}, {1, 2}}, {"bais", {1}, {1}}}),
            "B: has no tensor 'bias', and A has (did you mean 'bais'?)");
  EXPECT_EQ(refusal({{"w", {2}, {1, 2}}, {"bias", {1}, {1}}, {"x", {1}, {1}}}),
            "A: has no tensor 'x', and B has (compare checkpoints of one model)");
  EXPECT_EQ(refusal({{"w", {2, 1}, {1, 2}}, {"bias", {1}, {1}}}),
            "B: tensor 'w': has the shape [2, 1], and in A it has [2] (compare checkpoints of one "
            "model, sharded alike)");
  const std::string b = bf16_checkpoint("b.safetensors", {1, 2});
  EXPECT_THAT(checkpoint_difference(checkpoint("a.safetensors", {1, 2}), b, 1).error().text(),
              testing::HasSubstr("tensor 'w': is stored as BF16, and in "));
}

}  // namespace
}  // namespace orrery
