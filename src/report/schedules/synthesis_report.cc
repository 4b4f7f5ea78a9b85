#include "report/schedules/synthesis_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "report/drawing/figures.h"
#include "report/drawing/table.h"
#include "report/schedules/schedule_report.h"

namespace orrery {
namespace {

constexpr std::size_t kMostCandidates = 8;

}  // namespace

std::string synthesis_text(const SynthesisResult& r, const TimeUnit& unit, const TextStyle& style) {
  const TimeAxis axis = time_axis(unit);
  std::string out = heading("Found", "", style);
  out +=
      wrapped(fmt::format("{} by {}: {}, at most {} above the lower bound of {}; {}", r.winner,
                          to_text(r.method), time_text(r.makespan.seconds(), axis), percent(r.gap),
                          time_text(r.lower_bound.seconds(), axis), to_text(r.stopped)),
              2, style);
  std::vector<const SynthesisCandidate*> fitting;
  for (const SynthesisCandidate& c : r.candidates) {
    if (c.fits) fitting.push_back(&c);
  }
  std::ranges::stable_sort(fitting, std::ranges::less(), &SynthesisCandidate::makespan);
  out += wrapped(fmt::format("{} candidates, {} within the limits; the best of them:",
                             grouped(static_cast<std::int64_t>(r.candidates.size())),
                             grouped(static_cast<std::int64_t>(fitting.size()))),
                 2, style);
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
  const auto time = [&](Picoseconds t) { return Value::number(unit.of(t)); };
  Value out = Value::map();
  out.set("winner", Value::text(r.winner));
  out.set("method", Value::text(std::string(to_text(r.method))));
  out.set("stopped", Value::text(std::string(to_text(r.stopped))));
  out.set("makespan", time(r.makespan));
  out.set("lower_bound", time(r.lower_bound));
  out.set("gap", Value::number(r.gap));
  out.set("nodes", Value::number(r.nodes));
  Value candidates = Value::list();
  for (const SynthesisCandidate& c : r.candidates) {
    Value one = Value::map();
    one.set("name", Value::text(c.name));
    one.set("v", Value::number(std::int64_t{c.chunks}));
    one.set("fits", Value::boolean(c.fits));
    one.set("reason", Value::text(c.reason));
    one.set("makespan", time(c.makespan));
    one.set("peak", Value::number(c.peak_memory));
    candidates.append(std::move(one));
  }
  out.set("candidates", std::move(candidates));
  return out;
}

}  // namespace orrery
