#include "document/toml.h"

#include <gmock/gmock.h>

namespace orrery {
namespace {

TEST(Toml, KeepsTextsNumbersDatesAndLines) {
  const auto document = parse_toml(
      "a = 1_000\n[b]\nc = [true, 'x']\nd = 1.5e-4\ne = 2024-05-01\n[[f]]\ng = inf\n", "x.toml");
  ASSERT_TRUE(document) << document.error().text();
  const Value& root = document->root;
  EXPECT_EQ(root.find("a")->scalar_text(), "1000");
  const Value& b = *root.find("b");
  EXPECT_EQ(b.find("c")->items()[0].kind(), Value::Kind::boolean);
  EXPECT_EQ(b.find("c")->items()[1].scalar_text(), "x");
  EXPECT_EQ(b.find("d")->kind(), Value::Kind::number);
  EXPECT_EQ(b.find("d")->line(), 4);
  EXPECT_EQ(b.find("e")->scalar_text(), "2024-05-01");
  EXPECT_EQ(root.find("f")->items()[0].find("g")->kind(), Value::Kind::text);
}

// Letters, white space, private characters and planes: TOML 1.0 takes them all in texts and comments,
// and none in bare keys or between tokens.
TEST(Toml, TakesUtf8InTextsAndCommentsAlone) {
  for (const std::string character : {"é", "ı", "模", "\u00A0", "\u2003", "\u2028", "\uFEFF",
                                      "\uFF21", "\U0001F680", "\U000FFFFF"}) {
    const auto document = parse_toml(
        "# " + character + "\na = \"" + character + "\" # " + character + "\nb = '" + character +
            "'\nc = \"\"\"x\\\n  " + character + "\"\"\"\n\"d" + character + "\" = 1\n",
        "x.toml");
    ASSERT_TRUE(document) << document.error().text();
    EXPECT_EQ(document->root.find("a")->scalar_text(), character);
    EXPECT_EQ(document->root.find("b")->scalar_text(), character);
    EXPECT_EQ(document->root.find("c")->scalar_text(), "x" + character);
    EXPECT_EQ(document->root.find("d" + character)->scalar_text(), "1");
    for (const std::string& wrong :
         {"a" + character + " = 1\n", "a = 1" + character + "\n", "a =" + character + "1\n",
          "a = \"\"\"\\" + character + "\"\"\""}) {
      EXPECT_THAT(parse_toml(wrong, "x.toml").error().text(),
                  testing::StartsWith("x.toml: line 1: not valid TOML"));
    }
  }
}

TEST(Toml, RefusesWithTheLine) {
  const auto twice = parse_toml("a = 1\na = 2\n", "x.toml");
  ASSERT_FALSE(twice);
  EXPECT_THAT(twice.error().text(), testing::StartsWith("x.toml: line 2: not valid TOML"));
  EXPECT_THAT(parse_toml("[# no name\n", "x.toml").error().text(),
              testing::StartsWith("x.toml: line 1: not valid TOML"));
  EXPECT_EQ(parse_toml("a = 1\nb = \"\xe9\"\n", "x.toml").error().text(),
            "x.toml: line 2: not text: byte 11 is not UTF-8");
  EXPECT_FALSE(parse_toml("a = " + std::string(1000, '[') + std::string(1000, ']'), "x.toml"));
}

}  // namespace
}  // namespace orrery
