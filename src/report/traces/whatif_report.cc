#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "lower/step_category.h"
#include "report/drawing/html_page.h"
#include "report/drawing/svg_chart.h"
#include "report/drawing/table.h"
#include "report/traces/recorded_style.h"
#include "report/traces/trace_reports.h"

namespace orrery {
namespace {

constexpr std::size_t kMostEditedSteps = 16;
constexpr double kNoGain = 1e-5;      // of a step: what rounding to nanoseconds leaves
constexpr double kLeastShown = 5e-4;  // 0.05 %

std::string change_text(Seconds before, Seconds after) {
  if (is_unchanged(after - before)) return "unchanged";
  if (!(before > Seconds(0))) return "";
  const double share = (after - before) / before;
  if (std::abs(share) >= kLeastShown) return signed_percent(share);
  // Too little for a percentage.
  return (share < 0 ? "-" : "+") + to_text(share < 0 ? before - after : after - before);
}

Cell change_cell(Seconds before, Seconds after) {
  return cell(change_text(before, after), ink_of_change(after - before));
}

struct Part {
  const char* label;
  const char* page_label;
  Seconds FourParts::* member;
  Category colour;
};
constexpr std::array<Part, 4> kParts = {{
    {"computing alone", "computing alone", &FourParts::exposed_compute,
     Category::attention_projection},
    {"both", "computing and communicating", &FourParts::overlapped, Category::feed_forward},
    {"communicating alone", "communicating alone", &FourParts::exposed_communication,
     Category::exposed_tp},
    {"neither", "neither", &FourParts::other, Category::bubble},
}};

// A part of the steps, on average.
Seconds mean_part(const WhatIf& w, FourParts WhatIfStep::* when, Seconds FourParts::* part) {
  Seconds sum;
  for (const WhatIfStep& step : w.steps) sum += (step.*when).*part;
  return w.steps.empty() ? sum : sum / static_cast<double>(w.steps.size());
}

bool leaves_earlier_work_out(const WhatIf& w) {
  constexpr double kLeast = 0.01;  // of a step
  return w.earlier > kLeast * w.before;
}

}  // namespace

std::string whatif_text(const WhatIf& w, const TextStyle& style) {
  std::string out;
  const auto say = [&](const std::string& sentence) { out += paragraph(style, sentence); };
  say(fmt::format("A step would take {} instead of {}: {}.", to_text(w.after), to_text(w.before),
                  change_text(w.before, w.after)));
  say(fmt::format("The replay of the {} itself is {} off, on average.",
                  w.predicted ? "prediction" : "recording", percent(w.replay_error)));
  if (leaves_earlier_work_out(w)) {
    say(
        fmt::format("Work launched before the first step began, up to {} of a rank, is left out of "
                    "it.",
                    to_text(w.earlier)));
  }
  if (!w.edits.empty()) out += heading("Edits", "in the order in which they were applied", style);
  for (const AppliedEdit& edit : w.edits) {
    say(fmt::format("{}  ({} changed)", printable(edit.text),
                    grouped(static_cast<std::int64_t>(edit.changed))));
    for (const std::string& sentence : edit.assumed) {
      out += wrapped("assumed: " + printable(sentence), 4, style);
    }
  }
  Table parts(left("", 9), right("before", 8), right("after", 8), right("", 3));
  for (const Part& part : kParts) {
    const Seconds before = mean_part(w, &WhatIfStep::parts_before, part.member);
    const Seconds after = mean_part(w, &WhatIfStep::parts_after, part.member);
    if (!(before > Seconds(0)) && !(after > Seconds(0))) continue;
    parts.row(part.label, before, after, change_cell(before, after));
  }
  if (w.waiting_before > Seconds(0) || w.waiting_after > Seconds(0)) {
    parts.row(dim("waiting for ranks"), w.waiting_before, w.waiting_after,
              change_cell(w.waiting_before, w.waiting_after));
  }
  out += heading("Parts", "of a step, on average", style) + parts.text(style);
  Table steps(right("rank", 7), right("stage", 7).shown_if(w.staged), left("step", 6),
              right("before", 8), right("after", 8), right("", 3));
  for (const WhatIfStep& step : first(w.steps, kMostEditedSteps)) {
    steps.row(step.rank == kNotRecorded ? "" : std::to_string(step.rank),
              std::to_string(step.stage), step.name, step.before, step.after,
              change_cell(step.before, step.after));
  }
  out += heading("Steps",
                 "until all work of a rank is done; trace diff and spec go by the host's marks",
                 style) +
         steps.text(style);
  if (w.steps.size() > kMostEditedSteps) {
    say(fmt::format("and {} more (--json lists all)", w.steps.size() - kMostEditedSteps));
  }
  return out;
}

namespace {

Seconds sum_of_waiting(const Stragglers& s) {
  Seconds sum;
  for (const RankWaiting& rank : s.waiting) sum += rank.caused;
  return sum;
}

// The ranks that caused most of the waiting, and whether it would help to mend one of them.
std::string causes_text(const Stragglers& s) {
  const Seconds all = sum_of_waiting(s);
  if (!(all > Seconds(0))) return "";
  const auto order =
      descending(s.waiting.size(), [&](std::size_t i) { return s.waiting[i].caused; });
  constexpr double kMost = 0.9;
  constexpr std::size_t kNamed = 3;
  std::string named;
  Seconds sum;
  for (std::size_t i = 0; i < std::min(kNamed, order.size()) && sum < kMost * all; ++i) {
    const RankWaiting& rank = s.waiting[order[i]];
    if (!(rank.caused > Seconds(0))) break;
    sum += rank.caused;
    named += fmt::format("{}{} {}", i == 0 ? "" : ", ", s.ranks[order[i]].what,
                         percent(rank.caused / all));
  }
  const Seconds gain = s.before - s.even;
  const auto best = std::ranges::max_element(s.ranks, std::ranges::less(), &StragglerGain::gain);
  std::string out = fmt::format("Others wait for {}.", named);
  if (s.before > Seconds(0) && gain > kLeastShown * s.before && best->gain < 0.5 * gain) {
    out += fmt::format(
        " No rank is slow by itself: mending {} alone gains most, {}, as others are late in turns.",
        best->what, to_text(std::max(Seconds(0), best->gain)));
  }
  return out;
}

Cell loss_bar(double share) {
  if (share <= kNoGain) return {};
  return bar_of({{.share = std::min(share, 1.0), .ink = {.colour = 168}}});
}

std::string waiting_table(const Stragglers& s, const TextStyle& style) {
  const Seconds all = sum_of_waiting(s);
  if (!(all > Seconds(0))) return "";
  Table rows(left("", 5), right("waits", 8), right("arrives last", 7),
             right("others wait for it", 8), right("", 6), bars(1, 40));
  for (std::size_t r = 0; r < s.waiting.size(); ++r) {
    const RankWaiting& rank = s.waiting[r];
    const double share = rank.caused / all;
    rows.row(s.ranks[r].what, rank.waited, std::to_string(rank.arrived_last), rank.caused,
             percent(share), loss_bar(share));
  }
  return heading("Waiting", "of the whole recording, replayed; booked on the rank that came last",
                 style) +
         rows.text(style);
}

}  // namespace

std::string stragglers_text(const Stragglers& s, const TextStyle& style) {
  const bool slowed = s.slowdown() > 1 + kNoGain;
  std::string out =
      paragraph(style, "With all ranks alike a step would take {} instead of {}: {}.",
                to_text(s.even), to_text(s.before),
                slowed ? fmt::format("slow ranks make it {:.3f} times as long", s.slowdown())
                       : "slow ranks cost nothing");
  if (s.waiting_before > Seconds(0)) {
    out += paragraph(style,
                     "A rank waits {} for others in a step, the most that even ranks "
                     "could gain, and {} with "
                     "all ranks alike.",
                     to_text(s.waiting_before), to_text(s.waiting_even));
  }
  const std::string causes = causes_text(s);
  if (!causes.empty()) out += paragraph(style, causes);
  out += waiting_table(s, style);
  const auto gained = [&](Seconds gain) -> std::string {
    const double share = s.before > Seconds(0) ? gain / s.before : 0;
    if (std::abs(share) < kNoGain) return "0";
    return (gain < Seconds(0) ? "-" : "") + to_text(gain < Seconds(0) ? -gain : gain);
  };
  const auto table = [&](const char* title, const char* remark,
                         const std::vector<StragglerGain>& gains) {
    Table rows(left("", 5), right("alone", 8), right("remains", 8), bars(1, 40));
    for (const StragglerGain& gain : gains) {
      rows.row(gain.what, gained(gain.gain), gained(gain.remains),
               loss_bar(s.before > Seconds(0) ? gain.remains / s.before : 0));
    }
    out += heading(title, remark, style) + rows.text(style);
  };
  table("Ranks", "what a step gains if only this one is even; what remains if all others are",
        s.ranks);
  table("Kinds", "of work, in the same way", s.kinds);
  return out;
}

namespace {

constexpr std::int64_t kColumns = 256;  // of a chart
constexpr std::size_t kMostRankBands = 96;
constexpr std::size_t kStepsOfPage = 96;

std::string change(Seconds before, Seconds after) {
  return before > Seconds(0) ? signed_percent((after - before) / before) : "";
}

Cell bar(const FourParts& parts, Seconds longest) {
  std::vector<BarSegment> out;
  for (const Part& part : kParts) {
    out.push_back(page_segment(parts.*part.member, longest, part.page_label, part.colour));
  }
  return bar_of(std::move(out));
}

std::string rank_text(const WhatIfStep& step, bool staged) {
  std::string out = step.rank == kNotRecorded ? "" : fmt::format("rank {}", step.rank);
  if (staged) out += fmt::format("{}stage {}", out.empty() ? "" : ", ", step.stage);
  return out;
}

std::string steps_section(const WhatIf& w) {
  Seconds longest;
  for (const WhatIfStep& step : w.steps) {
    longest = std::max({longest, step.parts_before.total(), step.parts_after.total()});
  }
  Table table(left("rank"), left("step"), left(""), right("time"), page_bars(), right(""));
  for (const WhatIfStep& step : first(w.steps, kStepsOfPage)) {
    table.row(rank_text(step, w.staged), step.name, "before", step.before,
              bar(step.parts_before, longest), "");
    table.row("", "", "after", step.after, bar(step.parts_after, longest),
              change(step.before, step.after));
  }
  std::vector<std::pair<std::string, Category>> legend;
  for (const Part& part : kParts) legend.emplace_back(part.page_label, part.colour);
  std::string remark =
      "of each rank, from when it is done with the step before until it is done with this one";
  if (w.steps.size() > kStepsOfPage) {
    remark += fmt::format("; {} of {} are shown, the JSON has all", kStepsOfPage, w.steps.size());
  }
  return html_section("Steps, before and after", remark, table.html() + html_legend(legend));
}

std::string edits_section(const WhatIf& w) {
  if (w.edits.empty()) return "";
  std::string out;
  for (const AppliedEdit& edit : w.edits) {
    out += fmt::format("<div class=\"finding\"><span class=\"cost\">{}</span><b>{}</b>",
                       html_text(grouped(static_cast<std::int64_t>(edit.changed)) + " changed"),
                       html_text(edit.text));
    for (const std::string& sentence : edit.assumed) {
      out += fmt::format("<p>Assumed: {}.</p>", html_text(sentence));
    }
    out += "</div>\n";
  }
  return out;
}

BandChart bands(std::span<const RecordedTrace> traces, const RunGraph& graph,
                const ReplayedRun& times, std::int64_t end_ns, const char* chart_name) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<WorkSpan>> places;
  std::uint32_t stages = 1;
  for (const RunWork& work : graph.works) {
    const RecordedTrace& trace = traces[work.trace];
    stages = std::max(stages, work.stage + 1);
    if (trace.kind[work.event] != EventKind::kernel) continue;
    places[{work.trace, work.stage}].push_back(
        {times.start_ns[work.first], times.end_ns[work.last],
         is_communication_kernel(trace.name_of(work.event))});
  }
  BandChart chart = {.name = chart_name,
                     .css_classes = {std::string(to_text(Category::attention_projection)),
                                     std::string(to_text(Category::exposed_tp))}};
  chart.seconds = static_cast<double>(end_ns) * 1e-9;
  // In two parts, as end_ns * c overflows for replays of more than 417 days.
  const auto column_begins = [&](std::int64_t c) {
    return end_ns / kColumns * c + end_ns % kColumns * c / kColumns;
  };
  for (const auto& [place, spans] : places) {
    if (chart.bands.size() == kMostRankBands) break;
    const PartsOverTime over_time(spans);
    std::vector<double> computing;
    std::vector<double> alone;
    for (std::int64_t c = 0; c < kColumns; ++c) {
      const FourParts parts = over_time.between(column_begins(c), column_begins(c + 1));
      // A column shorter than a nanosecond is empty; it must not divide by zero.
      const Seconds column = std::max(parts.total(), Seconds(1e-9));
      computing.push_back((parts.exposed_compute + parts.overlapped) / column);
      alone.push_back(parts.exposed_communication / column);
    }
    const std::int64_t rank = traces[place.first].rank;
    const std::string name = rank == kNotRecorded ? fmt::format("file {}", place.first + 1)
                                                  : fmt::format("rank {}", rank);
    const bool staged = stages > 1;
    const std::string tip = staged ? fmt::format("{}, stage {}", name, place.second) : name;
    const std::string label =
        staged ? fmt::format("{} / {}", rank == kNotRecorded ? place.first + 1 : rank, place.second)
               : name;
    chart.bands.push_back(
        {.label = label, .tip = tip, .shares = {std::move(computing), std::move(alone)}});
  }
  return chart;
}

std::int64_t end_of(const ReplayedRun& times) {
  return times.end_ns.empty() ? 0 : *std::ranges::max_element(times.end_ns);
}

std::string devices_section(std::span<const RecordedTrace> traces, const RunGraph& graph,
                            const WhatIf& w) {
  const ReplayedRun recorded = replayed_run(graph);
  const std::int64_t end = std::max(end_of(recorded), end_of(w.timeline));
  const BandChart before = bands(traces, graph, recorded, end, "the devices before");
  const BandChart after = bands(traces, w.graph, w.timeline, end, "the devices after");
  if (before.bands.empty() && after.bands.empty()) return "";
  const char* remark =
      "computing, and communicating alone (waiting for other ranks is part of it); what is blank "
      "is neither; both charts span the same time";
  return html_section("The devices over time, before", remark, band_chart_svg(before)) +
         html_section("The devices over time, after", remark, band_chart_svg(after));
}

}  // namespace

