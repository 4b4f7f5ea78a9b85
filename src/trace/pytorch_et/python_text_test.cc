#include "trace/pytorch_et/python_text.h"

#include <gmock/gmock.h>

namespace orrery {
namespace {

using ::testing::ElementsAre;

TEST(PythonText, KnowsJsonFromWhatIsNone) {
  for (const char* json :
       {"1", "-0.5e+3", "\"a\\u00e9\\n\"", "[]", "{}", " [1, [2, {\"a\": null}]] ", "true"}) {
    EXPECT_TRUE(is_shallow_json(json)) << json;
  }
  for (const char* other : {"", "[1 2]", "[1,]", "01", "1.", "\"a", "\"\\x\"", "{1:2}", "nul",
                            "[1]]", "'a'", "\"\\u12\"", "-"}) {
    EXPECT_FALSE(is_shallow_json(other)) << other;
  }
  EXPECT_TRUE(is_shallow_json(std::string(kMostNested, '[') + std::string(kMostNested, ']')));
  EXPECT_FALSE(
      is_shallow_json(std::string(kMostNested + 1, '[') + std::string(kMostNested + 1, ']')));
  EXPECT_FALSE(is_shallow_json("\"\xff\""));
  EXPECT_FALSE(is_shallow_json(std::string(100'000, '[') + std::string(100'000, ']')));
}

TEST(PythonText, TakesAListApart) {
  EXPECT_THAT(json_items(R"([ [8, 9, "cuda:0"] , 0, "<None>"])"),
              ElementsAre(R"([8, 9, "cuda:0"])", "0", R"("<None>")"));
  EXPECT_THAT(json_items("3"), ElementsAre());
  EXPECT_EQ(json_string(R"("a\"b\u00e9\ud83d\ude00")"), "a\"b\xc3\xa9\xf0\x9f\x98\x80");
  EXPECT_EQ(json_string("3"), std::nullopt);
  EXPECT_EQ(json_string("\"without an end"), std::nullopt);
  EXPECT_EQ(json_string("\"without an end\\\""), std::nullopt);
  EXPECT_THAT(json_items("[1, [2, 3"), ElementsAre("1"));
  EXPECT_THAT(json_items("[1, }, 2]"), ElementsAre("1"));
  EXPECT_EQ(json_integer(" -42 "), -42);
  EXPECT_EQ(json_integer("4.5"), std::nullopt);
}

// What Python 3 prints for str(json.loads(...)).
TEST(PythonText, PrintsAsPythonDoes) {
  EXPECT_EQ(python_text(R"([[8,9,0,1,4,"cuda:0"],0,true,false,null,"<None>"])"),
            "[[8, 9, 0, 1, 4, 'cuda:0'], 0, True, False, None, '<None>']");
  EXPECT_EQ(python_text(R"(["it's", "say \"x\"", "both ' and \"", "a\\b\n"])"),
            R"(["it's", 'say "x"', 'both \' and "', 'a\\b\n'])");
  EXPECT_EQ(python_text("[1.0, 0.0001, 1e-05, 1e16, 123456789.5, 0.9, -0.0, 1e5, 100000000000]"),
            "[1.0, 0.0001, 1e-05, 1e+16, 123456789.5, 0.9, -0.0, 100000.0, 100000000000]");
  EXPECT_EQ(python_text("[]"), "[]");
}

}  // namespace
}  // namespace orrery
