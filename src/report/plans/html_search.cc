#include "report/plans/html_search.h"

#include <fmt/format.h>

#include "report/drawing/figures.h"
#include "report/drawing/html_parts.h"
#include "report/drawing/html_text.h"
#include "report/drawing/svg_chart.h"
#include "report/plans/estimate_text.h"
#include "report/plans/plan_text.h"
#include "report/plans/search_text.h"
#include "units/quantity_text.h"

namespace orrery {
namespace {

std::string counts(const SearchResult& r, Seconds elapsed) {
  std::string out = fmt::format(
      "{} plans considered: {} too large for memory, {} bounded away, {} simulated",
      grouped(r.considered), grouped(r.too_large), grouped(r.bounded), grouped(r.evaluated));
  if (elapsed.value() > 0) out += ", in " + to_text(elapsed);
  if (r.interrupted) out += "; interrupted: the best so far";
  return out;
}

std::string best_plans(const SearchResult& r) {
  const std::vector<HtmlColumn> columns = {
      {"", true},       {"tp", true},  {"cp", true},   {"pp", true},     {"ep", true},
      {"dp", true},     {"v", true},   {"mbs", true},  {"zero", true},   {"recompute", false},
      {"schedule"},     {"placement"}, {"step", true}, {"slower", true}, {"MFU", true},
      {"memory", true}, {"verdict"}};
  std::vector<HtmlRow> rows;
  for (std::size_t i = 0; i < r.plans.size(); ++i) {
    const Estimate& e = r.plans[i];
    const Plan& p = e.plan;
    rows.push_back(
        {{std::to_string(i + 1), grouped(p.tp),
          p.cp > 1 ? fmt::format("{} {}", p.cp, to_text(p.context_parallel)) : "1", grouped(p.pp),
          grouped(p.ep), grouped(p.dp), grouped(p.chunks), grouped(p.micro_batch), grouped(p.zero),
          std::string(to_text(p.recompute)), p.pp > 1 ? p.schedule : "–", placement_words(p),
          to_text(e.step_time), i == 0 ? "" : signed_percent(slowdown(r.plans[0], e)),
          percent(e.mfu), gibibytes(e.peak_memory), verdict_words(e.verdict)},
         i == 0 ? "best" : ""});
  }
  return html_table(columns, rows);
}

std::string runners_up(const SearchResult& r) {
  std::vector<HtmlRow> rows;
  for (const RunnerUp& u : r.runners_up) {
    rows.push_back({{u.axis, u.winner, u.other, to_text(u.best_other.step_time),
                     signed_percent(slowdown(r.plans[0], u.best_other)),
                     largest_growth(r.plans[0], u.best_other), plan_tag(u.best_other.plan)},
                    ""});
  }
  return html_table({{"axis"},
                     {"winner"},
                     {"next best"},
                     {"step", true},
                     {"slower", true},
                     {"what grew most"},
                     {"its plan"}},
                    rows);
}

std::string front(const SearchResult& r) {
  ScatterChart chart;
  chart.name = "step time against memory of the plans no other is better than in both";
  chart.x_axis = "peak memory of a GPU, GiB";
  chart.y_axis = "step time, s";
  const auto gib = [](ByteCount b) { return static_cast<double>(b) / (1024.0 * 1024 * 1024); };
  for (std::size_t i = 0; i < r.pareto.size(); ++i) {
    const Estimate& e = r.pareto[i];
    const bool end = i == 0 || i + 1 == r.pareto.size();
    chart.points.push_back(
        {gib(e.peak_memory), e.step_time.value(), "accent", end ? plan_tag(e.plan) : "",
         fmt::format("{} · {} · {} · MFU {}", plan_tag(e.plan), to_text(e.step_time),
                     gibibytes(e.peak_memory), percent(e.mfu))});
  }
  return scatter_chart_svg(chart);
}

std::string misses(const std::vector<NearMiss>& list) {
  std::vector<HtmlRow> rows;
  for (const NearMiss& m : list) {
    rows.push_back({{plan_tag(m.plan), to_text(m.bound), gibibytes(m.peak_memory),
                     gibibytes(m.shortfall), std::to_string(m.stage)},
                    ""});
  }
  return html_table({{"plan"},
                     {"no faster than", true},
                     {"needs", true},
                     {"short by", true},
                     {"fullest stage", true}},
                    rows);
}

}  // namespace

std::string html_search(const SearchResult& r, Seconds elapsed) {
  if (r.plans.empty()) {
    return html_section("No plan fits", counts(r, elapsed), misses(r.least_memory));
  }
  std::string out = html_section("Best plans", counts(r, elapsed), best_plans(r));
  if (!r.runners_up.empty()) {
    out +=
        html_section("Why it won", "the best plan with another value on one axis", runners_up(r));
  }
  if (r.pareto.size() > 1) {
    out +=
        html_section("Step time against memory", "no plan is better than these in both", front(r));
  }
  if (!r.near_misses.empty()) {
    out += html_section("Would have been faster, but does not fit",
                        "their step time cannot be below the bound", misses(r.near_misses));
  }
  return out;
}

}  // namespace orrery
