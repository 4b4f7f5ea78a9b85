#include "infer/kernel_comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "calibrate/collective_calibration.h"
#include "calibrate/kernel_calibration.h"
#include "calibrate/kernel_measurements.h"
#include "infer/kernel_tables.h"
#include "trace/recorded_run.h"

namespace orrery {
namespace {

using testing::HasSubstr;

RecordedRun run_of(const std::string& file) {
  auto run = read_run({std::string(ORRERY_SOURCE_DIR) + "/validation/traces/" + file});
  EXPECT_TRUE(run) << run.error().text();
  return run ? std::move(*run) : RecordedRun{};
}

const char* const kQwen = "TraceLens/h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz";
const char* const kMegatron = "astra-sim/megatron-tp8";

// The folder holds host execution traces beside the profiler's.
const RecordedRun& megatron() {
  static const RecordedRun run = [] {
    std::vector<std::string> files;
    for (int rank = 0; rank < 8; ++rank) {
      files.push_back(std::string(ORRERY_SOURCE_DIR) + "/validation/traces/" + kMegatron +
                      "/kineto_rank" + std::to_string(rank) + ".json.gz");
    }
    auto read = read_run(files);
    EXPECT_TRUE(read) << read.error().text();
    return read ? std::move(*read) : RecordedRun{};
  }();
  return run;
}

const RecordedKernel* largest(const RecordedKernels& all, RecordedKernelKind kind) {
  for (const RecordedKernel& k : all.kernels) {
    if (k.kind == kind) return &k;
  }
  return nullptr;
}

TEST(RecordedKernels, LoseNoTime) {
  for (const char* file : {kQwen, "ao/ref_ep_moe_fwd.json.gz",
                           "HolisticTraceAnalysis/nccl_parser_config/nccl_data.json.gz"}) {
    const RecordedRun run = run_of(file);
    double device_ns = 0;
    for (const RecordedTrace& trace : run.ranks) {
      for (std::size_t e = 0; e < trace.size(); ++e) {
        if (is_device_work(trace.kind[e])) device_ns += static_cast<double>(trace.duration_ns[e]);
      }
    }
    const RecordedKernels all = recorded_kernels(run.ranks);
    double sum = 0;
    for (const RecordedKernel& k : all.kernels) sum += k.total.value();
    EXPECT_NEAR(all.total.value(), device_ns * 1e-9, 1e-12) << file;
    EXPECT_NEAR(sum, all.total.value(), 1e-9) << file;
  }
}

TEST(RecordedKernels, OfMegatronAreItsProductsAndReductions) {
  // validation/traces/astra-sim/README.md: hidden 4096, tp 8, sequence 2048, micro-batch 4, fp16;
  // 64 MiB all-reduces whose transfer takes about 0.6 ms whatever their recorded durations.
  const RecordedKernels all = recorded_kernels(megatron().ranks);
  const auto product = std::find_if(all.kernels.begin(), all.kernels.end(), [](const auto& k) {
    return k.kind == RecordedKernelKind::product && k.product.n == 1536;
  });
  ASSERT_NE(product, all.kernels.end());
  EXPECT_EQ(product->product.m, 8192);  // 2048 x 4 tokens by 3 x 4096 / 8 heads
  EXPECT_EQ(product->product.k, 4096);
  EXPECT_EQ(product->format, NumberFormat::fp16);
  EXPECT_EQ(product->calls, 40 * 8);  // layers, ranks
  const RecordedKernel* reduction = largest(all, RecordedKernelKind::communication);
  ASSERT_NE(reduction, nullptr);
  EXPECT_EQ(reduction->collective, CollectiveKind::all_reduce);
  EXPECT_EQ(reduction->ranks, 8);
  EXPECT_EQ(reduction->moved, Bytes(2.0 * 8192 * 4096));
  EXPECT_FALSE(reduction->waiting_included);
  EXPECT_NEAR(reduction->time.value(), 0.6e-3, 0.05e-3);
  const auto norm = std::find_if(all.kernels.begin(), all.kernels.end(), [](const auto& k) {
    return k.name == "FusedLayerNormAffineFunction";
  });
  ASSERT_NE(norm, all.kernels.end());
  EXPECT_EQ(norm->moved, Bytes(2 * (2 * 8192.0 * 4096 + 2 * 4096)));  // read, written, two weights
}

TEST(RecordedKernels, OfOneRankHoldWaiting) {
  const RecordedKernels all = recorded_kernels(std::span(megatron().ranks).first(1));
  const RecordedKernel* reduction = largest(all, RecordedKernelKind::communication);
  ASSERT_NE(reduction, nullptr);
  EXPECT_TRUE(reduction->waiting_included);
  EXPECT_GE(reduction->time.value(), 0.5e-3);
  for (const KernelTable& table : kernel_tables(all, "a100-80gb-sxm", "rank0")) {
    EXPECT_NE(table.file, "recorded-collectives.csv");
  }
}

TEST(RecordedKernels, TellFormatsApart) {
  EXPECT_EQ(recorded_format("c10::Half", ""), NumberFormat::fp16);
  EXPECT_EQ(recorded_format("c10::Float8_e4m3fn", ""), NumberFormat::fp8);
  EXPECT_EQ(recorded_format("float", "ampere_sgemm_128x64_tn"), NumberFormat::fp32);
  EXPECT_EQ(recorded_format("float", "sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n"), NumberFormat::tf32);
  EXPECT_EQ(recorded_format("float", "ampere_s1688gemm_fp32"), NumberFormat::tf32);
  EXPECT_FALSE(recorded_format("long int", ""));
}

TEST(KernelComparison, PricesMegatronAsItRan) {
  const auto c = kernel_comparison(megatron().ranks, Catalog::built_in());
  ASSERT_TRUE(c) << c.error().text();
  EXPECT_EQ(c->accelerator, "a100-80gb-sxm");
  EXPECT_GT(c->covered / (c->total - c->waiting), 0.9);
  const auto of = [&](std::string_view name) {
    return *std::find_if(c->classes.begin(), c->classes.end(),
                         [&](const ComparedClass& k) { return k.name == name; });
  };
  // Median over shapes; nothing of these kernels was fitted.
  EXPECT_LT(of("product fp16").errors->median, 0.08);
  EXPECT_NEAR(of("product fp16").predicted / of("product fp16").recorded, 1, 0.08);
  EXPECT_LT(of("all-reduce").errors->median, 0.12);
  // Every row once: rows of the classes are those with errors.
  int rows = 0;
  for (const ComparedClass& k : c->classes) rows += k.errors ? k.errors->rows : 0;
  EXPECT_EQ(rows, c->errors.rows);
}

TEST(KernelComparison, KeepsWaitingOutOfWhatIsCompared) {
  const auto c = kernel_comparison(megatron().ranks, Catalog::built_in());
  ASSERT_TRUE(c) << c.error().text();
  // 81 all-reduces of about 0.6 ms and three short ones, on each of eight ranks; their kernels take
  // more than 3 s.
  const auto reductions =
      std::find_if(c->classes.begin(), c->classes.end(),
                   [](const ComparedClass& k) { return k.name == "all-reduce"; });
  ASSERT_NE(reductions, c->classes.end());
  EXPECT_NEAR(reductions->total.value(), 8 * 81 * 0.6e-3, 0.03);
  EXPECT_GT(c->waiting.value(), 2.5);
  Seconds sum = c->waiting;
  for (const ComparedClass& k : c->classes) sum += k.total;
  EXPECT_NEAR(sum.value(), c->total.value(), 1e-9);
  EXPECT_LT(c->covered, c->total - c->waiting);
  // One rank's recording cannot tell.
  const auto alone = kernel_comparison(std::span(megatron().ranks).first(1), Catalog::built_in());
  ASSERT_TRUE(alone) << alone.error().text();
  EXPECT_EQ(alone->waiting, Seconds(0));
}

TEST(KernelComparison, SaysWhatItCannotPrice) {
  const auto unnamed = kernel_comparison(
      run_of("HolisticTraceAnalysis/rank_unavailable/rank_not_found.json.gz").ranks,
      Catalog::built_in());
  ASSERT_FALSE(unnamed);
  EXPECT_THAT(unnamed.error().text(), HasSubstr("the recording names no accelerator"));
  const RecordedRun older = run_of("param/linear_kineto.json.gz");
  const auto unknown = kernel_comparison(older.ranks, Catalog::built_in());
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().text(), HasSubstr("the catalog has no 'NVIDIA GeForce RTX 2080 Ti'"));
  EXPECT_TRUE(kernel_comparison(older.ranks, Catalog::built_in(), "a100-80gb-sxm"));
  EXPECT_FALSE(kernel_comparison(older.ranks, Catalog::built_in(), "a100-80gb-sxn"));
  EXPECT_FALSE(kernel_comparison({}, Catalog::built_in()));
}

std::vector<CommaSeparated> parsed(const std::vector<KernelTable>& tables) {
  std::vector<CommaSeparated> out;
  for (const KernelTable& table : tables) {
    auto read = parse_comma_separated(table.text, "folder/" + table.file);
    EXPECT_TRUE(read) << read.error().text();
    if (read) out.push_back(std::move(*read));
  }
  return out;
}

TEST(KernelTables, AreReadByTheCalibration) {
  const RecordedRun run = run_of(kQwen);
  const RecordedKernels all = recorded_kernels(run.ranks);
  const auto tables = kernel_tables(all, "h100-sxm", "a \"quoted\", name");
  std::size_t rows = 0;
  for (const KernelTable& table : tables) rows += table.rows;
  const Catalog& catalog = Catalog::built_in();
  const KernelMeasurements read = read_kernel_measurements(parsed(tables), catalog);
  EXPECT_EQ(read.rows, rows);
  EXPECT_EQ(read.used, rows) << (read.problems.empty() ? "" : read.problems.front().what);
  ASSERT_EQ(read.recorded_attention.size(), 1U);
  const AttentionShape& shape = read.recorded_attention[0].shape;
  EXPECT_EQ(shape.batch, 16);
  EXPECT_EQ(shape.queries, 559);
  EXPECT_EQ(shape.heads, 16);
  EXPECT_EQ(shape.query_key_dim, 64);
  EXPECT_TRUE(shape.causal);
  EXPECT_EQ(read.recorded_attention[0].kernel, AttentionKernel::flash_2);
}

TEST(KernelTables, FitTheClockOfTheRun) {
  const RecordedKernels all = recorded_kernels(run_of(kQwen).ranks);
  const Catalog& catalog = Catalog::built_in();
  CalibrationRequest request;
  request.catalog = &catalog;
  request.date = "2026-11-21";
  const std::vector<MeasurementKind> kinds = {kernel_measurements(), collective_measurement_kind()};
  const auto done = calibrate(parsed(kernel_tables(all, "h100-sxm", "qwen")), kinds, request);
  ASSERT_TRUE(done) << done.error().text();
  ASSERT_EQ(done->size(), 1U);
  ASSERT_EQ((*done)[0].reports.size(), 1U);
  const CalibrationReport& report = (*done)[0].reports[0];
  const auto clock = std::find_if(report.parts.begin(), report.parts.end(),
                                  [](const auto& p) { return p.name == "sustained clock"; });
  ASSERT_NE(clock, report.parts.end());
  EXPECT_LT(clock->in_sample.median, 0.03);
  // The file names the recording as its source, and nothing else of the entry changed.
  ASSERT_EQ(report.files.size(), 1U);
  EXPECT_EQ(report.files[0].path, "kernels/h100-sxm.yaml");
  EXPECT_THAT(report.files[0].text,
              HasSubstr("fitted on products in training sizes in recorded-products.csv, 4 rows"));
  EXPECT_THAT(report.files[0].text, HasSubstr("gemm-measured.csv"));
}

TEST(KernelTables, OfMegatronGiveErrorsWhereRowsAreFew) {
  const RecordedKernels all = recorded_kernels(megatron().ranks);
  const Catalog& catalog = Catalog::built_in();
  CalibrationRequest request;
  request.catalog = &catalog;
  const std::vector<MeasurementKind> kinds = {kernel_measurements(), collective_measurement_kind()};
  const auto done = calibrate(parsed(kernel_tables(all, "a100-80gb-sxm", "tp8")), kinds, request);
  ASSERT_TRUE(done) << done.error().text();
  ASSERT_EQ(done->size(), 2U);
  const CalibrationReport& collectives = (*done)[1].reports.at(0);
  EXPECT_TRUE(collectives.files.empty());
  EXPECT_THAT(collectives.notes.front(), HasSubstr("2 collectives are too few to fit"));
  EXPECT_LT(collectives.parts.at(0).in_sample.median, 0.12);
}

}  // namespace
}  // namespace orrery
