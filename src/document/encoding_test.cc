// What no file may hold, and what survives writing and reading; each found by a fuzzer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "document/value.h"

namespace orrery {
namespace {

std::string refusal(const Result<Document>& document) {
  return document ? "(accepted)" : document.error().text();
}

TEST(DocumentEncoding, BytesThatAreNoTextAreRefusedWithTheirLine) {
  EXPECT_EQ(refusal(parse_yaml("name: a\nb: \x9C", "a.yaml")),
            "a.yaml: line 2: not text: byte 11 is not UTF-8");
  EXPECT_EQ(refusal(parse_yaml(std::string_view("a: b\0", 5), "a.yaml")),
            "a.yaml: line 1: not text: byte 4 is not UTF-8");
}

TEST(DocumentEncoding, HalfACharacterIsRefused) {
  EXPECT_EQ(refusal(parse_json("{\n\"a\": \"\\ude15\"}", "a.json")),
            "a.json: line 2: a text holds \\u0000 or half a character");
  EXPECT_EQ(refusal(parse_json("{\"\\u0000\": 1}", "a.json")),
            "a.json: line 1: a text holds \\u0000 or half a character");
  EXPECT_TRUE(parse_json("{\"a\": \"\\ud83d\\ude00\"}", "a.json").has_value());
}

TEST(DocumentEncoding, ControlCharactersSurviveWriting) {
  const Value text = Value::text("a\r\n\tb\x7F");
  const auto again = parse_yaml(to_yaml(Value::map().set("key\r", text)), "a.yaml");
  ASSERT_TRUE(again.has_value());
  ASSERT_EQ(again->root.members().size(), 1U);
  EXPECT_EQ(again->root.members()[0].first, "key\r");
  EXPECT_EQ(again->root.members()[0].second.scalar_text(), "a\r\n\tb\x7F");
}

TEST(DocumentEncoding, EscapesStandForWholeCharacters) {
  const auto document = parse_yaml("\"a\\_\\N\": \"\\_\\L\u00e9\\_\"", "a.yaml");
  ASSERT_TRUE(document.has_value()) << refusal(document);
  const auto& [key, value] = document->root.members()[0];
  EXPECT_EQ(key, "a\u00a0\u0085");
  EXPECT_EQ(value.scalar_text(), "\u00a0\u2028\u00e9\u00a0");
  const auto again = parse_yaml(to_yaml(document->root), "b.yaml");
  ASSERT_TRUE(again.has_value()) << refusal(again);
  EXPECT_EQ(again->root.members()[0].first, key);
  EXPECT_EQ(refusal(parse_yaml("\"\\0\": 1", "a.yaml")), "a.yaml: line 1: a text holds \\0");
}

TEST(DocumentEncoding, MarkersOfDocumentsAreQuoted) {
  for (const std::string text :
       {"--- a", "... a", "---", "- a", "? a", "%a", "#a", "a: b", "a #"}) {
    const auto again = parse_yaml(to_yaml(Value::text(text)), "a.yaml");
    ASSERT_TRUE(again.has_value()) << refusal(again);
    EXPECT_EQ(again->root.scalar_text(), text);
  }
}

// A key of 300 escaped characters is written longer than the 1024 that YAML allows before a colon.
TEST(DocumentEncoding, LongKeysSurviveWriting) {
  for (const std::string& key : {std::string(5000, 'k'), std::string(300, '\x01')}) {
    const Value inner = Value::map().set(key, Value::text("v"));
    const auto again = parse_yaml(to_yaml(Value::map().set("outer", inner)), "a.yaml");
    ASSERT_TRUE(again.has_value()) << refusal(again);
    EXPECT_EQ(again->root.members()[0].second.members()[0].first, key);
  }
}

}  // namespace
}  // namespace orrery
