#include "calibrate/error_summary.h"

#include <gtest/gtest.h>

#include <vector>

namespace orrery {
namespace {

TEST(ErrorSummary, SaysHowFarAndWhichWay) {
  const std::vector<double> errors = {-0.3, 0.1, 0.2, -0.1, 0.3};
  const std::vector<std::string> names = {"a", "b", "c", "d", "e"};
  const ErrorSummary e = error_summary(errors, names);
  EXPECT_EQ(e.rows, 5);
  EXPECT_DOUBLE_EQ(e.median, 0.2);
  EXPECT_DOUBLE_EQ(e.mean, 0.2);
  EXPECT_NEAR(e.bias, 0.04, 1e-15);
  EXPECT_DOUBLE_EQ(e.worst, -0.3);
  EXPECT_EQ(e.worst_row, "a");
  EXPECT_EQ(error_summary({}).rows, 0);
  EXPECT_EQ(error_summary(errors).worst_row, "");
}

TEST(ErrorSummary, IsWrittenUnderEitherKeys) {
  const std::vector<double> errors = {0.5};
  const Value brief = value_of(error_summary(errors), ErrorKeys::brief);
  EXPECT_TRUE(brief.find("median"));
  EXPECT_FALSE(brief.find("worst_error"));
  const std::vector<std::string> names = {"row"};
  const Value spelled = value_of(error_summary(errors, names), ErrorKeys::spelled_out);
  EXPECT_TRUE(spelled.find("median_absolute_error"));
  EXPECT_TRUE(spelled.find("worst_row"));
  // Of no rows there is nothing to say.
  EXPECT_FALSE(value_of({}, ErrorKeys::spelled_out).find("bias"));
  EXPECT_TRUE(value_of({}, ErrorKeys::brief).find("bias"));
}

}  // namespace
}  // namespace orrery
