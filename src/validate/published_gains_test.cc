// Published gains of pipeline methods over each other: the sign of every pair on one setting.
//
//   gain of a over b = step time of b / step time of a - 1
//
// A setting is one model, cluster, vocabulary and number of microbatches; methods are schedules and
// ways to place the vocabulary layers. Pairs measured less than 1 % apart are left out: the tables
// print three digits. Nothing is fitted. docs/schedules-validation.md tells the figures.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "calibrate/statistics.h"
#include "validate/validation.h"

namespace orrery {
namespace {

constexpr double kResolution = 0.01;
constexpr double kLeastRight = 0.9;

struct Timed {
  std::string method;
  double predicted, measured;
};

std::string method_of(const MeasuredRow& row) {
  return row.vocabulary_method.empty() ? row.schedule : row.vocabulary_method;
}

// By setting. Everything but the interlaced vocabulary must be estimable.
std::map<std::string, std::vector<Timed>> timed(const std::string& file) {
  const auto rows =
      read_measured_rows(std::string(ORRERY_SOURCE_DIR) + "/validation/measured/" + file + ".csv");
  EXPECT_TRUE(rows) << (rows ? "" : rows.error().text());
  std::map<std::string, std::vector<Timed>> out;
  if (!rows) return out;
  const Validation v = validate(rows->rows, Catalog::built_in(), 1);
  for (std::size_t i = 0; i < rows->rows.size(); ++i) {
    const MeasuredRow& row = rows->rows[i];
    const RowOutcome& outcome = v.rows[i];
    if (method_of(row) == "interlaced") {
      EXPECT_NE(outcome.skipped_because, "");
      continue;
    }
    EXPECT_EQ(outcome.skipped_because, "") << row.row_id;
    if (!outcome.predicted || !outcome.measured) continue;
    out[outcome.group + ", vocabulary " + std::to_string(row.vocab.value_or(0)) + ", " +
        std::to_string(row.microbatches.value_or(0)) + " microbatches"]
        .push_back({method_of(row), outcome.predicted->value(), outcome.measured->value()});
  }
  return out;
}

TEST(PublishedGains, SignsOfNearlyAllPairsAreRight) {
  int pairs = 0;
  int right = 0;
  int below = 0;
  std::vector<double> errors;
  struct Group {
    int pairs = 0, right = 0;
    std::vector<double> predicted, measured;
  };
  std::map<std::string, Group> groups;
  for (const char* file : {"zero-bubble", "vocabulary-parallelism"}) {
    for (const auto& [setting, methods] : timed(file)) {
      for (std::size_t i = 0; i < methods.size(); ++i) {
        for (std::size_t j = i + 1; j < methods.size(); ++j) {
          const Timed& a = methods[i];
          const Timed& b = methods[j];
          const double measured = b.measured / a.measured - 1;
          const double predicted = b.predicted / a.predicted - 1;
          if (std::abs(measured) < kResolution) {
            ++below;
            continue;
          }
          const bool agree = (measured > 0) == (predicted > 0);
          ++pairs;
          right += agree;
          errors.push_back(std::abs(predicted - measured));
          Group& group = groups[a.method + " over " + b.method];
          ++group.pairs;
          group.right += agree;
          group.predicted.push_back(predicted);
          group.measured.push_back(measured);
          if (!agree) {
            std::printf("wrong: %s over %s: predicted %+.1f %%, measured %+.1f %%; %s\n",
                        a.method.c_str(), b.method.c_str(), 100 * predicted, 100 * measured,
                        setting.c_str());
          }
        }
      }
    }
  }
  for (const auto& [name, g] : groups) {
    std::printf("| %s | %d | %d | %+.1f %% | %+.1f %% |\n", name.c_str(), g.pairs, g.right,
                100 * quantile(g.predicted, 0.5), 100 * quantile(g.measured, 0.5));
  }
  std::printf("%d of %d signs right, %d pairs below the resolution; median error %.1f points\n",
              right, pairs, below, 100 * quantile(errors, 0.5));
  EXPECT_GE(pairs, 60);
  EXPECT_GE(right, kLeastRight * pairs);
}

}  // namespace
}  // namespace orrery
