#include "report/validation/validation_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "measured/run_convention.h"
#include "report/drawing/table.h"

namespace orrery {

extern const char* const kValidationPage;  // validation.md.in

namespace {

constexpr std::size_t kWorstRows = 20;
constexpr std::size_t kReasons = 40;

// The sources with a figure to show, then the sum if there are several.
std::vector<const SourceSummary*> lines(const Validation& v, bool (*shown)(const SourceSummary&)) {
  std::vector<const SourceSummary*> out;
  for (const SourceSummary& source : v.sources) {
    if (shown(source)) out.push_back(&source);
  }
  if (out.size() > 1) out.push_back(&v.overall);
  return out;
}

// Of one line of a table of errors, behind its source and its counts.
void add_errors(Table& table, std::vector<Cell> row, const ErrorSummary& e, Ink ink) {
  if (e.rows > 0) {
    row.insert(row.end(), {cell(percent(e.median), ink), cell(percent(e.mean), ink),
                           cell(percent(e.p90), ink), cell(signed_percent(e.bias), ink),
                           cell(signed_percent(e.worst), ink), dim(e.worst_row)});
  } else {
    row.resize(row.size() + 6);
  }
  table.add_row(std::move(row));
}

Table step_time_table(const Validation& v) {
  Table table(left("source", 9), right("rows", 5), right("complete", 3), right("estimated", 8),
              right("median", 9), right("mean", 7), right("p90", 6), right("bias", 8),
              right("worst", 4), left("worst row", 1));
  for (const SourceSummary* s : lines(v, [](const SourceSummary&) { return true; })) {
    const Ink ink = s == &v.overall ? kBold : Ink{};
    if (s == &v.overall) table.add_rule();
    add_errors(table,
               {cell(s->source_id, ink), cell(s->rows, ink), cell(s->complete, ink),
                cell(s->step_time.rows, ink)},
               s->step_time, ink);
  }
  return table;
}

Table memory_table(const Validation& v) {
  Table table(left("source", 9), right("rows", 8), right("median", 9), right("mean", 7),
              right("p90", 6), right("bias", 8), right("worst", 4), left("worst row", 1));
  for (const SourceSummary* s :
       lines(v, [](const SourceSummary& s) { return s.memory.rows > 0; })) {
    const Ink ink = s == &v.overall ? kBold : Ink{};
    add_errors(table, {cell(s->source_id, ink), cell(s->memory.rows, ink)}, s->memory, ink);
  }
  return table;
}

Table verdict_table(const Validation& v) {
  Table table(left("", 9), right("predicted to fit", 9), right("tight", 9),
              right("predicted not to fit", 9), right("right where sure", 5));
  const VerdictCounts& c = v.overall.verdicts;
  const auto share = [](int agreed, int all) {
    return all == 0 ? std::string() : percent(static_cast<double>(agreed) / all);
  };
  const int ran_sure = c.ran_fits - c.ran_tight;
  const int out_of_memory_wrong = c.out_of_memory_fits - c.out_of_memory_tight;
  table.row("ran", ran_sure, c.ran_tight, c.ran_does_not_fit,
            share(ran_sure, c.ran() - c.ran_tight));
  table.row("ran out of memory", out_of_memory_wrong, c.out_of_memory_tight,
            c.out_of_memory_does_not_fit,
            share(c.out_of_memory_does_not_fit, c.out_of_memory() - c.out_of_memory_tight));
  return table;
}

Table ranking_table(const Validation& v) {
  Table table(left("source", 9), right("groups", 7), right("rows", 7), right("median", 9),
              right("mean", 8), right("lowest", 6), left("lowest group", 1));
  for (const SourceSummary* s :
       lines(v, [](const SourceSummary& s) { return s.ranking.groups > 0; })) {
    const Ink ink = s == &v.overall ? kBold : Ink{};
    const RankSummary& r = s->ranking;
    table.row_in(ink, s->source_id, r.groups, r.rows, fmt::format("{:.2f}", r.median),
                 fmt::format("{:.2f}", r.mean), fmt::format("{:.2f}", r.worst), dim(r.worst_group));
  }
  return table;
}

std::string time_text(const std::optional<Seconds>& t) { return t ? to_text(*t) : ""; }

std::vector<const RowOutcome*> worst_rows(const Validation& v) {
  std::vector<const RowOutcome*> out;
  for (const RowOutcome& row : v.rows) {
    if (row.error) out.push_back(&row);
  }
  // By how many times too long or too short: -50 % is as bad as +100 %.
  const auto badness = [](const RowOutcome* row) { return std::abs(std::log1p(*row->error)); };
  std::ranges::stable_sort(
      out, [&](const RowOutcome* a, const RowOutcome* b) { return badness(a) > badness(b); });
  if (out.size() > kWorstRows) out.resize(kWorstRows);
  return out;
}

Table worst_table(const Validation& v) {
  Table table(left("row", 9), left("model", 5), left("plan", 2), right("predicted", 7),
              right("measured", 7), right("error", 9));
  for (const RowOutcome* row : worst_rows(v)) {
    table.row(row->row_id, row->model, dim(row->plan), time_text(row->predicted),
              time_text(row->measured), signed_percent(*row->error));
  }
  return table;
}

Table skipped_table(const Validation& v) {
  Table table(right("rows", 9), right("complete", 7), left("skipped because", 9));
  for (std::size_t i = 0; i < std::min(kReasons, v.skipped.size()); ++i) {
    table.row(v.skipped[i].rows, v.skipped[i].complete, v.skipped[i].because);
  }
  if (v.skipped.size() > kReasons) {
    SkipCount rest;
    for (std::size_t i = kReasons; i < v.skipped.size(); ++i) {
      rest.rows += v.skipped[i].rows;
      rest.complete += v.skipped[i].complete;
    }
    table.row(rest.rows, rest.complete,
              fmt::format("{} further reasons, each with fewer rows", v.skipped.size() - kReasons));
  }
  return table;
}

// The number of each assumption in the table of assumptions.
std::map<std::string, std::size_t> assumption_numbers(const Validation& v) {
  std::map<std::string, std::size_t> out;
  for (std::size_t i = 0; i < v.assumptions.size(); ++i) out[v.assumptions[i].text] = i + 1;
  return out;
}

Table assumption_table(const Validation& v) {
  Table table(right("", 8), right("rows", 7), left("assumed", 9));
  for (std::size_t i = 0; i < v.assumptions.size(); ++i) {
    table.row(std::to_string(i + 1), v.assumptions[i].rows, v.assumptions[i].text);
  }
  return table;
}

std::string remark(const RowOutcome& row, const std::map<std::string, std::size_t>& numbers) {
  if (!row.skipped_because.empty()) return "skipped: " + row.skipped_because;
  std::string out;
  for (const std::string& text : row.assumed) {
    out += (out.empty() ? "assumed " : " ") + std::to_string(numbers.at(text));
  }
  return out;
}

Table row_table(const Validation& v) {
  const auto numbers = assumption_numbers(v);
  Table table(left("row", 9), right("predicted", 8), right("measured", 8), right("error", 9),
              right("memory", 4), left("fits", 3), left("ran", 3), left("remark", 6));
  for (const RowOutcome& row : v.rows) {
    const bool skipped = !row.skipped_because.empty();
    table.row(cell(row.row_id, skipped ? kDim : Ink{}), time_text(row.predicted),
              time_text(row.measured), row.error ? signed_percent(*row.error) : "",
              row.predicted_memory ? gibibytes(*row.predicted_memory) : "",
              row.fits ? (*row.fits ? "yes" : "no") : "", row.out_of_memory ? "no" : "",
              dim(remark(row, numbers)));
  }
  return table;
}

std::string headline(const Validation& v) {
  const SourceSummary& all = v.overall;
  std::string out = fmt::format("{} of {} complete rows estimated", grouped(all.complete_estimated),
                                grouped(all.complete));
  if (all.step_time.rows > 0) {
    out += fmt::format("; step time off by {} in the median, {} on average, bias {}",
                       percent(all.step_time.median), percent(all.step_time.mean),
                       signed_percent(all.step_time.bias));
  }
  return out;
}

}  // namespace

std::string validation_text(const Validation& v, RowDetail detail, const TextStyle& style) {
  std::string out;
  const auto add = [&](const char* title, const char* remark, const Table& table) {
    out += section(title, remark, table, style);
  };
  if (detail == RowDetail::every_row) add("Rows", "", row_table(v));
  if (v.overall.step_time.rows > 0) {
    add("Step time", "predicted / measured - 1, absolute", step_time_table(v));
    add("Worst rows", "", worst_table(v));
  }
  add("Ranking", "Spearman, plans of one model and cluster", ranking_table(v));
  if (v.overall.verdicts.ran() + v.overall.verdicts.out_of_memory() > 0) {
    add("Does it fit?", "", verdict_table(v));
  }
  add("Memory per GPU", "", memory_table(v));
  add("Assumed", "where the sources are silent", assumption_table(v));
  add("Skipped", "", skipped_table(v));
  out += "\n" + wrapped(headline(v), 0, style);
  return out;
}

std::string validation_markdown(const Validation& v, const std::string& judgement) {
  return fmt::format(
      fmt::runtime(kValidationPage), fmt::arg("headline", headline(v)),
      fmt::arg("judgement", judgement), fmt::arg("derived", source_remark("derived")),
      fmt::arg("spread", source_remark("spread")),
      fmt::arg("step_time", step_time_table(v).markdown()),
      fmt::arg("worst", worst_table(v).markdown()),
      fmt::arg("ranking", ranking_table(v).markdown()),
      fmt::arg("verdict", verdict_table(v).markdown()),
      fmt::arg("memory", memory_table(v).markdown()),
      fmt::arg("assumed", assumption_table(v).markdown()),
      fmt::arg("skipped", skipped_table(v).markdown()), fmt::arg("group", kSmallestGroup));
}

}  // namespace orrery
