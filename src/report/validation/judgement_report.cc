#include <fmt/core.h>
#include <fmt/format.h>

#include <array>

#include "report/drawing/table.h"
#include "report/validation/validation_report.h"

namespace orrery {

extern const char* const kHeldOutPart;     // held_out.md.in
extern const char* const kFiguresPart;     // figures.md.in
extern const char* const kRegretPart;      // regret.md.in
extern const char* const kIntervalsPart;   // intervals.md.in
extern const char* const kStrategiesPage;  // strategies.md.in

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

// Of all rows but those judged apart, each way of predicting a source that it has not seen.
Table baseline_table(const Judgement& j) {
  Table table(left("prediction of a source left out", 9), right("rows", 7),
              right("median by row", 9), right("mean", 7), right("p90", 6),
              right("median by source", 9), right("bias", 5));
  const auto add = [&](const char* name, Scheme scheme, Ink ink) {
    const ErrorSummary& e = j.all.of(scheme);
    const auto by_source = error_by_source(j.parts, scheme);
    table.row_in(ink, name, e.rows, percent(e.median), percent(e.mean), percent(e.p90),
                 by_source ? percent(*by_source) : "", signed_percent(e.bias));
  };
  add("this model, fitted to the other sources", Scheme::leave_one_source_out, kBold);
  add("this model without any fit, at its prior means", Scheme::prior_means, {});
  add("the three nearest steps of other sources", Scheme::nearest_steps, {});
  add("a constant rate of each accelerator", Scheme::constant_rate, {});
  return table;
}

Table error_table(const Judgement& j, bool by_source) {
  Table table(left(by_source ? "source" : "regime", 9), right("rows", 8),
              right("source left out", 9), right("p90", 6), right("bias", 6),
              right("model left out", 7), right("p90", 4), right("bias", 4), right("fitted", 5),
              right("p90", 1), right("bias", 1));
  const auto add = [&](const SchemeErrors& s, Ink ink, const std::string& name) {
    const auto fitted = errors_of(s.of(Scheme::fitted));
    const auto folds = errors_of(s.of(Scheme::five_fold));
    const auto left_out = errors_of(s.of(Scheme::leave_one_source_out));
    table.row_in(ink, name, s.of(Scheme::fitted).rows, left_out[0], left_out[1], left_out[2],
                 folds[0], folds[1], folds[2], fitted[0], fitted[1], fitted[2]);
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
  add("Published figures", "and their targets", figure_table(j));
  if (j.all.of(Scheme::five_fold).rows > 0) {
    add("Sources left out", "this model and predictions without it", baseline_table(j));
    add("Held-out steps", "median absolute error; not fitted", error_table(j, true));
    add("By regime", "", error_table(j, false));
  }
  add("Regret", "measured time of the plan we would pick over the best", regret_table(j));
  if (j.coverage.rows > 0) add("Intervals", "90 %, held-out steps", coverage_table(j));
  return out;
}

std::string judgement_markdown(const Judgement& j, const std::string& picture) {
  std::string out;
  const bool held_out = j.all.of(Scheme::five_fold).rows > 0;
  if (held_out) {
    const std::string apart = j.apart.empty()
                                  ? ""
                                  : fmt::format(
                                        "Rows of {} are apart: by their authors' own\naccount "
                                        "they vary much from run to run. ",
                                        fmt::join(j.apart, ", "));
    out += fmt::format(fmt::runtime(kHeldOutPart), fmt::arg("apart", apart),
                       fmt::arg("baselines", baseline_table(j).markdown()));
  }
  if (!j.figures.empty()) {
    out += fmt::format(fmt::runtime(kFiguresPart), fmt::arg("figures", figure_table(j).markdown()));
  }
  if (!picture.empty()) {
    out += fmt::format("![Predicted against measured step times]({})\n\n", picture);
  }
  if (held_out) {
    out +=
        "## Held-out steps by source\n\nMedian and 90th percentile of the absolute error, and "
        "bias.\n\n" +
        error_table(j, true).markdown() + "\n## Held-out steps by regime\n\n" +
        error_table(j, false).markdown() + "\n";
  }
  if (!j.regrets.empty()) {
    out += fmt::format(fmt::runtime(kRegretPart), fmt::arg("regrets", regret_table(j).markdown()));
  }
  if (j.coverage.rows > 0) {
    out += fmt::format(
        fmt::runtime(kIntervalsPart), fmt::arg("coverage", coverage_table(j).markdown()),
        fmt::arg("folds", outside_the_range(j, &Coverage::rows, &Coverage::inside)),
        fmt::arg("left_out",
                 outside_the_range(j, &Coverage::left_out_rows, &Coverage::left_out_inside)));
  }
  return out;
}

namespace {

std::string value_text(ClaimFigure figure, double value) {
  switch (figure) {
    case ClaimFigure::mfu:
      return fmt::format("{:.1f} % MFU", 100 * value);
    case ClaimFigure::tflops:
    case ClaimFigure::causal_tflops:
      return fmt::format("{:.0f} TFLOP/s", value);
    case ClaimFigure::tokens:
      return fmt::format("{:.0f} tokens/s", value);
    case ClaimFigure::speedup:
    case ClaimFigure::states_ratio:
    case ClaimFigure::memory_ratio:
    case ClaimFigure::context_bytes_ratio:
    case ClaimFigure::replica_bytes_ratio:
      return fmt::format("{:.2f}x", value);
    case ClaimFigure::longest:
      return fmt::format("{:.0f} K tokens", value / 1024);
  }
  return "";
}

std::string band_text(double band) { return fmt::format("{:.3g} %", 100 * band); }

}  // namespace

std::string claims_markdown(std::span<const JudgedClaim> claims) {
  std::size_t judged = 0;
  std::size_t held = 0;
  for (const JudgedClaim& c : claims) {
    if (!c.holds || c.claim.type == ClaimType::upper_bound) continue;
    ++judged;
    if (*c.holds) ++held;
  }
  std::string out = fmt::format(fmt::runtime(kStrategiesPage), fmt::arg("held", held),
                                fmt::arg("judged", judged));
  for (const auto& [claim, predicted, holds] : claims) {
    if (!predicted) continue;
    out +=
        fmt::format("| {} | {} | {} | {} | {} | {} | {} | {:+.1f} % | {} | {} |\n", claim.strategy,
                    claim.source, claim.headline, to_text(claim.type),
                    value_text(*claim.figure, claim.published), holds ? band_text(claim.band) : "",
                    value_text(*claim.figure, *predicted), 100 * (*predicted / claim.published - 1),
                    holds ? (*holds ? "holds" : "**missed**") : "shown", claim.configuration);
  }
  out += "\n## Not predicted\n\n| strategy | paper | claim | why |\n| --- | --- | --- | --- |\n";
  for (const JudgedClaim& c : claims) {
    if (c.predicted) continue;
    out += fmt::format("| {} | {} | {} | {} |\n", c.claim.strategy, c.claim.source,
                       c.claim.headline, c.claim.not_predicted);
  }
  return out;
}

}  // namespace orrery
