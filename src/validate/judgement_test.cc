#include "validate/judgement.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>

namespace orrery {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

const std::string kRoot = ORRERY_SOURCE_DIR;

RowOutcome ran_row(const std::string& id, double predicted, double measured) {
  RowOutcome row;
  row.row_id = id;
  row.source_id = "aleph-alpha-layouts";
  row.complete = true;
  row.predicted = Seconds(predicted);
  row.measured = Seconds(measured);
  row.fits = true;
  row.group = "g";
  row.sequences = 1;
  row.regime = "ampere, to 64";
  return row;
}

HeldOutStep step(const std::string& id, Scheme scheme, double measured, double predicted,
                 int fold = 0) {
  return {id, "aleph-alpha-layouts", scheme, fold, Seconds(measured), Seconds(predicted)};
}

double figure(const Judgement& j, const std::string& name) {
  const auto found = std::find_if(j.figures.begin(), j.figures.end(),
                                  [&](const Figure& f) { return f.name == name; });
  return found == j.figures.end() ? -1 : found->value;
}

// Figures of their text.
Result<std::vector<Figure>> read_figures(const CommaSeparated& table) {
  if (table.columns != std::vector<std::string>{"figure", "value"}) {
    return bad_input("no table of figures", table.name, "columns figure,value");
  }
  ORRERY_RETURN_IF_ERROR(table.complete());
  std::vector<Figure> out;
  for (const CommaSeparated::Record& record : table.records) {
    Figure figure{record.fields[0], 0, std::nullopt, false};
    const std::string& text = record.fields[1];
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), figure.value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(figure.value)) {
      return bad_input("'" + text.substr(0, 40) + "' is not a value",
                       table.name + ":" + std::to_string(record.line), "a number");
    }
    out.push_back(std::move(figure));
  }
  return out;
}

// A figure is worse than a stored one if it is off to the bad side by more than this: the last
// digit that is published.
constexpr double kFigureTolerance = 0.0005;
// Stored figures that the present ones fall behind, in sentences.
std::vector<std::string> worse_than_stored(std::span<const Figure> present,
                                           std::span<const Figure> stored) {
  std::vector<std::string> out;
  for (const Figure& was : stored) {
    const auto now = std::find_if(present.begin(), present.end(),
                                  [&](const Figure& f) { return f.name == was.name; });
    if (now == present.end()) {
      out.push_back("'" + was.name + "' is no longer measured");
      continue;
    }
    const double loss = now->more_is_better ? was.value - now->value : now->value - was.value;
    if (loss > kFigureTolerance) {
      out.push_back(
          fmt::format("'{}' is {:.4f}, stored is {:.4f}", was.name, now->value, was.value));
    }
  }
  return out;
}

// Predicted best is b (held out: 1 s), measured 2 s; the best is a with 1 s: twice the time.
TEST(Judgement, RegretIsWhatThePickedPlanCosts) {
  std::vector<RowOutcome> rows;
  std::vector<HeldOutStep> held;
  const std::vector<double> measured = {1, 2, 3, 4, 5};
  const std::vector<double> predicted = {1.5, 1, 3, 4, 5};
  for (std::size_t i = 0; i < measured.size(); ++i) {
    const std::string id(1, static_cast<char>('a' + i));
    rows.push_back(ran_row(id, measured[i], measured[i]));
    held.push_back(step(id, Scheme::five_fold, measured[i], predicted[i]));
  }
  const Judgement j = judged(summarised(rows), held);
  ASSERT_THAT(j.regrets, SizeIs(1));
  EXPECT_NEAR(j.regrets[0].regret, 1, 1e-12);
  EXPECT_EQ(j.regrets[0].picked, "b");
  EXPECT_EQ(j.regrets[0].best, "a");
  EXPECT_NEAR(figure(j, "rank correlation of plans, aleph-alpha-layouts"), 0.9, 1e-12);
}

