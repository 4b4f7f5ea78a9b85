#include "report/plans/across_sites_text.h"

#include <fmt/format.h>

#include "report/drawing/figures.h"
#include "report/drawing/table.h"
#include "report/plans/plan_text.h"

namespace orrery {
namespace {

std::string gain_text(Seconds before, Seconds after) {
  return signed_percent(speed_up(before, after).over_new);
}

Table baselines_table(const AcrossSites& a) {
  Table table(left("chosen for the sites", 3), right("step time", 3), right("gain", 2),
              right("of the time", 1), right("crosses", 1), left("plan", 1).only(Form::any));
  const Seconds production = a.production.estimate.step_time;
  const auto row = [&](const std::string& name, const PlanAcrossSites& p) {
    const Seconds time = p.estimate.step_time;
    table.row(name, time, gain_text(production, time),
              fmt::format("{:.1f} %", 100 * speed_up(production, time).of_old), p.across,
              plan_settings(p.estimate.plan));
  };
  row("production", a.production);
  for (const PlanAcrossSites& p : a.one_axis) {
    if (p.estimate.plan != a.production.estimate.plan) row(p.name + " alone", p);
  }
  if (a.together && a.together->estimate.plan != a.production.estimate.plan) {
    row("these together", *a.together);
  }
  row("everything jointly", a.best);
  table.mark_best();
  return table;
}

// "micro_batch, zero": what is best left as it is in production, if only one thing is chosen.
std::string best_left_alone(const AcrossSites& a) {
  std::string out;
  for (const PlanAcrossSites& p : a.one_axis) {
    if (p.estimate.plan == a.production.estimate.plan) out += (out.empty() ? "" : ", ") + p.name;
  }
  return out;
}

Table outermost_table(const AcrossSites& a) {
  Table table(left("outermost", 3), right("step time", 3), right("crosses", 2), right("memory", 2),
              left("plan", 1));
  for (const PlanAcrossSites& p : a.outermost) {
    table.row(p.name, p.estimate.step_time, p.across,
              fmt::format("{:.1f} GiB", static_cast<double>(p.estimate.peak_memory) / (1 << 30)),
              plan_settings(p.estimate.plan));
  }
  return table;
}

Table changes_table(const AcrossSites& a) {
  Table table(left("link", 3), right("step time", 3), right("change", 2));
  for (const LinkChange& c : a.changes) {
    table.row(c.change, c.step_time, signed_percent(c.step_time / a.best.estimate.step_time - 1));
  }
  return table;
}

}  // namespace

std::string across_sites_text(const AcrossSites& a, const TextStyle& style) {
  std::string out = section(fmt::format("Across {} units of {}", a.sites, a.level),
                            "gain: T production / T - 1; of the time: 1 - T / T production",
                            baselines_table(a), style);
  out +=
      wrapped(fmt::format("production: the best plan for one site, {} there, with the axes in the "
                          "order tp, cp, pp, dp and 1F1B, interleaved or not",
                          to_text(a.production_in_one_site)),
              2, style);
  if (const std::string kept = best_left_alone(a); !kept.empty()) {
    out += wrapped("changing only one of these gains nothing: " + kept, 2, style);
  }
  const Seconds best_alone =
      a.one_axis.empty() ? a.production.estimate.step_time : a.one_axis.front().estimate.step_time;
  out += wrapped(fmt::format("gain over the best single choice: {} (saves {:.1f} % of its time)",
                             gain_text(best_alone, a.best.estimate.step_time),
                             100 * speed_up(best_alone, a.best.estimate.step_time).of_old),
                 2, style);
  out += section("Which axis crosses", "the best plan for each; bytes of one GPU in a step",
                 outermost_table(a), style);
  out += section("If the link were different", "the same plan, not searched again",
                 changes_table(a), style);
  out += wrapped(
      fmt::format("to fill its part of the link, an accelerator that crosses sends {} and keeps {} "
                  "under way for a round trip of {}: streams times window must be at least that",
                  to_text(a.needs.rate), to_text(a.needs.in_flight), to_text(a.needs.round_trip)),
      2, style);
  return out;
}

}  // namespace orrery
