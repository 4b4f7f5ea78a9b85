// Kernels of accelerators that were not fitted, against what was measured of them.
#include "cost/kernel/carried_calibration.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "cost/kernel/kernel_model.h"
#include "document/comma_separated.h"
#include "document/value.h"

namespace orrery {
namespace {

const Catalog& catalog() { return Catalog::built_in(); }

// RTX A5000: GA102 as A40, with 64 processors, half the units' rate at 1695 MHz being kept
// (NVIDIA data sheet: 27.8 TFLOP/s in fp32, 222.2 with sparsity in fp16, 768 GB/s, 230 W).
Accelerator accelerator_of(const std::string& name) {
  if (name != "rtx-a5000") return *load_accelerator(catalog(), name);
  Accelerator a = *load_accelerator(catalog(), "a40");
  a.name = name;
  a.compute_units = 64;
  a.clock = Hertz(1.695e9);
  a.peaks.fp16 = a.peaks.bf16 = FlopsPerSecond(111.1e12);
  a.memory.bandwidth = BytesPerSecond(768e9);
  a.power = Watts(230);
  return a;
}

// As the catalog's relative states them, of its own peak, without being carried.
KernelParameters uncarried(const Accelerator& a) {
  const KernelRelative r = *relative_of(catalog(), a);
  const auto document = catalog().find("kernels", r.like);
  return *join_kernel_parameters(*read_kernel_calibration(*document), a);
}

struct Measured {
  std::string accelerator;
  AttentionKernel kernel;
  Direction direction;
  AttentionShape shape;
  double tflops;
};

// 2048 elements of a token in all heads, as the benchmark of flash-attention has them.
std::vector<Measured> measured() {
  const auto text = read_file(std::string(ORRERY_SOURCE_DIR) +
                              "/validation/kernels/attention-elsewhere-published.csv");
  EXPECT_TRUE(text);
  const auto table = parse_comma_separated(*text, "published");
  EXPECT_TRUE(table && table->complete());
  std::vector<Measured> out;
  for (const auto& record : table->records) {
    const auto& f = record.fields;
    const double head = std::stod(f[4]);
    const double sequence = std::stod(f[6]);
    out.push_back({f[0], *parse_enum<AttentionKernel>(f[1]), *parse_enum<Direction>(f[2]),
                   AttentionShape{.batch = std::stod(f[5]),
                                  .queries = sequence,
                                  .keys = sequence,
                                  .heads = 2048 / head,
                                  .kv_heads = 2048 / head,
                                  .query_key_dim = head,
                                  .value_dim = head,
                                  .causal = f[3] == "true"},
                   std::stod(f[7])});
  }
  return out;
}

// FLOPs as the benchmark counts them: half of the square where it is causal, 2.5 times backward.
double error(const Measured& m, const KernelParameters& parameters) {
  const AttentionShape& s = m.shape;
  const double flops = 4 * s.batch * s.queries * s.keys * 2048 * (s.causal ? 0.5 : 1) *
                       (m.direction == Direction::backward ? 2.5 : 1);
  const double time =
      KernelModel(parameters).attention(s, m.kernel, m.direction, NumberFormat::bf16).value();
  return time * m.tflops * 1e12 / flops - 1;
}

double median(std::vector<double> values) {
  for (double& v : values) v = std::abs(v);
  std::ranges::sort(values);
  return values[values.size() / 2];
}

TEST(CarriedCalibration, MeetsAttentionThatWasMeasuredElsewhere) {
  std::vector<double> carried;
  std::vector<double> as_they_are;
  for (const Measured& m : measured()) {
    const Accelerator a = accelerator_of(m.accelerator);
    carried.push_back(error(m, *load_kernel_parameters(catalog(), a)));
    as_they_are.push_back(error(m, uncarried(a)));
    EXPECT_LT(std::abs(carried.back()), 0.3)
        << fmt::format("{} {} heads of {}, {}", m.accelerator, to_text(m.kernel),
                       m.shape.query_key_dim, m.shape.queries);
  }
  ASSERT_EQ(carried.size(), 24u);
  EXPECT_LT(median(carried), 0.15);
  EXPECT_GT(median(as_they_are), 2 * median(carried));
}

// cuBLAS reaches 105 to 115 of the 119.5 TFLOP/s of an L20 (DefTruth/CUDA-Learn-Notes, hgemm).
TEST(CarriedCalibration, MeetsProductsThatWereMeasuredOnL20) {
  const Accelerator a = *load_accelerator(catalog(), "l20");
  const auto rate = [](const KernelParameters& p) {
    const double n = 8192;
    return 2 * n * n * n / KernelModel(p).gemm({n, n, n}, NumberFormat::fp16).value() / 1e12;
  };
  EXPECT_GT(rate(*load_kernel_parameters(catalog(), a)), 105);
  EXPECT_LT(rate(*load_kernel_parameters(catalog(), a)), 115.5);
  EXPECT_LT(rate(uncarried(a)), 75);  // throttled as an L40S of three times the rate
}

// At the same rates nothing changes (40 GB of A100, B300 beside B200), and no fraction leaves 0 to 1.
TEST(CarriedCalibration, ChangesOnlyWhatDiffers) {
  for (const char* name : {"a100-40gb-sxm", "b300-sxm"}) {
    const Accelerator same = *load_accelerator(catalog(), name);
    const KernelParameters a = *load_kernel_parameters(catalog(), same);
    const KernelParameters b = uncarried(same);
    const AttentionCurve& before = b.curve(AttentionKernel::flash_2, Direction::forward);
    const AttentionCurve& after = a.curve(AttentionKernel::flash_2, Direction::forward);
    EXPECT_EQ(after.at(128).peak_fraction, before.at(128).peak_fraction);
    EXPECT_EQ(after.at(128).ramp_keys, before.at(128).ramp_keys);
    EXPECT_EQ(a.format(NumberFormat::bf16).ceiling, b.format(NumberFormat::bf16).ceiling);
  }
  for (const std::string& name : catalog().names("accelerators")) {
    const Accelerator accelerator = *load_accelerator(catalog(), name);
    const KernelParameters p = *load_kernel_parameters(catalog(), accelerator);
    for (const FormatParameters& f : p.formats) {
      EXPECT_LE(f.ceiling, f.peak) << name;
      EXPECT_GT(f.ceiling.value(), 0) << name;
    }
    for (const auto& kernel : p.attention) {
      for (const AttentionCurve& curve : kernel) {
        for (std::size_t i = 0; i < curve.size; ++i) {
          EXPECT_GT(curve.points[i].peak_fraction, 0) << name;
          EXPECT_LE(curve.points[i].peak_fraction, 1) << name;
        }
      }
    }
  }
}

// The same die; the matrix units of L40 have half the rate. Both take the flash-2 kernel of A100,
// which was measured on neither.
TEST(CarriedCalibration, AnL40SIsNoSlowerAtFlash2ThanAnL40) {
  const auto model = [](const char* name) {
    return KernelModel(*load_kernel_parameters(catalog(), *load_accelerator(catalog(), name)));
  };
  const KernelModel faster = model("l40s");
  const KernelModel slower = model("l40");
  for (const auto& direction : names_of(Direction{})) {
    for (const double head : {64.0, 128.0}) {
      const AttentionShape shape{.batch = 4,
                                 .queries = 4096,
                                 .keys = 4096,
                                 .heads = 2048 / head,
                                 .kv_heads = 2048 / head,
                                 .query_key_dim = head,
                                 .value_dim = head,
                                 .causal = true};
      const auto time = [&](const KernelModel& m) {
        return m.attention(shape, AttentionKernel::flash_2, direction.value, NumberFormat::bf16);
      };
      EXPECT_LE(time(faster), time(slower)) << direction.name << " " << head;
    }
  }
}

}  // namespace
}  // namespace orrery
