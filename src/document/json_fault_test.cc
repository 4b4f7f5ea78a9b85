#include "document/json_fault.h"

#include <gtest/gtest.h>

#include <string>

#include "outcome/result.h"

namespace orrery {
namespace {

using namespace std::string_view_literals;

TEST(JsonFault, FindsNoneInValuesOfEveryKind) {
  for (const char* text :
       {R"({"a": [1, -2.5e-3, true, false, null, "b\n\u00e9\/"], "a": {}, "": []})", "[]", "{}",
        "7", R"("text")", " [1]\n", "\"\xc3\xa9\"", R"({"a":{"b":[[{}]]},"c":1})"}) {
    EXPECT_EQ(json_fault(text), std::nullopt) << text;
  }
}

TEST(JsonFault, ChecksTheGrammarAlone) {
  for (const std::string& text : {std::string("[1e999, 0e999]"), std::string(400, '7'),
                                  std::string(R"(["\udc00", "\ud83d", "\ud800\u0041"])")}) {
    EXPECT_EQ(json_fault(text), std::nullopt) << text;
  }
}

TEST(JsonFault, SaysWhereATextStopsBeingJson) {
  for (const auto& [text, at] : {std::pair{""sv, 0U},
                                 {"nan"sv, 0U},
                                 {"[01]"sv, 1U},
                                 {"[1,]"sv, 3U},
                                 {"{a: 1}"sv, 1U},
                                 {R"({"a" 1})"sv, 5U},
                                 {R"({"a": 1)"sv, 7U},
                                 {R"({"a": 1,})"sv, 8U},
                                 {R"({"a": 1, [2]})"sv, 9U},
                                 {R"({"a": [1}])"sv, 8U},
                                 {R"(["a"]])"sv, 5U},
                                 {R"("a""b")"sv, 3U},
                                 {R"({"a": "b"\})"sv, 9U},
                                 {"\"\xd8\""sv, 1U},
                                 {"\"a\nb\""sv, 2U},
                                 {R"("\x")"sv, 1U},
                                 {R"("\u12G4")"sv, 1U},
                                 {R"("\u12)"sv, 1U},
                                 {R"("\)"sv, 1U},
                                 {"\"a"sv, 2U},
                                 {"1 2"sv, 2U},
                                 {"1,2"sv, 1U},
                                 {"{}\0garbage"sv, 2U},
                                 {"]"sv, 0U}}) {
    EXPECT_EQ(json_fault(text), at) << text;
  }
}

TEST(JsonFault, NestsDeeperThanAnyStack) {
  const std::size_t depth = 1'000'000;
  EXPECT_EQ(json_fault(std::string(depth, '[') + std::string(depth, ']')), std::nullopt);
  EXPECT_EQ(json_fault(std::string(depth, '[') + std::string(depth - 1, ']')), 2 * depth - 1);
}

}  // namespace
}  // namespace orrery
