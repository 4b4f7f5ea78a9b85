#include "calibrate/network_fit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "calibrate/collective_measurements.h"
#include "calibrate/measured_tables.h"
#include "cluster/cluster.h"
#include "cost/collective/collective_parameters.h"

namespace orrery {
namespace {

constexpr const char* kHeader =
    "machine,accelerator,collective,num_gpus,num_nodes,bytes,latency_us\n";

Calibration network_calibration(const std::string& text, int folds = 5) {
  const std::vector<CommaSeparated> tables = {value_of(parse_comma_separated(text, "net.csv"))};
  const CalibrationRequest request{&Catalog::built_in(), "", true, "2026-01-02", folds};
  return value_of(network_measurement_kind().calibrate(tables, request));
}

double fitted(const CalibratedPart& part, const std::string& name) {
  for (const FittedParameter& p : part.parameters) {
    if (p.name == name) return p.value;
  }
  ADD_FAILURE() << "no parameter " << name;
  return 0;
}

// Two nodes of H100 whose messages and rings follow the model exactly: 40 GB/s for the cards of one
// rank per node, 90 for those of four.
TEST(NetworkFit, FindsTheRatesThatMadeTheMeasurements) {
  const CollectiveParameters parameters =
      value_of(load_collective_parameters(Catalog::built_in(), "hopper"));
  const Cluster cluster = value_of(parse_cluster_name("h100-sxm:8", Catalog::built_in()));
  const auto network = [](double rate) {
    FabricLevel level;
    level.name = "infiniband";
    level.bandwidth = BytesPerSecond(rate);
    return level;
  };
  std::ostringstream text;
  text << kHeader;
  for (double bytes = 4096; bytes < 2e9; bytes *= 2) {
    FabricLevel slow = network(30e9);
    slow.latency = Seconds(4e-6);
    const Seconds message = point_to_point(Bytes(bytes), slow, parameters);
    text << "m,h100-sxm,send-recv,2,2," << bytes << ',' << message.value() * 1e6 << '\n';
    for (const auto& [own, rate] : {std::pair(1, 40e9), std::pair(4, 90e9)}) {
      const Seconds time =
          collective(CollectiveKind::all_reduce, Bytes(bytes), {2 * own, {own, 2 * own}},
                     {cluster.levels.front(), network(rate / own)}, parameters)
              .time;
      text << "m,h100-sxm,all-reduce," << 2 * own << ",2," << bytes << ',' << time.value() * 1e6
           << '\n';
    }
  }
  const Calibration done = network_calibration(text.str());
  EXPECT_TRUE(done.problems.empty());
  EXPECT_EQ(done.used, done.rows);
  ASSERT_EQ(done.reports.size(), 1u);
  ASSERT_EQ(done.reports.front().parts.size(), 2u);
  const CalibratedPart& messages = done.reports.front().parts[0];
  EXPECT_NEAR(fitted(messages, "message.rate"), 30, 0.1);
  EXPECT_NEAR(fitted(messages, "message.latency"), 4, 0.1);
  const CalibratedPart& collectives = done.reports.front().parts[1];
  EXPECT_NEAR(fitted(collectives, "rate of 1 ranks a node"), 40, 2);
  EXPECT_NEAR(fitted(collectives, "rate of 4 ranks a node"), 90, 5);
  EXPECT_LT(collectives.held_out.value().median, 0.03);
}

// Nodes of DGX machines, and PCIe servers, one and two of each.
TEST(NetworkFit, HoldsTenPercentOnTwoMeasuredNodes) {
  std::ifstream file(ORRERY_SOURCE_DIR "/validation/kernels/vidur-network-measured.csv");
  std::ostringstream text;
  text << file.rdbuf();
  const Calibration done = network_calibration(text.str());
  EXPECT_EQ(done.rows, 438u);
  EXPECT_EQ(done.used, 438u);
  ASSERT_EQ(done.reports.size(), 5u);  // and all machines together
  EXPECT_EQ(done.reports.back().parts.front().in_sample.rows, 438);
  const std::vector<CalibratedPart>& a100 = done.reports[0].parts;
  ASSERT_EQ(a100.size(), 4u);                         // inside a node, and between two
  EXPECT_LT(a100[1].held_out.value().median, 0.02);   // messages
  EXPECT_LT(a100[3].held_out.value().median, 0.095);  // all-reduce
  EXPECT_LT(done.reports[2].parts.at(1).held_out.value().median, 0.06);
  EXPECT_TRUE(done.reports[0].files.empty());
}

// What others published of whole systems, one line of nccl-tests a size: median and 90th percentile
// of the sizes held out, and of the whole system predicted from its datasheet, as
// docs/models/collectives.md shows them.
TEST(NetworkFit, PredictsAPublishedSystemFromItsOtherSizesAndFromItsDatasheet) {
  std::ifstream file(ORRERY_SOURCE_DIR "/validation/kernels/nccl-multinode-measured.csv");
  std::ostringstream text;
  text << file.rdbuf();
  const Calibration done = network_calibration(text.str());
  EXPECT_EQ(done.rows, 109u);
  struct Bound {
    std::string machine;
    double median, p90;
    double left_out_median, left_out_p90;
  };
  for (const auto& [machine, median, p90, left_out_median, left_out_p90] :
       {Bound{"oci-hpc-oke README", 0.05, 0.13, 0.08, 0.19},
        Bound{"NVIDIA/nccl-tests#309 (gj-aion)", 0.03, 0.10, 0.08, 0.13},
        Bound{"NVIDIA/nccl-tests#309", 0.11, 0.28, 0.07, 0.25},
        Bound{"Azure/AI-benchmarking-guide ND_H100_v5_results.md", 0.10, 0.29, 0.12, 0.51}}) {
    const auto report = std::ranges::find_if(
        done.reports, [&](const CalibrationReport& r) { return r.subject == machine; });
    ASSERT_NE(report, done.reports.end()) << machine;
    const ErrorSummary& held_out = report->parts.front().held_out.value();
    EXPECT_LT(held_out.median, median) << machine;
    EXPECT_LT(held_out.p90, p90) << machine;
    const ErrorSummary& left_out = report->parts.front().left_out.value();
    EXPECT_LT(left_out.median, left_out_median) << machine;
    EXPECT_LT(left_out.p90, left_out_p90) << machine;
  }
}

// AWS's network is taken not to deliver in order: four nodes of it are within 10 % in the median and
// 20 % of nine of ten sizes.
TEST(NetworkFit, TakesTheNodeThatARowNames) {
  std::ifstream file(ORRERY_SOURCE_DIR "/validation/kernels/p6-b200-measured.csv");
  std::ostringstream text;
  text << file.rdbuf();
  const Calibration done = network_calibration(text.str());
  EXPECT_EQ(done.used, 37u);
  ASSERT_EQ(done.reports.size(), 1u);
  const auto between = std::ranges::find(done.reports.front().parts, "collectives between nodes",
                                         &CalibratedPart::name);
  ASSERT_NE(between, done.reports.front().parts.end());
  const ErrorSummary& left_out = between->left_out.value();
  EXPECT_EQ(left_out.rows, 17);
  EXPECT_LT(left_out.median, 0.10);
  EXPECT_LT(left_out.p90, 0.20);
}

// Two nodes of AWS P6 whose messages and rings of one rank a node take Simple alone: the fit finds what
// made them and nothing of LL.
TEST(NetworkFit, FitsSimpleAloneWhereANetworkDoesNotDeliverInOrder) {
  const CollectiveParameters parameters =
      value_of(load_collective_parameters(Catalog::built_in(), "blackwell"));
  const Cluster cluster = value_of(parse_cluster_name("aws-p6-b200:16", Catalog::built_in()));
  FabricLevel network;
  network.name = "infiniband";
  network.bandwidth = BytesPerSecond(30e9);
  network.latency = Seconds(12e-6);
  network.ordered_delivery = false;
  ASSERT_FALSE(cluster.levels.back().ordered_delivery);
  std::ostringstream text;
  text << "machine,accelerator,collective,num_gpus,num_nodes,bytes,latency_us,node\n";
  for (double bytes = 4096; bytes < 2e9; bytes *= 2) {
    const Seconds message = point_to_point(Bytes(bytes), network, parameters);
    text << "m,b200-sxm,send-recv,2,2," << bytes << ',' << message.value() * 1e6
         << ",aws-p6-b200\n";
    const Seconds ring = collective(CollectiveKind::all_reduce, Bytes(bytes), {2, {1, 2}},
                                    {cluster.levels.front(), network}, parameters)
                             .time;
    text << "m,b200-sxm,all-reduce,2,2," << bytes << ',' << ring.value() * 1e6 << ",aws-p6-b200\n";
  }
  const Calibration done = network_calibration(text.str());
  EXPECT_TRUE(done.problems.empty());
  ASSERT_EQ(done.reports.size(), 1u);
  ASSERT_EQ(done.reports.front().parts.size(), 2u);
  const CalibratedPart& messages = done.reports.front().parts[0];
  EXPECT_NEAR(fitted(messages, "message.latency"), 12, 0.1);
  EXPECT_NEAR(fitted(messages, "message.rate"), 30, 0.1);
  const CalibratedPart& collectives = done.reports.front().parts[1];
  EXPECT_NEAR(fitted(collectives, "rate of 1 ranks a node"), 30, 2);
  for (const FittedParameter& p : collectives.parameters) {
    EXPECT_EQ(p.name.find("low_latency"), std::string::npos) << p.name;
  }
  EXPECT_LT(collectives.held_out.value().median, 0.03);
}

TEST(NetworkFit, NamesRowsItCannotUseAndUsesTheRest) {
  const auto rows = [](const std::string& body) {
    std::vector<RowProblem> problems;
    const std::vector<CommaSeparated> tables = {
        value_of(parse_comma_separated(kHeader + body, "net.csv"))};
    const std::size_t used = network_measurements(tables, problems).size();
    return std::pair(used, problems.empty() ? std::string() : problems.front().what);
  };
  const std::string good = "m,h100-sxm,all-reduce,16,2,1048576,90\n";
  EXPECT_EQ(rows(good), std::pair(std::size_t{1}, std::string()));
  for (const auto& [line, why] : {
           std::pair("m,h100-sxm,all-reduce,15,2,4096,90", "not a multiple of num_nodes"),
           std::pair("m,h100-sxm,send-recv,4,2,4096,90", "send-recv joins 2 ranks"),
           std::pair("m,h100-sxm,scan,16,2,4096,90", "collective is 'scan'"),
           std::pair("m,h100-sxm,all-reduce,16,0,4096,90", "num_nodes"),
           std::pair("m,h100-sxm,all-reduce,16,2,4096,-3", "latency_us"),
           std::pair("m,h100-sxm,all-reduce,16,2,1e10,0.09", "wrong unit"),
           std::pair("m,h100-sxm,all-reduce,16,2,4096,90000", "wrong unit"),
           std::pair(",h100-sxm,all-reduce,16,2,4096,90", "machine is empty"),
           std::pair("m,h100-sxm,all-reduce,16,2,1048576,91", "measures the same as net.csv:2"),
           std::pair("m,h100-sxm,all-reduce,16,2", "fields"),
       }) {
    const auto [used, problem] = rows(good + line + "\n");
    EXPECT_EQ(used, 1u) << line;
    EXPECT_NE(problem.find(why), std::string::npos) << line << ": " << problem;
  }
  // Of an accelerator without a node, or with more ranks than its node holds.
  const Calibration done =
      network_calibration(kHeader + good + "m,h100-sxm,all-reduce,32,2,4096,90\n" +
                          "m,abacus,all-reduce,16,2,4096,90\n");
  EXPECT_EQ(done.used, 1u);
  ASSERT_EQ(done.problems.size(), 2u);
  EXPECT_NE(done.problems[0].what.find("a node of h100-sxm holds 8, not 16"), std::string::npos);
  EXPECT_NE(done.problems[1].what.find("no node of 'abacus'"), std::string::npos);
  // Of a machine whose earlier rows are of another node.
  const Calibration two = network_calibration(
      "machine,accelerator,collective,num_gpus,num_nodes,bytes,latency_us,node\n"
      "m,h100-sxm,all-reduce,16,2,1048576,90,aws-p5\n"
      "m,h100-sxm,all-reduce,16,2,4096,90,dgx-h100\n");
  EXPECT_EQ(two.used, 1u);
  ASSERT_EQ(two.problems.size(), 1u);
  EXPECT_EQ(two.problems[0].what, "rows of one machine name two nodes: 'aws-p5' and 'dgx-h100'");
}

}  // namespace
}  // namespace orrery
