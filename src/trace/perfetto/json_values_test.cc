#include "trace/perfetto/json_values.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

std::string as_json(std::string_view values) {
  std::string out;
  append_as_json(values, out);
  return out;
}

TEST(AppendAsJson, CopiesWhatIsJson) {
  for (const std::string text :
       {R"({"a": [1, -0.5, 1e9, 12345678901234567890123, {}], "b": "nan \" ]", "c": null})",
        R"(, "x" : true)", "[ ]", "-12.5E+3", ""}) {
    EXPECT_EQ(as_json(text), text);
  }
}

TEST(AppendAsJson, QuotesWordsThatAreNoJson) {
  EXPECT_EQ(as_json(R"({"a": nan, "b": [-inf,NaN]})"), R"({"a": "nan", "b": ["-inf","NaN"]})");
  for (const std::string word : {"01", ".5", "1.", "+1", "1e", "0x7f", "-", "True"}) {
    EXPECT_EQ(as_json(word), "\"" + word + "\"");
  }
}

// Readers disagree about where such words end.
TEST(AppendAsJson, LeavesWordsWithQuotesAndBackslashesBroken) {
  for (const std::string text : {R"({"a": ="m, s", "b": "x"y})", R"([a"b"])", R"({"a": \})"}) {
    EXPECT_EQ(as_json(text), text);
  }
}

TEST(LaterMicroseconds, KeepsDecimals) {
  EXPECT_EQ(later_microseconds("1700000000000000", 0), "1700000000000000");
  EXPECT_EQ(later_microseconds("1700000000000000", 5000), "1700000000000005");
  EXPECT_EQ(later_microseconds("1700000000000000", 5), "1700000000000000.005");
  EXPECT_EQ(later_microseconds("12.5", -1), "12.499");
  EXPECT_EQ(later_microseconds("12.34567", 1'000'001), "1012.34667");  // 12.34567 + 1000.001
  EXPECT_EQ(later_microseconds("\"12.5\"", 500), "\"13.000\"");
  EXPECT_EQ(later_microseconds("-0.001", 1), "0.000");
  // Below zero, decimals behind the third are rounded.
  EXPECT_EQ(later_microseconds("0.0006", -2000), "-1.999");
  EXPECT_EQ(later_microseconds("1e3", 1), "1000.001");
  EXPECT_EQ(later_microseconds("nan", 1), "nan");
  EXPECT_EQ(later_microseconds("\"soon\"", 1), "\"soon\"");
}

}  // namespace
}  // namespace orrery
