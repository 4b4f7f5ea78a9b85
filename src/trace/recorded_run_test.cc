#include "trace/recorded_run.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "trace/published_traces.h"
#include "trace/read_one_rank.h"

namespace orrery {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

RecordedTrace trace_of(std::int64_t rank, std::int64_t world_size, std::int64_t start_ns,
                       std::string file) {
  RecordedTrace trace;
  trace.rank = rank;
  trace.world_size = world_size;
  trace.file = std::move(file);
  trace.start_ns = {start_ns};
  trace.duration_ns = {1000};
  trace.correlation = {kNotRecorded};
  trace.external_id = {kNotRecorded};
  trace.name = {trace.texts.intern("aten::mm")};
  trace.lanes.emplace_back();
  trace.lane = {0};
  trace.details = {kNoDetails};
  trace.communication = {kNoDetails};
  trace.place = {0};
  trace.kind = {EventKind::cpu_operator};
  return trace;
}

template <class... T>
Result<RecordedRun> run_of(const RunOptions& options, T... traces) {
  std::vector<RecordedTrace> all;
  (all.push_back(std::move(traces)), ...);
  return make_run(std::move(all), options);
}

TEST(RecordedRun, ReadsAFolderInTheOrderOfRanks) {
  const auto run = read_run({kTraces + "torchrec/sst_long_a2a_optimizer_2"});
  ASSERT_TRUE(run.has_value());
  ASSERT_EQ(run->ranks.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(run->ranks[i].rank, static_cast<std::int64_t>(i));
    EXPECT_EQ(run->ranks[i].base_ns, run->ranks[0].base_ns);
  }
  EXPECT_EQ(run->world_size, 4);
}

// Every node has its event. Communication was recorded by the profiler, shapes were not.
TEST(RecordedRun, TakesShapesFromExecutionTraces) {
  const std::string folder = kTraces + "megatron-lm-fork/tp2/";
  const std::string profile = folder + "kineto_rank0.json.gz";
  const auto alone = read_run({profile});
  const auto both = read_run({profile, folder + "pytorch_et_rank0.json.gz"});
  ASSERT_TRUE(alone.has_value() && both.has_value());
  ASSERT_TRUE(both->hosts[0].has_value());
  EXPECT_FALSE(alone->hosts[0].has_value());
  EXPECT_EQ(both->hosts[0]->found, 1880);
  EXPECT_EQ(both->hosts[0]->operators, 1880);
  EXPECT_EQ(both->hosts[0]->communications, 0);
  const RecordedTrace& trace = both->ranks[0];
  EXPECT_EQ(trace.start_ns, alone->ranks[0].start_ns);
  std::int64_t shaped = 0;
  std::int64_t sums = 0;  // of activations of a layer
  for (std::size_t i = 0; i < trace.size(); ++i) {
    if (trace.details[i] == kNoDetails || trace.kind[i] != EventKind::cpu_operator) continue;
    const OperatorDetails& details = trace.operators[trace.details[i]];
    shaped += details.input_shapes != 0 ? 1 : 0;
    sums += trace.texts[details.input_types] == R"(["float", "float", "Scalar"])" &&
                    trace.texts[details.input_shapes] == "[[8, 64, 12], [8, 64, 12], []]" &&
                    trace.texts[details.concrete_inputs] == R"(["", "", "1"])"
                ? 1
                : 0;
  }
  EXPECT_EQ(shaped, both->hosts[0]->shapes);
  EXPECT_GT(sums, 0);
}

// Without its arguments of collectives the profiler's trace gets them back from the other.
TEST(RecordedRun, TakesCollectivesFromExecutionTraces) {
  const std::string folder = kTraces + "megatron-lm-fork/tp2/";
  auto profile = read_kineto(folder + "kineto_rank0.json.gz");
  const auto host = read_host_trace(folder + "pytorch_et_rank0.json.gz");
  ASSERT_TRUE(profile.has_value() && host.has_value());
  const RecordedTrace whole = *read_kineto(folder + "kineto_rank0.json.gz");
  std::fill(profile->communication.begin(), profile->communication.end(), kNoDetails);
  profile->communications.clear();
  profile->groups.clear();
  profile->world_size = kNotRecorded;
  std::vector<RecordedTrace> traces;
  traces.push_back(*std::move(profile));
  const auto run = make_run(std::move(traces), {}, {*host});
  ASSERT_TRUE(run.has_value()) << run.error().text();
  EXPECT_EQ(run->world_size, 2);
  EXPECT_GT(run->ranks[0].groups.size(), 0U);
  std::int64_t kernels = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (whole.kind[i] != EventKind::kernel || whole.communication[i] == kNoDetails) continue;
    ++kernels;
    const RecordedTrace& trace = run->ranks[0];
    ASSERT_NE(trace.communication[i], kNoDetails);
    const CommunicationDetails& want = whole.communications[whole.communication[i]];
    const CommunicationDetails& have = trace.communications[trace.communication[i]];
    EXPECT_EQ(trace.texts[have.collective], whole.texts[want.collective]);
    EXPECT_EQ(trace.texts[have.group], whole.texts[want.group]);
    EXPECT_EQ(have.input_elements, want.input_elements);
    EXPECT_EQ(have.group_size, want.group_size);
  }
  EXPECT_EQ(kernels, 13);
}