TEST(Judgement, PublishedErrorsAreThoseOfFoldsNotFitted) {
  const Judgement j = judged(summarised({ran_row("a", 1, 1)}),
                             std::vector{step("a", Scheme::five_fold, 1, 1.2),
                                         step("a", Scheme::leave_one_source_out, 1, 0.7)});
  EXPECT_NEAR(figure(j, "step time, model left out, median"), 0.2, 1e-12);
  EXPECT_NEAR(figure(j, "step time, source left out, by row, median"), 0.3, 1e-12);
  EXPECT_NEAR(figure(j, "step time, fitted, median"), 0, 1e-12);
}

TEST(Judgement, TightVerdictsAreUnsure) {
  RowOutcome tight = ran_row("a", 1, 1);
  tight.tight = true;
  RowOutcome wrong = ran_row("b", 1, 1);
  wrong.fits = false;
  const Judgement j = judged(
      summarised({tight, wrong, ran_row("c", 1, 1), ran_row("d", 1, 1), ran_row("e", 1, 1)}), {});
  EXPECT_NEAR(figure(j, "memory verdicts that are right, aleph-alpha-layouts"), 0.75, 1e-12);
  EXPECT_NEAR(figure(j, "memory verdicts that are unsure, aleph-alpha-layouts"), 0.2, 1e-12);
}

// Intervals are made of the sources of the other folds: a step unlike all others is outside its
// own.
TEST(Judgement, CoverageIsOfFoldsTheIntervalHasNotSeen) {
  std::vector<RowOutcome> rows;
  std::vector<HeldOutStep> held;
  for (int i = 0; i < 100; ++i) {
    const std::string id = "r" + std::to_string(i);
    rows.push_back(ran_row(id, 1, 1));
    const double off = 0.001 * (i % 21 - 10);
    held.push_back(step(id, Scheme::five_fold, 1, 1 + off, i % 5));
    held.push_back(step(id, Scheme::leave_one_source_out, 1, 1 + off));
  }
  held[0].predicted = Seconds(3);
  const Judgement j = judged(summarised(rows), held);
  EXPECT_EQ(j.coverage.rows, 100);
  EXPECT_LT(j.coverage.inside, 1);
  EXPECT_GT(j.coverage.inside, 0.8);
}

// The third source is off by more than the two others ever were, so that no step of its own lies
// inside; knowing it, theirs do.
TEST(Judgement, CoverageOfASourceIsOfWhatOthersMeasured) {
  std::vector<RowOutcome> rows;
  std::vector<HeldOutStep> held;
  for (int i = 0; i < 60; ++i) {
    const std::string id = "r" + std::to_string(i);
    RowOutcome row = ran_row(id, 1, 1);
    row.source_id = i % 3 == 0 ? "first" : i % 3 == 1 ? "second" : "third";
    row.point = {"a100-80gb-sxm",           "ampere", 64,           7, "dense",
                 i % 3 == 2 ? 65536 : 2048, "",       row.source_id};
    rows.push_back(row);
    held.push_back(step(id, Scheme::five_fold, 1, 1 + 0.001 * (i % 20 - 10), i % 5));
    const double off = i % 3 == 2 ? -0.5 : 0;
    held.push_back(
        step(id, Scheme::leave_one_source_out, 1, 1 + off - 0.0002 * (i % 20 + 1), i % 3));
  }
  const Judgement j = judged(summarised(rows), held);
  EXPECT_EQ(j.coverage.left_out_rows, 60);
  EXPECT_NEAR(j.coverage.left_out_inside, 2.0 / 3, 1e-9);
  std::map<std::string, int> left_out;
  std::map<std::string, double> inside;
  for (const Coverage& c : j.coverages) {
    left_out[c.regime] = c.left_out_rows;
    inside[c.regime] = c.left_out_inside;
  }
  EXPECT_EQ(inside["source: first"], 1);
  EXPECT_EQ(inside["source: third"], 0);
  EXPECT_EQ(left_out["source: third"], 20);
  EXPECT_EQ(left_out["does not extrapolate"], 40);
  EXPECT_EQ(left_out["extrapolates"], 20);
}