std::string whatif_html(std::span<const RecordedTrace> traces, const RunGraph& graph,
                        const WhatIf& w) {
  const std::string device =
      traces.empty() || traces[0].devices.empty() ? "" : traces[0].devices[0].name;
  std::string body = html_headline("what if", device.empty() ? "A recorded run" : device,
                                   counted(std::ssize(traces), "rank"));
  body += "<div class=\"tiles\">\n";
  body += html_tile("Step after", to_text(w.after), change(w.before, w.after));
  body += html_tile("Step before", to_text(w.before),
                    fmt::format("the replay is {} off", percent(w.replay_error)));
  if (leaves_earlier_work_out(w)) {
    body += html_tile("Work of before", to_text(w.earlier),
                      "launched before the first step, left out of it");
  }
  if (w.waiting_before > Seconds(0) || w.waiting_after > Seconds(0)) {
    body += html_tile("Waiting for ranks", to_text(w.waiting_after),
                      fmt::format("of a step; before: {}", to_text(w.waiting_before)));
  }
  body += "</div>\n";
  body += edits_section(w) + steps_section(w) + devices_section(traces, graph, w);
  return html_page("Orrery: what if", body);
}

// The documents of edited runs and of what slow ranks cost.
namespace {

struct PartsInSeconds {
  const FourParts& of;
};

struct WaitingOfRank {
  const std::string& what;
  const RankWaiting& waiting;
};

std::vector<WaitingOfRank> waiting_of(const Stragglers& s) {
  std::vector<WaitingOfRank> out;
  for (std::size_t r = 0; r < s.waiting.size(); ++r) out.push_back({s.ranks[r].what, s.waiting[r]});
  return out;
}

}  // namespace

