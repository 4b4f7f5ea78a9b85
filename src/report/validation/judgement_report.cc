#include <fmt/format.h>

#include <array>

#include "report/drawing/table.h"
#include "report/validation/validation_report.h"

namespace orrery {
namespace {

std::string shown(const Figure& f, double value) {
  return f.name.starts_with("rank correlation") ? fmt::format("{:.3f}", value) : percent(value);
}

Table figure_table(const Judgement& j) {
  Table table(left("figure", 9), right("value", 9), right("target", 8), left("", 8));
  for (const Figure& f : j.figures) {
    std::string verdict;
    if (f.target) {
      verdict = f.met() ? "met"
                        : "missed by " + shown(f, f.more_is_better ? *f.target - f.value
                                                                   : f.value - *f.target);
    }
    table.row(f.name, bold(shown(f, f.value)), f.target ? shown(f, *f.target) : "", verdict);
  }
  return table;
}

// Median, 90th percentile and bias; nothing of no rows.
std::array<std::string, 3> errors_of(const ErrorSummary& e) {
  if (e.rows == 0) return {};
  return {percent(e.median), percent(e.p90), signed_percent(e.bias)};
}

Table error_table(const Judgement& j, bool by_source) {
  Table table(left(by_source ? "source" : "regime", 9), right("rows", 8), right("fitted", 5),
              right("p90", 1), right("bias", 1), right("five-fold", 9), right("p90", 6),
              right("bias", 6), right("source left out", 8).shown_if(by_source),
              right("p90", 4).shown_if(by_source), right("bias", 4).shown_if(by_source));
  const auto add = [&](const SchemeErrors& s, Ink ink, const std::string& name) {
    const auto fitted = errors_of(s.fitted);
    const auto folds = errors_of(s.five_fold);
    const auto left_out = errors_of(s.left_out);
    table.row_in(ink, name, s.fitted.rows, fitted[0], fitted[1], fitted[2], folds[0], folds[1],
                 folds[2], left_out[0], left_out[1], left_out[2]);
  };
  for (const SchemeErrors& s : j.parts) {
    if ((s.axis == "source") == by_source) add(s, {}, by_source ? s.name : s.axis + ": " + s.name);
  }
  table.add_rule();
  add(j.all, kBold, j.all.name);
  return table;
}

Table regret_table(const Judgement& j) {
  Table table(left("plans of", 7), right("plans", 6), right("regret", 9), left("picked", 4),
              left("best", 4));
  for (const Regret& r : j.regrets) {
    table.row(r.group, r.plans, bold(percent(r.regret)), r.picked, r.best);
  }
  return table;
}

Table coverage_table(const Judgement& j) {
  Table table(left("regime", 9), right("held-out steps", 8), right("inside", 9),
              right("mean width", 9), right("source left out", 6), right("inside", 7),
              right("mean width", 5));
  const auto add = [&](const Coverage& c, Ink ink) {
    const bool any = c.left_out_rows > 0;
    table.row_in(ink, c.regime, c.rows, percent(c.inside), percent(c.width),
                 any ? grouped(c.left_out_rows) : "", any ? percent(c.left_out_inside) : "",
                 any ? percent(c.left_out_width) : "");
  };
  for (const Coverage& c : j.coverages) add(c, {});
  table.add_rule();
  add(j.coverage, kBold);
  return table;
}

// "a, one node (84.0 %), b (100.0 %)": regimes whose share inside is not that of a 90 % interval.
std::string outside_the_range(const Judgement& j, int Coverage::* rows, double Coverage::* inside) {
  std::string out;
  for (const Coverage& c : j.coverages) {
    if (c.*rows == 0 || (c.*inside >= kLeastInside && c.*inside <= kMostInside)) continue;
    out += (out.empty() ? "" : "; ") +
           fmt::format("{} ({} of {})", c.regime, percent(c.*inside), grouped(c.*rows));
  }
  return out.empty() ? "none" : out;
}

}  // namespace

std::string judgement_text(const Judgement& j, const TextStyle& style) {
  std::string out;
  const auto add = [&](const char* title, const char* remark, const Table& table) {
    out += section(title, remark, table, style);
  };
  if (!j.figures.empty()) add("Published figures", "and their targets", figure_table(j));
  if (j.all.five_fold.rows > 0) {
    add("Held-out steps", "median absolute error; folds not fitted", error_table(j, true));
    add("By regime", "", error_table(j, false));
  }
  if (!j.regrets.empty()) {
    add("Regret", "measured time of the plan we would pick over the best", regret_table(j));
  }
  if (j.coverage.rows > 0) add("Intervals", "90 %, held-out steps", coverage_table(j));
  return out;
}

std::string judgement_markdown(const Judgement& j, const std::string& picture) {
  std::string out;
  if (!j.figures.empty()) {
    out +=
        "## Published figures\n\n"
        "Errors are absolute and relative to the measurement, of steps that the calibration had\n"
        "not seen: five folds inside each source in which near-duplicates stay together, and each\n"
        "source of ten rows or more left out whole. \"Fitted\" errors are those of the catalog's\n"
        "conditions, which have seen the rows. " +
        (j.apart.empty() ? ""
                         : fmt::format("Rows of {} are not in the sums: by their authors'\nown "
                                       "account they vary much from run to run. ",
                                       fmt::join(j.apart, ", "))) +
        "A test fails\nwhen a figure falls behind the stored one (`validation/figures.csv`) in its "
        "last\n"
        "published digit. Kernels and collectives have targets and tables of their own:\n"
        "[kernels](models/kernel-errors.md), [collectives](models/collectives.md), and\n"
        "[what is missed](calibrate.md#what-is-missed-and-why).\n\n" +
        figure_table(j).markdown() + "\n";
  }
  if (!picture.empty()) {
    out += fmt::format("![Predicted against measured step times]({})\n\n", picture);
  }
  if (j.all.five_fold.rows > 0) {
    out +=
        "## Held-out steps by source\n\nMedian and 90th percentile of the absolute error, and "
        "bias.\n\n" +
        error_table(j, true).markdown() + "\n## Held-out steps by regime\n\n" +
        error_table(j, false).markdown() + "\n";
  }
  if (!j.regrets.empty()) {
    out +=
        "## Regret\n\n"
        "Among the plans of one model on one cluster: measured time of the plan predicted best "
        "over\nthat of the best one, less one. Predictions are held out.\n\n" +
        regret_table(j).markdown() + "\n";
  }
  if (j.coverage.rows > 0) {
    out +=
        "## Intervals\n\n"
        "An estimate's 90 % interval comes from the held-out errors of its regime, widened if it\n"
        "[extrapolates](estimate.md#what-the-figures-mean). It is tested on the steps of each "
        "fold\n"
        "with intervals made of the other folds (near-duplicates share one), and on those of each\n"
        "source with intervals made of the other sources. The width is (high - low) / "
        "estimate.\n\n" +
        coverage_table(j).markdown() +
        fmt::format(
            "\nRegimes outside 85 to 95 %, with the number of steps that say so:\n\n"
            "- held-out folds: {}\n- sources left out: {}\n\n",
            outside_the_range(j, &Coverage::rows, &Coverage::inside),
            outside_the_range(j, &Coverage::left_out_rows, &Coverage::left_out_inside));
  }
  return out;
}

}  // namespace orrery
