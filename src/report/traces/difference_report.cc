#include "report/traces/difference_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "report/drawing/figures.h"
#include "report/drawing/table.h"
#include "report/drawing/time_axis.h"

namespace orrery {
namespace {

constexpr Ink kSlower = {.colour = 168};
constexpr Ink kFaster = {.colour = 71};
constexpr double kUnchanged = 5e-10;  // seconds: half of what is recorded

std::string time(Seconds t) { return tick_text(t, {}); }

std::string signed_time(Seconds t) {
  if (std::abs(t.value()) < kUnchanged) return "0";
  return (t < Seconds(0) ? "-" : "+") + time(t < Seconds(0) ? -t : t);
}

Ink ink_of(Seconds change) {
  if (std::abs(change.value()) < kUnchanged) return {.colour = 0, .bold = false, .dim = true};
  return change > Seconds(0) ? kSlower : kFaster;
}

std::string change_of(Seconds first, Seconds second) {
  return first > Seconds(0) ? signed_percent((second - first) / first) : "";
}

// Calls are averages over steps: whole where they are.
std::string calls_text(double calls) {
  return std::abs(calls - std::round(calls)) < 0.05 ? grouped(std::llround(calls))
                                                    : fmt::format("{:.1f}", calls);
}

const ProfileLine& leading_line(const StepProfile& profile, const std::vector<std::size_t>& lines) {
  return profile.lines[*std::max_element(lines.begin(), lines.end(), [&](auto a, auto b) {
    return profile.lines[a].times.contribution_ns() < profile.lines[b].times.contribution_ns();
  })];
}

std::string names(const StepProfile& profile, const std::vector<std::size_t>& lines) {
  constexpr std::size_t kMost = 3;
  std::string out;
  for (std::size_t i = 0; i < std::min(lines.size(), kMost); ++i) {
    out += (i == 0 ? "" : ", ") + profile.lines[lines[i]].name;
  }
  if (lines.size() > kMost) out += fmt::format(" and {} more", lines.size() - kMost);
  return out;
}

std::string row_name_of(const Difference& d, const DifferenceRow& row) {
  if (row.alignment == Alignment::replaced) {
    return d.first.lines[row.first.front()].context + ": " + names(d.first, row.first);
  }
  const ProfileLine& line =
      row.first.empty() ? d.second.lines[row.second.front()] : d.first.lines[row.first.front()];
  return line.detail.empty() ? line.name : line.name + " " + line.detail;
}

std::string work_cause(const Difference& d, const DifferenceRow& row) {
  const bool slower = row[DifferenceCause::work] > Seconds(0);
  if (row.alignment == Alignment::replaced) return "replaced by " + names(d.second, row.second);
  if (row.alignment == Alignment::other_shapes) {
    return "other shapes: " + d.second.lines[row.second.front()].detail;
  }
  if (row.kind == LineKind::communication) {
    if (!d.first.waiting_known || !d.second.waiting_known) {
      return slower ? "each takes longer; one rank does not tell transfer from waiting"
                    : "each is shorter; one rank does not tell transfer from waiting";
    }
    return slower ? "each transfer is slower" : "each transfer is faster";
  }
  if (!same_kernels(d, row)) {
    const ProfileLine& line = leading_line(d.second, row.second);
    const auto longest =
        std::max_element(line.kernels.begin(), line.kernels.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    return std::string(slower ? "slower" : "faster") +
           (longest == line.kernels.end() ? " kernels" : " kernel " + longest->first);
  }
  return slower ? "each call is slower" : "each call is faster";
}

std::string cause_text(const Difference& d, const DifferenceRow& row) {
  if (std::abs(row.difference().value()) < kUnchanged) return "";
  const DifferenceCause cause = row.main_cause();
  const bool more = row[cause] > Seconds(0);
  switch (cause) {
    case DifferenceCause::only_first:
      return "only in the first";
    case DifferenceCause::only_second:
      return "only in the second";
    case DifferenceCause::calls:
      return fmt::format("{} {} instead of {}", calls_text(row.calls_second),
                         calls_text(row.calls_second) == "1" ? "call" : "calls",
                         calls_text(row.calls_first));
    case DifferenceCause::work:
      return work_cause(d, row);
    case DifferenceCause::waiting:
      return more ? "waits longer for other ranks" : "waits less for other ranks";
    case DifferenceCause::overlap:
      return more ? "less of it is hidden" : "more of it is hidden";
    case DifferenceCause::late:
      return more ? "the host launches it later" : "the host launches it earlier";
    case DifferenceCause::latency:
      return more ? "starts later after its launch" : "starts sooner after its launch";
  }
  return "";
}

// Of a kind of work beside its prediction.
std::string prediction_text(const DifferenceRow& row) {
  if (row.second.empty()) return "not predicted";
  if (row.first.empty()) return "not recorded";
  return fmt::format("{:.2f} of what is recorded",
                     row.contribution_second / row.contribution_first);
}

struct PartRow {
  const char* label;
  Seconds StepParts::* member;
};
constexpr std::array<PartRow, 7> kParts = {{
    {"computing", &StepParts::computing},
    {"exposed communication", &StepParts::exposed_communication},
    {"copies, exposed", &StepParts::copying},
    {"operators of the host", &StepParts::host},
    {"idle, not launched yet", &StepParts::late},
    {"idle, being launched", &StepParts::latency},
    {"after the last work", &StepParts::end},
}};

// Every kind of work, recorded beside predicted, and their sum.
std::string predicted_rows(const Difference& d, const TextStyle& style) {
  std::string out = heading("Work", "what it adds to the step, largest difference first", style);
  Table rows({{"", Align::left, 9},
              {"recorded", Align::right, 8},
              {"predicted", Align::right, 8},
              {"difference", Align::right, 9},
              {"why", Align::left, 5}});
  for (const DifferenceRow& row : d.rows) {
    rows.add_row({{printable(row_name_of(d, row))},
                  {time(row.contribution_first)},
                  {time(row.contribution_second)},
                  {signed_time(row.difference()), ink_of(row.difference())},
                  {prediction_text(row)}});
  }
  rows.add_rule();
  const Seconds change = d.step_second() - d.step_first();
  rows.add_row({{"step"},
                {time(d.step_first())},
                {time(d.step_second())},
                {signed_time(change), ink_of(change)},
                {change_of(d.step_first(), d.step_second())}});
  return out + rows.text(style);
}

}  // namespace

std::string difference_row_name(const Difference& d, const DifferenceRow& row) {
  return row_name_of(d, row);
}

std::string difference_row_reason(const Difference& d, const DifferenceRow& row,
                                  const DifferenceSubject& subject) {
  return subject.predicted ? prediction_text(row) : cause_text(d, row);
}

std::string_view simulated_mark(RunSource source) {
  return is_simulated(source) ? " (simulated)" : "";
}

std::string difference_text(const Difference& d, const DifferenceSubject& subject,
                            const TextStyle& style) {
  const Seconds change = d.step_second() - d.step_first();
  const std::string by =
      std::abs(change.value()) < kUnchanged
          ? signed_time(change)
          : fmt::format("{} ({})", signed_time(change), change_of(d.step_first(), d.step_second()));
  std::string out =
      wrapped(subject.predicted
                  ? fmt::format("A step takes {}, and is predicted to take {}: {}.",
                                time(d.step_first()), time(d.step_second()), by)
                  : fmt::format("A step takes {} in the second run instead of {} in the first: {}.",
                                time(d.step_second()), time(d.step_first()), by),
              2, style);
  const std::string first_run = fmt::format("{}{}, {} {} over its ranks", printable(subject.first),
                                            simulated_mark(subject.first_source), d.first.steps,
                                            d.first.steps == 1 ? "step" : "steps");
  out +=
      wrapped(subject.predicted
                  ? fmt::format("{}: {}; predicted: {}",
                                is_simulated(subject.first_source) ? "step" : "recorded", first_run,
                                printable(subject.second))
                  : fmt::format("first: {}; second: {}{}, {}", first_run, printable(subject.second),
                                simulated_mark(subject.second_source), d.second.steps),
              2, style);
  if (has_calls(subject.first_source) && has_calls(subject.second_source)) {
    out += wrapped("A step is its mark on the host; trace whatif counts until its work is done.", 2,
                   style);
  }
  for (const std::string& note : subject.notes) out += wrapped(printable(note), 2, style);
  if (subject.predicted) return out + predicted_rows(d, style);

  out += heading("Parts", "of a step, by what owned the time", style);
  Table table({{"", Align::left, 9},
               {"first", Align::right, 8},
               {"second", Align::right, 8},
               {"difference", Align::right, 9},
               {"", Align::right, 3}});
  const StepParts first = parts(d.first);
  const StepParts second = parts(d.second);
  const auto add_part = [&](const char* label, Seconds a, Seconds b) {
    table.add_row({{label},
                   {time(a)},
                   {time(b)},
                   {signed_time(b - a), ink_of(b - a)},
                   {change_of(a, b), ink_of(b - a)}});
  };
  for (const PartRow& part : kParts) {
    const Seconds a = first.*part.member;
    const Seconds b = second.*part.member;
    const bool host_alone =
        part.member == &StepParts::end && (first.host > Seconds(0) || second.host > Seconds(0));
    if (a > Seconds(0) || b > Seconds(0)) {
      add_part(host_alone ? "outside of operators" : part.label, a, b);
    }
  }
  table.add_rule();
  add_part("step", d.step_first(), d.step_second());
  out += table.text(style);

  out += heading("Operators", "what they add to the step, largest difference first", style);
  Table rows({{"difference", Align::right, 9},
              {"first", Align::right, 6},
              {"second", Align::right, 6},
              {"calls", Align::right, 4},
              {"operator", Align::left, 8},
              {"why", Align::left, 5}});
  int shown = 0;
  for (const DifferenceRow& row : d.rows) {
    if (shown == subject.rows || std::abs(row.difference().value()) < kUnchanged) break;
    rows.add_row({{signed_time(row.difference()), ink_of(row.difference())},
                  {time(row.contribution_first)},
                  {time(row.contribution_second)},
                  {calls_text(row.second.empty() ? row.calls_first : row.calls_second)},
                  {printable(row_name_of(d, row))},
                  {printable(cause_text(d, row))}});
    ++shown;
  }
  if (shown == 0) return out + "  No operator differs.\n";
  out += rows.text(style);
  Seconds rest;
  std::size_t others = 0;
  for (std::size_t i = static_cast<std::size_t>(shown); i < d.rows.size(); ++i) {
    if (std::abs(d.rows[i].difference().value()) < kUnchanged) break;
    rest += d.rows[i].difference();
    ++others;
  }
  if (others > 0) {
    out +=
        wrapped(fmt::format("{} other {}: {} together", grouped(static_cast<std::int64_t>(others)),
                            others == 1 ? "operator" : "operators", signed_time(rest)),
                2, style);
  }
  return out;
}

}  // namespace orrery