template <>
inline constexpr auto kResults<PartsInSeconds> = table<PartsInSeconds>(
    "parts", "Parts of a step on the device.",
    field("exposed_compute_s", "computing kernels run, communication does not",
          [](auto& r) { return r.of.exposed_compute; }),
    field("overlapped_s", "both run", [](auto& r) { return r.of.overlapped; }),
    field("exposed_communication_s", "communication runs, no computing kernel does",
          [](auto& r) { return r.of.exposed_communication; }),
    field("other_s", "neither: copies, fills, idle", [](auto& r) { return r.of.other; }));

template <>
inline constexpr auto kResults<AppliedEdit> = table<AppliedEdit>(
    "edit", "An edit and what it changed.",
    field("edit", "as the language writes it", [](auto& r) { return words(r.text); }),
    field<&AppliedEdit::changed>("pieces of work and of the host's time that it changed"),
    field("assumed", "what it assumed, in sentences", [](auto& r) { return words(r.assumed); }));

template <>
inline constexpr auto kResults<WhatIfStep> = table<WhatIfStep>(
    "step", "One step of a rank.",
    field("rank", "of the job, from 0; null: not recorded",
          [](auto& r) { return if_recorded(r.rank); }),
    optional_field(
        "stage", "of the pipeline that an edit made of the rank; where one did",
        [](auto& r, const WhatIf& c) { return c.staged ? std::optional(r.stage) : std::nullopt; }),
    field("step", "its name in the recording; \"recording\" where no steps are marked",
          [](auto& r) { return words(r.name); }),
    field<&WhatIfStep::before>("before_s", "as replayed without edits"),
    field<&WhatIfStep::after>("after_s", "with them"),
    field("parts_before", "of the step on the device, before",
          [](auto& r) { return PartsInSeconds{r.parts_before}; }),
    field("parts_after", "the same, after", [](auto& r) { return PartsInSeconds{r.parts_after}; }),
    field<&WhatIfStep::waiting_before>("waiting_before_s",
                                       "of its communications, for other ranks to arrive"),
    field<&WhatIfStep::waiting_after>("waiting_after_s", "the same, after"));

