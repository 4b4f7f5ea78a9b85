// The model against measured collectives. Each row of
// validation/kernels/nccl-collectives-error.csv is a ratchet: the error may fall, not rise.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "cluster/cluster.h"
#include "cost/collective/collective.h"
#include "cost/collective/collective_parameters.h"
#include "cost/collective/token_exchange.h"
#include "outcome/invariant.h"

namespace orrery {
namespace {

using Cells = std::vector<std::string>;

std::vector<Cells> table(const std::string& name) {
  std::ifstream file(std::string(ORRERY_SOURCE_DIR) + "/validation/kernels/" + name);
  std::vector<Cells> out;
  std::string line;
  std::getline(file, line);  // header
  while (std::getline(file, line)) {
    Cells cells;
    std::stringstream stream(line);
    for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
    out.push_back(cells);
  }
  return out;
}

template <class T>
T value_of(Result<T> result) {
  if (!result) throw InvariantError(result.error().text());
  return std::move(*result);
}

struct Platform {
  CollectiveParameters parameters;
  std::vector<FabricLevel> levels;
};

// One node of that accelerator as in the catalog.
const Platform& platform(const std::string& accelerator) {
  static std::map<std::string, Platform> made;
  if (const auto found = made.find(accelerator); found != made.end()) return found->second;
  const Cluster cluster = value_of(parse_cluster_name(accelerator + ":8", Catalog::built_in()));
  return made[accelerator] = {value_of(load_collective_parameters(
                                  Catalog::built_in(), cluster.accelerator.architecture)),
                              {cluster.levels.front()}};
}

CollectiveKind kind_of(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return value_of(parse_enum<CollectiveKind>(name));
}

CollectiveChoice predict(const std::string& accelerator, const std::string& operation, int ranks,
                         double bytes, bool in_switch) {
  const Platform& p = platform(accelerator);
  std::vector<FabricLevel> levels = p.levels;
  levels[0].in_switch_reduction = levels[0].in_switch_reduction && in_switch;
  return collective(kind_of(operation), Bytes(bytes), {ranks, {ranks}}, levels, p.parameters);
}

struct Errors {
  std::vector<double> signed_errors;  // predicted / measured - 1
  [[nodiscard]] double quantile(double q) const {
    std::vector<double> sorted;
    for (const double e : signed_errors) sorted.push_back(std::abs(e));
    std::sort(sorted.begin(), sorted.end());
    return sorted[std::min(sorted.size() - 1,
                           static_cast<std::size_t>(q * static_cast<double>(sorted.size())))];
  }
  [[nodiscard]] double mean() const {
    double sum = 0;
    for (const double e : signed_errors) sum += e;
    return sum / static_cast<double>(signed_errors.size());
  }
};

std::string regime(double bytes) {
  return bytes < 64 * 1024 ? "below 64 KiB" : bytes < 8 * 1024 * 1024 ? "to 8 MiB" : "above";
}

// Key: accelerator,collective,regime. Rows of int8 other than all-reduce repeat those of fp16 and
// are left out; those of all-reduce show the fabric without in-switch reduction.
std::map<std::string, Errors> errors_by_regime() {
  std::map<std::string, Errors> out;
  for (const Cells& row : table("nccl-collectives-measured.csv")) {
    const bool plain = row[2] == "int8";
    if (plain && row[1] != "all-reduce") continue;
    const double bytes = std::stod(row[4]);
    const double predicted =
        predict(row[0], row[1], std::stoi(row[3]), bytes, !plain).time.value() * 1e6;
    const bool by_host = row[0] == "l40s" && std::stoi(row[3]) > 2;
    const std::string accelerator = by_host ? "l40s (4 and 8 ranks)" : row[0];
    out[accelerator + "," + row[1] + (plain ? " (ring and tree only)" : "") + "," + regime(bytes)]
        .signed_errors.push_back(predicted / std::stod(row[5]) - 1);
  }
  return out;
}

TEST(Validation, ErrorsOfMeasuredCollectivesOnlyFall) {
  std::map<std::string, Errors> errors = errors_by_regime();
  std::string now = "accelerator,collective,payload,rows,median_percent,p90_percent,mean_percent\n";
  for (const auto& [key, e] : errors) {
    char line[200];
    std::snprintf(line, sizeof line, "%s,%zu,%.1f,%.1f,%.1f\n", key.c_str(), e.signed_errors.size(),
                  100 * e.quantile(0.5), 100 * e.quantile(0.9), 100 * e.mean());
    now += line;
  }
  const std::vector<Cells> recorded = table("nccl-collectives-error.csv");
  bool worse = recorded.size() != errors.size();
  for (const Cells& row : recorded) {
    const Errors& e = errors[row[0] + "," + row[1] + "," + row[2]];
    ASSERT_FALSE(e.signed_errors.empty()) << row[0] << ' ' << row[1] << ' ' << row[2];
    EXPECT_EQ(e.signed_errors.size(), std::stoul(row[3]));
    const double slack = 0.0006;  // half the last digit printed
    worse = worse || e.quantile(0.5) > std::stod(row[4]) / 100 + slack ||
            e.quantile(0.9) > std::stod(row[5]) / 100 + slack;
  }
  EXPECT_FALSE(worse) << "errors rose; they are now\n" << now;
}

// What the catalog says of its fits is so, and what was held out is as good.
TEST(Validation, TheCatalogStatesTheErrorOfItsFits) {
  std::map<std::string, Errors> errors;
  for (const Cells& row : table("nccl-collectives-measured.csv")) {
    const double predicted =
        predict(row[0], row[1], std::stoi(row[3]), std::stod(row[4]), row[2] != "int8")
            .time.value() *
        1e6;
    errors[platform(row[0]).parameters.name].signed_errors.push_back(predicted / std::stod(row[5]) -
                                                                     1);
  }
  ASSERT_EQ(errors.size(), 4u);
  for (const auto& [architecture, e] : errors) {
    const CollectiveParameters p =
        value_of(load_collective_parameters(Catalog::built_in(), architecture));
    ASSERT_FALSE(p.fits.empty()) << architecture;
    const CollectiveFit& fit = p.fits.front();
    EXPECT_EQ(fit.rows, static_cast<int>(e.signed_errors.size()));
    EXPECT_NEAR(e.quantile(0.5), fit.median_error, 0.002) << architecture;
    EXPECT_NEAR(e.quantile(0.9), fit.p90_error, 0.006) << architecture;
    EXPECT_LT(std::abs(e.mean()), 0.03) << architecture;
    EXPECT_LE(fit.cross_validated_median, 0.08) << architecture;
    EXPECT_LE(fit.cross_validated_median, fit.median_error + 0.01) << architecture;
  }
}

// Bus bandwidth of 512 MiB over 8 accelerators, and the time of the least message.
TEST(Validation, HeadlineAllReduceOfEightAccelerators) {
  struct Headline {
    std::string accelerator;
    bool in_switch;
    double gigabytes_per_second;  // 512 MiB
    double floor_us;              // 8 B to 1 KiB
  };
  const std::vector<Headline> headlines = {{"a100-80gb-sxm", true, 222, 21.3},
                                           {"h100-sxm", true, 445, 15.6},
                                           {"h100-sxm", false, 351, 15.6},
                                           {"h200-sxm", true, 460, 16.0},
                                           {"b200-sxm", true, 704, 25.1}};
  const double bytes = 512.0 * 1024 * 1024;
  for (const Headline& h : headlines) {
    const double time = predict(h.accelerator, "all-reduce", 8, bytes, h.in_switch).time.value();
    EXPECT_NEAR(bytes * 14 / 8 / time / 1e9 / h.gigabytes_per_second, 1, 0.085)
        << h.accelerator << h.in_switch;
    const double least =
        predict(h.accelerator, "all-reduce", 8, 512, h.in_switch).time.value() * 1e6;
    EXPECT_NEAR(least / h.floor_us, 1, 0.15) << h.accelerator;
  }
  EXPECT_EQ(predict("h100-sxm", "all-reduce", 8, bytes, true).algorithm,
            CollectiveAlgorithm::in_switch);
  EXPECT_EQ(predict("a100-80gb-sxm", "all-reduce", 8, bytes, true).algorithm,
            CollectiveAlgorithm::ring);
}

// Two racks of GB200 are joined by no switch that reduces, and their largest all-reduce has the rate
// of a ring, which is fitted to one node of four.
TEST(Validation, AllReduceOverTwoRacks) {
  const Cluster cluster = value_of(parse_cluster_name("gb200:128", Catalog::built_in()));
  const double bytes = 32.0 * 1024 * 1024 * 1024;
  const CollectiveChoice choice =
      collective(CollectiveKind::all_reduce, Bytes(bytes), {128, {64, 128}}, cluster.levels,
                 platform("gb200").parameters);
  EXPECT_EQ(choice.algorithm, CollectiveAlgorithm::ring);
  EXPECT_NEAR(choice.time.value() / 99744.6e-6, 1, 0.02);
}

// B200, 4 nodes of 8, 50 GB/s a card: an all-reduce of 4 GiB and more has a bus bandwidth of 377 to
// 382 GB/s (stas00/ml-engineering commit 744d01e).
TEST(Validation, AllReduceOverFourNodesOfB200) {
  const Cluster cluster = value_of(parse_cluster_name("b200-sxm:32", Catalog::built_in()));
  const double bytes = 16.0 * 1024 * 1024 * 1024;
  const double time = collective(CollectiveKind::all_reduce, Bytes(bytes), {32, {8, 32}},
                                 cluster.levels, platform("b200-sxm").parameters)
                          .time.value();
  EXPECT_NEAR(bytes * 2 * 31 / 32 / time / 381.8e9, 1, 0.03);
}

// DeepSeek's exchange kernels, fp8 dispatch of 4096 tokens: bandwidth of the bottleneck link, which
// counts what stays on the rank or node. H800: NVLink 200 GB/s nominal, one 400 Gb/s card an
// accelerator. Not fitted: the share of NVLink is that of H100.
TEST(Validation, TokenExchangeOfDeepEp) {
  const Platform& hopper = platform("h100-sxm");
  std::vector<FabricLevel> levels = hopper.levels;
  levels[0].bandwidth = BytesPerSecond(200e9);
  FabricLevel network;
  network.name = "infiniband-ndr";
  network.bandwidth = BytesPerSecond(50e9);
  network.latency = Seconds(1.3e-6);
  network.efficiency = 0.96;
  levels.push_back(network);
  int compared = 0;
  for (const Cells& row : table("deepep-published.csv")) {
    if (row[0] != "h800-sxm" || row[1] != "normal") continue;
    const int ranks = std::stoi(row[3]);
    const Bytes token(7168 * (1 + 4.0 / 128));
    const double units = ranks == 8 ? 8 : ranks / 8.0;
    const double counted = 4096 * token.value() * distinct_units(units, 256, 8);
    const double time = token_exchange_time({4096, token, 8, 256, true}, {ranks, {8, ranks}},
                                            levels, hopper.parameters)
                            .value();
    EXPECT_NEAR(counted / time / 1e9 / std::stod(row[9]), 1, 0.15) << ranks << " ranks";
    ++compared;
  }
  EXPECT_EQ(compared, 4);
}

// Send and receive between two accelerators, 512 KiB and more. Not fitted.
TEST(Validation, SendReceiveOnOneNode) {
  Errors errors;
  for (const Cells& row : table("vidur-network-measured.csv")) {
    const double bytes = std::stod(row[5]);
    if (row[2] != "send-recv" || row[4] != "1" || bytes < 512 * 1024) continue;
    const Platform& p = platform(row[1]);
    errors.signed_errors.push_back(point_to_point(Bytes(bytes), p.levels[0], p.parameters).value() *
                                       1e6 / std::stod(row[6]) -
                                   1);
  }
  EXPECT_GT(errors.signed_errors.size(), 10u);
  EXPECT_LT(errors.quantile(0.5), 0.12) << "mean " << errors.mean();
  EXPECT_LT(errors.quantile(0.9), 0.30);
}

}  // namespace
}  // namespace orrery
