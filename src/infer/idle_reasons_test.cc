#include "infer/idle_reasons.h"

#include <gmock/gmock.h>

#include "compare/step_work.h"
#include "infer/prediction_gaps.h"
#include "trace/recorded_run.h"

namespace orrery {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

const RecordedRun& fork() {
  static const RecordedRun run =
      *read_run({std::string(ORRERY_SOURCE_DIR) + "/validation/traces/megatron-lm-fork/tp2"});
  return run;
}

ComparedIdleTime idle_of_a_millisecond() {
  ComparedIdleTime idle;
  idle.recorded = Seconds(1e-3);
  idle.recorded_step = Seconds(4e-3);
  idle.launches = 200;
  return idle;
}

// The device of rank 0 is shared, that of rank 1 is not (replay/time_slices.h).
TEST(IdleReasons, SpeakOfTheRanksThatAreAskedAbout) {
  const ComparedIdleTime idle = idle_of_a_millisecond();
  const std::string shared = why_idle(fork().ranks, idle, {.step = std::nullopt, .rank = 0});
  EXPECT_THAT(shared, StartsWith("another process has the device for"));
  const std::string own = why_idle(fork().ranks, idle, {.step = std::nullopt, .rank = 1});
  EXPECT_THAT(own, StartsWith("the device waits for its host, which meanwhile is"));
  EXPECT_THAT(own, HasSubstr("The host launches 200 kernels and copies a step, one in 20.0 us."));
}

TEST(IdleReasons, NameWhatLaunchingTakesWhereItIsPredicted) {
  ComparedIdleTime idle = idle_of_a_millisecond();
  EXPECT_THAT(why_idle(fork().ranks, idle), Not(HasSubstr("software profile")));
  idle.launching = {"megatron-lm-2022", Seconds(2e-3)};
  EXPECT_THAT(
      why_idle(fork().ranks, idle),
      HasSubstr("by software profile megatron-lm-2022 it launches the step's passes in 2.00 ms"));
  idle.predicted = Seconds(2e-3);
  EXPECT_THAT(why_idle(fork().ranks, idle),
              StartsWith("the recorded host keeps ahead of its device; by software profile"));
}

TEST(IdleReasons, DoNotSpeakOfADeviceThatIsNotRecorded) {
  EXPECT_EQ(why_idle({}, idle_of_a_millisecond()), "no kernels, copies or fills are recorded.");
}

TEST(IdleReasons, NameTheRankThatOthersWaitFor) {
  EXPECT_THAT(why_waiting(fork().ranks), HasSubstr("rank 0 arrives last 13 times of 13"));
  // Nothing is recorded of a step that is not there.
  EXPECT_EQ(why_waiting(fork().ranks, {.step = 999'999, .rank = std::nullopt}),
            "ranks wait for each other, and a prediction takes them for alike.");
}

// What trace diff adds to its difference by kind of work: the larger of the two first.
TEST(IdleReasons, AreNotesOfADifferenceWhereTheyAreMuchOfIt) {
  const auto profile = step_profile(fork().ranks);
  ASSERT_TRUE(profile);
  Breakdown computing;
  computing[Category::feed_forward] = Picoseconds(1e9);
  const Difference d = difference(profile_by_work(*profile), predicted_profile(computing));
  EXPECT_THAT(idle_and_waiting_notes(d, fork().ranks, idle_of_a_millisecond()),
              ElementsAre(StartsWith("Idle, 35.4 ms more than predicted: another process"),
                          StartsWith("Waiting for ranks, 24.1 ms more than predicted: ranks")));
  EXPECT_THAT(
      idle_and_waiting_notes(difference(predicted_profile(computing), predicted_profile(computing)),
                             fork().ranks, idle_of_a_millisecond()),
      IsEmpty());
}

}  // namespace
}  // namespace orrery
