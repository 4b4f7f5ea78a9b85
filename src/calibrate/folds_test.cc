#include "calibrate/folds.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <numeric>

namespace orrery {
namespace {

std::vector<std::string> many_keys() {
  std::vector<std::string> keys;
  for (int i = 0; i < 1003; ++i)
    keys.push_back(std::to_string(i % 101) + "x4096, longer than a short string");
  return keys;
}

TEST(Folds, TheHashIsTheSameForEver) {
  EXPECT_EQ(stable_hash(""), 0xf52a15e9a9b5e89bU);
  EXPECT_NE(stable_hash("512x1024"), stable_hash("1024x512"));
}

TEST(Folds, EqualKeysShareAFoldAndFoldsAreBalanced) {
  const auto keys = many_keys();
  const std::vector<int> fold = fold_of_each(keys, 5);
  std::map<std::string, int> of_key;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ(of_key.emplace(keys[i], fold[i]).first->second, fold[i]);
  }
  std::array<int, 5> distinct{};
  for (const auto& [key, f] : of_key) ++distinct[static_cast<std::size_t>(f)];
  EXPECT_EQ(std::accumulate(distinct.begin(), distinct.end(), 0), 101);
  for (const int d : distinct) EXPECT_TRUE(d == 20 || d == 21) << d;
}

TEST(Folds, DoNotDependOnTheOrderOfRows) {
  auto keys = many_keys();
  const std::vector<int> fold = fold_of_each(keys, 5);
  std::vector<std::string> reversed(keys.rbegin(), keys.rend());
  const std::vector<int> other = fold_of_each(reversed, 5);
  for (std::size_t i = 0; i < keys.size(); ++i) EXPECT_EQ(fold[i], other[keys.size() - 1 - i]);
}

TEST(Folds, EveryRowIsPredictedByAFitThatHasNotSeenIt) {
  const auto keys = many_keys();
  const auto held =
      predict_held_out(fold_of_each(keys, 4),
                       [&](std::span<const std::size_t> fitted,
                           std::span<const std::size_t> held_out) -> Result<std::vector<double>> {
                         EXPECT_EQ(fitted.size() + held_out.size(), keys.size());
                         for (const std::size_t h : held_out) {
                           for (const std::size_t f : fitted) {
                             if (keys[h] == keys[f])
                               ADD_FAILURE() << keys[h] << " was fitted and held out";
                           }
                         }
                         std::vector<double> out;
                         for (const std::size_t h : held_out) out.push_back(static_cast<double>(h));
                         return out;
                       });
  ASSERT_TRUE(held);
  for (std::size_t i = 0; i < keys.size(); ++i) EXPECT_EQ((*held)[i], static_cast<double>(i));
}

}  // namespace
}  // namespace orrery
