#include "document/comma_separated.h"

#include <gmock/gmock.h>

namespace orrery {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

std::string error_of(std::string_view text) {
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
  EXPECT_EQ(error_of(""), "f.csv:1: is empty (the first line names the columns)");
  EXPECT_EQ(error_of("a,b\n1,\xFF\n"), "f.csv:2: is not UTF-8 text");
  EXPECT_EQ(error_of("a,,c\n"), "f.csv:1: column 2 has no name");
  EXPECT_EQ(error_of("a,b,a\n"), "f.csv:1: column 'a' is named twice");
  EXPECT_EQ(error_of("a,b\n1,\"2\n\n"), "f.csv:2: a quoted field is never closed");
  EXPECT_EQ(error_of("a,b\n1,2\"\n"),
            "f.csv:2: a quote inside a field that is not quoted (put the whole field in quotes and "
            "double the quotes inside it)");
  EXPECT_EQ(error_of("a,b\n\"1\"x,2\n"),
            "f.csv:2: text after the closing quote of a field (a quote inside a quoted field is "
            "written twice)");
  EXPECT_EQ(error_of(std::string(1001, ',')), "f.csv:1: has more than 1000 fields");
}

}  // namespace
}  // namespace orrery
