#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "document/fields.h"
#include "document/value.h"

namespace orrery {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

std::string json_error(const std::string& text) {
  const auto document = parse_json(text, "f.json");
  return document ? "accepted" : document.error().text();
}

TEST(Json, KeepsKindsTextAndLines) {
  const auto document = parse_json(
      "{\n\"a\": 4096,\n\"b\": true,\n\"c\": \"4096\",\n\"d\": null,\n\"e\": [1, {\"f\": -0.5}]}",
      "f.json");
  ASSERT_TRUE(document) << document.error().text();
  const Value& root = document->root;
  EXPECT_EQ(root.find("a")->kind(), Value::Kind::number);
  EXPECT_EQ(root.find("a")->scalar_text(), "4096");
  EXPECT_EQ(root.find("b")->kind(), Value::Kind::boolean);
  EXPECT_EQ(root.find("c")->kind(), Value::Kind::text);
  EXPECT_EQ(root.find("d")->kind(), Value::Kind::null);
  EXPECT_THAT(root.find("e")->items(), SizeIs(2));
  EXPECT_EQ(root.find("c")->line(), 4);
}

TEST(Json, KeepsIntegersThatADoubleCannotHold) {
  const auto document = parse_json("[9007199254740993]", "f.json");
  ASSERT_TRUE(document);
  EXPECT_EQ(document->root.items()[0].scalar_text(), "9007199254740993");
}

// As Python writes them, in published configurations too; a field that asks for a number refuses them.
TEST(Json, ReadsWhatIsNoNumberAsText) {
  const auto document = parse_json("[Infinity, -Infinity, NaN, -1]", "f.json");
  ASSERT_TRUE(document);
  for (std::size_t i = 0; i < 4; ++i) {
    const auto kind = document->root.items()[i].kind();
    EXPECT_EQ(kind, i < 3 ? Value::Kind::text : Value::Kind::number) << i;
  }
  EXPECT_FALSE(read_real(document->root.items()[0]));
}

TEST(Json, SaysWhereTheSyntaxBreaks) {
  EXPECT_THAT(json_error("{\n\"a\": 1,\n}"), HasSubstr("f.json: line 3: not valid JSON"));
  EXPECT_THAT(json_error("{\"a\": 1"), HasSubstr("not valid JSON"));
  EXPECT_THAT(json_error("{\"a\": 1} x"), HasSubstr("not valid JSON"));
  EXPECT_THAT(json_error("[\"\xff\"]"), HasSubstr("not valid JSON"));
  EXPECT_EQ(json_error(""), "f.json: the file is empty");
  EXPECT_EQ(json_error(" \n"), "f.json: the file is empty");
}

TEST(Json, RefusesTwiceGivenFieldsAndHostileNesting) {
  EXPECT_EQ(json_error("{\"a\": 1,\n\"a\": 2}"), "f.json: line 2: field 'a' is given twice");
  EXPECT_THAT(json_error(std::string(65, '[')), HasSubstr("nested deeper than 64"));
  EXPECT_EQ(json_error(std::string(64, '[') + std::string(64, ']')), "accepted");
  EXPECT_FALSE(parse_json(std::string(5'000'000, '['), "f.json"));
  std::string many = "[0";
  for (std::size_t i = 0; i < kMaxValues; ++i) many += ",0";
  EXPECT_THAT(json_error(many + "]"), HasSubstr("more than 1000000 values"));
}

TEST(Json, WideMapsAreReadInReasonableTime) {
  std::string wide = "{\"x\": 0";
  for (int i = 0; i < 100'000; ++i) wide += ", \"k" + std::to_string(i) + "\": 0";
  EXPECT_EQ(json_error(wide + "}"), "accepted");
}

TEST(Json, ReadsBackWhatItWrote) {
  Value root = Value::map();
  root.set("text", Value::text("quote \" slash \\ line\nµ \x01"));
  root.set("number", Value::number(0.1));
  root.set("large", Value::number(std::int64_t{1} << 62));
  root.set("list", Value::list().append(Value::null()).append(Value::boolean(true)));
  root.set("map", Value::map());
  const std::string text = to_json(root);
  EXPECT_TRUE(text.ends_with("}\n"));
  const auto again = parse_json(text, "written");
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(to_json(again->root), text);
}

}  // namespace
}  // namespace orrery
