// Sends and receives of Kineto recordings: alone, in batches, without arguments.
#include "trace/point_to_point.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

#include "trace/clock_alignment.h"
#include "trace/collective_instances.h"
#include "trace/kineto/kineto.h"
#include "trace/read_one_rank.h"

namespace orrery {
namespace {

using testing::IsEmpty;
using testing::SizeIs;
using Direction = PointToPointMessage::Direction;

// One rank of four of a pipeline; times in microseconds.
class PipelineRank {
 public:
  explicit PipelineRank(int rank) : rank_(rank) {}

  static std::string message(std::string_view collective, std::int64_t peer, int elements = 64) {
    return fmt::format(
        R"("Collective name":"{}","In msg nelems":{},"Out msg nelems":{},"Group size":4,"Process Group Name":"pp","Process Group Ranks":"[0, 1, 2, 3]","{} Rank":{})",
        collective, elements, elements, collective == "send" ? "Dst" : "Src", peer);
  }

  PipelineRank& issue(double start, const std::string& arguments) {
    return event("cpu_op", "record_param_comms", 1, start, 3, arguments);
  }
  PipelineRank& kernel(double called, double start, double end, const std::string& arguments = "") {
    const int correlation = ++correlation_;
    event("cuda_runtime", "cudaLaunchKernelExC", 1, called, 2,
          fmt::format(R"("correlation":{})", correlation));
    return event("kernel", "ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", 20, start,
                 end - start,
                 fmt::format(R"("stream":20,"device":0,"correlation":{}{}{})", correlation,
                             arguments.empty() ? "" : ",", arguments));
  }

  [[nodiscard]] RecordedTrace trace() const {
    const std::string json = fmt::format(
        R"({{"schemaVersion":1,"distributedInfo":{{"backend":"nccl","rank":{},"world_size":4}},"traceEvents":[{}]}})",
        rank_, events_);
    auto read = read_kineto_bytes(json, fmt::format("rank{}", rank_));
    EXPECT_TRUE(read.has_value());
    return std::move(*read);
  }

 private:
  PipelineRank& event(std::string_view category, std::string_view name, int thread, double start,
                      double duration, const std::string& arguments) {
    events_ += fmt::format(
        R"({}{{"ph":"X","cat":"{}","name":"{}","pid":{},"tid":{},"ts":{:.3f},"dur":{:.3f},"args":{{{}}}}})",
        events_.empty() ? "" : ",", category, name, category == "kernel" ? 0 : 100, thread, start,
        duration, arguments);
    return *this;
  }

