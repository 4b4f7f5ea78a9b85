#include "report/traces/whatif_html.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>
#include <vector>

#include "lower/step_category.h"
#include "report/drawing/html_page.h"
#include "report/drawing/html_parts.h"
#include "report/drawing/html_text.h"
#include "report/drawing/table.h"
#include "report/drawing/time_chart_svg.h"
#include "report/traces/recorded_style.h"
#include "report/traces/recorded_values.h"
#include "report/traces/whatif_report.h"
#include "trace/kernel_class.h"

namespace orrery {
namespace {

constexpr std::size_t kColumns = 256;  // of a chart
constexpr std::size_t kMostBands = 96;
constexpr std::size_t kMostSteps = 96;

std::string change(Seconds before, Seconds after) {
  return before > Seconds(0) ? signed_percent((after - before) / before) : "";
}

// Parts of a step and the categories whose colours they have.
struct Part {
  Seconds FourParts::* member;
  const char* label;
  Category colour;
};
constexpr std::array<Part, 4> kParts = {{
    {&FourParts::exposed_compute, "computing alone", Category::attention_projection},
    {&FourParts::overlapped, "computing and communicating", Category::feed_forward},
    {&FourParts::exposed_communication, "communicating alone", Category::exposed_tp},
    {&FourParts::other, "neither", Category::bubble},
}};

Cell bar(const FourParts& parts, Seconds longest) {
  std::vector<BarSegment> out;
  for (const Part& part : kParts) {
    out.push_back(page_segment(parts.*part.member, longest, part.label, part.colour));
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
  for (const WhatIfStep& step : first(w.steps, kMostSteps)) {
    table.row(rank_text(step, w.staged), step.name, "before", step.before,
              bar(step.parts_before, longest), "");
    table.row("", "", "after", step.after, bar(step.parts_after, longest),
              change(step.before, step.after));
  }
  std::vector<std::pair<std::string, Category>> legend;
  for (const Part& part : kParts) legend.emplace_back(part.label, part.colour);
  std::string remark =
      "of each rank, from when it is done with the step before until it is done with this one";
  if (w.steps.size() > kMostSteps) {
    remark += fmt::format("; {} of {} are shown, the JSON has all", kMostSteps, w.steps.size());
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

// Share of each column of time in which at least one of the intervals runs.
std::vector<double> covered(std::vector<std::pair<std::int64_t, std::int64_t>> intervals,
                            std::int64_t end_ns) {
  std::vector<double> out(kColumns, 0.0);
  std::sort(intervals.begin(), intervals.end());
  const double column = std::max(1.0, static_cast<double>(end_ns) / kColumns);
  std::int64_t done = 0;
  for (const auto& [from, to] : intervals) {
    auto at = static_cast<double>(std::max(from, done));
    const auto until = static_cast<double>(std::min(to, end_ns));
    done = std::max(done, to);
    while (at < until) {
      const auto c = std::min(kColumns - 1, static_cast<std::size_t>(at / column));
      const double next = std::min(until, static_cast<double>(c + 1) * column);
      out[c] += (next - at) / column;
      if (next <= at) break;
      at = next;
    }
  }
  return out;
}

struct Intervals {
  std::vector<std::pair<std::int64_t, std::int64_t>> computing;
  std::vector<std::pair<std::int64_t, std::int64_t>> all;
};

BandChart bands(std::span<const RecordedTrace> traces, const RunGraph& graph,
                const ReplayedRun& times, std::int64_t end_ns, const char* chart_name) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, Intervals> places;
  std::uint32_t stages = 1;
  for (const RunWork& work : graph.works) {
    const RecordedTrace& trace = traces[work.trace];
    stages = std::max(stages, work.stage + 1);
    if (trace.kind[work.event] != EventKind::kernel) continue;
    Intervals& of_place = places[{work.trace, work.stage}];
    const std::pair interval(times.start_ns[work.first], times.end_ns[work.last]);
    of_place.all.push_back(interval);
    if (!is_communication_kernel(trace.name_of(work.event))) of_place.computing.push_back(interval);
  }
  BandChart chart = {.name = chart_name,
                     .css_classes = {std::string(to_text(Category::attention_projection)),
                                     std::string(to_text(Category::exposed_tp))},
                     .bands = {}};
  chart.seconds = static_cast<double>(end_ns) * 1e-9;
  for (auto& [place, intervals] : places) {
    if (chart.bands.size() == kMostBands) break;
    std::vector<double> computing = covered(std::move(intervals.computing), end_ns);
    std::vector<double> alone = covered(std::move(intervals.all), end_ns);
    for (std::size_t c = 0; c < kColumns; ++c) alone[c] = std::max(0.0, alone[c] - computing[c]);
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
  return times.end_ns.empty() ? 0 : *std::max_element(times.end_ns.begin(), times.end_ns.end());
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
      "is "
      "neither; both charts span the same time";
  return html_section("The devices over time, before", remark, band_chart_svg(before)) +
         html_section("The devices over time, after", remark, band_chart_svg(after));
}

}  // namespace

std::string whatif_html(std::span<const RecordedTrace> traces, const RunGraph& graph,
                        const WhatIf& w) {
  const std::string device =
      traces.empty() || traces[0].devices.empty() ? "" : traces[0].devices[0].name;
  std::string body =
      html_headline("what if", device.empty() ? "A recorded run" : device,
                    fmt::format("{} rank{}", traces.size(), traces.size() == 1 ? "" : "s"));
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

}  // namespace orrery
