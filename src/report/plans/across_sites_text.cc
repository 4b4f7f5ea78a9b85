#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "report/drawing/figures.h"
#include "report/drawing/html_page.h"
#include "report/drawing/table.h"
#include "report/plans/plan_reports.h"

namespace orrery {
namespace {

constexpr std::string_view kCutShort =
    "the limit of time ended some of these searches early: better plans may have been missed";

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
  table.mark(RowLook::strong);
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
    table.row(p.name, p.estimate.step_time, p.across, gibibytes(p.estimate.peak_memory),
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

// Both definitions of the gain over production, and over the best single choice.
std::string gains_text(const VariedLink& link) {
  return fmt::format("{}, {}", gain_text(link.production, link.best),
                     gain_text(link.best_alone, link.best));
}

Table varied_table(const AcrossSites& a) {
  std::vector<Column> columns;
  for (const LinkVariation& v : a.variations) columns.push_back(right(v.field, 4));
  for (const char* name : {"production", "best single", "joint", "gain", "over single"}) {
    columns.push_back(right(name, 3));
  }
  Table table(std::move(columns));
  for (const VariedLink& link : a.varied) {
    std::vector<Cell> row;
    for (const std::string& value : link.values) row.push_back(cell(value));
    for (const Seconds time : {link.production, link.best_alone, link.best}) {
      row.push_back(cell(time));
    }
    row.push_back(cell(gain_text(link.production, link.best)));
    row.push_back(cell(gain_text(link.best_alone, link.best)));
    table.add_row(std::move(row));
  }
  return table;
}

constexpr std::string_view kVariedTitle = "Over other links";

// Of a search that was stopped; else empty.
std::string unfinished_sentence(const AcrossSites& a) {
  std::size_t links = 1;
  for (const LinkVariation& v : a.variations) links *= v.values.size();
  if (a.varied.size() == links) return "";
  return fmt::format("the search was stopped after {} of {} links", a.varied.size(), links);
}

// Of two variations the first goes down and the second to the right.
std::string varied_html(const AcrossSites& a) {
  if (a.variations.size() != 2) return varied_table(a).html();
  HeatTable heat{.corner = a.variations[0].field + " \\ " + a.variations[1].field,
                 .columns = a.variations[1].values};
  double most = 0;
  for (const VariedLink& link : a.varied) {
    most = std::max(most, speed_up(link.production, link.best).over_new);
  }
  for (const VariedLink& link : a.varied) {
    if (heat.rows.empty() || heat.rows.back().cells.size() == heat.columns.size()) {
      heat.rows.push_back({link.values[0], {}});
    }
    const double gain = speed_up(link.production, link.best).over_new;
    heat.rows.back().cells.push_back(
        {gains_text(link), most > 0 ? std::max(0.0, gain / most) : 0,
         fmt::format("production {}, best single choice {}, joint choice {}",
                     to_text(link.production), to_text(link.best_alone), to_text(link.best))});
  }
  return heat_table_html(heat);
}

std::string transport_sentence(const AcrossSites& a) {
  return fmt::format(
      "to fill its part of the link, an accelerator that crosses sends {} and keeps {} under way "
      "for a round trip of {}: streams times window must be at least that",
      to_text(a.needs.rate), to_text(a.needs.in_flight), to_text(a.needs.round_trip));
}

}  // namespace

std::string across_sites_html(const AcrossSites& a) {
  std::string out =
      html_section(fmt::format("Across {} units of {}", a.sites, a.level),
                   "gain: T production / T - 1; of the time: 1 - T / T production",
                   baselines_table(a)) +
      html_section("Which axis crosses", "the best plan for each; bytes of one GPU in a step",
                   outermost_table(a)) +
      html_section("If the link were different", "the same plan, not searched again",
                   changes_table(a).html() + "<p class=\"source\">" +
                       html_text(transport_sentence(a)) + "</p>");
  if (!a.varied.empty()) {
    const std::string unfinished = unfinished_sentence(a);
    out += html_section(kVariedTitle,
                        "gain of the joint choice over production, over the best single choice" +
                            (unfinished.empty() ? "" : "; " + unfinished),
                        varied_html(a));
  }
  return out;
}

std::string across_sites_text(const AcrossSites& a, const TextStyle& style) {
  std::string out = section(fmt::format("Across {} units of {}", a.sites, a.level), "",
                            baselines_table(a), style);
  out += paragraph(style, "gain: T production / T - 1; of the time: 1 - T / T production");
  out += paragraph(style,
                   "production: the best plan for one site, {} there, with the axes in the "
                   "order tp, cp, pp, dp and 1F1B, interleaved or not",
                   to_text(a.production_in_one_site));
  if (a.cut_short) out += paragraph(style, kCutShort);
  if (const std::string kept = best_left_alone(a); !kept.empty()) {
    out += paragraph(style, "changing only one of these gains nothing: " + kept);
  }
  const Seconds best_alone =
      a.one_axis.empty() ? a.production.estimate.step_time : a.one_axis.front().estimate.step_time;
  out += paragraph(style, "gain over the best single choice: {} (saves {:.1f} % of its time)",
                   gain_text(best_alone, a.best.estimate.step_time),
                   100 * speed_up(best_alone, a.best.estimate.step_time).of_old);
  out += section("Which axis crosses", "the best plan for each; bytes of one GPU in a step",
                 outermost_table(a), style);
  out += section("If the link were different", "the same plan, not searched again",
                 changes_table(a), style);
  out += paragraph(style, transport_sentence(a));
  if (!a.varied.empty()) {
    out += section(kVariedTitle,
                   "gain of the joint choice over production, over the best single choice",
                   varied_table(a), style);
    if (const std::string unfinished = unfinished_sentence(a); !unfinished.empty()) {
      out += paragraph(style, unfinished);
    }
  }
  return out;
}

}  // namespace orrery
