#include "report/traces/whatif_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "report/drawing/table.h"
#include "report/traces/recorded_style.h"
#include "report/traces/recorded_values.h"

namespace orrery {
namespace {

constexpr std::size_t kMostSteps = 16;
constexpr double kNoGain = 1e-5;      // of a step: what rounding to nanoseconds leaves
constexpr double kLeastShown = 5e-4;  // 0.05 %
constexpr double kUnchanged = 5e-10;  // seconds: half of what is recorded

std::string change_text(Seconds before, Seconds after) {
  if (std::abs((after - before).value()) < kUnchanged) return "unchanged";
  if (!(before > Seconds(0))) return "";
  const double share = (after - before) / before;
  if (std::abs(share) >= kLeastShown) return signed_percent(share);
  // Too little for a percentage.
  return (share < 0 ? "-" : "+") + to_text(share < 0 ? before - after : after - before);
}

Cell change_cell(Seconds before, Seconds after) {
  return cell(change_text(before, after), ink_of_change(after - before));
}

struct PartRow {
  const char* label;
  Seconds FourParts::* member;
};
constexpr std::array<PartRow, 4> kParts = {{
    {"computing alone", &FourParts::exposed_compute},
    {"both", &FourParts::overlapped},
    {"communicating alone", &FourParts::exposed_communication},
    {"neither", &FourParts::other},
}};

// A part of the steps, on average.
Seconds mean_part(const WhatIf& w, FourParts WhatIfStep::* when, Seconds FourParts::* part) {
  Seconds sum;
  for (const WhatIfStep& step : w.steps) sum += (step.*when).*part;
  return w.steps.empty() ? sum : sum / static_cast<double>(w.steps.size());
}

}  // namespace

bool leaves_earlier_work_out(const WhatIf& w) {
  constexpr double kLeast = 0.01;  // of a step
  return w.earlier > kLeast * w.before;
}

std::string whatif_text(const WhatIf& w, const TextStyle& style) {
  std::string out;
  const auto say = [&](const std::string& sentence) { out += wrapped(sentence, 2, style); };
  say(fmt::format("A step would take {} instead of {}: {}.", to_text(w.after), to_text(w.before),
                  change_text(w.before, w.after)));
  say(fmt::format("The replay of the recording itself is {} off, on average.",
                  percent(w.replay_error)));
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
  for (const PartRow& part : kParts) {
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
  for (const WhatIfStep& step : first(w.steps, kMostSteps)) {
    steps.row(step.rank == kNotRecorded ? "" : std::to_string(step.rank),
              std::to_string(step.stage), step.name, step.before, step.after,
              change_cell(step.before, step.after));
  }
  out += heading("Steps",
                 "until all work of a rank is done; trace diff and spec go by the host's marks",
                 style) +
         steps.text(style);
  if (w.steps.size() > kMostSteps) {
    say(fmt::format("and {} more (--json lists all)", w.steps.size() - kMostSteps));
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
  std::vector<std::size_t> order(s.waiting.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return s.waiting[a].caused > s.waiting[b].caused;
  });
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
  const auto best = std::max_element(s.ranks.begin(), s.ranks.end(),
                                     [](const auto& a, const auto& b) { return a.gain < b.gain; });
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
  std::string out = wrapped(
      fmt::format("With all ranks alike a step would take {} instead of {}: {}.", to_text(s.even),
                  to_text(s.before),
                  slowed ? fmt::format("slow ranks make it {:.3f} times as long", s.slowdown())
                         : "slow ranks cost nothing"),
      2, style);
  if (s.waiting_before > Seconds(0)) {
    out += wrapped(fmt::format("A rank waits {} for others in a step, the most that even ranks "
                               "could gain, and {} with "
                               "all ranks alike.",
                               to_text(s.waiting_before), to_text(s.waiting_even)),
                   2, style);
  }
  const std::string causes = causes_text(s);
  if (!causes.empty()) out += wrapped(causes, 2, style);
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

}  // namespace orrery
