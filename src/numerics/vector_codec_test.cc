#include "numerics/vector_codec.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "parallel/random_draws.h"

namespace orrery {
namespace {

constexpr std::size_t kWidth = 16;

std::vector<float> random_rows(std::size_t rows, double scale, std::uint64_t seed) {
  const RandomDraws draws(seed, 0);
  std::vector<float> out(rows * kWidth);
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<float>(scale * draws.normal(0, i));
  }
  return out;
}

// `distinct` rows, over and over.
std::vector<float> repeated_rows(std::size_t rows, std::size_t distinct) {
  const std::vector<float> some = random_rows(distinct, 1, 7);
  std::vector<float> out;
  for (std::size_t i = 0; i < rows; ++i) {
    const auto from = some.begin() + static_cast<std::ptrdiff_t>(i * 31 % distinct * kWidth);
    out.insert(out.end(), from, from + kWidth);
  }
  return out;
}

double ratio(const std::vector<float>& values, double bound, LosslessStage stage) {
  return static_cast<double>(values.size() * sizeof(float)) /
         static_cast<double>(compressed_vectors(values, kWidth, bound, stage).size());
}

void expect_bounded(const std::vector<float>& values, double bound) {
  for (const LosslessStage stage : {LosslessStage::repeats, LosslessStage::huffman}) {
    const auto again =
        decompressed_vectors(compressed_vectors(values, kWidth, bound, stage), values.size());
    ASSERT_TRUE(again) << again.error().text();
    ASSERT_EQ(again->size(), values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!std::isfinite(values[i])) {
        EXPECT_EQ(std::isnan(values[i]), std::isnan((*again)[i]));
        if (!std::isnan(values[i])) {
          EXPECT_EQ(values[i], (*again)[i]);
        }
        continue;
      }
      ASSERT_LE(std::abs(static_cast<double>(values[i]) - static_cast<double>((*again)[i])), bound)
          << i;
    }
  }
}

TEST(VectorCodec, EveryElementIsWithinItsBound) {
  for (const double bound : {1e-9, 1e-4, 0.01, 0.03, 0.05, 10.0}) {
    SCOPED_TRACE(bound);
    expect_bounded({}, bound);
    expect_bounded(std::vector<float>(100 * kWidth, 0.25F), bound);
    expect_bounded(repeated_rows(500, 7), bound);
    for (const std::uint64_t seed : {1U, 2U, 3U}) {
      for (const double scale : {1e-6, 1.0, 1e4, 1e30}) {
        expect_bounded(random_rows(300, scale, seed), bound);
      }
    }
  }
}

TEST(VectorCodec, KeepsWhatCannotBeQuantised) {
  std::vector<float> values = random_rows(4, 1, 1);
  values[3] = std::numeric_limits<float>::infinity();
  values[17] = -std::numeric_limits<float>::infinity();
  values[20] = std::numeric_limits<float>::quiet_NaN();
  values[21] = std::numeric_limits<float>::max();
  values[22] = -0.0F;
  expect_bounded(values, 0.01);
}

