#include "outcome/error.h"

#include <gtest/gtest.h>

#include "outcome/invariant.h"
#include "outcome/result.h"

namespace orrery {
namespace {

TEST(Error, IsOneLineOfPlaceMessageAndHint) {
  EXPECT_EQ((Error{ErrorCode::bad_input, "what", "where", "hint"}.text()), "where: what (hint)");
  EXPECT_EQ((Error{ErrorCode::bad_input, "what", "", ""}.text()), "what");
  EXPECT_EQ((Error{ErrorCode::bad_input, "a\nb\tc\x1b[31m", "", ""}.text()), "a b c\uFFFD[31m");
  EXPECT_EQ((Error{ErrorCode::bad_input, "12 µs", "", ""}.text()), "12 µs");
}

TEST(Error, PlacesAddUpFromTheOutside) {
  Error error{ErrorCode::io, "what", "", ""};
  error = at("levels[2]", error);
  error = at("file.yaml", error);
  EXPECT_EQ(error.text(), "file.yaml: levels[2]: what");
  EXPECT_EQ(error.code, ErrorCode::io);
}

Result<int> half(int n) {
  if (n % 2 != 0) return bad_input(std::to_string(n) + " is odd");
  return n / 2;
}

Result<int> quarter(int n) {
  ORRERY_TRY(const int first, half(n));
  ORRERY_TRY(const int second, half(first));
  return second;
}

TEST(Result, TryPassesValuesOnAndErrorsUp) {
  EXPECT_EQ(quarter(12), 3);
  ASSERT_FALSE(quarter(6));
  EXPECT_EQ(quarter(6).error().text(), "3 is odd");
}

TEST(Invariant, NamesTheBrokenPromise) {
  EXPECT_NO_THROW(ORRERY_INVARIANT(1 + 1 == 2));
  try {
    ORRERY_INVARIANT(1 + 1 == 3);
    FAIL() << "not thrown";
  } catch (const InvariantError& e) {
    EXPECT_NE(std::string(e.what()).find("1 + 1 == 3"), std::string::npos);
    EXPECT_NE(std::string(e.what()).find("error_test.cc"), std::string::npos);
  }
}

}  // namespace
}  // namespace orrery