TEST(RecordedRun, NeedsTimesBesideExecutionTraces) {
  EXPECT_THAT(read_run({kTraces + "astra-sim/resnet50-2gpu-et"}).error().text(),
              HasSubstr("et_rank0.json.gz: execution traces alone hold no times"));
}

TEST(RecordedRun, IsTheSameForAnyNumberOfThreads) {
  RunOptions several;
  several.threads = 3;
  double last = 0;
  several.progress = [&](double share, const std::string&) { last = share; };
  const auto one = read_run({kTraces + "torchrec/sst_long_a2a_optimizer_4"});
  const auto three = read_run({kTraces + "torchrec/sst_long_a2a_optimizer_4"}, several);
  ASSERT_TRUE(one.has_value() && three.has_value());
  ASSERT_EQ(one->ranks.size(), three->ranks.size());
  for (std::size_t i = 0; i < one->ranks.size(); ++i) {
    EXPECT_EQ(one->ranks[i].start_ns, three->ranks[i].start_ns);
    EXPECT_EQ(one->ranks[i].name, three->ranks[i].name);
    EXPECT_EQ(one->ranks[i].file, three->ranks[i].file);
  }
  EXPECT_GT(last, 0.5);
  EXPECT_LE(last, 1.0);
}

TEST(RecordedRun, PassesOverOtherFilesOfAFolder) {
  const auto run = read_run({kTraces + "astra-sim/megatron-tp8"});  // host traces beside them
  ASSERT_TRUE(run.has_value()) << run.error().text();
  EXPECT_EQ(run->ranks.size(), 8U);
}

