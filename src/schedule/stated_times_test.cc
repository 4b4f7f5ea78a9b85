// Stated times: what is understood, what is refused and in which words, how it is scaled.
#include "schedule/stated_times.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "schedule/execution.h"
#include "schedule/schedule.h"

namespace orrery {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

PipelineTimes scaled(const char* text, const PipelineShape& shape,
                     TimesOf of = TimesOf::virtual_stage) {
  return scaled_times(*parse_stated_times(text), shape, of)->times;
}

std::string refusal(const char* text) {
  const auto stated = parse_stated_times(text);
  return stated ? "" : stated.error().text();
}

std::string refusal_of(const char* text, const PipelineShape& shape) {
  const auto stated = parse_stated_times(text);
  if (!stated) return stated.error().text();
  const auto times = scaled_times(*stated, shape, TimesOf::virtual_stage);
  return times ? "" : times.error().text();
}

TEST(StatedTimes, WithoutStatementIsOneUnitForEachPass) {
  const auto times = scaled_times(StatedTimes(), {4, 8, 2}, TimesOf::virtual_stage);
  ASSERT_TRUE(times);
  EXPECT_EQ(times->unit.of(times->times.stage[7].forward), 1);
  EXPECT_EQ(times->unit.of(times->times.stage[0].backward), 2);
  EXPECT_EQ(times->unit.of(times->times.stage[0].forward_and_backward), 3);
  EXPECT_EQ(times->times.latency[0], Picoseconds(0));
  EXPECT_EQ(times->times.memory_of(3).forward, 1);
}

TEST(StatedTimes, FusedBackwardIsTheSumOfItsHalves) {
  EXPECT_EQ(scaled("f=10,b=12,w=9", {4, 8, 1}).stage[0].backward, Picoseconds(21e9));
  EXPECT_EQ(scaled("f=10,bw=21", {4, 8, 1}).stage[0].input_gradient, Picoseconds(10.5e9));
  EXPECT_EQ(scaled("f=10,bw=21,b=15", {4, 8, 1}).stage[0].weight_gradient, Picoseconds(6e9));
}

// The mean of a device's share: a chunk takes its part, and parts follow the model by depth.
TEST(StatedTimes, OfDevicesAreDividedAmongChunks) {
  const PipelineTimes times = scaled("f=2:4,b=1,w=1,memory=3", {2, 4, 2}, TimesOf::device);
  std::vector<double> forward;
  for (const StageTimes& s : times.stage) forward.push_back(s.forward.count() / 1e9);
  EXPECT_THAT(forward, ElementsAre(1, 1, 2, 2));
  EXPECT_EQ(times.memory_of(0).forward, 1.5);
}

TEST(StatedTimes, UnitsAreSeconds) {
  const auto stated = parse_stated_times("f=18.522ms, b = 18.086 ms,w=9337us,comm=0");
  ASSERT_TRUE(stated) << stated.error().text();
  EXPECT_TRUE(stated->in_seconds);
  const auto times = scaled_times(*stated, {8, 24, 1}, TimesOf::virtual_stage);
  EXPECT_EQ(times->times.stage[0].forward, Picoseconds(18522e6));
  EXPECT_EQ(times->unit.one, Picoseconds(1e12));
}

// The profiled 1.5B model of arXiv 2401.10241, Table 5: 1F1B idles 24.31 % of the time.
TEST(StatedTimes, MeasuredTimesGiveThePublishedBubble) {
  const auto times = scaled("f=18.522ms,b=18.086ms,w=9.337ms,comm=0.601ms", {8, 24, 1});
  ScheduleRequest request;
  request.shape = {8, 24, 1};
  const auto run = execute(*pipeline(**find_schedule("1f1b"), request), times);
  EXPECT_NEAR(run->measures.bubble_ratio, 0.2431, 0.00005);
}

TEST(StatedTimes, FileSaysTheSame) {
  const auto document = parse_yaml(
      "forward: [18 ms, 19 ms]\ninput_gradient: 18 ms\nweight_gradient: 9 ms\nlatency: 0\n", "t");
  EXPECT_EQ(*read_stated_times(*document), *parse_stated_times("f=18ms:19ms,b=18ms,w=9ms,comm=0"));
}

// Whatever the size of a unit, the makespan of 1F1B is (m + p - 1) 3 of it.
TEST(StatedTimes, EveryUnitIsSimulatedExactly) {
  for (const char* text : {"f=1,b=1,w=1", "f=1e6,b=1e6,w=1e6", "f=1e9,b=1e9,w=1e9"}) {
    const auto stated = parse_stated_times(text);
    const auto times = scaled_times(*stated, {4, 8, 1}, TimesOf::virtual_stage);
    ASSERT_TRUE(times) << times.error().text();
    ScheduleRequest request;
    request.shape = {4, 8, 1};
    const auto run = execute(*pipeline(**find_schedule("1f1b"), request), times->times);
    EXPECT_EQ(times->unit.of(run->measures.makespan), 33 * stated->forward[0]);
  }
}

TEST(StatedTimes, IsWrittenAndReadBack) {
  for (const char* text : {"", "f=1,b=1,w=1,comm=0", "f=0.1:3,bw=1e-3,fb=2,memory=5",
                           "f=18.522ms,bw=1us,comm=0:3ns", "offload=3,reload=2,s=1,t=2"}) {
    const auto stated = parse_stated_times(text);
    ASSERT_TRUE(stated) << stated.error().text();
    EXPECT_EQ(*parse_stated_times(to_text(*stated)), *stated) << text;
  }
}

TEST(StatedTimes, RefusesInOneLine) {
  EXPECT_EQ(refusal("f=0"), "times: f: '0' is not above zero");
  EXPECT_EQ(refusal("b=-1"), "times: b: '-1' is not above zero");
  EXPECT_EQ(refusal("comm=-1"), "times: comm: '-1' is negative");
  EXPECT_THAT(refusal("f=nan"), HasSubstr("times: f"));
  EXPECT_THAT(refusal("f=inf"), HasSubstr("times: f"));
  EXPECT_THAT(refusal("f="), HasSubstr("times: f"));
  EXPECT_THAT(refusal("forwards=1"), HasSubstr("unknown time 'forwards'"));
  EXPECT_EQ(refusal("f=1,f=2"), "times: 'f' is given twice");
  EXPECT_EQ(refusal("fast"), "times: 'fast' is not a time (write f=1,b=1,w=1,comm=0)");
  EXPECT_THAT(refusal("f=1,b=1ms,w=1"), HasSubstr("some times have a unit and some have none"));
  EXPECT_THAT(refusal("f=1ms"), HasSubstr("leave out f, b or w"));
  EXPECT_THAT(refusal_of("f=1:2:3", {4, 8, 1}), HasSubstr("3 numbers for 4 virtual stages"));
  EXPECT_THAT(refusal_of("comm=1:2", {4, 8, 1}), HasSubstr("2 numbers for 3 boundaries"));
  EXPECT_THAT(refusal_of("s=1:2", {4, 8, 1}), HasSubstr("one number is for all devices"));
  EXPECT_THAT(refusal_of("f=1e13,b=0.01,w=1", {4, 8, 1}),
              HasSubstr("too short to be simulated together with the others"));
  EXPECT_THAT(refusal_of("f=1e300,b=1,w=1", {4, 8, 1}), HasSubstr("too long to be simulated"));
  EXPECT_THAT(refusal_of("f=1h,b=1h,w=1h", {4, 8, 1}), HasSubstr("at most 2.5 hours"));
  EXPECT_THAT(refusal_of("f=1,bw=1,b=1", {4, 8, 1}),
              HasSubstr("b or w alone takes the whole time of the fused backward"));
}

TEST(StatedTimes, FileErrorsSayWhere) {
  const auto refused = [](const char* text) {
    return read_stated_times(*parse_yaml(text, "times.yaml")).error().text();
  };
  EXPECT_EQ(refused("forward: 1\nlatency: -2\n"), "times.yaml: line 2, latency: '-2' is negative");
  EXPECT_THAT(refused("forward: 1\nf: 2\n"), HasSubstr("line 2, f: is given twice"));
  EXPECT_THAT(refused("- 1\n"), HasSubstr("expected a map of times"));
  EXPECT_THAT(refused("forward: {a: 1}\n"), HasSubstr("expected a time or a list of times"));
  EXPECT_THAT(refused("forward: []\n"), HasSubstr("expected a time or a list of times"));
}

}  // namespace
}  // namespace orrery
