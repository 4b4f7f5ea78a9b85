#include "trace/kineto/json_members.h"

#include <gtest/gtest.h>

#include <string>

namespace orrery {
namespace {

// "key=value;" of each, and whether the object ended.
std::string listed(std::string_view object) {
  std::string out;
  JsonMembers members(object);
  while (const auto member = members.next()) {
    out += std::string(member->key) + "=" + std::string(member->value) + ";";
  }
  return out + (members.whole() ? "whole" : "cut");
}

TEST(JsonMembers, GivesValuesAsTheyAreWritten) {
  EXPECT_EQ(listed(R"({})"), "whole");
  EXPECT_EQ(listed(R"( { } )"), "whole");
  EXPECT_EQ(listed(R"({ "a" : [1, {"b": "}"}],"c":nan , "\"": "x\"y" })"),
            R"(a=[1, {"b": "}"}];c=nan;\"="x\"y";whole)");
}

TEST(JsonMembers, EndsWhereTheTextIsNoObject) {
  EXPECT_EQ(listed(""), "cut");
  EXPECT_EQ(listed("[1]"), "cut");
  EXPECT_EQ(listed(R"({"a": 1)"), "cut");
  EXPECT_EQ(listed(R"({"a": 1 "b": 2})"), "a=1;cut");
  EXPECT_EQ(listed(R"({"a" 1})"), "cut");
  EXPECT_EQ(listed(R"({"a": })"), "cut");
  EXPECT_EQ(listed(R"({"a": 1,})"), "a=1;cut");
}

}  // namespace
}  // namespace orrery
