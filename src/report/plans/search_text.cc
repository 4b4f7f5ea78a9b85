#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <vector>

#include "report/drawing/category_style.h"
#include "report/plans/plan_reports.h"
#include "search/candidate.h"

namespace orrery {
namespace {

constexpr std::string_view kTwins =
    "(+1): one more plan that differs only in chunks and takes the same time";

// A line that nothing breaks, so that it can be pasted.
std::string pasted(std::string_view which, const Plan& plan) {
  return fmt::format("  {}--plan {}\n", which, plan_settings(plan));
}

double step_seconds(const Estimate& e) { return e.step_time.value(); }

// Which axes were not searched, and what to write to have them tried; empty: none.
std::string not_searched_sentence(const SearchResult& r) {
  const auto varied_by_all_axes = [](const std::string& axis) {
    return std::ranges::find(kAxesOutsideTheSpace, axis) != kAxesOutsideTheSpace.end();
  };
  std::vector<std::string> kept;
  std::vector<std::string> varied;
  std::ranges::partition_copy(r.not_searched, std::back_inserter(varied), std::back_inserter(kept),
                              varied_by_all_axes);
  std::string out;
  if (!kept.empty()) out = fmt::format("not searched: {}", fmt::join(kept, ", "));
  if (!varied.empty()) {
    out += fmt::format("{}without --all-axes: {}", kept.empty() ? "not searched " : "; ",
                       fmt::join(varied, ", "));
  }
  return out;
}

}  // namespace

double slowdown(const Estimate& winner, const Estimate& other) {
  return step_seconds(winner) > 0 ? step_seconds(other) / step_seconds(winner) - 1 : 0;
}

LargestChanges largest_changes(const Estimate& winner, const Estimate& other) {
  struct Change {
    Picoseconds time;
    Category line = Category::host;
  };
  Change grew;
  Change shrank;
  for (std::size_t i = 0; i < kCategories; ++i) {
    const Picoseconds growth = other.breakdown.time[i] - winner.breakdown.time[i];
    if (growth > grew.time) grew = {growth, static_cast<Category>(i)};
    const Picoseconds saving = winner.breakdown.time[i] - other.breakdown.time[i];
    if (saving > shrank.time) shrank = {saving, static_cast<Category>(i)};
  }
  const auto in_words = [](char sign, const Change& change) {
    if (change.time.count() <= 0) return std::string();
    return fmt::format("{}{} {}{}", sign, to_text(change.time.seconds()),
                       is_exposed_communication(change.line) ? "exposed " : "", label(change.line));
  };
  constexpr double kTold = 0.1;  // part of the growth
  return {
      .grew = in_words('+', grew),
      .shrank = shrank.time.seconds() > kTold * grew.time.seconds() ? in_words('-', shrank) : ""};
}

std::string counts_sentence(const SearchResult& r) {
  std::string out = fmt::format("{} plans considered: {} too large for memory, {} {}, {} simulated",
                                grouped(r.considered), grouped(r.too_large), grouped(r.bounded),
                                r.interrupted ? "not reached or bounded away" : "bounded away",
                                grouped(r.evaluated));
  if (r.improved > 0) out += fmt::format("; {} more on other axes", grouped(r.improved));
  return out;
}

// "1,204 plans judged: 310 not allowed; the objective of the plans above: 1.25, 1.31, 1.4"
std::string judged_sentence(const Judged& judged) {
  std::string out = fmt::format("{} plans judged: {} not allowed", grouped(judged.plans),
                                grouped(judged.not_allowed));
  if (judged.failed > 0) {
    out += fmt::format(", {} failed, the first with {}", grouped(judged.failed),
                       printable(judged.failure));
  }
  std::vector<std::string> values;
  for (const double value : judged.values) values.push_back(fmt::format("{:.6g}", value));
  if (!values.empty()) {
    out += fmt::format("; the objective of the plans above: {}", fmt::join(values, ", "));
  }
  return out;
}

std::string counts_text(const SearchResult& r, Seconds elapsed, const TextStyle& style) {
  std::string out = paragraph(
      style, counts_sentence(r) + (r.interrupted ? "; interrupted: the best so far" : ""));
  if (r.judged) out += paragraph(style, judged_sentence(*r.judged));
  if (elapsed.value() > 0) {
    out += paragraph(style, "took {} ({} plans/s)", to_text(elapsed),
                     compact(static_cast<double>(r.considered) / elapsed.value()));
  }
  if (const std::string rest = not_searched_sentence(r); !rest.empty()) {
    out += paragraph(style, rest);
  }
  if (!r.schedules_line.empty()) out += paragraph(style, r.schedules_line);
  for (const std::string& value : r.never_tried) out += paragraph(style, "never tried: " + value);
  return out;
}

namespace {

// What a plan states beyond the columns.
std::string other_settings(const Plan& plan) {
  static constexpr auto kColumns = std::to_array<std::string_view>(
      {"tp", "cp", "pp", "dp", "ep", "dispatch", "context_parallel", "schedule", "chunks",
       "micro_batch", "site_micro_batch", "zero", "recompute", "recompute_modules",
       "recompute_layers", "placement"});
  return settings_beyond(plan, kColumns);
}

// A column of the best plans. Core columns are always shown; of the others those in which the plans
// do not differ are said once, below the table, unless their value says nothing.
struct Field {
  Column column;
  std::string (*value)(const Estimate&);
  bool core = false;
  std::string_view silent = "";
};

// "5.23–6.94 s"
std::string range_words(const StepTimeInterval& interval) {
  std::string low = to_text(interval.low);
  const std::string high = to_text(interval.high);
  const std::size_t unit = low.rfind(' ');
  if (unit != std::string::npos && high.ends_with(low.substr(unit))) low.resize(unit);
  return low + "–" + high;
}

template <auto kMember>
std::string plan_number(const Estimate& e) {
  return std::to_string(e.plan.*kMember);
}

std::vector<Field> fields(const SearchResult& r) {
  return {
      {right("tp").telling_rows_apart(), plan_number<&Plan::tp>, true},
      {right("cp").telling_rows_apart(), plan_number<&Plan::cp>, false, "1"},
      {left("context").telling_rows_apart(),
       [](const Estimate& e) {
         return e.plan.cp > 1 ? std::string(to_text(e.plan.context_parallel)) : std::string("-");
       },
       false, "-"},
      {right("pp").telling_rows_apart(), plan_number<&Plan::pp>, true},
      {right("v").telling_rows_apart(), plan_number<&Plan::chunks>, false, "1"},
      {right("ep").telling_rows_apart(), plan_number<&Plan::ep>, false, "1"},
      {left("dispatch").telling_rows_apart(),
       [](const Estimate& e) {
         return e.plan.ep > 1 ? std::string(to_text(e.plan.dispatch)) : std::string("-");
       },
       false, "-"},
      {right("dp").telling_rows_apart(), plan_number<&Plan::dp>, true},
      {right("mbs").telling_rows_apart(),
       [](const Estimate& e) { return micro_batch_text(e.plan); }},
      {right("zero").telling_rows_apart(), plan_number<&Plan::zero>},
      {left("recompute").telling_rows_apart(),
       [](const Estimate& e) {
         return std::string(to_text(e.plan.recompute)) +
                (e.plan.recompute_layers > 0 ? ":" + std::to_string(e.plan.recompute_layers) : "");
       }},
      {left("modules").telling_rows_apart(),
       [](const Estimate& e) { return to_text(e.plan.recompute_modules); }},
      {left("schedule").telling_rows_apart(),
       [](const Estimate& e) { return e.plan.pp > 1 ? e.plan.schedule : std::string("-"); }, false,
       "-"},
      {left("placement").telling_rows_apart(),
       [](const Estimate& e) { return placement_words(e.plan); }},
      {left("settings").telling_rows_apart(),
       [](const Estimate& e) { return other_settings(e.plan); }},
      {right("step", 9), [](const Estimate& e) { return to_text(e.step_time); }, true},
      {right(interval_name(r.plans.front().interval), 6),
       [](const Estimate& e) { return range_words(e.interval); }, true},
      {right("MFU", 2), [](const Estimate& e) { return percent(e.mfu); }, true},
      {right("causal MFU", 0),
       [](const Estimate& e) { return differs_by_causality(e) ? percent(e.causal_mfu) : ""; }},
      {right("memory", 5), [](const Estimate& e) { return gibibytes(e.peak_memory); }, true},
      {left("verdict", 4), [](const Estimate& e) { return std::string(style_of(e.verdict).words); },
       false, "✓ fits"},
  };
}

bool same_in_all(const SearchResult& r, const Field& field) {
  return std::ranges::all_of(
      r.plans, [&](const Estimate& e) { return field.value(e) == field.value(r.plans.front()); });
}

std::string common_to_plans(const SearchResult& r) {
  std::string out;
  if (r.plans.empty()) return out;
  for (const Field& field : fields(r)) {
    if (field.core || !same_in_all(r, field)) continue;
    const std::string value = field.value(r.plans.front());
    if (value == field.silent) continue;
    out += (out.empty() ? "" : " · ") + unbroken(field.column.title + " " + value);
  }
  return out;
}

// Plans that differ in chunks alone and take the same time, as far as it is printed, are one row.
struct PlanRow {
  const Estimate* best = nullptr;
  int twins = 0;
};

std::vector<PlanRow> rows_of(const SearchResult& r) {
  std::vector<PlanRow> out;
  for (const Estimate& e : r.plans) {
    const auto twin = std::ranges::find_if(out, [&](const PlanRow& row) {
      Plan plan = e.plan;
      plan.chunks = row.best->plan.chunks;
      return plan == row.best->plan && to_text(e.step_time) == to_text(row.best->step_time);
    });
    if (twin != out.end()) {
      ++twin->twins;
    } else {
      out.push_back({&e});
    }
  }
  return out;
}

// "of the same time and memory: 7 more plans as #1, 3 as #4", or "as each"; empty: none.
std::string equals_sentence(const SearchResult& r) {
  std::vector<std::int64_t> equals;  // of each row
  for (const PlanRow& row : rows_of(r)) {
    const auto at = static_cast<std::size_t>(row.best - r.plans.data());
    equals.push_back(at < r.equal_plans.size() ? r.equal_plans[at] : 0);
  }
  const bool alike =
      std::ranges::adjacent_find(equals, std::ranges::not_equal_to{}) == equals.end();
  std::string out;
  for (std::size_t i = 0; i < equals.size() && (i == 0 || !alike); ++i) {
    if (equals[i] == 0) continue;
    out += out.empty() ? "of the same time and memory: " + counted(equals[i], "more plan")
                       : ", " + grouped(equals[i]);
    out += alike ? " as each" : fmt::format(" as #{}", i + 1);
  }
  return out;
}

}  // namespace

std::string notes_of(const SearchResult& r) {
  std::string out = common_to_plans(r);
  if (!out.empty()) out.insert(0, r.plans.size() > 1 ? "in all: " : "with ");
  if (rows_of(r).size() < r.plans.size()) out.append(out.empty() ? "" : "; ").append(kTwins);
  if (const std::string equal = equals_sentence(r); !equal.empty()) {
    out.append(out.empty() ? "" : "; ").append(equal);
  }
  return out;
}

Table plans_table(const SearchResult& r, std::span<const HealthyRun> runs) {
  std::vector<Column> columns = {right("#", 7)};
  for (const Field& field : fields(r)) {
    columns.push_back(Column(field.column).shown_if(field.core || !same_in_all(r, field)));
  }
  columns.push_back(right("run", 5).shown_if(!runs.empty()));
  columns.push_back(right("cost", 5).shown_if(!runs.empty() && runs.front().price.has_value()));
  columns.push_back(right("slower", 3));
  Table table(std::move(columns));
  int number = 0;
  for (const auto& [best, twins] : rows_of(r)) {
    const Estimate& e = *best;
    const bool first = number++ == 0;
    std::vector<Cell> cells = {dim(std::to_string(number))};
    for (const Field& field : fields(r)) {
      std::string value = field.value(e);
      if (twins > 0 && field.column.title == "v") value += fmt::format(" (+{})", twins);
      const bool verdict = field.column.title == "verdict";
      cells.push_back(cell(value, verdict ? style_of(e.verdict).ink : Ink{.bold = first}));
    }
    const HealthyRun run =
        runs.empty() ? HealthyRun() : runs[static_cast<std::size_t>(best - r.plans.data())];
    cells.push_back(cell(span_words(run.wall)));
    cells.push_back(cell(dollars(run.cost(run.wall))));
    cells.push_back(dim(first ? "" : signed_percent(slowdown(r.plans[0], e))));
    table.add_row(std::move(cells));
    if (first) table.mark(RowLook::strong);
  }
  return table;
}

Table runners_up_table(const SearchResult& r) {
  Table table(left("axis").telling_rows_apart(), left("winner", 7),
              left("next", 8).on_page_as("next best").telling_rows_apart(), right("step", 3),
              right("slower", 8), left("what grew most", 2), left("what shrank most", 0),
              left("--plan", 0));
  for (const RunnerUp& u : r.runners_up) {
    const Estimate& other = u.best_other;
    const LargestChanges changes = largest_changes(r.plans[0], other);
    table.row(bold(u.axis), u.winner, u.other, other.step_time,
              bold(signed_percent(slowdown(r.plans[0], other))), changes.grew, changes.shrank,
              dim(plan_settings(other.plan)));
  }
  return table;
}

Table misses_table(const std::vector<NearMiss>& misses) {
  Table table(left("--plan").telling_rows_apart(), right("no faster than", 5), right("needs", 6),
              right("short by", 8), right("stage", 3).on_page_as("fullest stage"));
  for (const NearMiss& miss : misses) {
    table.row(plan_settings(miss.plan), miss.bound, gibibytes(miss.peak_memory),
              cell(gibibytes(miss.shortfall), {.colour = 203, .bold = true}),
              std::to_string(miss.stage));
  }
  return table;
}

std::string pareto_text(const SearchResult& r, const TextStyle& style) {
  if (r.pareto.size() < 2) return "";
  std::string out = heading("Step time against memory", "no plan is better in both", style);
  const auto [least, most] =
      std::ranges::minmax_element(r.pareto, std::ranges::less(), &Estimate::peak_memory);
  const auto [fastest, slowest] = std::ranges::minmax_element(
      r.pareto,
      [](const Estimate& a, const Estimate& b) { return step_seconds(a) < step_seconds(b); });
  const std::string top = to_text(slowest->step_time);
  const std::string bottom = to_text(fastest->step_time);
  const int label = std::max(display_width(top), display_width(bottom));
  const int columns = std::min(64, usable_width(style) - 2 - label - 2);
  constexpr int kRows = 9;
  if (columns >= 8) {
    std::vector<std::string> canvas(kRows, std::string(static_cast<std::size_t>(columns), ' '));
    const auto position = [](double value, double low, double high, int cells) {
      return high > low
                 ? static_cast<std::size_t>(std::lround((value - low) / (high - low) * (cells - 1)))
                 : std::size_t{0};
    };
    for (const Estimate& e : r.pareto) {
      const std::size_t x =
          position(static_cast<double>(e.peak_memory), static_cast<double>(least->peak_memory),
                   static_cast<double>(most->peak_memory), columns);
      const std::size_t y =
          position(step_seconds(e), step_seconds(*fastest), step_seconds(*slowest), kRows);
      canvas[kRows - 1 - y][x] = 'o';
    }
    for (int row = 0; row < kRows; ++row) {
      const std::string name = row == 0 ? top : row == kRows - 1 ? bottom : "";
      std::string points;
      for (const char c : canvas[static_cast<std::size_t>(row)]) {
        points += c == ' ' ? " " : painted("●", {.colour = 33}, style);
      }
      points.erase(points.find_last_not_of(' ') + 1);
      out += "  " + painted(fitted(name, label, Align::right), kDim, style) + " " +
             painted("│", kDim, style) + points + "\n";
    }
    std::string axis = "└";
    for (int i = 0; i < columns; ++i) axis += "─";
    const std::string margin(static_cast<std::size_t>(label) + 3, ' ');
    out += margin + painted(axis, kDim, style) + "\n";
    const std::string low = gibibytes(least->peak_memory);
    const std::string high = gibibytes(most->peak_memory);
    const int gap = columns - display_width(low) - display_width(high);
    if (gap > 0) {
      out += margin + " " +
             painted(low + std::string(static_cast<std::size_t>(gap), ' ') + high, kDim, style) +
             "\n";
    }
  }
  Table table(left("--plan").telling_rows_apart(), right("step", 8), right("memory", 8),
              right("MFU", 4));
  constexpr std::size_t kMostRows = 12;
  for (std::size_t i = 0; i < std::min(kMostRows, r.pareto.size()); ++i) {
    const Estimate& e = r.pareto[i];
    table.row(plan_settings(e.plan), e.step_time, gibibytes(e.peak_memory), percent(e.mfu));
  }
  if (r.pareto.size() > kMostRows) {
    table.row(dim(fmt::format("… {} more", r.pareto.size() - kMostRows)), "", "", "");
  }
  return out + "\n" + table.text(style);
}

std::string surely_fitting_sentence(const SearchResult& r) {
  if (!r.surely_fitting) return "";
  const Estimate& best = r.plans.front();
  const Estimate& other = *r.surely_fitting;
  return fmt::format(
      "With the largest measured allocator overhead the best plan needs {} of {}. Best plan that "
      "fits even then: {} ({}), {} ({} at worst)",
      gibibytes(best.pessimistic_memory), gibibytes(best.memory_capacity), to_text(other.step_time),
      signed_percent(slowdown(best, other)), gibibytes(other.peak_memory),
      gibibytes(other.pessimistic_memory));
}

std::string search_text(const SearchResult& r, const Subject& subject, Seconds elapsed,
                        const TextStyle& style, std::span<const HealthyRun> runs) {
  const auto title = [&](std::string_view words, const std::string& what, Ink ink) {
    return title_line(fmt::format("{} {}", words, what), style, ink) +
           paragraph(style, in_words(subject.size)) + counts_text(r, elapsed, style);
  };
  const std::string model = model_in_words(subject);
  const std::string near_misses =
      section("Would have been faster, but does not fit", "", misses_table(r.near_misses), style);
  if (r.plans.empty() && r.interrupted) {
    return title("Stopped before a plan was simulated for",
                 fmt::format("{} on {}", model, subject.cluster), {.bold = true});
  }
  if (r.plans.empty() && r.judged && r.judged->plans > 0) {
    return title(r.judged->failed == r.judged->plans ? "The function failed for every plan of"
                                                     : "The function allows no plan of",
                 fmt::format("{} on {}", model, subject.cluster),
                 style_of(Verdict::does_not_fit).ink);
  }
  if (r.plans.empty()) {
    return title("No plan of", fmt::format("{} fits on {}", model, subject.cluster),
                 style_of(Verdict::does_not_fit).ink) +
           section("The smallest plan is too large", "", misses_table(r.least_memory), style) +
           near_misses;
  }
  const Estimate& best = r.plans.front();
  const std::string changes = numeric_changes_sentence(best);
  std::string out = title(r.plans.size() == 1 ? "Best plan for" : "Best plans for",
                          fmt::format("{} on {}", model, subject.cluster), {.bold = true}) +
                    "\n" + plans_table(r, runs).text(style) + paragraph(style, notes_of(r)) +
                    (runs.empty() ? "" : paragraph(style, healthy_run_sentence(runs.front()))) +
                    paragraph(style, interval_sentence(best.interval)) +
                    (changes.empty() ? "" : paragraph(style, changes)) +
                    pasted("best: ", best.plan);
  if (r.surely_fitting) {
    out += paragraph(style, surely_fitting_sentence(r)) + pasted("fits: ", r.surely_fitting->plan);
  }
  if (!r.runners_up.empty()) {
    const RunnerUp& closest = *std::ranges::min_element(
        r.runners_up, {}, [](const RunnerUp& u) { return step_seconds(u.best_other); });
    out += section("Why it won", "the best plan with another value on one axis",
                   runners_up_table(r), style) +
           pasted("closest: ", closest.best_other.plan);
  }
  return out + near_misses + pareto_text(r, style) + assumed_text(best, style);
}

}  // namespace orrery