template <>
inline constexpr auto kResults<WhatIf> = table<WhatIf>(
    "whatif", "A recorded run, edited and simulated again.", schema_version<kWhatIfSchemaVersion>(),
    constant("kind", "what the document is", "trace-whatif"),
    constant("steps_by",
             "a step lasts from when a rank is done with the one before (its host has left "
             "it, and all it launched has ended) until it is done with this one",
             "work_done"),
    field<&WhatIf::before>("before_s", "a step of the replay, on average"),
    field<&WhatIf::after>("after_s", "a step of the edited run"),
    field<&WhatIf::waiting_before>("waiting_before_s",
                                   "of a rank for others in a step, on average"),
    field<&WhatIf::waiting_after>("waiting_after_s", "the same, after"),
    field<&WhatIf::replay_error>(
        "how far replayed steps are from recorded ones, counted alike, on average: 0.01 is 1 %"),
    field<&WhatIf::earlier>(
        "earlier_s", "work launched before a rank's first step, left out of it; most of a rank"),
    field<&WhatIf::edits>("in the order in which they were applied"),
    field<&WhatIf::steps>("by rank, then by start, then by stage"));

template <>
inline constexpr auto kResults<WaitingOfRank> = table<WaitingOfRank>(
    "waiting", "Who waited for whom.", field("what", "\"rank 2\"", [](auto& r) { return r.what; }),
    field("waited_s", "in communications, for others", [](auto& r) { return r.waiting.waited; }),
    field("arrived_last", "communications, of those with two or more recorded ranks",
          [](auto& r) { return r.waiting.arrived_last; }),
    field("caused_s", "of the others' waiting, where it arrived last",
          [](auto& r) { return r.waiting.caused; }));

