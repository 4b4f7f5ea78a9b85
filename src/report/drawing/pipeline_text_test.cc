#include "report/drawing/pipeline_text.h"

#include <gmock/gmock.h>

#include <sstream>

#include "report/plans/sample_estimate.h"

namespace orrery {
namespace {

// Two stages, three microbatches, F 1 s and B 2 s; the makespan is (m + p - 1)(F + B) = 12 s, so a
// line of 36 cells has three cells a second:
//   stage 0: F0 F1 . B0 B0 F2 B1 B1 . B2 B2 (B0 from 4 s), stage 1 begins one second later.
TEST(PipelineText, DrawsOneForwardOneBackwardToScale) {
  EXPECT_EQ(pipeline_text(sample_pipeline(2, 3), {.width = 40}),
            "  0 0░░1░░      0▓▓▓▓▓2░░1▓▓▓▓▓   2▓▓▓▓▓\n"
            "  1    0░░0▓▓▓▓▓1░░1▓▓▓▓▓2░░2▓▓▓▓▓\n"
            "    0                             12.0 s\n"
            "  ░░ forward  ▓▓ backward\n");
}

TEST(PipelineText, NeverExceedsTheWidth) {
  for (const int width : {20, 33, 60, 100, 173}) {
    std::istringstream lines(pipeline_text(sample_pipeline(12, 30), {.width = width}));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), width);
  }
}

TEST(PipelineText, KeepsFirstAndLastOfManyStages) {
  const std::string text = pipeline_text(sample_pipeline(64, 8), {.width = 80}, {}, 8);
  EXPECT_THAT(text, testing::StartsWith("   0 "));
  EXPECT_THAT(text, testing::HasSubstr("\n  63 "));
  EXPECT_THAT(text, testing::HasSubstr("⋮"));
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 20);
}

TEST(PipelineText, ShowsATransferOnlyWhereNothingComputes) {
  std::vector<PipelineSpan> spans = sample_pipeline(2, 3);
  spans.push_back({.stage = 0,
                   .chunk = 0,
                   .microbatch = 0,
                   .kind = PipelineSpan::Kind::transfer,
                   .start = Seconds(1),
                   .end = Seconds(3)});
  EXPECT_THAT(pipeline_text(spans, {.width = 40}), testing::HasSubstr("  0 0░░1░░---   0▓▓▓▓▓"));
}

// 1F1B of 200 microbatches in 76 cells: many passes share a cell, a third of them forward.
TEST(PipelineText, ShowsThatManyPassesShareACell) {
  const std::string text = pipeline_text(sample_pipeline(2, 200), {.width = 80});
  EXPECT_THAT(text, testing::HasSubstr("▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒▒"));
  EXPECT_THAT(text, testing::HasSubstr("▒▒ several in turn"));
}

TEST(PipelineText, UsesColourOnlyWhereAllowed) {
  EXPECT_EQ(pipeline_text(sample_pipeline(4, 8), {.width = 80}).find('\x1b'), std::string::npos);
  EXPECT_NE(pipeline_text(sample_pipeline(4, 8), {.width = 80, .colour = true}).find("\x1b[38;5;"),
            std::string::npos);
}

TEST(PipelineText, IsEmptyWithoutTime) {
  EXPECT_EQ(pipeline_text({}, {}), "");
  const PipelineSpan nothing;
  EXPECT_EQ(pipeline_text({&nothing, 1}, {}), "");
}

}  // namespace
}  // namespace orrery
