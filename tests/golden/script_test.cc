#include "golden/script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace orrery::golden {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

TEST(GoldenScript, ReadsCommandsOutputAndExitCode) {
  const Script script = parse_script(
      "# what follows is wrong on purpose\n"
      "$ orrery estimate nothing\n"
      "unknown model 'nothing'\n"
      "\n"
      "second line\n"
      "[exit 2]\n"
      "\n"
      "# and this is right\n"
      "$ orrery --version\n"
      "orrery 0.1.0\n",
      Kind::test);
  ASSERT_THAT(script.steps, SizeIs(2));
  EXPECT_EQ(script.steps[0].command, "orrery estimate nothing");
  EXPECT_EQ(script.steps[0].line, 2);
  EXPECT_THAT(script.steps[0].expected, ElementsAre("unknown model 'nothing'", "", "second line"));
  EXPECT_EQ(script.steps[0].exit_code, 2);
  EXPECT_EQ(script.steps[1].exit_code, 0);
  EXPECT_THAT(script.steps[1].expected, ElementsAre("orrery 0.1.0"));
  EXPECT_FALSE(script.steps[1].any_output);
}

TEST(GoldenScript, ACommandMayHaveMoreLines) {
  const Script script = parse_script(
      "$ cat <<'EOF'\n> model: a\n>\n> EOF\nmodel: a\n$ orrery search \\\n    --top 3\nx\n",
      Kind::test);
  ASSERT_THAT(script.steps, SizeIs(2));
  EXPECT_EQ(script.steps[0].command, "cat <<'EOF'\nmodel: a\n\nEOF");
  EXPECT_THAT(script.steps[0].expected, ElementsAre("model: a"));
  EXPECT_EQ(script.steps[1].command, "orrery search \\\n    --top 3");
  EXPECT_THAT(script.steps[1].expected, ElementsAre("x"));
}

TEST(GoldenScript, OfAPageOnlyConsoleBlocksThatCallOrreryCount) {
  const Script script = parse_script(
      "Text\n```sh\n$ orrery nothing\n```\n"
      "```console\n$ git clone x && cd orrery\n$ make demo\nbuilding\n$ orrery catalog\n# a "
      "heading it prints\n```\n"
      "```console\n$ build/release/bin/orrery --help\n```\n"
      "```console\n$ cat spec.yaml | orrery estimate -\n...\n[exit 1]\n```\n",
      Kind::page);
  ASSERT_THAT(script.steps, SizeIs(3));
  EXPECT_EQ(script.steps[0].command, "orrery catalog");
  EXPECT_THAT(script.steps[0].expected, ElementsAre("# a heading it prints"));
  EXPECT_TRUE(script.steps[1].any_output);
  EXPECT_THAT(script.steps[2].expected, ElementsAre("..."));
  EXPECT_EQ(script.steps[2].exit_code, 1);
}

TEST(GoldenScript, BlessingKeepsTheGapOfAnAbbreviatedText) {
  Step step;
  step.expected = {"first", "...", "last"};
  EXPECT_THAT(blessed(step, {"1", "2", "3", "4"}, 0), ElementsAre("1", "...", "4"));
  EXPECT_THAT(blessed(step, {"1", "2"}, 0), ElementsAre("1", "2"));
  step.expected = {"first", "..."};
  EXPECT_THAT(blessed(step, {"1", "2", "3"}, 1), ElementsAre("1", "...", "[exit 1]"));
  step.expected = {};
  EXPECT_THAT(blessed(step, {}, 0), IsEmpty());
}

TEST(GoldenScript, BlessedTextReadsBackAsWhatWasPrinted) {
  const std::vector<std::string> printed = {"$ 1", "# 2", "> 3", "...", "[exit 4]", "\\5", "6"};
  std::string text = "$ orrery\n";
  for (const std::string& line : blessed({}, printed, 0)) text += line + "\n";
  const Script script = parse_script(text, Kind::test);
  ASSERT_THAT(script.steps, SizeIs(1));
  EXPECT_EQ(script.steps[0].exit_code, 0);
  EXPECT_THAT(script.steps[0].expected,
              ElementsAre("\\$ 1", "\\# 2", "\\> 3", "\\...", "\\[exit 4]", "\\\\5", "6"));
}

}  // namespace
}  // namespace orrery::golden
