#include "cost/kernel/kernel_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace orrery {
namespace {

KernelParameters parameters_of(std::string_view name) {
  const Catalog& catalog = Catalog::built_in();
  const auto accelerator = load_accelerator(catalog, name);
  EXPECT_TRUE(accelerator) << (accelerator ? "" : accelerator.error().text());
  auto parameters = load_kernel_parameters(catalog, *accelerator);
  EXPECT_TRUE(parameters) << (parameters ? "" : parameters.error().text());
  return *parameters;
}

// A device with round figures: 100 processors of 1 TFLOP/s, full efficiency, no fixed times.
KernelModel ideal(double wave_rounding) {
  KernelParameters p = parameters_of("a100-80gb-sxm");
  p.compute_units = 100;
  p.memory_floor = Seconds(0);
  for (FormatParameters& f : p.formats) {
    f = FormatParameters();
    f.ceiling = f.burst = f.peak = FlopsPerSecond(1e14);
    f.bandwidth = BytesPerSecond(1e18);
    f.unit_bandwidth = BytesPerSecond(1e18);
    f.wave_rounding = wave_rounding;
    f.native = true;
  }
  return KernelModel(p);
}

double random_size(std::mt19937& random, double most) {
  return std::floor(std::exp(std::uniform_real_distribution(0.0, std::log(most))(random)));
}

AttentionShape attention_shape(double s) { return {1, s, s, 16, 16, 128, 128, 0, true}; }

TEST(KernelModel, EveryAcceleratorOfTheCatalogHasParameters) {
  for (const std::string& name : Catalog::built_in().names("accelerators")) {
    const KernelModel model(parameters_of(name));
    const Accelerator accelerator = *load_accelerator(Catalog::built_in(), name);
    const bool measured = Catalog::built_in().contains("kernels", name);
    for (const NumberFormat f :
         {NumberFormat::fp64, NumberFormat::fp32, NumberFormat::tf32, NumberFormat::fp16,
          NumberFormat::bf16, NumberFormat::fp8, NumberFormat::mxfp8, NumberFormat::nvfp4}) {
      const double time = model.gemm({4096, 4096, 4096}, f).value();
      EXPECT_TRUE(std::isfinite(time) && time > 0) << name << " " << name_of(f);
      EXPECT_LE(model.parameters().format(f).ceiling, model.parameters().format(f).peak) << name;
      EXPECT_EQ(model.parameters().format(f).native, accelerator.peak(f).has_value()) << name;
    }
    if (!measured) {
      ASSERT_FALSE(model.parameters().assumed.empty()) << name;
      EXPECT_NE(
          model.parameters().assumed.back().text.find("no kernel of " + name + " was measured"),
          std::string::npos);
    }
  }
}

TEST(KernelModel, KernelFilesOfTheCatalogAreRead) {
  const Catalog& catalog = Catalog::built_in();
  for (const std::string& name : catalog.names("kernels")) {
    if (name == "default") continue;
    const auto document = catalog.find("kernels", name);
    ASSERT_TRUE(document) << document.error().text();
    const auto calibration = read_kernel_calibration(*document);
    ASSERT_TRUE(calibration) << calibration.error().text();
    EXPECT_EQ(calibration->accelerator, name);
    for (const GemmParameters& g : calibration->gemm) EXPECT_FALSE(g.source.empty());
    for (const AttentionParameters& a : calibration->attention) EXPECT_FALSE(a.source.empty());
  }
}

TEST(KernelModel, AnUnmeasuredAcceleratorMeetsItsAchievedRate) {
  // mi300x: 668.4 of 1307 TFLOP/s achieved. Fixed times cost the largest product under 2 %.
  const KernelModel model(parameters_of("mi300x"));
  const double n = 32768;
  const double rate = 2 * n * n * n / model.gemm({n, n, n}, NumberFormat::bf16).value();
  EXPECT_NEAR(rate / 668.4e12, 1, 0.02);
}

// NVIDIA's T4 has no bf16: 24 of 65 TFLOP/s in fp16.
TEST(KernelModel, AnUnmeasuredAcceleratorMeetsItsAchievedRateInFp16) {
  const KernelModel model(parameters_of("t4"));
  const double n = 4096;
  const double rate = 2 * n * n * n / model.gemm({n, n, n}, NumberFormat::fp16).value();
  EXPECT_NEAR(rate / 24e12, 1, 0.05);
}

// Intel Gaudi 3 has one peak for both formats, and others sustained 1,289.5 TFLOP/s in fp8, 1,243
// in bf16 (its catalog entry): what bf16 loses is not taken from fp8, too.
TEST(KernelModel, AnUnmeasuredAcceleratorMeetsItsAchievedRateInEachFormat) {
  const KernelModel model(parameters_of("gaudi3"));
  const double n = 32768;
  const auto rate = [&](NumberFormat f) {
    return 2 * n * n * n / model.gemm({n, n, n}, f).value();
  };
  EXPECT_NEAR(rate(NumberFormat::bf16) / 1243e12, 1, 0.02);
  EXPECT_NEAR(rate(NumberFormat::fp8) / 1289.5e12, 1, 0.02);
  const auto says = [](const char* name) {
    int notes = 0;
    for (const KernelAssumption& a : parameters_of(name).assumed) {
      notes +=
          a.format == NumberFormat::fp8 && a.text.find("has one peak for") != std::string::npos;
    }
    return notes;
  };
  EXPECT_EQ(says("gaudi3"), 1);
  EXPECT_EQ(says("gaudi2"), 0);
}

// Whatever the parameters were fitted on: units that are twice as fast do not make a product
// slower.
TEST(KernelModel, FormatsWithAHigherPeakAreNoSlowerOnLargeProducts) {
  int compared = 0;
  for (const std::string& name : Catalog::built_in().names("accelerators")) {
    const Accelerator accelerator = *load_accelerator(Catalog::built_in(), name);
    const auto wide = accelerator.peak(NumberFormat::bf16);
    const KernelModel model(parameters_of(name));
    for (const auto f : {NumberFormat::fp8, NumberFormat::mxfp8, NumberFormat::nvfp4}) {
      const auto narrow = accelerator.peak(f);
      if (!wide || !narrow || *narrow <= *wide) continue;
      ++compared;
      for (const GemmShape& shape : {GemmShape{8192, 8192, 8192}, GemmShape{16384, 28672, 8192},
                                     GemmShape{65536, 4096, 4096}}) {
        EXPECT_LE(model.gemm(shape, f), model.gemm(shape, NumberFormat::bf16))
            << name << " " << name_of(f);
      }
    }
  }
  EXPECT_GT(compared, 15);
}

TEST(KernelModel, LargeProductsOnH100RunNearTheSustainedRate) {
  // 794.5 TFLOP/s is the best sustained product others measured (catalog entry of h100-sxm).
  const KernelModel model(parameters_of("h100-sxm"));
  const double rate =
      2 * std::pow(16384.0, 3) / model.gemm({16384, 16384, 16384}, NumberFormat::bf16).value();
  EXPECT_LT(rate, 795e12);
  EXPECT_GT(rate, 740e12);
}

TEST(KernelModel, NeverFasterThanPeakComputeOrBandwidth) {
  std::mt19937 random(1);
  for (const char* name : {"a100-80gb-sxm", "h100-sxm", "gb300", "v100-pcie", "tpu-v5p"}) {
    const KernelModel model(parameters_of(name));
    const KernelParameters& p = model.parameters();
    for (int i = 0; i < 2000; ++i) {
      const GemmShape g{random_size(random, 1e5), random_size(random, 1e5),
                        random_size(random, 1e5), random_size(random, 64)};
      for (const NumberFormat f : {NumberFormat::bf16, NumberFormat::fp8, NumberFormat::nvfp4}) {
        const double time = model.gemm(g, f).value();
        const double bytes =
            g.groups * ((g.m * g.k + g.k * g.n) * element_size(f).value() + 2 * g.m * g.n);
        EXPECT_GE(time, 2 * g.m * g.n * g.k * g.groups / p.format(f).peak.value());
        EXPECT_GE(time, bytes / p.memory_peak.value());
      }
      const AttentionShape a{random_size(random, 8),
                             random_size(random, 1e5),
                             random_size(random, 1e5),
                             random_size(random, 128),
                             1,
                             random_size(random, 256),
                             random_size(random, 256),
                             0,
                             i % 2 == 0};
      for (const auto kernel : {AttentionKernel::unfused, AttentionKernel::flash_2}) {
        for (const auto direction : {Direction::forward, Direction::backward}) {
          EXPECT_GE(model.attention(a, kernel, direction, NumberFormat::bf16),
                    KernelModel::attention_flops(a, direction, kernel) /
                        p.format(NumberFormat::bf16).peak);
        }
      }
      const Bytes moved(random_size(random, 1e11));
      EXPECT_GE(model.memory_bound(moved), moved / p.memory_peak + p.memory_floor);
    }
  }
}

TEST(KernelModel, ProductTimeRisesWithEverySize) {
  std::mt19937 random(2);
  const KernelModel model(parameters_of("h100-sxm"));
  for (int i = 0; i < 5000; ++i) {
    const GemmShape g{random_size(random, 2e4), random_size(random, 2e4), random_size(random, 2e4),
                      random_size(random, 32)};
    const double more = 1 + random_size(random, 3000);
    const auto time = [&](GemmShape s) { return model.gemm(s, NumberFormat::bf16).value(); };
    const double limit = time(g) * (1 - 1e-12);
    EXPECT_GE(time({g.m + more, g.n, g.k, g.groups}), limit);
    EXPECT_GE(time({g.m, g.n + more, g.k, g.groups}), limit);
    EXPECT_GE(time({g.m, g.n, g.k + more, g.groups}), limit) << g.m << " " << g.n << " " << g.k;
    EXPECT_GE(time({g.m, g.n, g.k, g.groups + more}), limit);
  }
}

TEST(KernelModel, AttentionTimeRisesWithSequenceHeadsAndBatch) {
  std::mt19937 random(3);
  const KernelModel model(parameters_of("h100-sxm"));
  for (int i = 0; i < 3000; ++i) {
    // Of aligned rows: others are slower than longer ones that are.
    const auto aligned = [](double x) { return std::ceil(x / 8) * 8; };
    const double s = aligned(random_size(random, 5e4));
    const AttentionShape a{
        random_size(random, 8), s, s, random_size(random, 64), 1, 128, 128, 0, i % 2 == 0};
    for (const auto kernel : {AttentionKernel::unfused, AttentionKernel::flash_3}) {
      const auto time = [&](const AttentionShape& x) {
        return model.attention(x, kernel, Direction::forward, NumberFormat::bf16).value();
      };
      AttentionShape longer = a;
      longer.queries = longer.keys = s + aligned(random_size(random, 1000));
      AttentionShape wider = a;
      wider.heads += 1;
      AttentionShape more = a;
      more.batch += 1;
      AttentionShape further = a;
      further.keys += 104;
      for (const AttentionShape& x : {longer, wider, more, further}) {
        EXPECT_GE(time(x), time(a) * (1 - 1e-12));
      }
    }
  }
}

TEST(KernelModel, WavesAreWhole) {
  // 128 x 256 tiles, 100 processors: 100 tiles take as long as one, 101 twice as long.
  const KernelModel model = ideal(1);
  const double k = 4096;
  const double tile = 2 * 128 * 256 * k / 1e12;
  const auto time = [&](double m, double n) {
    return model.gemm({m, n, k}, NumberFormat::bf16).value();
  };
  EXPECT_NEAR(time(128 * 10, 256 * 10) / tile, 1, 1e-9);
  // 110 large tiles would take two waves; 3240 tiles of 16 x 64 take 33 short ones.
  EXPECT_NEAR(time(128 * 10 + 1, 256 * 10) / tile, 33.0 / 32, 1e-9);
  EXPECT_NEAR(time(128 * 20, 256 * 10) / tile, 2, 1e-9);
  // With a share of the last wave filled, the step is smaller.
  EXPECT_LT(ideal(0.2).gemm({128 * 10 + 1, 256 * 10, k}, NumberFormat::bf16).value(),
            time(128 * 10 + 1, 256 * 10));
}

TEST(KernelModel, OneGroupIsThePlainProductAndSixteenCostAtMostSixteenLaunches) {
  const KernelModel model(parameters_of("h100-sxm"));
  const Seconds one = model.gemm({512, 4096, 2048}, NumberFormat::bf16);
  EXPECT_EQ(model.gemm({512, 4096, 2048, 1}, NumberFormat::bf16), one);
  EXPECT_LT(model.gemm({512, 4096, 2048, 16}, NumberFormat::bf16), one * 16);
}

TEST(KernelModel, SplitOfTheInnerDimensionSpreadsASmallProduct) {
  // One 128 x 256 result over 100 processors: without a split it would hold one of them.
  const KernelModel model = ideal(1);
  const double k = 65536;
  EXPECT_LT(model.gemm({128, 256, k}, NumberFormat::bf16).value(), 2 * 128 * 256 * k / 1e12 / 4);
}

TEST(KernelModel, AccumulatingInFp32CostsMoreThanStoringSixteenBits) {
  const KernelModel model(parameters_of("a100-80gb-sxm"));
  GemmShape shape{8192, 4096, 4096};
  const double stored = model.gemm(shape, NumberFormat::bf16).value();
  shape.accumulates = true;
  const double accumulated = model.gemm(shape, NumberFormat::bf16).value();
  // Six more bytes per element through memory at the very most, and something at the least.
  EXPECT_GT(accumulated, stored * 1.01);
  EXPECT_LT(accumulated - stored, 2 * 6 * shape.m * shape.n / 2e12);
}

TEST(KernelModel, CachedOperandsAreFasterOnlyWhereMemoryDecides) {
  const KernelModel model(parameters_of("l40s"));
  const auto gain = [&](GemmShape shape) {
    const double cold = model.gemm(shape, NumberFormat::bf16).value();
    shape.inputs_cached = shape.weights_cached = true;
    return cold / model.gemm(shape, NumberFormat::bf16).value();
  };
  EXPECT_GT(gain({1, 4096, 1024}), 1.5);
  EXPECT_NEAR(gain({8192, 8192, 8192}), 1, 0.02);
}

TEST(UnfusedAttention, OddShapesTakeNoLongerThanTheRateOfOrdinaryUnits) {
  // Whatever the head size and the number of keys: between the time of the next larger multiples
  // of 8 and that time at the rate without tensor cores; in fp32, which has no such path, the same.
  const KernelModel model(parameters_of("a100-80gb-sxm"));
  const double slowed = model.parameters().unaligned_fraction;
  for (const double head : {1.0, 3.0, 12.0, 64.0, 100.0}) {
    for (const double keys : {1.0, 64.0, 77.0, 559.0, 5185.0}) {
      const auto time = [&](double h, double k, NumberFormat format) {
        const AttentionShape s{2, k, k, 8, 8, h, h, 0, true};
        return model.attention(s, AttentionKernel::unfused, Direction::forward, format).value();
      };
      const auto whole = [](double x) { return std::ceil(x / 8) * 8; };
      const double padded = time(whole(head), whole(keys), NumberFormat::fp16);
      EXPECT_LE(time(head, keys, NumberFormat::fp16), padded / slowed) << head << " " << keys;
      EXPECT_LE(time(head, keys, NumberFormat::fp32),
                time(whole(head), whole(keys), NumberFormat::fp32))
          << head << " " << keys;
    }
  }
}

TEST(UnfusedAttention, ScoresWhoseRowsAreNotAlignedAreSlowOnTensorCores) {
  const AttentionShape even{1, 5184, 5184, 16, 16, 64, 64, 0, false};
  AttentionShape odd = even;
  odd.queries = odd.keys = 5185;
  const auto ratio = [&](const char* accelerator) {
    const KernelModel model(parameters_of(accelerator));
    return model.attention(odd, AttentionKernel::unfused, Direction::forward, NumberFormat::bf16) /
           model.attention(even, AttentionKernel::unfused, Direction::forward, NumberFormat::bf16);
  };
  EXPECT_GT(ratio("h100-sxm"), 1.3);
  // Recorded there: 163 TFLOP/s, bound by the stores (validation/traces, OWLv2).
  EXPECT_NEAR(ratio("mi300x"), 1, 0.05);
}

TEST(KernelModel, HeadsThatAreNotAlignedAreSlowOnlyWhereTheyAreNotPadded) {
  const KernelModel model(parameters_of("a100-80gb-sxm"));
  const auto time = [&](double head_dim, AttentionKernel kernel) {
    const AttentionShape s{1, 2048, 2048, 8, 8, head_dim, head_dim, 0, true};
    return model.attention(s, kernel, Direction::forward, NumberFormat::fp16).value();
  };
  EXPECT_GT(time(225, AttentionKernel::unfused), 2 * time(224, AttentionKernel::unfused));
  EXPECT_LT(time(232, AttentionKernel::unfused), 1.1 * time(224, AttentionKernel::unfused));
  // A fused kernel computes 225 dimensions as 256.
  EXPECT_NEAR(time(225, AttentionKernel::flash_2) / time(255, AttentionKernel::flash_2), 1, 0.01);
}

TEST(KernelModel, FloorsHoldForTheSmallestKernels) {
  const KernelModel model(parameters_of("h100-sxm"));
  const KernelParameters& p = model.parameters();
  EXPECT_GE(model.gemm({1, 1, 1}, NumberFormat::bf16), p.format(NumberFormat::bf16).floor);
  EXPECT_LT(model.gemm({1, 1, 1}, NumberFormat::bf16), Seconds(10e-6));
  EXPECT_GE(model.memory_bound(Bytes(1)), p.memory_floor);
  EXPECT_EQ(model.memory_bound(Bytes(0)), Seconds(0));
  EXPECT_EQ(model.gemm({0, 5, 5}, NumberFormat::bf16), Seconds(0));
}

TEST(KernelModel, AttentionFlopsAreThoseOfThePapers) {
  // Full square, d = 128: 4 s^2 d forward and 2.5 times that backward (arXiv 2307.08691, section
  // 4).
  const AttentionShape full{2, 4096, 4096, 16, 16, 128, 128, 0, false};
  const double square = 4 * 4096.0 * 4096 * 128 * 16 * 2;
  using enum AttentionKernel;
  EXPECT_DOUBLE_EQ(KernelModel::attention_flops(full, Direction::forward, flash_2).value(), square);
  EXPECT_DOUBLE_EQ(KernelModel::attention_flops(full, Direction::backward, flash_2).value(),
                   2.5 * square);
  EXPECT_DOUBLE_EQ(KernelModel::attention_flops(full, Direction::backward, unfused).value(),
                   2 * square);
  // Causal: half, and half a key block of 128 per query for the blocks on the diagonal.
  AttentionShape causal = full;
  causal.causal = true;
  EXPECT_DOUBLE_EQ(KernelModel::attention_flops(causal, Direction::forward, flash_2).value(),
                   square * (0.5 + 64.0 / 4096));
  EXPECT_DOUBLE_EQ(KernelModel::attention_flops(causal, Direction::forward, unfused).value(),
                   square);
  // The last 1024 queries of 4096 see keys - queries / 2 on average.
  AttentionShape chunk = causal;
  chunk.queries = 1024;
  EXPECT_DOUBLE_EQ(KernelModel::attention_flops(chunk, Direction::forward, flash_2).value(),
                   square / 4 * (3584.0 + 64) / 4096);
  // MLA: 192 query-key and 128 value dimensions: 2 (192 + 128) and 2 (3 x 192 + 2 x 128) per pair.
  AttentionShape mla = full;
  mla.query_key_dim = 192;
  EXPECT_DOUBLE_EQ(KernelModel::attention_flops(mla, Direction::forward, flash_3).value(),
                   4096.0 * 4096 * 16 * 2 * 640);
  EXPECT_DOUBLE_EQ(KernelModel::attention_flops(mla, Direction::backward, flash_3).value(),
                   4096.0 * 4096 * 16 * 2 * 1664);
}

TEST(KernelModel, AWindowBoundsTheKeysOfAQuery) {
  AttentionShape s = attention_shape(32768);
  const double whole =
      KernelModel::attention_flops(s, Direction::forward, AttentionKernel::flash_2).value();
  s.window = 1024;
  const double windowed =
      KernelModel::attention_flops(s, Direction::forward, AttentionKernel::flash_2).value();
  // Pairs: s w - w^2 / 2, and one block of 128 per query for the two edges.
  EXPECT_DOUBLE_EQ(windowed, 4.0 * 16 * 128 * (32768.0 * 1024 - 1024.0 * 512 + 32768.0 * 128));
  EXPECT_LT(windowed, whole / 10);
}

TEST(KernelModel, GenerationsOfKernelsAreOrderedOnH100) {
  const KernelModel model(parameters_of("h100-sxm"));
  const auto time = [&](AttentionKernel k) {
    return model.attention(attention_shape(8192), k, Direction::forward, NumberFormat::bf16);
  };
  EXPECT_GT(time(AttentionKernel::unfused), time(AttentionKernel::flash_1));
  EXPECT_GT(time(AttentionKernel::flash_1), time(AttentionKernel::flash_2));
  EXPECT_GT(time(AttentionKernel::flash_2), time(AttentionKernel::flash_3));
}

TEST(KernelParameters, ErrorsNameTheFieldAndItsRange) {
  const auto error = [](const std::string& change, const std::string& to) {
    std::string text =
        *read_file(std::string(ORRERY_SOURCE_DIR) + "/catalog/kernels/h100-sxm.yaml");
    const std::size_t at = text.find(change);
    EXPECT_NE(at, std::string::npos);
    text.replace(at, text.find('\n', at) - at, to);
    const auto calibration = read_kernel_calibration(*parse_yaml(text, "k.yaml"));
    return calibration ? std::string("read") : calibration.error().text();
  };
  EXPECT_EQ(error("sustained_fraction: ", "sustained_fraction: 1.2"),
            "k.yaml: sustained_fraction 1.200000 is out of range (above 0, at most 1)");
  EXPECT_EQ(error("format: bf16", "format: bf61"),
            "k.yaml: unknown number format 'bf61' (did you mean 'bf16'?)");
  EXPECT_EQ(error("score_passes: ", "score_passes: 0"),
            "k.yaml: score_passes 0.000000 is out of range (2 (one read, one write) to 100)");
}

// Scale, mask and softmax in one kernel read the causal half and write all of the scores.
TEST(UnfusedAttention, FusedSoftmaxPassesOverTheScores) {
  const KernelModel model(parameters_of("a100-80gb-sxm"));
  const auto time = [&](bool fused, bool causal, Direction direction) {
    AttentionShape s = attention_shape(2048);
    s.causal = causal;
    s.fused_softmax = fused;
    return model.attention(s, AttentionKernel::unfused, direction, NumberFormat::bf16);
  };
  const Seconds pass = model.memory_bound(Bytes(2.0 * 16 * 2048 * 2048)) -
                       model.memory_bound(Bytes(1)) +
                       Bytes(1) / model.parameters().memory_bandwidth;
  const double chain = model.parameters().score_passes;
  const auto passes_less = [&](bool causal, Direction direction) {
    return (time(false, causal, direction) - time(true, causal, direction)) / pass;
  };
  EXPECT_NEAR(passes_less(true, Direction::forward), chain - 1.5, 1e-6);
  EXPECT_NEAR(passes_less(true, Direction::backward), 1.5 * chain - 2, 1e-6);
  EXPECT_NEAR(passes_less(false, Direction::forward), chain - 2, 1e-6);
  EXPECT_NEAR(passes_less(false, Direction::backward), 1.5 * chain - 3, 1e-6);
}

TEST(UnfusedAttention, AnFp32CopyOfTheScoresCostsItsPasses) {
  const KernelModel model(parameters_of("a100-80gb-sxm"));
  const auto time = [&](bool wide, Direction direction) {
    AttentionShape s = attention_shape(2048);
    s.wide_softmax = wide;
    return model.attention(s, AttentionKernel::unfused, direction, NumberFormat::bf16);
  };
  const Seconds pass = Bytes(2.0 * 16 * 2048 * 2048) / model.parameters().memory_bandwidth;
  const double chain = model.parameters().score_passes;
  EXPECT_NEAR((time(true, Direction::forward) - time(false, Direction::forward)) / pass,
              14.5 - chain, 1e-6);
  EXPECT_NEAR((time(true, Direction::backward) - time(false, Direction::backward)) / pass,
              16 - 1.5 * chain, 1e-6);
}

}  // namespace
}  // namespace orrery