// Nineteen steps of one source and nine of another, on accelerators of which there are too few too.
TEST(Judgement, CoverageOfFewStepsIsCountedTogether) {
  std::vector<RowOutcome> rows;
  std::vector<HeldOutStep> held;
  for (int i = 0; i < 50; ++i) {
    const std::string id = "r" + std::to_string(i);
    rows.push_back(ran_row(id, 1, 1));
    rows.back().source_id = i < 22 ? "large" : i < 41 ? "nineteen" : "nine";
    if (i >= 41) rows.back().regime = "volta, one node";
    held.push_back(step(id, Scheme::leave_one_source_out, 1, 1));
  }
  std::map<std::string, int> left_out;
  for (const Coverage& c : judged(summarised(rows), held).coverages) {
    left_out[c.regime] = c.left_out_rows;
  }
  EXPECT_EQ(left_out["source: large"], 22);
  EXPECT_EQ(left_out["sources of fewer than 20 steps"], 28);
  EXPECT_EQ(left_out["ampere, to 64"], 41);
  EXPECT_EQ(left_out["accelerators and scales of fewer than 20 steps"], 9);
  EXPECT_FALSE(left_out.contains("source: nine"));
}

// By row, many rows decide; by source, each counts once, if it has ten rows.
TEST(Judgement, ErrorsBySourceCountEachSourceOnce) {
  std::vector<RowOutcome> rows;
  std::vector<HeldOutStep> held;
  for (int i = 0; i < 43; ++i) {
    const std::string id = "r" + std::to_string(i);
    rows.push_back(ran_row(id, 1, 1));
    rows.back().source_id = i < 30 ? "many" : i < 40 ? "ten" : "few";
    const double off = i < 30 ? 0.1 : i < 40 ? 0.3 : 0.9;
    held.push_back(step(id, Scheme::leave_one_source_out, 1, 1 + off));
    held.push_back(step(id, Scheme::constant_rate, 1, 2));
  }
  const Judgement j = judged(summarised(rows), held);
  EXPECT_NEAR(figure(j, "step time, source left out, by row, median"), 0.1, 1e-12);
  EXPECT_NEAR(figure(j, "step time, source left out, by source"), 0.2, 1e-12);
  EXPECT_NEAR(figure(j, "step time, source left out, worst source's median"), 0.3, 1e-12);
  EXPECT_NEAR(*error_by_source(j.parts, Scheme::constant_rate), 1, 1e-12);
}

TEST(Judgement, FiguresComeBackFromTheirText) {
  const std::vector<Figure> figures = {{"a, b", 0.1234, 0.1, false}, {"c", 2, {}, true}};
  const auto back = read_figures(*parse_comma_separated(figures_text(figures), "f.csv"));
  ASSERT_TRUE(back) << back.error().text();
  ASSERT_THAT(*back, SizeIs(2));
  EXPECT_EQ((*back)[0].name, "a, b");
  EXPECT_EQ((*back)[0].value, 0.1234);
}

TEST(Judgement, AFigureThatFallsBehindIsNamed) {
  const std::vector<Figure> stored = {{"error", 0.1, {}, false}, {"rank", 0.9, {}, true}};
  EXPECT_THAT(
      worse_than_stored(
          std::vector<Figure>{{"error", 0.1004, {}, false}, {"rank", 0.8997, {}, true}}, stored),
      IsEmpty());
  EXPECT_THAT(
      worse_than_stored(std::vector<Figure>{{"error", 0.12, {}, false}, {"rank", 0.95, {}, true}},
                        stored),
      ElementsAre("'error' is 0.1200, stored is 0.1000"));
  EXPECT_THAT(worse_than_stored({}, stored), SizeIs(2));
}

