#include "report/traces/recording_remarks.h"

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
      ElementsAre(
          "1,228 events without usable times were left out.",
          "2 halves were left out: a beginning without its end, or an end without its "
          "beginning.",
          "100 copies (40 of kernels) of events were left out: what stands more than once in a "
          "file counts once.",
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
      ElementsAre(
          "1 event without usable times was left out.",
          "1 half was left out: a beginning without its end, or an end without its beginning.",
          "1 copy of kernels was left out: what stands more than once in a file counts once.",
          "1 kernel overlaps another on its stream by more than 1 us, which a device does "
          "only where dependent kernels launch early: are the times right?"));
}

TEST(RecordingRemarks, SayWhichRanks) {
  std::vector<RecordedTrace> ranks(3);
  for (std::size_t i = 0; i < ranks.size(); ++i) ranks[i].rank = static_cast<std::int64_t>(i);
  ranks[2].repeated = 5;
  EXPECT_THAT(recording_remarks(ranks),
              ElementsAre("5 copies of events of rank 2 were left out: what stands "
                          "more than once in a file counts once."));
  ranks[1].repeated = 4;
  EXPECT_THAT(recording_remarks(ranks),
              ElementsAre("9 copies of events of 2 ranks were left out: what stands "
                          "more than once in a file counts once."));
}

}  // namespace
}  // namespace orrery
