#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "document/results.h"
#include "report/drawing/figures.h"
#include "report/drawing/table.h"
#include "report/schedules/schedule_report.h"

namespace orrery {
namespace {

std::string plain(double value) { return fmt::format("{:.4g}", value); }

std::string label(const ComparedSchedule& s) {
  std::string out(s.schedule->name);
  if (s.schedule->chunks == 0) out += fmt::format(" v={}", s.shape.chunks);
  return out;
}

std::vector<const ComparedSchedule*> measured(const Comparison& c) {
  std::vector<const ComparedSchedule*> out;
  for (const ComparedSchedule& s : c.schedules) {
    if (s.measured) out.push_back(&s);
  }
  std::ranges::stable_sort(out, [](const ComparedSchedule* a, const ComparedSchedule* b) {
    if (a->fits() != b->fits()) return a->fits();
    if (a->makespan != b->makespan) return a->makespan < b->makespan;
    return a->peak < b->peak;
  });
  return out;
}

std::string remark(const ComparedSchedule& s) {
  if (!s.fits()) return "✗ " + s.reason;
  std::string out;
  const auto add = [&](const char* words) {
    out += (out.empty() ? "" : ", ") + std::string(words);
  };
  if (s.fastest) add("fastest");
  if (s.smallest) add("least memory");
  if (s.on_front && !s.fastest && !s.smallest) add("on the front");
  if (s.schedule->asynchronous) add("asynchronous");
  if (s.free_copies) add("free copies");
  return out;
}

std::string time_of(double time, bool seconds) {
  return tick_text(Seconds(time), seconds ? TimeAxis{} : TimeAxis{Seconds(1)});
}

}  // namespace

std::string comparison_text(const Comparison& c, const TextStyle& style) {
  Table table(left("schedule", 9), right("v", 7), right("makespan", 5), right("idle", 8),
              right("bubble", 7), right("span", 3), right("weights", 4), right("peak", 6),
              right("sends", 4), left("", 2));
  for (const ComparedSchedule* s : measured(c)) {
    const bool best = s->fits() && (s->fastest || s->smallest || s->on_front);
    const Ink ink = {.colour = 0, .bold = best, .dim = !s->fits()};
    const auto cell = [&](std::string text, bool marked) {
      return Cell{std::move(text), marked ? Ink{.colour = 71, .bold = true} : ink};
    };
    const bool even = s->peak - s->peak_lowest < 1e-9;
    table.row(
        cell(std::string(s->schedule->name), false), cell(std::to_string(s->shape.chunks), false),
        cell(time_of(s->makespan, c.in_seconds), s->fastest),
        cell(time_of(s->idle, c.in_seconds), s->fastest),
        cell(percent(s->bubble_ratio), s->fastest), cell(percent(s->bubble_ratio_span), false),
        cell(plain(s->weights) + "×", false),
        cell(even ? plain(s->peak) : plain(s->peak_lowest) + "–" + plain(s->peak), s->smallest),
        cell(plain(s->sends), false), cell(remark(*s), false));
  }
  const ComparisonRequest& r = c.request;
  std::string title = shape_sentence({r.devices, r.microbatches, 1});
  if (r.memory_limit < std::numeric_limits<double>::infinity()) {
    title += fmt::format(" · at most {} held", plain(r.memory_limit));
  }
  std::string out =
      heading("Schedules compared", title, style).substr(1) + table.text(style) + "\n" +
      paragraph(style,
                "idle: of a device, on average; span: the bubble if steps follow without a "
                "flush; weights: copies of a device's share; peak: microbatches a device "
                "holds, from the least to the most; sends: activations the busiest device "
                "sends for each microbatch. On the front: no other is faster and holds less. Free "
                "copies: the time of copies to host memory is not stated, so that such rows "
                "take no mark.");
  if (c.left_out > 0) {
    out += paragraph(style,
                     "Stopped early: {} of {} schedules were not reached, and marks are among "
                     "the others.",
                     c.left_out, c.left_out + c.schedules.size());
  }
  // The same reason often holds for several.
  std::map<std::string, std::vector<std::string>> missing;
  std::vector<std::string> reasons;
  for (const ComparedSchedule& s : c.schedules) {
    if (s.measured) continue;
    auto& names = missing[s.reason];
    if (names.empty()) reasons.push_back(s.reason);
    names.push_back(label(s));
  }
  if (!missing.empty()) out += heading("Not possible here", "", style);
  for (const std::string& reason : reasons) {
    out += paragraph(style, joined(missing[reason], ", ") + ": " + reason);
  }
  return out;
}

namespace {

enum class UnitOfTimes { unit, s };
struct MissingSchedule {
  const ComparedSchedule& of;
};

template <class Row>
std::vector<Row> rows_of(const Comparison& c, bool measured) {
  std::vector<Row> out;
  for (const ComparedSchedule& s : c.schedules) {
    if (s.measured == measured) out.push_back({s});
  }
  return out;
}

}  // namespace

template <>
inline constexpr auto kResults<ComparedSchedule> = table<ComparedSchedule>(
    "compared_schedule", "A schedule that was measured.",
    field("schedule", "name", [](auto& s) { return s.schedule->name; }),
    field<&ComparedSchedule::shape, &PipelineShape::chunks>("v", "chunks"),
    field<&ComparedSchedule::fits>("holds no more than the limit"),
    field<&ComparedSchedule::free_copies>("copies to host memory, and no time for that is stated"),
    field<&ComparedSchedule::schedule, &Schedule::asynchronous>(
        "asynchronous", "gives other gradients than a synchronous step"),
    field<&ComparedSchedule::makespan>("of the step"),
    field<&ComparedSchedule::idle>("idle_per_device", "mean over devices"),
    field("idle_by_cause", "parts of idle_per_device",
          [](auto& s, const Comparison& c) {
            ByName<IdleCause, kIdleCauses.size(), double> out;
            for (const IdleCause cause : kIdleCauses) {
              out.values.push_back(s.unit.of(s.causes[cause]) / c.request.devices);
            }
            return out;
          }),
    field<&ComparedSchedule::bubble_ratio>("1 - busy / (p x makespan)"),
    field<&ComparedSchedule::bubble_ratio_span>("the same where steps follow without a flush"),
    field<&ComparedSchedule::weights>("weights_held", "copies of a device's share of the weights"),
    field<&ComparedSchedule::peak>("peak_microbatches", "of the device that holds most"),
    field<&ComparedSchedule::peak_lowest>("peak_microbatches_lowest",
                                          "of the device that holds least"),
    field<&ComparedSchedule::sends>("sends_per_microbatch",
                                    "activations the busiest device sends for each microbatch"),
    field<&ComparedSchedule::fastest>("no other is faster"),
    field<&ComparedSchedule::smallest>("least_memory", "no other holds less"),
    field<&ComparedSchedule::on_front>("no other is as good in both and better in one"));

template <>
inline constexpr auto kResults<MissingSchedule> = table<MissingSchedule>(
    "missing_schedule", "A schedule that does not exist here.",
    field("schedule", "name", [](auto& s) { return s.of.schedule->name; }),
    field("v", "chunks", [](auto& s) { return s.of.shape.chunks; }),
    field("reason", "why it does not exist here", [](auto& s) { return s.of.reason; }));

template <>
inline constexpr auto kResults<Comparison> = table<Comparison>(
    "comparison", "All pipeline schedules, measured alike.",
    schema_version<kComparisonSchemaVersion>(),
    field<&Comparison::request, &ComparisonRequest::devices>("p", "devices"),
    field<&Comparison::request, &ComparisonRequest::microbatches>("m", "microbatches"),
    field("time_unit", "of every time: units of the asker's own, or seconds",
          [](auto& c) { return c.in_seconds ? UnitOfTimes::s : UnitOfTimes::unit; }),
    field("memory_limit", "the most a device may hold, in microbatches of its share",
          [](auto& c) {
            const double limit = c.request.memory_limit;
            return std::isfinite(limit) ? std::optional(limit) : std::nullopt;
          }),
    field<&Comparison::left_out>("not_reached",
                                 "schedules left out because the comparison was stopped"),
    field("schedules", "every schedule that was measured, in the order of schedule list",
          [](auto& c) { return rows_of<ComparedSchedule>(c, true); }),
    field("not_possible", "the others",
          [](auto& c) { return rows_of<MissingSchedule>(c, false); }));

Value comparison_json(const Comparison& c) { return answer(c, c); }
const Description& comparison_document() { return description_of<Comparison>(); }

namespace {

// A summary ends with its source: "... (arXiv 2107.06925)".
std::string source_of(const Schedule& schedule) {
  const std::size_t open = schedule.summary.rfind(" (");
  if (open == std::string_view::npos) return "";
  return std::string(schedule.summary.substr(open + 2, schedule.summary.size() - open - 3));
}

}  // namespace

std::string schedule_list_text(const TextStyle& style) {
  Table table(left("name", 9), right("chunks", 3), left("what it does", 5), left("source", 8));
  for (const Schedule& s : schedules()) {
    table.row(bold(s.name), s.chunks > 0 ? std::to_string(s.chunks) : "any",
              s.summary.substr(0, s.summary.rfind(" (")), source_of(s));
  }
  return table.text(style);
}

Value schedule_list_json() {
  const auto row = [](const Schedule& s) {
    return map_of({{"schedule", s.name},
                   {"summary", s.summary},
                   {"chunks", s.chunks > 0 ? std::optional(s.chunks) : std::nullopt},
                   {"directions", s.routes},
                   {"splits_backward", s.splits_backward},
                   {"made_for_times", s.made_for_times},
                   {"asynchronous", s.asynchronous}});
  };
  return map_of(
      {{"schema_version", kComparisonSchemaVersion}, {"schedules", list_of(schedules(), row)}});
}

std::string synthesis_text(const SynthesisResult& r, const TimeUnit& unit, const TextStyle& style) {
  const TimeAxis axis = time_axis(unit);
  std::string out = heading("Found", "", style);
  out += paragraph(style, "{} by {}: {}, at most {} above the lower bound of {}; {}", r.winner,
                   to_text(r.method), time_text(r.makespan.seconds(), axis), percent(r.gap),
                   time_text(r.lower_bound.seconds(), axis), to_text(r.stopped));
  std::vector<const SynthesisCandidate*> fitting;
  for (const SynthesisCandidate& c : r.candidates) {
    if (c.fits) fitting.push_back(&c);
  }
  std::ranges::stable_sort(fitting, std::ranges::less(), &SynthesisCandidate::makespan);
  out += paragraph(style,
                   "{} candidates, {} within the limits; the best of them, with peaks in "
                   "microbatches of a device's share:",
                   grouped(static_cast<std::int64_t>(r.candidates.size())),
                   grouped(static_cast<std::int64_t>(fitting.size())));
  constexpr std::size_t kMostCandidates = 8;
  fitting.resize(std::min(fitting.size(), kMostCandidates));
  Table table(left("candidate", 9), right("chunks", 4), right("makespan", 8), right("slower", 5),
              right("peak", 6));
  for (const SynthesisCandidate* c : fitting) {
    const double slower = c->makespan.count() / std::max(r.makespan.count(), 1.0) - 1;
    table.row(c->name, std::to_string(c->chunks), tick_text(c->makespan.seconds(), axis),
              slower > 0 ? signed_percent(slower) : "", fmt::format("{:.4g}", c->peak_memory));
  }
  return out + table.text(style);
}

Value synthesis_json(const SynthesisResult& r, const TimeUnit& unit) {
  const auto candidate = [&](const SynthesisCandidate& c) {
    return map_of({{"name", c.name},
                   {"v", c.chunks},
                   {"fits", c.fits},
                   {"reason", c.reason},
                   {"makespan", unit.of(c.makespan)},
                   {"peak", c.peak_memory}});
  };
  return map_of({{"winner", r.winner},
                 {"method", r.method},
                 {"stopped", r.stopped},
                 {"makespan", unit.of(r.makespan)},
                 {"lower_bound", unit.of(r.lower_bound)},
                 {"gap", r.gap},
                 {"nodes", r.nodes},
                 {"candidates", list_of(r.candidates, candidate)}});
}

}  // namespace orrery