TEST(HeldOut, ComesBackFromItsText) {
  const std::vector<HeldOutStep> steps = {step("a", Scheme::five_fold, 1.5, 1.25, 3),
                                          step("a", Scheme::leave_one_source_out, 1.5, 1.75, 1)};
  const auto table = parse_comma_separated(held_out_text(steps), "h.csv");
  ASSERT_TRUE(is_held_out(*table));
  const auto back = read_held_out(*table);
  ASSERT_TRUE(back) << back.error().text();
  EXPECT_EQ((*back)[0].fold, 3);
  EXPECT_EQ((*back)[1].scheme, Scheme::leave_one_source_out);
  EXPECT_EQ((*back)[1].predicted, Seconds(1.75));
}

TEST(HeldOut, NamesWhatIsWrong) {
  const auto error = [](const std::string& line) {
    return read_held_out(
               *parse_comma_separated(
                   "row_id,source_id,scheme,fold,measured_s,predicted_s\n" + line, "h.csv"))
        .error()
        .text();
  };
  EXPECT_EQ(
      error("a,s,six-fold,0,1,1\n"),
      "h.csv:2: unknown scheme 'six-fold' (fitted, five-fold, leave-one-source-out, prior-means, "
      "constant-rate or nearest-steps)");
  EXPECT_EQ(error("a,s,fitted,0,1,0\n"),
            "h.csv:2: a fold or time is not a number above 0 (seconds, as calibrate writes them)");
  EXPECT_EQ(error("a,s,fitted,0,1,1\na,s,fitted,0,1,1\n"),
            "h.csv:3: row 'a' stands twice under one scheme (once)");
}

class Gate : public testing::Test {
 protected:
  static CommaSeparated table(const std::string& path) {
    return *parse_comma_separated(*read_file(kRoot + path), path);
  }
  static Validation of_all_rows() {
    std::vector<MeasuredRow> rows;
    for (const auto& entry : std::filesystem::directory_iterator(kRoot + "/validation/measured")) {
      if (entry.path().extension() != ".csv") continue;
      const auto read = read_measured_rows(entry.path().string());
      rows.insert(rows.end(), read->rows.begin(), read->rows.end());
    }
    return validate(rows, Catalog::built_in());
  }
};

// What is published must not get worse. `make validate` stores the present figures; a deliberate
// loss is stored with its reason in CHANGELOG.md.
TEST_F(Gate, NoPublishedFigureFallsBehindTheStoredOne) {
  const auto held_out = read_held_out(table("/validation/held-out-steps.csv"));
  ASSERT_TRUE(held_out) << held_out.error().text();
  const auto stored = read_figures(table("/validation/figures.csv"));
  ASSERT_TRUE(stored) << stored.error().text();
  EXPECT_FALSE(stored->empty());
  EXPECT_THAT(worse_than_stored(judged(of_all_rows(), *held_out).figures, *stored), IsEmpty());
}

// Held-out errors are of the model as it is: it was fitted anew (`make calibrate`) since its
// physics changed. The file has four decimals of a second.
TEST_F(Gate, HeldOutStepsAreOfThePresentModel) {
  const auto held_out = read_held_out(table("/validation/held-out-steps.csv"));
  ASSERT_TRUE(held_out) << held_out.error().text();
  const Validation now = of_all_rows();
  std::map<std::string, double> fitted;
  for (const HeldOutStep& step : *held_out) {
    if (step.scheme == Scheme::fitted) fitted[step.row_id] = step.predicted.value();
  }
  int compared = 0;
  for (const RowOutcome& row : now.rows) {
    const auto stored = fitted.find(row.row_id);
    if (!row.predicted || stored == fitted.end()) continue;
    ++compared;
    EXPECT_NEAR(row.predicted->value(), stored->second, 1e-4 + 1e-3 * stored->second) << row.row_id;
  }
  EXPECT_GT(compared, 900);
}

}  // namespace
}  // namespace orrery
