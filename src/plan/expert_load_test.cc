// Tokens of experts from a table, and loads that no model can have.
#include "plan/expert_load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/model.h"

namespace orrery {
namespace {

std::string refusal(std::string_view text) {
  const auto read = read_expert_tokens(text, "loads.csv");
  return read ? "" : read.error().text();
}

TEST(ExpertLoad, RowsOfATableMayComeInAnyOrder) {
  const auto read = read_expert_tokens("expert,layer,tokens\n1,all,30\n0,all,10\n2,all,0\n", "x");
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(*read, (std::vector<double>{10, 30, 0}));
}

TEST(ExpertLoad, RowsOfATableAreRefusedByTheirLine) {
  EXPECT_THAT(refusal("expert,tokens\n0,5\n1,-7\n"),
              testing::HasSubstr("loads.csv: line 3: '-7' is not a number of tokens"));
  EXPECT_THAT(refusal("expert,tokens\n0,5\n0,6\n"),
              testing::HasSubstr("loads.csv: line 3: expert 0 has a row already"));
  EXPECT_THAT(refusal("expert,tokens\n0,5\n2,6\n"), testing::HasSubstr("expert 1 has no row"));
  EXPECT_THAT(refusal("expert,tokens\n0.5,5\n"),
              testing::HasSubstr("'0.5' is not the number of an expert"));
  EXPECT_THAT(refusal("expert,count\n0,5\n"),
              testing::HasSubstr("needs the columns 'expert' and 'tokens'"));
  EXPECT_THAT(refusal("expert,tokens\n"), testing::HasSubstr("has no rows"));
}

TEST(ExpertLoad, WhatNoModelCanHaveIsNamed) {
  const auto problems = [](const ExpertLoad& load, std::int64_t experts) {
    Model model;
    model.name = "some";
    model.experts = experts;
    std::string all;
    for (const std::string& p : expert_load_problems(load, model)) all += p + "\n";
    return all;
  };
  EXPECT_EQ(problems({}, 0), "");
  EXPECT_EQ(problems({.power_law = 0.5, .capacity_factor = 1.25, .padded = true}, 8), "");
  EXPECT_EQ(problems({.power_law = 0.5}, 0), "expert_load needs experts; some has none\n");
  EXPECT_EQ(problems({.tokens = {1, 2}}, 8), "expert_load: tokens of 2 experts; some has 8\n");
  EXPECT_EQ(problems({.tokens = {0, 0}}, 2), "expert_load: no expert gets a token\n");
  EXPECT_EQ(problems({.tokens = {-1, 2}}, 2), "expert_load: tokens[0]: -1 is outside 0 to 1e15\n");
  EXPECT_EQ(problems({.power_law = 1, .max_violation = 1}, 8),
            "expert_load: tokens, power_law and max_violation exclude each other\n");
  EXPECT_EQ(problems({.padded = true}, 8),
            "expert_load: padded needs the capacity that is filled up: capacity_factor\n");
  EXPECT_EQ(problems({.power_law = -1}, 8), "expert_load: power_law -1 is outside 0 to 16\n");
}

// A token is sent to two different experts: no expert gets more than half of what is sent.
TEST(ExpertLoad, NoExpertGetsMoreThanEveryToken) {
  Model model;
  model.name = "some";
  model.experts = 8;
  model.experts_of_a_token = 2;
  const auto problems = [&](const ExpertLoad& load) {
    std::string all;
    for (const std::string& p : expert_load_problems(load, model)) all += p + "\n";
    return all;
  };
  EXPECT_EQ(problems({.tokens = {4, 0, 1, 1, 1, 1, 0, 0}}), "");
  EXPECT_EQ(problems({.tokens = {0, 1, 0, 0, 0, 0, 0, 0}}),
            "expert_load: expert 1 gets 100 % of the tokens; if each token chooses 2 experts, no "
            "expert gets more than 50 %; write the tokens that each expert is sent\n");
  EXPECT_EQ(problems({.power_law = 1}), "");
  EXPECT_EQ(
      problems({.power_law = 4}),
      "expert_load: expert 0 gets 92.4 % of the tokens; if each token chooses 2 experts, no expert "
      "gets more than 50 %; write a smaller power_law\n");
  EXPECT_EQ(problems({.max_violation = 3}), "");
  EXPECT_EQ(problems({.max_violation = 3.1}), "expert_load: max_violation 3.1 is outside 0 to 3\n");
}

}  // namespace
}  // namespace orrery
