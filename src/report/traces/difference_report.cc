#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "lower/step_category.h"
#include "report/drawing/html_page.h"
#include "report/drawing/table.h"
#include "report/traces/recorded_style.h"
#include "report/traces/trace_reports.h"

namespace orrery {
namespace {

Cell change_cell(Seconds change) {
  return cell(is_unchanged(change) ? "0" : signed_time(change), ink_of_change(change));
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
  return profile.lines[*std::ranges::max_element(lines, [&](auto a, auto b) {
    return profile.lines[a].times.contribution_ns() < profile.lines[b].times.contribution_ns();
  })];
}

std::string names(const StepProfile& profile, const std::vector<std::size_t>& lines) {
  constexpr std::size_t kMost = 3;
  const auto name = [&](std::size_t line) { return profile.lines[line].name; };
  std::string out = joined(first(lines, kMost) | std::views::transform(name), ", ");
  if (lines.size() > kMost) out += fmt::format(" and {} more", lines.size() - kMost);
  return out;
}

std::string row_name(const Difference& d, const DifferenceRow& row) {
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
    const auto longest = std::ranges::max_element(line.kernels, std::ranges::less(),
                                                  [](const auto& k) { return k.second; });
    return std::string(slower ? "slower" : "faster") +
           (longest == line.kernels.end() ? " kernels" : " kernel " + longest->first);
  }
  return slower ? "each call is slower" : "each call is faster";
}

std::string cause_text(const Difference& d, const DifferenceRow& row) {
  if (is_unchanged(row.difference())) return "";
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

std::string reason(const Difference& d, const DifferenceRow& row,
                   const DifferenceSubject& subject) {
  return subject.predicted ? prediction_text(row) : cause_text(d, row);
}

struct Part {
  const char* label;
  Seconds StepParts::* member;
  Category colour;
};
constexpr std::array<Part, 7> kParts = {{
    {"computing", &StepParts::computing, Category::attention_projection},
    {"exposed communication", &StepParts::exposed_communication, Category::exposed_tp},
    {"copies, exposed", &StepParts::copying, Category::embedding},
    {"operators of the host", &StepParts::host, Category::host},
    {"idle, not launched yet", &StepParts::late, Category::bubble},
    {"idle, being launched", &StepParts::latency, Category::optimizer},
    {"after the last work", &StepParts::end, Category::loss},
}};

// Every kind of work, recorded beside predicted, and their sum.
Table predicted_table(const Difference& d) {
  Table table(left("", 9), right("recorded", 8), right("predicted", 8), right("difference", 9),
              left("why", 5));
  for (const DifferenceRow& row : d.rows) {
    table.row(row_name(d, row), row.contribution_first, row.contribution_second,
              change_cell(row.difference()), prediction_text(row));
  }
  table.add_rule();
  table.row("step", d.step_first(), d.step_second(), change_cell(d.step_second() - d.step_first()),
            change_of(d.step_first(), d.step_second()));
  return table;
}

Table part_table(const Difference& d) {
  Table table(left("", 9), right("first", 8), right("second", 8), right("difference", 9),
              right("", 3));
  const auto add = [&](const char* label, Seconds a, Seconds b) {
    table.row(label, a, b, change_cell(b - a), cell(change_of(a, b), ink_of_change(b - a)));
  };
  const StepParts first = parts(d.first);
  const StepParts second = parts(d.second);
  for (const Part& part : kParts) {
    const Seconds a = first.*part.member;
    const Seconds b = second.*part.member;
    const bool host_alone =
        part.member == &StepParts::end && (first.host > Seconds(0) || second.host > Seconds(0));
    if (a > Seconds(0) || b > Seconds(0)) {
      add(host_alone ? "outside of operators" : part.label, a, b);
    }
  }
  table.add_rule();
  add("step", d.step_first(), d.step_second());
  return table;
}

// The first `rows`; of a prediction for a page alone.
Table row_table(const Difference& d, const DifferenceSubject& subject, std::size_t rows) {
  constexpr int kLongestNameOnPage = 61;  // on a page
  const bool predicted = subject.predicted;
  Seconds largest;
  for (const DifferenceRow& row : d.rows) {
    largest = std::max({largest, row.difference(), -row.difference()});
  }
  Table table(right("difference", 9), page_bars(), right(predicted ? "recorded" : "first", 6),
              right(predicted ? "predicted" : "second", 6), right("calls", 4).only(Form::text),
              left(predicted ? "kind of work" : "operator", 8).cut_on_page(kLongestNameOnPage),
              left("why", 5).cut_on_page(kLongestNameOnPage));
  for (const DifferenceRow& row : first(d.rows, rows)) {
    const Seconds change = row.difference();
    const bool slower = change > Seconds(0);
    const double share = largest > Seconds(0) ? (slower ? change : -change) / largest : 0.0;
    const std::string what = row_name(d, row);
    const std::string why = reason(d, row, subject);
    table.row(cell(signed_time(change), ink_of_change(change)),
              page_bar(share, slower ? Category::exposed_tp : Category::attention_projection),
              row.contribution_first, row.contribution_second,
              calls_text(row.second.empty() ? row.calls_first : row.calls_second),
              cell(what).with_tip(what), cell(why).with_tip(why));
  }
  return table;
}

std::string parts_section(const Difference& d) {
  const Seconds longest = std::max(d.step_first(), d.step_second());
  const StepParts both[] = {parts(d.first), parts(d.second)};
  Table table(left(""), right("step"), page_bars());
  const auto add = [&](const char* label, const StepParts& of, Seconds step) {
    std::vector<BarSegment> bar;
    for (const Part& part : kParts) {
      const Seconds t = of.*part.member;
      bar.push_back(page_segment(t, longest, part.label, part.colour));
    }
    table.row(label, step, bar_of(bar));
  };
  add("first", both[0], d.step_first());
  add("second", both[1], d.step_second());
  std::vector<std::pair<std::string, Category>> legend;
  for (const Part& part : kParts) {
    if (both[0].*part.member > Seconds(0) || both[1].*part.member > Seconds(0)) {
      legend.emplace_back(part.label, part.colour);
    }
  }
  return html_section("Where a step goes", "by what owned the time; a step is its mark on the host",
                      table.html() + html_legend(legend));
}

// " (simulated)" behind the name of a run whose times nobody recorded.
std::string_view simulated_mark(RunSource source) {
  return is_simulated(source) ? " (simulated)" : "";
}

}  // namespace

std::string difference_text(const Difference& d, const DifferenceSubject& subject,
                            const TextStyle& style) {
  const Seconds change = d.step_second() - d.step_first();
  const std::string by =
      is_unchanged(change)
          ? "0"
          : fmt::format("{} ({})", signed_time(change), change_of(d.step_first(), d.step_second()));
  const std::string before = to_text(d.step_first());
  const std::string after = to_text(d.step_second());
  const std::string first_run =
      fmt::format("{}{}, {} over its ranks", printable(subject.first),
                  simulated_mark(subject.first_source), counted(d.first.steps, "step"));
  std::string out;
  const auto say = [&](const std::string& sentence) { out += paragraph(style, sentence); };
  if (subject.predicted) {
    say(fmt::format("A step takes {}, and is predicted to take {}: {}.", before, after, by));
    say(fmt::format("{}: {}; predicted: {}",
                    is_simulated(subject.first_source) ? "step" : "recorded", first_run,
                    printable(subject.second)));
  } else {
    say(fmt::format("A step takes {} in the second run instead of {} in the first: {}.", after,
                    before, by));
    say(fmt::format("first: {}; second: {}{}, {}", first_run, printable(subject.second),
                    simulated_mark(subject.second_source), d.second.steps));
  }
  if (has_calls(subject.first_source) && has_calls(subject.second_source)) {
    say("A step is its mark on the host; trace whatif counts until its work is done.");
  }
  for (const std::string& note : subject.notes) say(printable(note));
  if (subject.predicted) {
    return out + section("Work", "what it adds to the step, largest difference first",
                         predicted_table(d), style);
  }
  out += section("Parts", "of a step, by what owned the time", part_table(d), style);
  out += heading("Operators", "what they add to the step, largest difference first", style);
  const auto same = std::ranges::find_if(
      d.rows, [](const DifferenceRow& row) { return is_unchanged(row.difference()); });
  const auto differing = static_cast<std::size_t>(same - d.rows.begin());
  const std::size_t shown = std::min(static_cast<std::size_t>(subject.rows), differing);
  if (shown == 0) return out + "  No operator differs.\n";
  out += row_table(d, subject, shown).text(style);
  if (shown == differing) return out;
  Seconds rest;
  for (std::size_t i = shown; i < differing; ++i) rest += d.rows[i].difference();
  say(fmt::format("{}: {} together", counted(differing - shown, "other operator"),
                  is_unchanged(rest) ? "0" : signed_time(rest)));
  return out;
}

std::string difference_html(const Difference& d, const DifferenceSubject& subject) {
  const bool predicted = subject.predicted;
  std::string body =
      html_headline(predicted ? "a run and its prediction" : "two runs",
                    subject.first + std::string(simulated_mark(subject.first_source)),
                    (predicted ? "predicted: " : "second: ") + subject.second +
                        std::string(simulated_mark(subject.second_source)));
  body += "<div class=\"tiles\">\n" +
          html_tile(predicted ? "Recorded step" : "Step of the first", to_text(d.step_first()),
                    counted(d.first.steps, "step") + " over its ranks") +
          html_tile(predicted ? "Predicted step" : "Step of the second", to_text(d.step_second()),
                    change_of(d.step_first(), d.step_second())) +
          html_tile("Difference", signed_time(d.step_second() - d.step_first()), "") + "</div>\n";
  const auto rows = std::min(d.rows.size(), static_cast<std::size_t>(subject.rows));
  std::string remark = "what each adds to the step, largest difference first";
  if (d.rows.size() > rows) {
    remark += fmt::format("; {} of {} are shown, the JSON has all", rows, d.rows.size());
  }
  return html_page("Orrery: difference",
                   body + (predicted ? "" : parts_section(d)) +
                       html_section(predicted ? "Kinds of work" : "Operators", remark,
                                    row_table(d, subject, rows).html()));
}

// The document of the difference of two runs.
namespace {

enum class TimesOfSide { recorded, simulated, predicted };
TimesOfSide times_of_side(RunSource source) {
  return is_simulated(source) ? TimesOfSide::simulated : TimesOfSide::recorded;
}

struct SideOfDifference {
  const std::string& file;
  TimesOfSide times;
  const StepProfile& profile;
  Seconds step;
};

struct DifferenceDocument {
  const Difference& difference;
  const DifferenceSubject& subject;
};

std::vector<InContext<ProfileLine, const StepProfile&>> lines_of(
    const StepProfile& profile, const std::vector<std::size_t>& lines) {
  std::vector<InContext<ProfileLine, const StepProfile&>> out;
  for (const std::size_t line : lines) out.push_back({profile.lines[line], profile});
  return out;
}

SideOfDifference first_side(const DifferenceDocument& d) {
  return {d.subject.first, times_of_side(d.subject.first_source), d.difference.first,
          d.difference.step_first()};
}

SideOfDifference second_side(const DifferenceDocument& d) {
  return {d.subject.second,
          d.subject.predicted ? TimesOfSide::predicted : times_of_side(d.subject.second_source),
          d.difference.second, d.difference.step_second()};
}

}  // namespace

template <>
inline constexpr auto kResults<StepParts> = table<StepParts>(
    "parts", "Parts of a step, by what owned the time; they add up to it.",
    field<&StepParts::computing>("kernels compute"),
    field<&StepParts::exposed_communication>("only communication runs"),
    field<&StepParts::copying>("only copies and fills run"),
    field<&StepParts::host>("operators of a recording without device work"),
    field<&StepParts::late>("the device idles: its next work is not launched yet"),
    field<&StepParts::latency>("the device idles: its next work is being launched"),
    field<&StepParts::end>("after the last work"));

using KernelTime = std::pair<const std::string, std::int64_t>;

template <>
inline constexpr auto kResults<KernelTime> =
    table<KernelTime>("kernel", "Kernels of one name.",
                      field("name", "of the kernel", [](auto& k) { return words(k.first); }),
                      field("busy_s", "it ran, in one step", [](auto& k, const StepProfile& c) {
                        return Seconds(c.per_step_s(k.second));
                      }));

template <>
inline constexpr auto kResults<ProfileLine> = table<ProfileLine>(
    "line", "An operator of one run.",
    field("name", "operator, communication, kernel without a launch, or kind of work",
          [](auto& r) { return words(r.name); }),
    field("detail", "shapes of its inputs, or the volume of a communication",
          [](auto& r) { return words(r.detail); }),
    field("calls", "kernels, copies or operators of one step",
          [](auto& r, const StepProfile& c) {
            return static_cast<double>(r.times.calls) / static_cast<double>(c.steps);
          }),
    field("busy_s", "its work ran, in one step",
          [](auto& r, const StepProfile& c) { return Seconds(c.per_step_s(r.times.busy_ns)); }),
    field("waiting_s", "of busy, for ranks that came later",
          [](auto& r, const StepProfile& c) { return Seconds(c.per_step_s(r.times.waiting_ns)); }),
    field("owned_s", "its work owned the time",
          [](auto& r, const StepProfile& c) { return Seconds(c.per_step_s(r.times.owned_ns)); }),
    field("late_s", "the device idled before it, and its launch call had not begun",
          [](auto& r, const StepProfile& c) { return Seconds(c.per_step_s(r.times.late_ns)); }),
    field("latency_s", "the device idled from its launch call to its start",
          [](auto& r, const StepProfile& c) { return Seconds(c.per_step_s(r.times.latency_ns)); }),
    field<&ProfileLine::kernels>("that ran for it, by name"));

template <>
inline constexpr auto kResults<DifferenceRow> = table<DifferenceRow>(
    "row", "Operators that stand for each other in both runs.",
    field<&DifferenceRow::alignment>("how the sides were found to belong together"),
    field<&DifferenceRow::kind>("of work"),
    field<&DifferenceRow::difference>("difference_s", "second_s - first_s"),
    field<&DifferenceRow::contribution_first>("first_s", "what it adds to a step of the first run"),
    field<&DifferenceRow::contribution_second>(
        "second_s", "what it adds to a step of the second run, or of the prediction"),
    field("causes_s", "parts of the difference, which they add up to",
          [](auto& r) {
            return ByName<DifferenceCause, kDifferenceCauses, Seconds>{
                {r.causes.begin(), r.causes.end()}};
          }),
    field("first", "its lines in the first run",
          [](auto& r, const Difference& c) { return lines_of(c.first, r.first); }),
    field("second", "its lines in the second run",
          [](auto& r, const Difference& c) { return lines_of(c.second, r.second); }));

template <>
inline constexpr auto kResults<SideOfDifference> = table<SideOfDifference>(
    "run", "One of the runs.",
    field("file", "what was given", [](auto& r) { return words(r.file); }),
    field<&SideOfDifference::times>(
        "whose the times are: simulated of .et files that say so or have no start times, of "
        "graphs, and of runs that --timeline wrote"),
    field("steps", "of all its ranks", [](auto& r) { return r.profile.steps; }),
    field<&SideOfDifference::step>("step_time_s", "on average"),
    field("parts_s", "of a step, by what owned the time; they add up to it",
          [](auto& r) { return parts(r.profile); }));

template <>
inline constexpr auto kResults<DifferenceDocument> = table<DifferenceDocument>(
    "difference",
    "Two recorded runs, or a run and its prediction, aligned: what got slower, and why.",
    schema_version<kDifferenceSchemaVersion>(),
    constant("kind", "what the document is", "trace-diff"),
    constant("steps_by",
             "a step lasts from its mark on the host to the mark's end; work "
             "of the device is clipped there",
             "host_marks"),
    field("predicted", "the second run is a prediction, and rows are kinds of work",
          [](auto& r) { return r.subject.predicted; }),
    field("first", "the first run; the recording beside a prediction",
          [](auto& r) { return first_side(r); }),
    field("second", "the second run, or the prediction", [](auto& r) { return second_side(r); }),
    field("difference_s", "of the steps: second - first",
          [](auto& r) { return r.difference.step_second() - r.difference.step_first(); }),
    field("notes", "on what is predicted, a sentence each; of two runs none",
          [](auto& r) { return words(r.subject.notes); }),
    field("rows",
          "largest difference first; with the difference of the ends they add up to difference_s",
          [](auto& r) { return r.difference.rows; }));

Value difference_json(const Difference& d, const DifferenceSubject& subject) {
  return answer(DifferenceDocument{d, subject}, d);
}
const Description& difference_document() { return description_of<DifferenceDocument>(); }

}  // namespace orrery
