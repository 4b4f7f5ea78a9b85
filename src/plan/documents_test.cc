// Lengths of documents from a table, and why rows cannot be filled with them.
#include "plan/documents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace orrery {
namespace {

std::string problem(std::string_view text, std::int64_t longest = kMaxDocument) {
  const auto read = read_document_lengths(text, "lengths.csv", longest);
  return read ? "" : read.error().text();
}

TEST(Documents, EqualLengthsOfATableAreCounted) {
  const auto read = read_document_lengths("id,tokens,count\na,7,2\nb,5,1\nc,7,0.5\n", "x");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(*read, (std::vector<DocumentLength>{{5, 1}, {7, 2.5}}));
  EXPECT_EQ(*read_document_lengths("tokens\n5\n7\n5\n", "x"),
            (std::vector<DocumentLength>{{5, 2}, {7, 1}}));
}

TEST(Documents, RowsOfATableAreRefusedByTheirLine) {
  EXPECT_THAT(problem("tokens\n5\n-7\n"),
              testing::HasSubstr("lengths.csv: line 3: '-7' is no length of a document"));
  EXPECT_THAT(problem("tokens\n5\n4097\n", 4096),
              testing::AllOf(testing::HasSubstr("lengths.csv: line 3: '4097' is no length"),
                             testing::HasSubstr("from 1 to the 4096 tokens of a row")));
  EXPECT_THAT(problem("tokens,count\n5,0\n"), testing::HasSubstr("'0' is no number of documents"));
  EXPECT_THAT(problem("length\n5\n"), testing::HasSubstr("has no column 'tokens'"));
  EXPECT_THAT(problem("tokens\n"), testing::HasSubstr("has no rows"));
}

TEST(Documents, LengthsThatFillNoRowAreNamed) {
  const auto problems = [](Packing packing, std::vector<DocumentLength> lengths) {
    const Documents d{.lengths = std::move(lengths), .packing = packing};
    const auto all = document_problems(d, 4096);
    return all.empty() ? "" : all.front();
  };
  EXPECT_EQ(problems(Packing::packed, {{16}, {4096}}), "");
  EXPECT_EQ(problems(Packing::packed, {{16}, {5000}}),
            "documents: lengths[1]: a document of 5000 tokens does not fit into a row of 4096; "
            "packing=concatenated cuts it");
  EXPECT_EQ(problems(Packing::concatenated, {{5000}}), "");
  EXPECT_EQ(problems(Packing::concatenated, {{-1}}),
            "documents: lengths[0]: -1 tokens is outside 1 to 1000000000");
  EXPECT_EQ(problems(Packing::padded, {{1, 0}}),
            "documents: lengths[0]: a count of 0 is outside 0 to 1e15");
}

}  // namespace
}  // namespace orrery
