// The model against the published measurements it was fitted on. The bounds are the errors of the
// fit, rounded up: they may only be lowered. docs/models/kernels.md shows the table printed here.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "calibrate/kernel_measurements.h"

namespace orrery {
namespace {

const std::string kFolder = std::string(ORRERY_SOURCE_DIR) + "/validation/kernels/";

// Burst clocks, as the micro-benchmarks saw them.
const KernelModel& model_of(const std::string& accelerator) {
  static std::map<std::string, KernelModel> models;
  const auto known = models.find(accelerator);
  if (known != models.end()) return known->second;
  const Catalog& catalog = Catalog::built_in();
  const Accelerator a = load_accelerator(catalog, accelerator).value();
  return models
      .emplace(accelerator,
               KernelModel(without_power_cap(load_kernel_parameters(catalog, a).value())))
      .first->second;
}

class Table {
 public:
  template <class Row>
  void add(const std::string& name, const Row& row) {
    errors_[name].push_back(std::abs(predict(model_of(row.accelerator), row) / row.measured - 1));
  }
  // Prints the groups and checks the median of each against its bound.
  void check(const std::map<std::string, double>& bounds) {
    for (auto& [name, e] : errors_) {
      std::sort(e.begin(), e.end());
      double sum = 0;
      for (const double x : e) sum += x;
      const double median = e[e.size() / 2];
      std::printf("| %s | %zu | %.1f %% | %.1f %% | %.1f %% |\n", name.c_str(), e.size(),
                  100 * median, 100 * sum / static_cast<double>(e.size()),
                  100 * e[(e.size() - 1) * 9 / 10]);
      const auto bound = bounds.find(name);
      EXPECT_NE(bound, bounds.end()) << "no bound for " << name;
      if (bound != bounds.end()) {
        EXPECT_LE(median, bound->second) << name;
      }
    }
    EXPECT_EQ(errors_.size(), bounds.size());
  }

 private:
  std::map<std::string, std::vector<double>> errors_;
};

// Few rows: a token batch of decoding; many: 512 rows or more, as in training. What matters for
// large narrow products is in the second group; in the first, quantisation hides the product.
TEST(KernelValidation, Products) {
  Table table;
  const auto rows = read_measured_gemms(kFolder + "gemm-measured.csv");
  ASSERT_TRUE(rows) << rows.error().text();
  for (const MeasuredGemm& row : *rows) {
    table.add(row.accelerator + " " + std::string(name_of(row.format)) +
                  (row.shape.m >= 512 ? ", m >= 512" : ", m < 512"),
              row);
  }
  table.check({
      {"a100-80gb-sxm bf16, m < 512", 0.055}, {"a100-80gb-sxm bf16, m >= 512", 0.043},
      {"b200-sxm bf16, m < 512", 0.112},      {"b200-sxm bf16, m >= 512", 0.051},
      {"b200-sxm fp8, m < 512", 0.267},       {"b200-sxm fp8, m >= 512", 0.108},
      {"b200-sxm nvfp4, m < 512", 0.340},     {"b200-sxm nvfp4, m >= 512", 0.047},
      {"gb200 bf16, m < 512", 0.116},         {"gb200 bf16, m >= 512", 0.049},
      {"gb200 fp8, m < 512", 0.267},          {"gb200 fp8, m >= 512", 0.105},
      {"gb200 nvfp4, m < 512", 0.331},        {"gb200 nvfp4, m >= 512", 0.054},
      {"gb300 bf16, m < 512", 0.104},         {"gb300 bf16, m >= 512", 0.040},
      {"gb300 fp8, m < 512", 0.260},          {"gb300 fp8, m >= 512", 0.115},
      {"gb300 nvfp4, m < 512", 0.333},        {"gb300 nvfp4, m >= 512", 0.109},
      {"h100-sxm bf16, m < 512", 0.044},      {"h100-sxm bf16, m >= 512", 0.026},
      {"h100-sxm fp8, m < 512", 0.154},       {"h100-sxm fp8, m >= 512", 0.046},
      {"h200-sxm bf16, m < 512", 0.065},      {"h200-sxm bf16, m >= 512", 0.027},
      {"h200-sxm fp8, m < 512", 0.156},       {"h200-sxm fp8, m >= 512", 0.055},
      {"l40s bf16, m < 512", 0.103},          {"l40s bf16, m >= 512", 0.075},
      {"l40s fp8, m < 512", 0.094},           {"l40s fp8, m >= 512", 0.084},
  });
}

TEST(KernelValidation, PublishedAttention) {
  Table table;
  const auto rows = read_published_attention(kFolder + "flash-attention-published.csv");
  ASSERT_TRUE(rows) << rows.error().text();
  for (const MeasuredAttention& row : *rows) {
    table.add(row.accelerator + " " + row.implementation +
                  (row.direction == MeasuredDirection::forward ? ", forward" : ", both"),
              row);
  }
  table.check({
      {"a100-80gb-sxm flash-attention-1, both", 0.052},
      {"a100-80gb-sxm flash-attention-2, both", 0.008},
      {"a100-80gb-sxm pytorch, both", 0.124},
      {"h100-sxm cudnn, forward", 0.025},
      {"h100-sxm flash-attention-1, both", 0.029},
      {"h100-sxm flash-attention-2, both", 0.011},
      {"h100-sxm flash-attention-2, forward", 0.022},
      {"h100-sxm flash-attention-3, forward", 0.018},
      {"h100-sxm pytorch, both", 0.151},
      {"h100-sxm standard, forward", 0.276},
  });
}

// h100-sxm's library kernel is fitted on cuDNN's published bars; these rows are another library's.
TEST(KernelValidation, ServedAttention) {
  Table table;
  const auto rows = read_measured_prefill(kFolder + "attention-prefill-measured.csv");
  ASSERT_TRUE(rows) << rows.error().text();
  for (const MeasuredAttention& row : *rows) {
    table.add(row.accelerator + (row.shape.queries >= 2048 ? ", s >= 2048" : ", s < 2048"), row);
  }
  table.check({
      {"a100-80gb-sxm, s < 2048", 0.060},
      {"a100-80gb-sxm, s >= 2048", 0.016},
      {"b200-sxm, s < 2048", 0.129},
      {"b200-sxm, s >= 2048", 0.050},
      {"gb200, s < 2048", 0.137},
      {"gb200, s >= 2048", 0.061},
      {"gb300, s < 2048", 0.133},
      {"gb300, s >= 2048", 0.069},
      {"h100-sxm, s < 2048", 0.576},
      {"h100-sxm, s >= 2048", 0.213},
      {"h200-sxm, s < 2048", 0.103},
      {"h200-sxm, s >= 2048", 0.047},
      {"l40s, s < 2048", 0.109},
      {"l40s, s >= 2048", 0.081},
  });
}

// a40 has no calibration: its rows test the fallback to the nearest relative.
TEST(KernelValidation, LayerOperations) {
  Table table;
  const auto rows = read_measured_layer_operations(kFolder + "layer-ops-measured.csv");
  ASSERT_TRUE(rows) << rows.error().text();
  for (const MeasuredLayerOperation& row : *rows) {
    table.add(row.accelerator + (row.moved.value() >= 100e6 ? ", 100 MB and more" : ", less"), row);
  }
  table.check({
      {"a100-80gb-sxm, 100 MB and more", 0.046},
      {"a100-80gb-sxm, less", 0.377},
      {"a40, 100 MB and more", 0.452},
      {"a40, less", 0.556},
      {"h100-sxm, 100 MB and more", 0.109},
      {"h100-sxm, less", 0.566},
  });
}

}  // namespace
}  // namespace orrery