// More different codes than the prefix code has symbols for.
TEST(VectorCodec, RareCodesAreExceptions) { expect_bounded(random_rows(20'000, 1e3, 5), 1e-3); }

TEST(VectorCodec, RatiosGrowWithRepetitionAndWithTheBound) {
  double last = 0;
  for (const std::size_t distinct : {4000U, 1000U, 100U, 10U, 1U}) {
    const double now = ratio(repeated_rows(4000, distinct), 0.01, LosslessStage::repeats);
    EXPECT_GT(now, last);
    last = now;
  }
  EXPECT_GT(last, 30);  // two bytes for a row of 64
  last = 0;
  for (const double bound : {0.001, 0.01, 0.03, 0.05, 0.5}) {
    const double now = ratio(random_rows(2000, 1, 3), bound, LosslessStage::huffman);
    EXPECT_GT(now, last);
    last = now;
  }
}

// No prefix code is shorter than the entropy of the codes, nor longer by a bit a code.
TEST(VectorCodec, HuffmanComesNearTheEntropy) {
  const std::vector<float> values = random_rows(20'000, 0.2, 11);
  std::map<long, double> counts;
  for (const float x : values) ++counts[std::lround(static_cast<double>(x) / 0.06)];
  double entropy = 0;
  const auto n = static_cast<double>(values.size());
  for (const auto& [code, count] : counts) entropy -= count / n * std::log2(count / n);
  const double bits =
      8 *
      static_cast<double>(compressed_vectors(values, kWidth, 0.03, LosslessStage::huffman).size()) /
      n;
  EXPECT_GE(bits, entropy);
  EXPECT_LT(bits, entropy + 0.1);
}

TEST(VectorCodec, TheBoundFallsInStepsToThatOfTheTable) {
  EXPECT_EQ(error_bound(BoundClass::base, 0), 0.06);
  EXPECT_EQ(error_bound(BoundClass::tight, 65536), 0.01);
  EXPECT_EQ(error_bound(BoundClass::loose, 1'000'000'000), 0.05);
  double last = 1;
  int steps = 0;
  for (std::int64_t i = 0; i < 70000; i += 64) {
    const double now = error_bound(BoundClass::base, i);
    EXPECT_LE(now, last);
    if (now < last) ++steps;
    last = now;
  }
  EXPECT_EQ(last, 0.03);
  EXPECT_EQ(steps, kBoundSteps + 1);
}

TEST(VectorCodec, TablesWhoseRowsBecomeEqualAreBoundTightly) {
  EXPECT_EQ(homogenization(random_rows(100, 1, 1), kWidth, 0.01), 0);
  EXPECT_EQ(bound_class(0), BoundClass::loose);
  const double merged = homogenization(random_rows(100, 1e-3, 1), kWidth, 0.03);
  EXPECT_DOUBLE_EQ(merged, 0.99);  // all become zero
  EXPECT_EQ(bound_class(merged), BoundClass::tight);
}

// arXiv 2407.04272: worth it if 1/bw (1 - 1/CR) > 1/compress + 1/decompress.
TEST(VectorCodec, NothingIsGainedWhereTheCodecIsSlowerThanTheLink) {
  VectorStudySettings s;
  s.link = BytesPerSecond(4e9);
  EXPECT_GT(exchange_gain(10, s), 1);
  s.compress = s.decompress = BytesPerSecond(4e9);
  EXPECT_LT(exchange_gain(1e6, s), 1);
  s.compress = s.decompress = BytesPerSecond(1e30);
  EXPECT_NEAR(exchange_gain(10, s), 10, 1e-9);
}

TEST(VectorCodec, DamagedBytesAreRefused) {
  const std::string whole =
      compressed_vectors(random_rows(50, 1, 1), kWidth, 0.01, LosslessStage::huffman);
  EXPECT_FALSE(decompressed_vectors("", kMostVectorElements));
  for (const std::size_t size : {std::size_t{1}, std::size_t{40}, whole.size() / 2}) {
    const auto read =
        decompressed_vectors(std::string_view(whole).substr(0, size), kMostVectorElements);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().text(), "these are no compressed vectors, or they are damaged");
  }
  // Nothing may be left over: bytes behind the codes, or an exception that no code asks for.
  for (const LosslessStage stage : {LosslessStage::repeats, LosslessStage::huffman}) {
    std::string longer = compressed_vectors(random_rows(50, 1, 1), kWidth, 0.01, stage);
    longer += '\0';
    EXPECT_FALSE(decompressed_vectors(longer, kMostVectorElements));
    std::string unasked = compressed_vectors(random_rows(50, 1, 1), kWidth, 0.01, stage);
    unasked[32] = 1;  // exceptions, of the header of 40 bytes
    unasked.insert(40, 4, '\0');
    EXPECT_FALSE(decompressed_vectors(unasked, kMostVectorElements));
  }
}

// Two bytes may stand for a row of any width: memory is taken only for what the caller expects.
TEST(VectorCodec, NoMoreIsReadThanExpected) {
  constexpr std::size_t kWide = 4096;
  const std::vector<float> values(kWide * 1000, 0.25F);
  const std::string bytes = compressed_vectors(values, kWide, 0.01, LosslessStage::repeats);
  EXPECT_LT(bytes.size(), 7000u);
  EXPECT_TRUE(decompressed_vectors(bytes, values.size()));
  const auto read = decompressed_vectors(bytes, values.size() - 1);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().text(),
            "these compressed vectors have 4096000 elements where at most 4095999 are expected");
}

// The data of the file is one hole, which takes no room on the disk.
TEST(VectorStudy, TablesThatAreTooLargeAreRefusedByName) {
  const std::string path = testing::TempDir() + "orrery_large_table.safetensors";
  const std::string header =
      R"({"rows":{"dtype":"F8_E4M3","shape":[134217729,16],"data_offsets":[0,2147483664]}})";
  {
    std::ofstream out(path, std::ios::binary);
    const auto length = static_cast<std::uint64_t>(header.size());
    out.write(reinterpret_cast<const char*>(&length), sizeof(length));
    out << header;
  }
  std::filesystem::resize_file(path, 8 + header.size() + 2147483664);
  const auto file = TensorFile::open(path);
  ASSERT_TRUE(file) << file.error().text();
  const auto study = study_vectors(*file, {});
  std::filesystem::remove(path);
  ASSERT_FALSE(study);
  EXPECT_EQ(study.error().text(),
            path +
                ": table 'rows' of 2147483664 elements is too large to compress (at most "
                "2147483648 elements: state a file with some of its rows)");
}

}  // namespace
}  // namespace orrery
