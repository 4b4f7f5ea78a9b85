// The model against the published measurements: what the catalog says of its own errors holds, and
// those on shapes that were not fitted stay below the bounds of docs/models/kernels.md.
#include "calibrate/kernel_calibration.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "calibrate/gemm_fit.h"
#include "calibrate/kernel_measurements.h"
#include "calibrate/statistics.h"

namespace orrery {
namespace {

constexpr double kMostGemmError = 0.06;
constexpr double kMostPrefillError = 0.08;

const std::string kFolder = std::string(ORRERY_SOURCE_DIR) + "/validation/kernels/";

const KernelMeasurements& measurements() {
  static const KernelMeasurements all = [] {
    std::vector<std::string> paths;
    for (const char* name :
         {"gemm-measured.csv", "attention-prefill-measured.csv", "layer-ops-measured.csv",
          "flash-attention-published.csv", "simumax-operator-efficiency.csv"}) {
      paths.push_back(kFolder + name);
    }
    return read_kernel_measurements(paths, Catalog::built_in()).value();
  }();
  return all;
}

KernelCalibration calibration_of(const std::string& accelerator) {
  return read_kernel_calibration(*Catalog::built_in().find("kernels", accelerator)).value();
}

std::vector<MeasuredGemm> products_of(const std::string& accelerator, NumberFormat format) {
  std::vector<MeasuredGemm> out;
  for (const MeasuredGemm& row : measurements().products) {
    if (row.accelerator == accelerator && row.format == format) out.push_back(row);
  }
  return out;
}

TEST(KernelCalibration, NearlyEveryPublishedRowIsUsed) {
  const KernelMeasurements& all = measurements();
  EXPECT_EQ(all.products.size(), 20500U);
  EXPECT_GT(all.prefill.size(), 22000U);
  EXPECT_EQ(all.in_training.size() + 88, 905U);  // 88 rows of attention
  for (const RowProblem& p : all.problems) {
    EXPECT_THAT(p.what, testing::HasSubstr("measures the same")) << p.where;
  }
}

TEST(KernelCalibration, TheCatalogHoldsItsErrorsOnShapesThatWereNotFitted) {
  int fits = 0;
  for (const std::string& name : Catalog::built_in().names("kernels")) {
    if (name == "default") continue;
    const KernelCalibration c = calibration_of(name);
    for (const GemmParameters& g : c.gemm) {
      EXPECT_GT(g.fit.held_out_median_error, 0) << name << " " << g.format;
      EXPECT_LE(g.fit.held_out_median_error, kMostGemmError) << name << " " << g.format;
      ++fits;
    }
    for (const PrefillParameters& p : c.prefill) {
      EXPECT_GT(p.fit.held_out_median_error, 0) << name << " " << p.format;
      EXPECT_LE(p.fit.held_out_median_error, kMostPrefillError) << name << " " << p.format;
      ++fits;
    }
  }
  EXPECT_GE(fits, 29);
}

// The catalog's parameters, through the catalog's reader, give the errors the catalog states, and
// large products alone are no worse.
TEST(KernelCalibration, TheErrorsOfTheCatalogAreThoseOfItsParameters) {
  for (const std::string& name : Catalog::built_in().names("kernels")) {
    if (name == "default" || products_of(name, NumberFormat::bf16).empty()) continue;
    const Accelerator accelerator = load_accelerator(Catalog::built_in(), name).value();
    const KernelModel model(
        without_power_cap(load_kernel_parameters(Catalog::built_in(), accelerator).value()));
    for (const GemmParameters& g : calibration_of(name).gemm) {
      for (const NumberFormat f : {NumberFormat::bf16, NumberFormat::fp8, NumberFormat::nvfp4}) {
        if (g.format != name_of(f)) continue;
        std::vector<double> all;
        std::vector<double> large;
        for (const MeasuredGemm& row : products_of(name, f)) {
          const Seconds time =
              predict(model, g, accelerator.last_level_cache.value_or(Bytes(0)), row);
          all.push_back(std::abs(time / row.measured - 1));
          if (row.shape.m >= 1024) large.push_back(all.back());
        }
        EXPECT_EQ(static_cast<double>(all.size()), g.fit.rows);
        EXPECT_NEAR(quantile(all, 0.5), g.fit.median_error, 0.002) << name << " " << g.format;
        EXPECT_NEAR(quantile(all, 0.9), g.fit.p90_error, 0.005) << name << " " << g.format;
        EXPECT_LE(quantile(large, 0.5), kMostGemmError) << name << " " << g.format;
      }
    }
  }
}

TEST(KernelCalibration, AFitHoldsOnShapesItHasNotSeen) {
  const Accelerator h100 = load_accelerator(Catalog::built_in(), "h100-sxm").value();
  const auto rows = products_of("h100-sxm", NumberFormat::bf16);
  const auto fit = fit_gemm(h100, rows, nullptr, 5);
  ASSERT_TRUE(fit) << fit.error().text();
  ASSERT_TRUE(fit->part.held_out);
  EXPECT_LE(fit->part.held_out->median, 0.035);
  // Eleven parameters on 1300 rows: what was held out is hardly worse than what was fitted.
  EXPECT_LE(fit->part.held_out->median, fit->part.in_sample.median + 0.005);
  for (const FittedParameter& p : fit->part.parameters) {
    if (p.name == "peak_fraction") {
      ASSERT_TRUE(p.standard_error);
      EXPECT_LT(*p.standard_error, 0.02);
    }
  }
}

TEST(KernelCalibration, ParametersOfAModelAreFoundAgain) {
  // Times made by the model itself, with no error: the fit must return to its parameters.
  const Accelerator a100 = load_accelerator(Catalog::built_in(), "a100-80gb-sxm").value();
  const KernelModel model(
      without_power_cap(load_kernel_parameters(Catalog::built_in(), a100).value()));
  const GemmParameters truth = calibration_of("a100-80gb-sxm").gemm.front();
  auto rows = products_of("a100-80gb-sxm", NumberFormat::bf16);
  for (MeasuredGemm& row : rows) row.measured = predict(model, truth, *a100.last_level_cache, row);
  const auto fit = fit_gemm(a100, rows, nullptr, 0);
  ASSERT_TRUE(fit);
  EXPECT_NEAR(fit->parameters.peak_fraction / truth.peak_fraction, 1, 0.01);
  EXPECT_NEAR(fit->parameters.memory_fraction / truth.memory_fraction, 1, 0.01);
  EXPECT_NEAR(fit->parameters.floor / truth.floor, 1, 0.02);
  EXPECT_LT(fit->part.in_sample.median, 0.003);
}

TEST(KernelCalibration, BadRowsAreNamedAndTheRestIsUsed) {
  const auto table = parse_comma_separated(
      "accelerator,dtype,m,n,k,latency_us,library\n"
      "h100-sxm,bf16,4096,4096,4096,200,x\n"
      "h100-sxm,bf16,4096,4096,4096,201,x\n"
      "h100-sxm,bf16,4096,4096,4096,0.2,x\n"
      "h100-sxm,int3,4096,4096,4096,200,x\n"
      "h100-smx,bf16,4096,4096,4096,200,x\n"
      "a100-80gb-sxm,fp8,4096,4096,4096,200,x\n"
      "h100-sxm,bf16,4096,4096.5,4096,200,x\n",
      "g.csv");
  ASSERT_TRUE(table);
  const std::vector<CommaSeparated> tables = {*table};
  const KernelMeasurements all = read_kernel_measurements(tables, Catalog::built_in());
  EXPECT_EQ(all.rows, 7U);
  EXPECT_EQ(all.used, 1U);
  std::string text;
  for (const RowProblem& p : all.problems) text += p.where + ": " + p.what + "\n";
  EXPECT_THAT(text, testing::HasSubstr("g.csv:3: measures the same as g.csv:2\n"));
  EXPECT_THAT(text,
              testing::HasSubstr("g.csv:4: 6.872e+05 TFLOP/s are more than the peak of 989\n"));
  EXPECT_THAT(text, testing::HasSubstr("g.csv:5: dtype 'int3' is none of bf16, fp16, fp8"));
  EXPECT_THAT(text, testing::HasSubstr("g.csv:6: "));
  EXPECT_THAT(text, testing::HasSubstr("did you mean 'h100-sxm'?"));
  EXPECT_THAT(text, testing::HasSubstr("g.csv:7: a100-80gb-sxm has no fp8 peak\n"));
  EXPECT_THAT(text, testing::HasSubstr("g.csv:8: n 4096.5 is not a whole number\n"));
}

// Microseconds written as nanoseconds are a thousand times too long: no kernel is that slow.
TEST(KernelCalibration, TimesInTooSmallAUnitAreNamed) {
  const auto problems_of = [](const std::string& text) {
    const std::vector<CommaSeparated> tables = {*parse_comma_separated(text, "t.csv")};
    const KernelMeasurements all = read_kernel_measurements(tables, Catalog::built_in());
    EXPECT_EQ(all.used, 1U) << text;
    return all.problems.size() == 1 ? all.problems.front().where + ": " + all.problems.front().what
                                    : std::to_string(all.problems.size()) + " problems";
  };
  EXPECT_EQ(problems_of("accelerator,dtype,m,n,k,latency_us\n"
                        "l40s,bf16,4096,4096,4096,620\n"
                        "l40s,bf16,4096,4096,2048,310000\n"),
            "t.csv:3: 3.1e+05 us are 1.12e+03 times the 277.5 us at peak rates, launch included: "
            "wrong unit?");
  const char* const wrong = "times the ";
  EXPECT_THAT(problems_of("accelerator,dtype,batch,seq_len,num_heads,num_kv_heads,head_dim,"
                          "latency_us\n"
                          "a100-80gb-sxm,bf16,1,128,8,1,128,16.725\n"
                          "a100-80gb-sxm,bf16,1,128,8,8,128,16384\n"),
              testing::HasSubstr(wrong));
  EXPECT_THAT(problems_of("accelerator,hidden,ffn,tp,num_tokens,op,median_latency_us\n"
                          "a100-80gb-sxm,8192,28672,1,1,add,2\n"
                          "a100-80gb-sxm,8192,28672,1,2,add,2000\n"),
              testing::HasSubstr(wrong));
  EXPECT_THAT(problems_of("accelerator,op,shape,efficiency,peak_tflops\n"
                          "a100-80gb-pcie,matmul,\"b=1, m=4096, k=5120, n=1536\",0.78,312\n"
                          "a100-80gb-pcie,matmul,\"b=1, m=4096, k=5120, n=512\",0.0008,312\n"),
              testing::HasSubstr(wrong));
  EXPECT_THAT(problems_of("accelerator,direction,dtype,causal,head_dim,seq_len,implementation,"
                          "tflops\n"
                          "h100-sxm,fwd,fp16/bf16,true,64,8192,standard,18\n"
                          "h100-sxm,fwd,fp16/bf16,true,128,8192,standard,0.06\n"),
              testing::HasSubstr(wrong));
}

// Training operators: each of another machine than the micro-benchmarks, by one parameter, the
// sustained clock.
TEST(KernelCalibration, ProductsOfATrainingStepAreMetAtTheSustainedClock) {
  std::map<std::string, std::vector<double>> errors;
  for (const MeasuredGemm& row : measurements().in_training) {
    if (row.shape.groups > 1) continue;
    const Accelerator a = load_accelerator(Catalog::built_in(), row.accelerator).value();
    static std::map<std::string, KernelModel> models;
    const auto model =
        models.try_emplace(row.accelerator, load_kernel_parameters(Catalog::built_in(), a).value());
    const double predicted = model.first->second.gemm(row.shape, row.format).value();
    errors[row.accelerator].push_back(std::abs(predicted / row.measured.value() - 1));
  }
  EXPECT_LE(quantile(errors["a100-80gb-pcie"], 0.5), 0.02);
  EXPECT_LE(quantile(errors["b200-sxm"], 0.5), 0.06);
}

}  // namespace
}  // namespace orrery
