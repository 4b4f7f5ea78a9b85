#include "document/json_quoted.h"

#include <gtest/gtest.h>

#include "document/value.h"

namespace orrery {
namespace {

TEST(Quoted, EscapesWhatSteersATerminalAndReplacesWhatIsNoText) {
  EXPECT_EQ(json_quoted("a\"\\\n\xff é"), "\"a\\\"\\\\\\n\uFFFD é\"");
  EXPECT_EQ(json_quoted("\x1b[2J\x7f\u009b\u202e"), R"("\u001B[2J\u007F\u009B\u202E")");
}

TEST(Quoted, IsHowDocumentsAreWritten) {
  EXPECT_EQ(to_json(Value::map().set("\u009b", Value::text("\xc2"))),
            "{\n  \"\\u009B\": \"\uFFFD\"\n}\n");
}

// Numbers of YAML that JSON has not, and what is none.
TEST(ToJson, WritesNumbersAsJsonHasThem) {
  const auto document =
      parse_yaml("[.5, 007, 1., +3, -NAN, INF, Infinity, nan(1), 1e999]", "f.yaml");
  EXPECT_EQ(to_json(document->root),
            "[\n  0.5,\n  7,\n  1,\n  3,\n  \"-NAN\",\n  \"INF\",\n  \"Infinity\",\n  "
            "\"nan(1)\",\n  \"1e999\"\n]\n");
}

}  // namespace
}  // namespace orrery