  int rank_;
  int correlation_ = 0;
  std::string events_;
};

std::string send(std::int64_t to, int elements = 64) {
  return PipelineRank::message("send", to, elements);
}
std::string receive(std::int64_t from, int elements = 64) {
  return PipelineRank::message("recv", from, elements);
}

std::vector<RecordedTrace> traces_of(const std::vector<PipelineRank>& ranks) {
  std::vector<RecordedTrace> traces;
  for (const PipelineRank& rank : ranks) traces.push_back(rank.trace());
  return traces;
}

TEST(PointToPoint, ABatchCarriesWhatItsThreadIssuedSinceTheLastLaunch) {
  const RecordedTrace trace = PipelineRank(1)
                                  .issue(0, send(2))
                                  .issue(5, receive(2))
                                  .kernel(10, 20, 100)
                                  .issue(110, send(0))
                                  .kernel(115, 120, 200)
                                  .trace();
  const auto messages = point_to_point_messages(trace);
  ASSERT_THAT(messages, SizeIs(3));
  EXPECT_EQ(messages[0].kernel, messages[1].kernel);
  EXPECT_EQ(messages[0].direction, Direction::send);
  EXPECT_EQ(messages[1].direction, Direction::receive);
  EXPECT_EQ(messages[1].peer, 2);
  EXPECT_NE(messages[2].kernel, messages[0].kernel);
  EXPECT_EQ(messages[2].peer, 0);
}

TEST(PointToPoint, AKernelThatNamesItsPeerNeedsNoOperator) {
  const auto messages =
      point_to_point_messages(PipelineRank(1).kernel(10, 20, 100, receive(0)).trace());
  ASSERT_THAT(messages, SizeIs(1));
  EXPECT_EQ(messages[0].direction, Direction::receive);
  EXPECT_EQ(messages[0].peer, 0);
}

TEST(PointToPoint, CollectivesAndKernelsWithoutArgumentsCarryNone) {
  EXPECT_THAT(point_to_point_messages(PipelineRank(1).kernel(10, 20, 100).trace()), IsEmpty());
  EXPECT_THAT(
      point_to_point_messages(
          PipelineRank(1)
              .kernel(10, 20, 100, R"("Collective name":"all_to_all","Process Group Name":"ep")")
              .trace()),
      IsEmpty());
}

// Rank 1 sends on and takes the next at once, with rank 0 and rank 2, which exchange nothing.
TEST(PointToPoint, ABatchMeetsEachPartnerAndTheyDoNotMeetEachOther) {
  const auto traces =
      traces_of({PipelineRank(0).issue(0, send(1)).kernel(5, 300, 400),
                 PipelineRank(1).issue(0, send(2)).issue(4, receive(0)).kernel(10, 20, 400),
                 PipelineRank(2).issue(0, receive(1)).kernel(5, 100, 200)});
  const auto instances = collective_instances(traces);
  ASSERT_THAT(instances, SizeIs(3));
  for (const CollectiveInstance& i : instances) {
    ASSERT_THAT(i.members, SizeIs(1));
    EXPECT_TRUE(i.point_to_point);
    // Everybody moves data for 100 us once the last partner is there.
    EXPECT_EQ(i.members[0].transfer_ns, 100'000);
    EXPECT_THAT(i.partners, SizeIs(i.members[0].trace == 1 ? 2 : 1));
  }
  EXPECT_EQ(instances[0].members[0].trace, 1U);
  EXPECT_EQ(instances[0].members[0].waiting_ns, 280'000);
}

// Order within a direction decides, whatever the sequence numbers of the ranks.
TEST(PointToPoint, TheKthSendMeetsTheKthReceiveOfItsDirection) {
  const auto sequence = [](const std::string& message, int number) {
    return message + fmt::format(R"(,"Seq":{})", number);
  };
  const auto traces = traces_of({PipelineRank(0)
                                     .kernel(5, 10, 50, sequence(send(1), 1))
                                     .kernel(60, 70, 90, sequence(receive(1), 2))
                                     .kernel(95, 100, 150, sequence(send(1), 3)),
                                 PipelineRank(1)
                                     .kernel(5, 20, 50, sequence(receive(0), 7))
                                     .kernel(60, 75, 90, sequence(send(0), 8))
                                     .kernel(95, 140, 150, sequence(receive(0), 9))});
  const auto instances = collective_instances(traces);
  ASSERT_THAT(instances, SizeIs(3));
  for (const CollectiveInstance& i : instances) {
    EXPECT_THAT(i.members, SizeIs(2));
    EXPECT_EQ(i.ranks, 2);
  }
  EXPECT_EQ(instances[2].members[0].transfer_ns, 10'000);
  EXPECT_EQ(instances[2].members[0].waiting_ns, 40'000);
}

TEST(PointToPoint, ABufferedSendWaitsForNobody) {
  const auto traces = traces_of({PipelineRank(0).kernel(5, 10, 20, send(1)),
                                 PipelineRank(1).kernel(5, 500, 530, receive(0))});
  const auto instances = collective_instances(traces);
  ASSERT_THAT(instances, SizeIs(1));
  EXPECT_FALSE(instances[0].members[0].waits);
  EXPECT_EQ(instances[0].members[0].transfer_ns, 10'000);
  EXPECT_TRUE(instances[0].members[1].waits);
  EXPECT_EQ(instances[0].members[1].transfer_ns, 30'000);
}

// Rank 1's clock is 5 ms ahead: it would receive from rank 0 late and give to it from the future.
TEST(PointToPoint, MessagesBothWaysSetClocksRight) {
  const auto traces = traces_of(
      {PipelineRank(0).kernel(5, 10, 110, send(1)).kernel(200, 210, 400, receive(1)),
       PipelineRank(1).kernel(5005, 5010, 5110, receive(0)).kernel(5200, 5300, 5400, send(0))});
  const auto clocks = clock_offsets(traces, collective_instances(traces));
  EXPECT_EQ(clocks[1].offset_ns, -5'000'000);
}

// A buffered send ended long before its receive began: no reason to move a clock.
TEST(PointToPoint, BufferedSendsMoveNoClock) {
  const auto traces = traces_of(
      {PipelineRank(0).kernel(5, 10, 20, send(1)).kernel(25, 30, 1250, receive(1)),
       PipelineRank(1).kernel(895, 900, 930, receive(0)).kernel(1195, 1200, 1250, send(0))});
  EXPECT_EQ(clock_offsets(traces, collective_instances(traces))[1].offset_ns, 0);
}

}  // namespace
}  // namespace orrery
