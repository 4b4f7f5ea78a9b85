// Matching of communications on hand-made recordings: order, windows cut at different moments,
// sequence numbers, point-to-point, and the split of durations into waiting and transfer.
#include "trace/collective_instances.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>

#include "trace/recorded_run.h"

namespace orrery {
namespace {

using testing::SizeIs;

constexpr std::string_view kAllReduce = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";

struct Arguments {
  std::string_view collective = "allreduce";
  std::string_view group = "0";
  std::int64_t elements = 1024;
  std::int64_t sequence = kNotRecorded;
  std::int64_t source = kNotRecorded;
  std::int64_t destination = kNotRecorded;
};

RecordedTrace rank(std::int64_t number) {
  RecordedTrace trace;
  trace.rank = number;
  Lane& stream = trace.lanes.emplace_back();
  stream.device = true;
  stream.process = number;
  stream.thread = 20;
  return trace;
}

std::uint32_t add_kernel(RecordedTrace& trace, std::string_view name, std::int64_t start,
                         std::int64_t end) {
  return trace.append(EventKind::kernel, name, 0, start, end - start);
}

void add_communication(RecordedTrace& trace, std::int64_t start, std::int64_t end,
                       const Arguments& arguments) {
  const std::uint32_t event = add_kernel(trace, kAllReduce, start, end);
  CommunicationDetails details;
  details.collective = trace.texts.intern(arguments.collective);
  details.group = trace.texts.intern(arguments.group);
  details.input_elements = arguments.elements;
  details.output_elements = arguments.elements;
  details.group_size = 2;
  details.sequence = arguments.sequence;
  details.source = arguments.source;
  details.destination = arguments.destination;
  trace.communication[event] = static_cast<std::uint32_t>(trace.communications.size());
  trace.communications.push_back(details);
}

TEST(CollectiveInstances, TheShortestDurationIsTheTransferAndTheRestIsWaiting) {
  std::vector<RecordedTrace> traces;
  for (const std::int64_t r : {0, 1, 2}) traces.push_back(rank(r));
  add_kernel(traces[0], kAllReduce, 100, 1000);
  add_kernel(traces[1], kAllReduce, 700, 1000);  // the last to arrive
  add_kernel(traces[2], kAllReduce, 550, 1010);
  const auto instances = collective_instances(traces);
  ASSERT_THAT(instances, SizeIs(1));
  EXPECT_EQ(instances[0].transfer_ns, 300);
  EXPECT_EQ(instances[0].members[instances[0].last].trace, 1U);
  EXPECT_EQ(instances[0].lateness_ns, 150);
  EXPECT_EQ(instances[0].members[0].waiting_ns, 600);
  EXPECT_EQ(instances[0].members[1].waiting_ns, 0);
  for (const CollectiveMember& m : instances[0].members) {
    EXPECT_EQ(m.transfer_ns + m.waiting_ns, traces[m.trace].duration_ns[m.event]);
  }
}

TEST(CollectiveInstances, AWindowCutOnOneRankShiftsNothing) {
  std::vector<RecordedTrace> traces;
  for (const std::int64_t r : {0, 1}) traces.push_back(rank(r));
  // Ten collectives, one every 10 ms; rank 1 misses the first, rank 0 the last: equal counts.
  for (std::int64_t k = 0; k < 10; ++k) {
    const std::int64_t end = (k + 1) * 10'000'000;
    if (k != 9) add_kernel(traces[0], kAllReduce, end - 2'000'000, end);
    if (k != 0) add_kernel(traces[1], kAllReduce, end - 500'000, end + 20'000);
  }
  const auto instances = collective_instances(traces);
  ASSERT_THAT(instances, SizeIs(10));
  EXPECT_EQ(std::count_if(instances.begin(), instances.end(),
                          [](const auto& i) { return i.members.size() == 2; }),
            8);
  for (const CollectiveInstance& i : instances) {
    if (i.members.size() < 2) continue;
    EXPECT_EQ(traces[1].end_ns(i.members[1].event) - traces[0].end_ns(i.members[0].event), 20'000);
  }
}

// Ends 134 ms apart, as in a sampled recording: nobody of a collective leaves before the last has
// come.
TEST(CollectiveInstances, KernelsThatRanAtOtherTimesAreNotOne) {
  std::vector<RecordedTrace> traces;
  for (const std::int64_t r : {0, 1}) traces.push_back(rank(r));
  add_kernel(traces[0], kAllReduce, 0, 10'000'000);
  add_kernel(traces[1], kAllReduce, 5'000'000, 10'100'000);
  add_kernel(traces[0], kAllReduce, 50'000'000, 60'000'000);
  add_kernel(traces[1], kAllReduce, 184'000'000, 194'000'000);
  const auto instances = collective_instances(traces);
  EXPECT_THAT(instances, SizeIs(3));
}

// The clock of one rank is 3 s ahead: order and the common offset tell, not time.
TEST(CollectiveInstances, AClockThatIsFarOffHidesNothing) {
  std::vector<RecordedTrace> traces;
  for (const std::int64_t r : {0, 1}) traces.push_back(rank(r));
  for (std::int64_t k = 0; k < 20; ++k) {
    const std::int64_t end = (k + 1) * 10'000'000 + k * k * 50'000;
    add_kernel(traces[0], kAllReduce, end - 2'000'000, end);
    add_kernel(traces[1], kAllReduce, end + 2'998'000'000, end + 3'000'000'000);
  }
  const auto instances = collective_instances(traces);
  ASSERT_THAT(instances, SizeIs(20));
  for (const CollectiveInstance& i : instances) EXPECT_THAT(i.members, SizeIs(2));
}

// Neighbours of a pipeline exchange, and nothing names them: kernels that end apart are no
// all-to-all of all ranks.
TEST(CollectiveInstances, AnonymousMessagesAreNoCollective) {
  constexpr std::string_view kSendReceive = "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t";
  std::vector<RecordedTrace> traces;
  for (const std::int64_t r : {0, 1, 2}) traces.push_back(rank(r));
  for (std::int64_t k = 0; k < 10; ++k) {
    const std::int64_t start = k * 60'000'000;
    add_kernel(traces[0], kSendReceive, start, start + 5'000'000);
    add_kernel(traces[1], kSendReceive, start + 4'000'000, start + 5'010'000);
    add_kernel(traces[2], kSendReceive, start + 4'000'000, start + 7'000'000 + k * 3'000'000);
  }
  std::map<std::size_t, int> of_size;
  for (const CollectiveInstance& i : collective_instances(traces)) ++of_size[i.members.size()];
  // One of them may be right by chance: whatever sets the clock of the third rank.
  EXPECT_EQ(of_size[2] + of_size[3], 10);
  EXPECT_LE(of_size[3], 1);
}

TEST(CollectiveInstances, VolumesMustAgree) {
  std::vector<RecordedTrace> traces;
  for (const std::int64_t r : {0, 1}) traces.push_back(rank(r));
  for (std::int64_t k = 0; k < 4; ++k) {
    const std::int64_t start = k * 1000;
    add_communication(traces[0], start, start + 500, {.elements = 100 + k});
    if (k != 2) add_communication(traces[1], start, start + 500, {.elements = 100 + k});
  }
  const auto instances = collective_instances(traces);
  ASSERT_THAT(instances, SizeIs(4));
  EXPECT_THAT(instances[2].members, SizeIs(1));
  EXPECT_THAT(instances[3].members, SizeIs(2));
}

TEST(CollectiveInstances, ASequenceNumberDecidesAgainstTheOrder) {
  std::vector<RecordedTrace> traces;
  for (const std::int64_t r : {0, 1}) traces.push_back(rank(r));
  for (std::int64_t k = 0; k < 3; ++k) {
    add_communication(traces[0], k * 1000, k * 1000 + 500, {.sequence = k});
    add_communication(traces[1], k * 1000, k * 1000 + 500, {.sequence = k + 1});
  }
  const auto instances = collective_instances(traces);
  EXPECT_THAT(instances, SizeIs(4));
  EXPECT_EQ(std::count_if(instances.begin(), instances.end(),
                          [](const auto& i) { return i.members.size() == 2; }),
            2);
}

TEST(CollectiveInstances, GroupsAreMatchedApart) {
  std::vector<RecordedTrace> traces;
  for (const std::int64_t r : {0, 1}) traces.push_back(rank(r));
  add_communication(traces[0], 0, 100, {.group = "a"});
  add_communication(traces[0], 200, 300, {.group = "b"});
  add_communication(traces[1], 0, 100, {.group = "b"});
  add_communication(traces[1], 200, 300, {.group = "a"});
  const auto instances = collective_instances(traces);
  ASSERT_THAT(instances, SizeIs(2));
  for (const CollectiveInstance& i : instances) {
    EXPECT_THAT(i.members, SizeIs(2));
    EXPECT_NE(i.members[0].event, i.members[1].event);
    EXPECT_EQ(i.ranks, 2);
  }
}

// The sender has done its part when the receiver came: a short recorded send is no transfer time of
// the receiver.
TEST(CollectiveInstances, ASendMeetsItsReceiveAndEachKeepsItsOwnTransfer) {
  std::vector<RecordedTrace> traces;
  for (const std::int64_t r : {0, 1}) traces.push_back(rank(r));
  add_communication(traces[0], 900, 1000, {.collective = "send", .destination = 1});
  add_communication(traces[1], 100, 1300, {.collective = "recv", .source = 0});
  add_communication(traces[1], 1400, 1500, {.collective = "send", .destination = 0});
  add_communication(traces[0], 1200, 1500, {.collective = "recv", .source = 1});
  const auto instances = collective_instances(traces);
  ASSERT_THAT(instances, SizeIs(2));
  EXPECT_TRUE(is_point_to_point(traces[0], 0));
  EXPECT_EQ(instances[0].members[0].transfer_ns, 100);
  EXPECT_EQ(instances[0].members[1].transfer_ns, 400);
  EXPECT_EQ(instances[0].members[1].waiting_ns, 800);
  EXPECT_THAT(instances[1].members, SizeIs(2));
}

struct Published {
  std::string folder;
  int ranks;
  std::size_t on_all_ranks;
  double transfer_ms;  // sum over those
  std::map<std::uint32_t, int> last;
};

class PublishedInstances : public testing::TestWithParam<Published> {};

// Figures of validation/traces/*/README.md, "Cross-rank collectives". Its sum of
// optimizer_2, 60.767 ms, pairs three all-to-alls of 12 ms with the one of 8 us that ends 0.1 ms
// later on another rank; in order they add up to 97.048 ms, with the same number of matches and the
// same largest spread.
TEST_P(PublishedInstances, AreFound) {
  std::vector<std::string> files;
  for (int r = 0; r < GetParam().ranks; ++r) {
    files.push_back(std::string(ORRERY_SOURCE_DIR) + "/validation/traces/" + GetParam().folder +
                    "/kineto_rank" + std::to_string(r) + ".json.gz");
  }
  RunOptions options;
  options.clocks = Clocks::as_recorded;
  const auto run = read_run(files, options);
  ASSERT_TRUE(run.has_value()) << run.error().text();
  std::size_t whole = 0;
  double transfer_ms = 0;
  std::map<std::uint32_t, int> last;
  for (const CollectiveInstance& i : collective_instances(run->ranks)) {
    if (i.members.size() != run->ranks.size()) continue;
    // One all-to-all let its ranks go up to 3.7 ms apart; the figures leave it out.
    const auto [soonest, latest] =
        std::minmax_element(i.members.begin(), i.members.end(), [&](const auto& a, const auto& b) {
          return run->ranks[a.trace].end_ns(a.event) < run->ranks[b.trace].end_ns(b.event);
        });
    if (run->ranks[latest->trace].end_ns(latest->event) -
            run->ranks[soonest->trace].end_ns(soonest->event) >
        1'000'000) {
      continue;
    }
    ++whole;
    transfer_ms += static_cast<double>(i.transfer_ns) * 1e-6;
    ++last[i.members[i.last].trace];
  }
  EXPECT_EQ(whole, GetParam().on_all_ranks);
  EXPECT_NEAR(transfer_ms, GetParam().transfer_ms, 0.0015);
  EXPECT_EQ(last, GetParam().last);
}

INSTANTIATE_TEST_SUITE_P(
    Validation, PublishedInstances,
    testing::Values(
        Published{"astra-sim/megatron-tp8",
                  8,
                  84,
                  50.099,
                  {{0, 32}, {1, 4}, {2, 4}, {3, 15}, {5, 1}, {6, 28}}},
        Published{"megatron-lm-fork/tp2", 2, 13, 0.269, {{0, 13}}},
        Published{"torchrec/sst_long_a2a_optimizer", 4, 12, 36.693, {{2, 12}}},
        Published{"torchrec/sst_long_a2a_optimizer_2", 4, 31, 97.048, {{0, 5}, {2, 24}, {3, 2}}},
        Published{"torchrec/sst_long_a2a_optimizer_4",
                  4,
                  29,
                  86.285,
                  {{0, 7}, {1, 1}, {2, 8}, {3, 13}}}));

// 81 all-reduces of 64 MiB at 0.6 ms each, although they last up to ten times longer.
TEST(PublishedInstance, TransfersOfTheTensorParallelRunTakeSixTenthsOfAMillisecond) {
  std::vector<std::string> files;
  for (int r = 0; r < 8; ++r) {
    files.push_back(std::string(ORRERY_SOURCE_DIR) +
                    "/validation/traces/astra-sim/megatron-tp8/kineto_rank" + std::to_string(r) +
                    ".json.gz");
  }
  const auto run = read_run(files);
  ASSERT_TRUE(run.has_value()) << run.error().text();
  std::vector<std::int64_t> transfers;
  std::int64_t longest = 0;
  for (const CollectiveInstance& i : collective_instances(run->ranks)) {
    if (i.transfer_ns < 100'000) continue;  // the loss, not the layers
    transfers.push_back(i.transfer_ns);
    for (const CollectiveMember& m : i.members) {
      longest = std::max(longest, m.transfer_ns + m.waiting_ns);
    }
  }
  ASSERT_THAT(transfers, SizeIs(81));
  std::sort(transfers.begin(), transfers.end());
  EXPECT_NEAR(static_cast<double>(transfers[40]), 0.6e6, 0.03e6);
  EXPECT_GT(longest, 6'000'000);
}

// More kernels than fit one alignment, of ranks that were cut at different moments: the one at its
// end, or at its beginning and now and then in between.
TEST(CollectiveInstances, MatchesManyKernelsPieceByPiece) {
  constexpr std::int64_t kKernels = 10'000;
  for (const bool at_end : {true, false}) {
    std::vector<RecordedTrace> traces;
    for (const std::int64_t r : {0, 1}) traces.push_back(rank(r));
    std::map<std::int64_t, std::size_t> on_both;  // by end
    for (std::int64_t k = 0; k < kKernels; ++k) {
      const std::int64_t end = 5'000'000 * k + 1000;
      add_kernel(traces[0], kAllReduce, end - 900, end);
      if (at_end ? k > 8000 : k < 1500 || k % 97 == 0) continue;
      add_kernel(traces[1], kAllReduce, end - 300, end);
      on_both[end] = 0;
    }
    std::size_t matched = 0;
    for (const CollectiveInstance& instance : collective_instances(traces)) {
      if (instance.members.size() != 2) continue;
      ++matched;
      const CollectiveMember& first = instance.members[0];
      const CollectiveMember& second = instance.members[1];
      EXPECT_EQ(traces[first.trace].end_ns(first.event), traces[second.trace].end_ns(second.event));
    }
    EXPECT_EQ(matched, on_both.size());
  }
}

// Sixty thousand of each, the table of whose pairs would take minutes; ends differ by rank.
TEST(CollectiveInstances, LongEqualSequencesMatchOneByOne) {
  constexpr int kCalls = 60'000;
  std::vector<RecordedTrace> traces;
  for (const std::int64_t r : {0, 1}) traces.push_back(rank(r));
  for (int i = 0; i < kCalls; ++i) {
    const std::int64_t start = 100'000LL * i;
    add_communication(traces[0], start, start + 50'000, {.elements = 1024 + i % 3});
    add_communication(traces[1], start + 20'000, start + 50'000 + i % 7 * 1000LL,
                      {.elements = 1024 + i % 3});
  }
  const auto instances = collective_instances(traces);
  ASSERT_THAT(instances, SizeIs(kCalls));
  for (const CollectiveInstance& instance : instances) {
    ASSERT_THAT(instance.members, SizeIs(2));
    ASSERT_EQ(instance.members[0].event, instance.members[1].event);
  }
}

}  // namespace
}  // namespace orrery
