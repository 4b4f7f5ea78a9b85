#include "document/comma_separated.h"

#include <gmock/gmock.h>

namespace orrery {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

std::string csv_error(std::string_view text) {
  auto r = parse_comma_separated(text, "f.csv");
  return r ? "no error" : r.error().text();
}

TEST(CommaSeparated, ReadsRecordsOfFields) {
  auto r = parse_comma_separated("a,b,c\n1,2,3\n4,,6\n", "f.csv");
  ASSERT_TRUE(r);
  EXPECT_THAT(r->columns, ElementsAre("a", "b", "c"));
  ASSERT_THAT(r->records, SizeIs(2));
  EXPECT_THAT(r->records[1].fields, ElementsAre("4", "", "6"));
  EXPECT_EQ(r->records[0].line, 2);
  EXPECT_EQ(r->records[1].line, 3);
}

TEST(CommaSeparated, QuotedFieldsHoldCommasQuotesAndLineEnds) {
  auto r =
      parse_comma_separated("a,b\n\"x,y\",\"say \"\"hi\"\"\"\n\"two\nlines\",\"\"\nz,w\n", "f");
  ASSERT_TRUE(r);
  EXPECT_THAT(r->records[0].fields, ElementsAre("x,y", "say \"hi\""));
  EXPECT_THAT(r->records[1].fields, ElementsAre("two\nlines", ""));
  EXPECT_EQ(r->records[1].line, 3);
  EXPECT_EQ(r->records[2].line, 5);  // the line end inside the quotes counts
}

TEST(CommaSeparated, LineEndsMayBeCrLfAndTheLastMayBeAbsent) {
  auto r = parse_comma_separated("a,b\r\n1,\"2\"\r\n3,", "f");
  ASSERT_TRUE(r);
  EXPECT_THAT(r->records[0].fields, ElementsAre("1", "2"));
  EXPECT_THAT(r->records[1].fields, ElementsAre("3", ""));
}

TEST(CommaSeparated, ALoneCarriageReturnIsText) {
  auto r = parse_comma_separated("a\nx\ry\n", "f");
  ASSERT_TRUE(r);
  EXPECT_THAT(r->records[0].fields, ElementsAre("x\ry"));
}

TEST(CommaSeparated, SkipsByteOrderMarkAndEmptyLines) {
  auto r = parse_comma_separated("\xEF\xBB\xBF\na,b\n\n1,2\n\r\n\n", "f");
  ASSERT_TRUE(r);
  EXPECT_THAT(r->columns, ElementsAre("a", "b"));
  EXPECT_THAT(r->records, SizeIs(1));
  EXPECT_EQ(r->records[0].line, 4);
}

TEST(CommaSeparated, RefusesRecordsOfAnotherWidthAndReadsTheOthers) {
  const auto r = parse_comma_separated("a,b\n1,2\n3\n4,5\n6,7,8\n", "f.csv");
  ASSERT_TRUE(r);
  EXPECT_THAT(r->records, SizeIs(2));
  EXPECT_THAT(r->records[1].fields, ElementsAre("4", "5"));
  ASSERT_THAT(r->refused, SizeIs(2));
  EXPECT_EQ(r->refused[1].line, 5);
  EXPECT_EQ(r->refused[1].why,
            "has 3 fields, the header 2 (a field that holds a comma must be in quotes)");
  EXPECT_EQ(r->complete().error().text(),
            "f.csv:3: has 1 fields, the header 2 (a field that holds a comma must be in quotes)");
  EXPECT_TRUE(parse_comma_separated("a,b\n1,2\n", "f.csv")->complete());
}

TEST(CommaSeparated, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(csv_error(""), "f.csv:1: is empty (the first line names the columns)");
  EXPECT_EQ(csv_error("a,\xFF\n1,2\n"), "f.csv:1: is not UTF-8 text");
  EXPECT_EQ(csv_error("a,,c\n"), "f.csv:1: column 2 has no name");
  EXPECT_EQ(csv_error("a,b,a\n"), "f.csv:1: column 'a' is named twice");
  EXPECT_EQ(csv_error(std::string(1001, ',')), "f.csv:1: has more than 1000 fields");
  const std::string hint = " (the first line names the columns, with commas between them)";
  EXPECT_EQ(csv_error("\n{\"traceEvents\": [1, 2]}"),
            "f.csv:1: is JSON, not comma-separated text" + hint);
  EXPECT_EQ(csv_error("<html>"), "f.csv:1: is XML or HTML, not comma-separated text" + hint);
  EXPECT_EQ(csv_error("a;b\n1,5;2\n"), "f.csv:1: is separated by semicolons, not commas" + hint);
  EXPECT_EQ(csv_error("a\tb\n1\t2\n"), "f.csv:1: is separated by tabs, not commas" + hint);
}

TEST(CommaSeparated, RefusesRecordsThatCannotBeReadAndReadsTheOthers) {
  const auto refused = [](const std::string& line) {
    const auto r = parse_comma_separated("a,b\n1,2\n" + line + "\n3,4\n", "f.csv");
    if (!r || r->refused.size() != 1 || r->records.size() != 2) return std::string("not as hoped");
    EXPECT_THAT(r->records[1].fields, ElementsAre("3", "4"));
    EXPECT_EQ(r->records[1].line, 4);
    return std::to_string(r->refused[0].line) + ": " + r->refused[0].why;
  };
  EXPECT_EQ(
      refused("1,2\""),
      "3: a quote inside a field that is not quoted (put the whole field in quotes and double "
      "the quotes inside it)");
  EXPECT_EQ(refused("\"1\"x,2"),
            "3: text after the closing quote of a field (a quote inside a quoted field is written "
            "twice)");
  EXPECT_EQ(refused("1,\"2"), "3: a quoted field is never closed");
  EXPECT_EQ(refused("1,\xFF"), "3: is not UTF-8 text");
  EXPECT_EQ(refused(std::string(1001, ',')), "3: has more than 1000 fields");
}

TEST(CommaSeparated, ReadsNoMoreThanAMillionRecords) {
  std::string text = "a\n";
  for (int i = 0; i < 1'000'002; ++i) text += "1\n";
  const auto r = parse_comma_separated(text, "f.csv");
  ASSERT_TRUE(r);
  EXPECT_EQ(r->records.size(), kMaxRecords);
  ASSERT_THAT(r->refused, SizeIs(1));
  EXPECT_EQ(r->refused[0].line, 1'000'002);
  EXPECT_EQ(r->refused[0].why, "is record 1000001: this and all that follow are not read");
}

}  // namespace
}  // namespace orrery