TEST(RecordedRun, SortsAndRebases) {
  RecordedTrace b = trace_of(0, 2, 5'000, "b.json");
  RecordedTrace a = trace_of(1, 2, 3'000, "a.json");
  a.base_ns = 4'000;
  const auto run = run_of({}, std::move(a), std::move(b));
  ASSERT_TRUE(run.has_value());
  EXPECT_EQ(run->ranks[0].file, "b.json");
  EXPECT_EQ(run->ranks[1].base_ns, 0);
  EXPECT_EQ(run->ranks[1].start_ns[0], 7'000);
}

TEST(RecordedRun, TakesTheRankFromTheNameOfTheFile) {
  const auto run = run_of({}, trace_of(kNotRecorded, 8, 0, "x/kineto_rank3.json.gz"),
                          trace_of(kNotRecorded, 8, 0, "rank-1.Jul_15.pt.trace.json"));
  ASSERT_TRUE(run.has_value());
  EXPECT_EQ(run->ranks[0].rank, 1);
  EXPECT_EQ(run->ranks[1].rank, 3);
  const auto workers = run_of({}, trace_of(kNotRecorded, 8, 0, "worker5.16232.pt.trace.json"),
                              trace_of(kNotRecorded, 8, 0, "worker4.16231.pt.trace.json"));
  ASSERT_TRUE(workers.has_value());
  EXPECT_EQ(workers->ranks[0].rank, 4);
  EXPECT_EQ(run_of({}, trace_of(kNotRecorded, kNotRecorded, 0, "t.json"))->ranks[0].rank, 0);
}

TEST(RecordedRun, RefusesFilesThatDoNotBelongTogether) {
  EXPECT_EQ(run_of({}, trace_of(2, 4, 0, "a.json"), trace_of(2, 4, 0, "b.json")).error().text(),
            "a.json, b.json: both are of rank 2 (one file a rank, of one recording)");
  EXPECT_EQ(run_of({}, trace_of(0, 4, 0, "a.json"), trace_of(1, 8, 0, "b.json")).error().text(),
            "a.json, b.json: not of one job: 4 ranks in one and 8 in the other (give the files of "
            "one run)");
  EXPECT_EQ(run_of({}, trace_of(0, 4, 0, "a.json"), trace_of(1, 4, 60'000'000'000, "b.json"))
                .error()
                .text(),
            "a.json, b.json: not of one job: their times do not overlap (give the files of one "
            "run)");
  EXPECT_EQ(run_of({}, trace_of(0, 4, 0, "a.json"), trace_of(9, 4, 0, "b.json")).error().text(),
            "b.json: rank 9 of a job of 4 ranks (ranks count from 0)");
  EXPECT_EQ(run_of({}, trace_of(0, 4, 0, "a.json"), trace_of(kNotRecorded, 4, 0, "b.json"))
                .error()
                .text(),
            "b.json: neither the file nor its name says its rank (name it like trace_rank3.json, "
            "or give it alone)");
}

TEST(RecordedRun, ACutFileTakesTheBaseOfTheOthers) {
  constexpr std::int64_t kBaseNs = 1'719'853'884'000'000'000;
  const auto based = [](std::int64_t rank, std::int64_t base_ns, bool cut) {
    RecordedTrace trace = trace_of(rank, 3, 5'000, "rank" + std::to_string(rank) + ".json");
    trace.base_ns = base_ns;
    trace.truncated = cut;
    return trace;
  };
  const auto run = run_of({}, based(0, 0, true), based(1, kBaseNs, false), based(2, 0, true));
  ASSERT_TRUE(run) << run.error().text();
  EXPECT_EQ(run->lost_bases, (std::vector<std::int64_t>{0, 2}));
  for (const RecordedTrace& trace : run->ranks) {
    EXPECT_EQ(trace.base_ns, kBaseNs);
    EXPECT_EQ(trace.start_ns.front(), run->ranks[1].start_ns.front());
  }
  // A whole file lost nothing, and where nobody has a base nobody lost one.
  EXPECT_THAT(run_of({}, based(0, 0, false), based(1, kBaseNs, false)).error().text(),
              HasSubstr("their times do not overlap"));
  EXPECT_TRUE(run_of({}, based(0, 0, true), based(1, 0, false))->lost_bases.empty());
}

TEST(RecordedRun, RefusesRecordedJobsThatAreMixed) {
  const auto run = read_run({kTraces + "megatron-lm-fork/tp2/kineto_rank0.json.gz",
                             kTraces + "torchrec/sst_long_a2a_optimizer/kineto_rank1.json.gz"});
  EXPECT_THAT(run.error().text(), HasSubstr("not of one job: 2 ranks in one and 4 in the other"));
  const auto twice = read_run({kTraces + "torchrec/sst_long_a2a_optimizer/kineto_rank0.json.gz",
                               kTraces + "torchrec/sst_long_a2a_optimizer_2/kineto_rank1.json.gz"});
  EXPECT_THAT(twice.error().text(), HasSubstr("not of one job: their times do not overlap"));
}

TEST(RecordedRun, RefusesFoldersWithoutTraces) {
  const auto run = read_run({ORRERY_SOURCE_DIR "/src/trace"});
  EXPECT_THAT(run.error().text(), HasSubstr("no traces in this folder (files *.json"));
  EXPECT_THAT(read_run({"absent"}).error().text(), StartsWith("absent: cannot be opened"));
  EXPECT_THAT(read_run({}).error().text(), HasSubstr("no traces are given"));
}

}  // namespace
}  // namespace orrery
