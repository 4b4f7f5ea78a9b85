#include "report/recording_remarks.h"

#include <gmock/gmock.h>

namespace orrery {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(RecordingRemarks, SayNothingOfWholeFiles) {
  const std::vector<RecordedTrace> ranks(2);
  EXPECT_THAT(recording_remarks(ranks), IsEmpty());
}

TEST(RecordingRemarks, CountWhatWasLeftOutRepeatedAndOverlaps) {
  std::vector<RecordedTrace> ranks(1);
  ranks[0].left_out = 1230;
  ranks[0].unpaired = 2;
  ranks[0].repeated = 100;
  ranks[0].repeated_kernels = 40;
  ranks[0].overlapping_kernels = 3;
  EXPECT_THAT(
      recording_remarks(ranks),
      ElementsAre("1,228 events without usable times were left out.",
                  "2 events were left out: the file has where they begin or end, not both.",
                  "40 kernels stand twice, and with them 60 other events: each counts once.",
                  "3 kernels overlap another on their stream by more than 1 us, which a device "
                  "does only where dependent kernels launch early: are the times right?"));
}

TEST(RecordingRemarks, CountOneAsOne) {
  std::vector<RecordedTrace> ranks(1);
  ranks[0].left_out = 2;
  ranks[0].unpaired = 1;
  ranks[0].repeated = 1;
  ranks[0].repeated_kernels = 1;
  ranks[0].overlapping_kernels = 1;
  EXPECT_THAT(
      recording_remarks(ranks),
      ElementsAre("1 event without usable times was left out.",
                  "1 event was left out: the file has where it begins or ends, not both.",
                  "1 kernel stands twice: it counts once.",
                  "1 kernel overlaps another on its stream by more than 1 us, which a device does "
                  "only where dependent kernels launch early: are the times right?"));
}

TEST(RecordingRemarks, SayWhichRanks) {
  std::vector<RecordedTrace> ranks(3);
  for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i].rank = static_cast<std::int64_t>(i);
  ranks[2].repeated = 5;
  EXPECT_THAT(recording_remarks(ranks), ElementsAre("5 events of rank 2 stand twice: each counts "
                                                    "once."));
  ranks[1].repeated = 4;
  EXPECT_THAT(recording_remarks(ranks), ElementsAre("9 events of 2 ranks stand twice: each counts "
                                                    "once."));
}

}  // namespace
}  // namespace orrery
