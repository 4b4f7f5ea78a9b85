#include "report/plans/search_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/drawing/category_style.h"
#include "report/drawing/figures.h"
#include "report/plans/estimate_text.h"
#include "report/plans/plan_text.h"
#include "units/quantity_text.h"

namespace orrery {
namespace {

constexpr Ink kBold = {.bold = true};
constexpr Ink kDim = {.dim = true};

// "3.20 s" stays on one line.
std::string unbroken(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == ' ' ? std::string("\u00A0") : std::string(1, c);
  return out;
}

double seconds(const Estimate& e) { return e.step_time.value(); }

}  // namespace

double slowdown(const Estimate& winner, const Estimate& other) {
  return seconds(winner) > 0 ? seconds(other) / seconds(winner) - 1 : 0;
}

std::string largest_growth(const Estimate& winner, const Estimate& other) {
  Picoseconds most;
  auto line = Category::host;
  for (std::size_t i = 0; i < kCategories; ++i) {
    const Picoseconds growth = other.breakdown.time[i] - winner.breakdown.time[i];
    if (growth > most) {
      most = growth;
      line = static_cast<Category>(i);
    }
  }
  if (most.count() <= 0) return "";
  return fmt::format("+{} {}{}", to_text(most.seconds()),
                     is_exposed_communication(line) ? "exposed " : "", label(line));
}

std::string counts_text(const SearchResult& r, Seconds elapsed, const TextStyle& style) {
  std::string sentence = fmt::format(
      "{} plans considered: {} too large for memory, {} bounded away, {} simulated",
      grouped(r.considered), grouped(r.too_large), grouped(r.bounded), grouped(r.evaluated));
  if (r.interrupted) sentence += "; interrupted: the best so far";
  std::string out = wrapped(sentence, 2, style);
  if (elapsed.value() > 0) {
    out += wrapped(fmt::format("took {} ({} plans/s)", to_text(elapsed),
                               compact(static_cast<double>(r.considered) / elapsed.value())),
                   2, style);
  }
  return out;
}

namespace {

// A column of the best plans. Core columns are always shown; of the others those in which the plans
// do not differ are said once, below the table, unless their value says nothing.
struct Field {
  Column column;
  std::string (*value)(const Estimate&);
  bool core = false;
  std::string_view silent = "";
};

const std::vector<Field>& fields() {
  const auto number = [](std::string title, int importance) {
    return Column{.title = std::move(title), .align = Align::right, .importance = importance};
  };
  const auto words = [](std::string title, int importance) {
    return Column{.title = std::move(title), .importance = importance};
  };
  static const std::vector<Field> kFields = {
      {number("tp", 8), [](const Estimate& e) { return std::to_string(e.plan.tp); }, true},
      {number("cp", 8), [](const Estimate& e) { return std::to_string(e.plan.cp); }, false, "1"},
      {words("context", 3),
       [](const Estimate& e) {
         return e.plan.cp > 1 ? std::string(to_text(e.plan.context_parallel)) : std::string("-");
       },
       false, "-"},
      {number("pp", 8), [](const Estimate& e) { return std::to_string(e.plan.pp); }, true},
      {number("v", 6), [](const Estimate& e) { return std::to_string(e.plan.chunks); }, false, "1"},
      {number("ep", 8), [](const Estimate& e) { return std::to_string(e.plan.ep); }, false, "1"},
      {number("dp", 7), [](const Estimate& e) { return std::to_string(e.plan.dp); }, true},
      {number("mbs", 6), [](const Estimate& e) { return std::to_string(e.plan.micro_batch); }},
      {number("zero", 5), [](const Estimate& e) { return std::to_string(e.plan.zero); }},
      {words("recompute", 4),
       [](const Estimate& e) { return std::string(to_text(e.plan.recompute)); }},
      {words("schedule", 2),
       [](const Estimate& e) { return e.plan.pp > 1 ? e.plan.schedule : std::string("-"); }, false,
       "-"},
      {words("placement", 3), [](const Estimate& e) { return placement_words(e.plan); }},
      {number("step", 9), [](const Estimate& e) { return to_text(e.step_time); }, true},
      {number("MFU", 5), [](const Estimate& e) { return percent(e.mfu); }, true},
      {number("memory", 5), [](const Estimate& e) { return gibibytes(e.peak_memory); }, true},
      {words("verdict", 1), [](const Estimate& e) { return verdict_words(e.verdict); }, false,
       "✓ fits"},
  };
  return kFields;
}

bool same_in_all(const SearchResult& r, const Field& field) {
  return std::all_of(r.plans.begin(), r.plans.end(), [&](const Estimate& e) {
    return field.value(e) == field.value(r.plans.front());
  });
}

}  // namespace

std::string common_to_plans(const SearchResult& r) {
  std::string out;
  if (r.plans.empty()) return out;
  for (const Field& field : fields()) {
    if (field.core || !same_in_all(r, field)) continue;
    const std::string value = field.value(r.plans.front());
    if (value == field.silent) continue;
    out += (out.empty() ? "" : " · ") + unbroken(field.column.title + " " + value);
  }
  return out;
}

Table plans_table(const SearchResult& r) {
  std::vector<Column> columns = {{.title = "#", .align = Align::right, .importance = 3}};
  std::vector<const Field*> shown;
  for (const Field& field : fields()) {
    if (!field.core && same_in_all(r, field)) continue;
    columns.push_back(field.column);
    shown.push_back(&field);
  }
  columns.push_back({.title = "slower", .align = Align::right, .importance = 1});
  Table table(std::move(columns));
  for (std::size_t i = 0; i < r.plans.size(); ++i) {
    const Estimate& e = r.plans[i];
    const Ink ink = {.bold = i == 0};
    std::vector<Cell> cells = {{.text = std::to_string(i + 1), .ink = kDim}};
    for (const Field* field : shown) {
      const bool verdict = field->column.title == "verdict";
      cells.push_back({.text = field->value(e), .ink = verdict ? verdict_ink(e.verdict) : ink});
    }
    cells.push_back({.text = i == 0 ? "" : signed_percent(slowdown(r.plans[0], e)), .ink = kDim});
    table.add_row(std::move(cells));
  }
  return table;
}

std::string why_it_won_text(const SearchResult& r, const TextStyle& style) {
  if (r.plans.empty() || r.runners_up.empty()) return "";
  std::string out = heading("Why it won", "the best plan with another value on one axis", style);
  Table table({{.title = "axis", .importance = 9},
               {.title = "winner", .importance = 7},
               {.title = "next", .importance = 8},
               {.title = "step", .align = Align::right, .importance = 3},
               {.title = "slower", .align = Align::right, .importance = 8},
               {.title = "what grew most", .importance = 2},
               {.title = "plan", .importance = 0}});
  for (const RunnerUp& u : r.runners_up) {
    table.add_row({{.text = u.axis, .ink = kBold},
                   {.text = u.winner},
                   {.text = u.other},
                   {.text = to_text(u.best_other.step_time)},
                   {.text = signed_percent(slowdown(r.plans[0], u.best_other)), .ink = kBold},
                   {.text = largest_growth(r.plans[0], u.best_other)},
                   {.text = plan_tag(u.best_other.plan), .ink = kDim}});
  }
  return out + table.text(style);
}

namespace {

std::string misses_table(const std::vector<NearMiss>& misses, const TextStyle& style) {
  Table table({{.title = "plan", .importance = 9},
               {.title = "no faster than", .align = Align::right, .importance = 5},
               {.title = "needs", .align = Align::right, .importance = 6},
               {.title = "short by", .align = Align::right, .importance = 8},
               {.title = "stage", .align = Align::right, .importance = 3}});
  for (const NearMiss& miss : misses) {
    table.add_row({{.text = plan_tag(miss.plan)},
                   {.text = to_text(miss.bound)},
                   {.text = gibibytes(miss.peak_memory)},
                   {.text = gibibytes(miss.shortfall), .ink = {.colour = 203, .bold = true}},
                   {.text = std::to_string(miss.stage)}});
  }
  return table.text(style);
}

}  // namespace

std::string near_misses_text(const SearchResult& r, const TextStyle& style) {
  if (r.near_misses.empty()) return "";
  return heading("Would have been faster, but does not fit", "", style) +
         misses_table(r.near_misses, style);
}

std::string pareto_text(const SearchResult& r, const TextStyle& style) {
  if (r.pareto.size() < 2) return "";
  std::string out = heading("Step time against memory", "no plan is better in both", style);
  const auto [least, most] = std::minmax_element(
      r.pareto.begin(), r.pareto.end(),
      [](const Estimate& a, const Estimate& b) { return a.peak_memory < b.peak_memory; });
  const auto [fastest, slowest] = std::minmax_element(
      r.pareto.begin(), r.pareto.end(),
      [](const Estimate& a, const Estimate& b) { return seconds(a) < seconds(b); });
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
      const std::size_t y = position(seconds(e), seconds(*fastest), seconds(*slowest), kRows);
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
  Table table({{.title = "plan", .importance = 9},
               {.title = "step", .align = Align::right, .importance = 8},
               {.title = "memory", .align = Align::right, .importance = 8},
               {.title = "MFU", .align = Align::right, .importance = 4}});
  constexpr std::size_t kMostRows = 12;
  for (std::size_t i = 0; i < std::min(kMostRows, r.pareto.size()); ++i) {
    const Estimate& e = r.pareto[i];
    table.add_row({{.text = plan_tag(e.plan)},
                   {.text = to_text(e.step_time)},
                   {.text = gibibytes(e.peak_memory)},
                   {.text = percent(e.mfu)}});
  }
  if (r.pareto.size() > kMostRows) {
    table.add_row(
        {{.text = fmt::format("… {} more", r.pareto.size() - kMostRows), .ink = kDim}, {}, {}, {}});
  }
  return out + "\n" + table.text(style);
}

std::string search_text(const SearchResult& r, const Subject& subject, Seconds elapsed,
                        const TextStyle& style) {
  std::string out;
  if (r.plans.empty()) {
    out += "  " +
           painted(shortened(printable(fmt::format("No plan of {} fits on {}",
                                                   model_in_words(subject), subject.cluster)),
                             usable_width(style) - 2),
                   verdict_ink(Verdict::does_not_fit), style) +
           "\n" + counts_text(r, elapsed, style);
    if (!r.least_memory.empty()) {
      out += heading("The smallest plan is too large", "", style) +
             misses_table(r.least_memory, style);
    }
    return out + near_misses_text(r, style);
  }
  const std::string title = r.plans.size() == 1 ? "Best plan" : "Best plans";
  out += "  " +
         painted(shortened(printable(fmt::format("{} for {} on {}", title, model_in_words(subject),
                                                 subject.cluster)),
                           usable_width(style) - 2),
                 kBold, style) +
         "\n" + counts_text(r, elapsed, style) + "\n" + plans_table(r).text(style);
  if (const std::string common = common_to_plans(r); !common.empty()) {
    out += wrapped((r.plans.size() > 1 ? "in all: " : "with ") + common, 2, style);
  }
  return out + why_it_won_text(r, style) + near_misses_text(r, style) + pareto_text(r, style) +
         assumed_text(r.plans.front(), style);
}

}  // namespace orrery