template <>
inline constexpr auto kResults<StragglerGain> = table<StragglerGain>(
    "gain", "What one rank or kind of work costs.",
    field<&StragglerGain::what>("\"rank 2\", \"host\", a class of kernels"),
    field<&StragglerGain::edit>("what was asked: \"even rank 2\""),
    field<&StragglerGain::gain>("gain_s", "what a step gains if only this one is even"),
    field<&StragglerGain::remains>(
        "remains_s", "how much longer than the even run a step is if all but this one are even"));

template <>
inline constexpr auto kResults<Stragglers> = table<Stragglers>(
    "stragglers",
    "What slow ranks cost a recorded run. Of a timeline of operations the document is that of "
    "trace replay (trace-replay-operations-1.json).",
    schema_version<kWhatIfSchemaVersion>(),
    constant("kind", "what the document is", "trace-whatif-stragglers"),
    constant("steps_by",
             "a step lasts from when a rank is done with the one before (its host has "
             "left it, and all it launched has ended) until it is done with this one",
             "work_done"),
    field<&Stragglers::before>("before_s", "a step of the replay, on average"),
    field<&Stragglers::even>("even_s", "with all ranks alike"),
    field<&Stragglers::waiting_before>(
        "waiting_before_s",
        "of a rank for others in a step, on average: the most that even ranks could gain"),
    field<&Stragglers::waiting_even>("waiting_even_s", "with all ranks alike"),
    field<&Stragglers::slowdown>("before_s / even_s"),
    field("waiting",
          "who waited for whom in the replay of the whole recording, booked on the rank that "
          "arrived last; by rank, in the order of the recordings",
          [](auto& r) { return waiting_of(r); }),
    field<&Stragglers::ranks>("in the order of the recordings"),
    field<&Stragglers::kinds>("of work"));

Value whatif_json(const WhatIf& w) { return answer(w, w); }
const Description& whatif_document() { return description_of<WhatIf>(); }

Value stragglers_json(const Stragglers& s) { return answer(s); }
const Description& stragglers_document() { return description_of<Stragglers>(); }

}  // namespace orrery
