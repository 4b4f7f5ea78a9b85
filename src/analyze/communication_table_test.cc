#include "analyze/communication_table.h"

#include <gmock/gmock.h>

#include "document/value.h"
#include "trace/hand_made_trace.h"
#include "trace/kineto/kineto.h"
#include "trace/published_traces.h"
#include "trace/read_one_rank.h"
#include "trace/recorded_run.h"

namespace orrery {
namespace {

struct Analyzed {
  RecordedRun run;
  CommunicationTable table;
};

Analyzed analyzed(const std::string& folder, int ranks) {
  std::vector<std::string> files;
  for (int r = 0; r < ranks; ++r) {
    files.push_back(kTraces + folder + "/kineto_rank" + std::to_string(r) + ".json.gz");
  }
  RunOptions options;
  options.kineto.python_functions = PythonFunctions::leave_out;
  auto run = read_run(files, options);
  EXPECT_TRUE(run) << run.error().text();
  Analyzed result = {.run = std::move(*run), .table = {}};
  std::vector<LaunchLinks> links;
  for (const RecordedTrace& trace : result.run.ranks) links.push_back(launch_links(trace));
  result.table =
      communication_table(result.run.ranks, links, collective_instances(result.run.ranks));
  return result;
}

void compare_with_metrics(const CommunicationTable& table, const std::string& key) {
  const auto metrics = read_document(kTraces + "metrics.json");
  ASSERT_TRUE(metrics);
  const Value& published = *metrics->root.find(key);
  const auto& sums = published.find("sum_dur_per_rank_ms")->items();
  ASSERT_EQ(table.ranks.size(), sums.size());
  for (std::size_t r = 0; r < sums.size(); ++r) {
    EXPECT_EQ(std::to_string(table.ranks[r].kernels),
              published.find("per_rank_comm_kernels")->items()[r].scalar_text());
    const Value* last = published.find("last_arrival_count_per_rank")->find(std::to_string(r));
    EXPECT_EQ(table.ranks[r].arrived_last, last == nullptr ? 0 : std::stoll(last->scalar_text()))
        << r;
    EXPECT_EQ(table.ranks[r].duration_ns, table.ranks[r].transfer_ns + table.ranks[r].waiting_ns);
  }
}

// Megatron, tensor parallel 8 on A100: 81 all-reduces of 64 MiB that take 0.6 ms each, although the
// recorded durations are up to ten times longer (validation/traces/astra-sim/README.md).
TEST(CommunicationTable, FindsTheTransferTimeBehindTheWaiting) {
  const Analyzed megatron = analyzed("astra-sim/megatron-tp8", 8);
  compare_with_metrics(megatron.table, "astra-sim/#cross:megatron-tp8");
  EXPECT_EQ(megatron.table.matched, 84);
  EXPECT_NEAR(ms(megatron.table.transfer_ns), 50.099, 0.001);
  const auto row = std::find_if(megatron.table.rows.begin(), megatron.table.rows.end(),
                                [](const CommunicationRow& r) { return r.bytes == 67'108'864; });
  ASSERT_NE(row, megatron.table.rows.end());
  EXPECT_EQ(row->collective, Collective::all_reduce);
  EXPECT_EQ(row->type, "Half");
  EXPECT_EQ(row->instances, 81);
  EXPECT_NEAR(ms(row->transfer.median_ns), 0.6, 0.03);
  EXPECT_GT(row->duration.greatest_ns, 10 * row->transfer.median_ns);
  EXPECT_EQ(row->ranks, 8);
  EXPECT_EQ(row->complete, 81);
  EXPECT_NEAR(row->bus_bandwidth().value(), 196e9, 6e9);
  // 112 GB/s algorithm, 196 GB/s bus bandwidth.
  EXPECT_NEAR(67.108864e-3 / ms(row->transfer.median_ns), 0.112, 0.003);
}

TEST(CommunicationTable, BlamesTheRanksThatArriveLast) {
  const Analyzed megatron = analyzed("astra-sim/megatron-tp8", 8);
  std::int64_t waiting = 0;
  std::int64_t caused = 0;
  std::int64_t most = 0;
  for (const RankCommunication& rank : megatron.table.ranks) {
    waiting += rank.waiting_ns;
    caused += rank.caused_waiting_ns;
    most = std::max(most, rank.caused_waiting_ns);
  }
  EXPECT_LE(caused, waiting);
  EXPECT_GE(caused, waiting - waiting / 100);
  // Ranks 0 and 6 are last in 60 of 84.
  EXPECT_GT(megatron.table.ranks[0].caused_waiting_ns + megatron.table.ranks[6].caused_waiting_ns,
            waiting / 2);
}

TEST(CommunicationTable, AgreesWithPublishedFiguresOfTrainingRuns) {
  // Rank 2 comes last, and its recording lacks one exchange that the three others made.
  const Analyzed torchrec = analyzed("torchrec/sst_long_a2a_optimizer", 4);
  EXPECT_EQ(torchrec.table.ranks[2].arrived_last, 12);
  EXPECT_EQ(torchrec.table.ranks[2].kernels, 12);
  EXPECT_EQ(torchrec.table.ranks[0].kernels, 13);
  EXPECT_NEAR(ms(torchrec.table.ranks[2].duration_ns), 36.693, 0.001);
  EXPECT_GT(ms(torchrec.table.ranks[2].caused_waiting_ns), 9000);
  const Analyzed tp2 = analyzed("megatron-lm-fork/tp2", 2);
  compare_with_metrics(tp2.table, "megatron-lm-fork/#cross:tp2");
  EXPECT_NEAR(ms(tp2.table.transfer_ns), 0.269, 0.001);
}

// validation/traces/TraceLens/golden/mi300_resnet_act_checkpoint, sheet coll_analysis.
TEST(CommunicationTable, AgreesWithTraceLensOnOneRank) {
  KinetoOptions options;
  options.python_functions = PythonFunctions::leave_out;
  const auto trace =
      read_kineto(kTraces + "TraceLens/mi300/resnet_act_checkpoint.json.gz", options);
  ASSERT_TRUE(trace);
  const std::span<const RecordedTrace> one(&*trace, 1);
  const LaunchLinks links = launch_links(*trace);
  const CommunicationTable table = communication_table(one, {&links, 1}, collective_instances(one));
  struct Published {
    Collective collective;
    const char* type;
    std::int64_t bytes;
    double sum_us;
  };
  for (const Published& published :
       {Published{Collective::all_reduce, "BFloat16", std::int64_t{2} * 8'816'192, 26798.24},
        Published{Collective::all_reduce, "BFloat16", std::int64_t{2} * 2'873'320, 20338.798},
        Published{Collective::broadcast, "BFloat16", std::int64_t{2} * 9600, 43.675},
        Published{Collective::broadcast, "Long", std::int64_t{8} * 20, 19.597}}) {
    const auto row =
        std::find_if(table.rows.begin(), table.rows.end(), [&](const CommunicationRow& r) {
          return r.collective == published.collective && r.type == published.type &&
                 r.bytes == published.bytes && r.instances == 3;
        });
    ASSERT_NE(row, table.rows.end()) << published.bytes;
    EXPECT_EQ(row->ranks, 8);
    EXPECT_EQ(row->complete, 0);
    EXPECT_NEAR(static_cast<double>(row->duration.total_ns) * 1e-3, published.sum_us, 0.01);
  }
}

TEST(Collective, IsKnownByEveryNameItHas) {
  EXPECT_EQ(collective_of("ncclDevKernel_AllReduce_Sum_f16_RING_LL(ncclDevComm*)"),
            Collective::all_reduce);
  EXPECT_EQ(collective_of("_allgather_base"), Collective::all_gather);
  EXPECT_EQ(collective_of("_reduce_scatter_base"), Collective::reduce_scatter);
  EXPECT_EQ(collective_of("all_to_allv"), Collective::all_to_all);
  EXPECT_EQ(collective_of("nccl:all_to_all"), Collective::all_to_all);
  EXPECT_EQ(collective_of("ncclDevKernel_SendRecv(ncclDevComm*)"), Collective::send_receive);
  EXPECT_EQ(collective_of("ncclDevKernel_Generic(x)"), Collective::other);
}

// nccl-tests, doc/PERFORMANCE.md.
TEST(BusFactor, MakesGroupsOfAnySizeComparable) {
  EXPECT_DOUBLE_EQ(bus_factor(Collective::all_reduce, 8), 1.75);
  EXPECT_DOUBLE_EQ(bus_factor(Collective::all_gather, 8), 0.875);
  EXPECT_DOUBLE_EQ(bus_factor(Collective::broadcast, 8), 1);
  EXPECT_DOUBLE_EQ(bus_factor(Collective::all_reduce, 1), 0);
}

}  // namespace
}  // namespace orrery
