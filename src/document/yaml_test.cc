#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "document/value.h"

namespace orrery {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

std::string yaml_error(const std::string& text) {
  const auto document = parse_yaml(text, "f.yaml");
  return document ? "accepted" : document.error().text();
}

Value parse(const std::string& text) {
  auto document = parse_yaml(text, "f.yaml");
  EXPECT_TRUE(document) << (document ? "" : document.error().text());
  return document ? document->root : Value();
}

TEST(Yaml, KeepsKindsTextAndLines) {
  const Value root =
      parse("a: 4096\nb: true\nc: \"4096\"\nd: ~\ne: 80 GiB\nf: [1, x]\ng: {h: -1e-3}\n");
  EXPECT_EQ(root.find("a")->kind(), Value::Kind::number);
  EXPECT_EQ(root.find("b")->kind(), Value::Kind::boolean);
  EXPECT_EQ(root.find("c")->kind(), Value::Kind::text);
  EXPECT_EQ(root.find("d")->kind(), Value::Kind::null);
  EXPECT_EQ(root.find("e")->scalar_text(), "80 GiB");
  EXPECT_THAT(root.find("f")->items(), SizeIs(2));
  EXPECT_EQ(root.find("g")->find("h")->kind(), Value::Kind::number);
  EXPECT_EQ(root.find("e")->line(), 5);
  EXPECT_EQ(root.find("no such"), nullptr);
}

TEST(Yaml, NumbersAreNotGuessed) {
  const Value root =
      parse("- 1.5\n- .nan\n- nan\n- inf\n- 0x10\n- 1_000\n- yes\n- 2025-05\n- +3\n-\n");
  using K = Value::Kind;
  const K kinds[] = {K::number, K::text, K::text, K::text,   K::text,
                     K::text,   K::text, K::text, K::number, K::null};
  ASSERT_THAT(root.items(), SizeIs(10));
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(root.items()[i].kind(), kinds[i]) << i;
}

TEST(Yaml, SaysWhereTheSyntaxBreaks) {
  EXPECT_THAT(yaml_error("a: 1\nb: [1, 2\n"), HasSubstr("f.yaml: line "));
  EXPECT_THAT(yaml_error("a: 1\n b: 2\n"), HasSubstr("f.yaml: line 2"));
  EXPECT_EQ(yaml_error(""), "f.yaml: the file is empty");
  EXPECT_EQ(yaml_error("# only a comment\n"), "f.yaml: the file is empty");
}

TEST(Yaml, RefusesWhatHidesMeaning) {
  EXPECT_EQ(yaml_error("a: 1\na: 2\n"), "f.yaml: line 2: field 'a' is given twice");
  EXPECT_THAT(yaml_error("a: &x 1\nb: *x\n"), HasSubstr("aliases are not supported"));
  EXPECT_THAT(yaml_error("? [a, b]\n: 1\n"), HasSubstr("field name must be text"));
  EXPECT_THAT(yaml_error("? {a: b}\n: 1\n"), HasSubstr("field name must be text"));
  EXPECT_THAT(yaml_error("a: 1\n--- \nb: 2\n"), HasSubstr("more than one document"));
}

TEST(Yaml, RefusesHostileNesting) {
  EXPECT_THAT(yaml_error(std::string(100, '[') + std::string(100, ']')),
              HasSubstr("nested deeper than 64"));
  EXPECT_FALSE(parse_yaml(std::string(1'000'000, '['), "f.yaml"));
  EXPECT_FALSE(parse_yaml(std::string(1'000'000, '{'), "f.yaml"));
  std::string deep;
  for (int i = 0; i < 20000; ++i) deep += "- ";
  EXPECT_FALSE(parse_yaml(deep + "x", "f.yaml"));
  std::string bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n";
  for (char c = 'b'; c < 'j'; ++c) {
    bomb += std::string(1, c) + ": &" + c + " [*" + static_cast<char>(c - 1) + "]\n";
  }
  EXPECT_THAT(yaml_error(bomb), HasSubstr("aliases are not supported"));
}

TEST(Yaml, ReadsBackWhatItWrote) {
  Value root = Value::map();
  Value list = Value::list();
  for (const char* s : {"plain",   "true",       "null",        "~",       "",
                        "12",      "1e5",        "- dash",      "a: b",    "# no comment",
                        "'quote'", "\"double\"", "line\nbreak", " space ", "tab\t",
                        "*star",   "&and",       "!bang",       "%",       "@",
                        "`",       "[",          "{",           "|",       ">",
                        "?",       "---",        "...",         "80 GiB",  "12 µs",
                        "a\\b",    "\x01",       "NULL",        "Null",    "True",
                        "yes",     "=",          "<<",          ".5",      "+1",
                        "0x1F",    "1:30",       "2025-05"}) {
    list.append(Value::text(s));
  }
  root.set("texts", list);
  root.set("number", Value::number(0.1));
  root.set("integer", Value::number(std::int64_t{1} << 62));
  root.set("flag", Value::boolean(false));
  root.set("nothing", Value::null());
  root.set("empty map", Value::map());
  root.set("empty list", Value::list());
  root.set("key: odd #", Value::text("v"));
  root.set("true", Value::text("a key like a truth value"));
  root.set("", Value::text("a key without name"));
  Value inner = Value::map();
  inner.set("a", Value::list().append(Value::map().set("b", Value::number(1.0))));
  root.set("nested", inner);
  const std::string text = to_yaml(root);
  const auto again = parse_yaml(text, "written");
  ASSERT_TRUE(again) << again.error().text() << "\n" << text;
  EXPECT_EQ(to_json(again->root), to_json(root)) << text;
  EXPECT_EQ(to_yaml(again->root), text);
}

}  // namespace
}  // namespace orrery
