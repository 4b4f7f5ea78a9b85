#include "report/traces/difference_html.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "lower/step_category.h"
#include "report/drawing/figures.h"
#include "report/drawing/html_page.h"
#include "report/drawing/html_parts.h"
#include "report/drawing/html_text.h"
#include "report/drawing/time_axis.h"

namespace orrery {
namespace {

constexpr std::size_t kMostName = 60;

std::string time(Seconds t) { return tick_text(t, {}); }

std::string signed_time(Seconds t) {
  return (t < Seconds(0) ? "-" : "+") + time(t < Seconds(0) ? -t : t);
}

std::string change(Seconds first, Seconds second) {
  return first > Seconds(0) ? signed_percent((second - first) / first) : "";
}

// Names of kernels are long: the whole of one is its tip.
std::string cut(const std::string& text, std::size_t most) {
  if (text.size() <= most) return text;
  std::size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;  // of UTF-8
  return text.substr(0, end) + "…";
}

struct Part {
  Seconds StepParts::* member;
  const char* label;
  Category colour;
};
constexpr std::array<Part, 7> kParts = {{
    {&StepParts::computing, "computing", Category::attention_projection},
    {&StepParts::exposed_communication, "exposed communication", Category::exposed_tp},
    {&StepParts::copying, "copies, exposed", Category::embedding},
    {&StepParts::host, "operators of the host", Category::host},
    {&StepParts::late, "idle, not launched yet", Category::bubble},
    {&StepParts::latency, "idle, being launched", Category::optimizer},
    {&StepParts::end, "after the last work", Category::loss},
}};

std::string parts_row(const std::string& label, const StepParts& parts, Seconds step,
                      Seconds longest) {
  std::string bar;
  for (const Part& part : kParts) {
    const Seconds t = parts.*part.member;
    if (!(t > Seconds(0)) || !(longest > Seconds(0))) continue;
    bar += fmt::format("<i style=\"--swatch:var(--{});width:{:.2f}%\" data-tip=\"{}: {}\"></i>",
                       to_text(part.colour), 100 * (t / longest), html_text(part.label),
                       html_text(time(t)));
  }
  return fmt::format(
      "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"stack\"><div>{}</div></td></tr>\n",
      html_text(label), html_text(time(step)), bar);
}

std::string parts_section(const Difference& d) {
  const StepParts first = parts(d.first);
  const StepParts second = parts(d.second);
  const Seconds longest = std::max(d.step_first(), d.step_second());
  std::string table =
      "<div class=\"scroll\"><table><thead><tr><th></th><th class=\"n\">step</th><th></th></tr>"
      "</thead><tbody>\n";
  table += parts_row("first", first, d.step_first(), longest);
  table += parts_row("second", second, d.step_second(), longest);
  table += "</tbody></table></div><div class=\"legend\">";
  for (const Part& part : kParts) {
    if (!(first.*part.member > Seconds(0)) && !(second.*part.member > Seconds(0))) continue;
    table += fmt::format("<span style=\"--swatch:var(--{})\">{}</span>", to_text(part.colour),
                         html_text(part.label));
  }
  return html_section("Where a step goes", "by what owned the time; a step is its mark on the host",
                      table + "</div>");
}

std::string rows_section(const Difference& d, const DifferenceSubject& subject) {
  const std::vector<HtmlColumn> columns = {{"difference", true},
                                           {"", false, true},
                                           {subject.predicted ? "recorded" : "first", true},
                                           {subject.predicted ? "predicted" : "second", true},
                                           {subject.predicted ? "kind of work" : "operator"},
                                           {"why"}};
  Seconds largest;
  for (const DifferenceRow& row : d.rows) {
    largest = std::max(largest, std::max(row.difference(), -row.difference()));
  }
  std::vector<HtmlRow> rows;
  for (const DifferenceRow& row : d.rows) {
    if (rows.size() == static_cast<std::size_t>(subject.rows)) break;
    const Seconds change = row.difference();
    const bool slower = change > Seconds(0);
    const double share = largest > Seconds(0) ? 100 * ((slower ? change : -change) / largest) : 0.0;
    const Category colour = slower ? Category::exposed_tp : Category::attention_projection;
    const std::string what = difference_row_name(d, row);
    const std::string why = difference_row_reason(d, row, subject);
    rows.push_back({{signed_time(change), fmt::format("{:.1f} {}", share, to_text(colour)),
                     time(row.contribution_first), time(row.contribution_second),
                     cut(what, kMostName), cut(why, kMostName)},
                    "",
                    {"", "", "", "", what, why}});
  }
  std::string remark = "what each adds to the step, largest difference first";
  if (d.rows.size() > rows.size()) {
    remark += fmt::format("; {} of {} are shown, the JSON has all", rows.size(), d.rows.size());
  }
  return html_section(subject.predicted ? "Kinds of work" : "Operators", remark,
                      html_table(columns, rows));
}

}  // namespace

std::string difference_html(const Difference& d, const DifferenceSubject& subject) {
  std::string body = fmt::format(
      "<header>\n<div class=\"eyebrow\">Orrery · {}</div>\n<h1>{} "
      "<span>{}</span></h1>\n</header>\n",
      subject.predicted ? "a run and its prediction" : "two runs",
      html_text(subject.first + std::string(simulated_mark(subject.first_source))),
      html_text((subject.predicted ? "predicted: " : "second: ") + subject.second +
                std::string(simulated_mark(subject.second_source))));
  body += "<div class=\"tiles\">\n";
  body += html_tile(
      subject.predicted ? "Recorded step" : "Step of the first", time(d.step_first()),
      fmt::format("{} step{} over its ranks", d.first.steps, d.first.steps == 1 ? "" : "s"));
  body += html_tile(subject.predicted ? "Predicted step" : "Step of the second",
                    time(d.step_second()), change(d.step_first(), d.step_second()));
  body += html_tile("Difference", signed_time(d.step_second() - d.step_first()), "");
  body += "</div>\n";
  return html_page("Orrery: difference",
                   body + (subject.predicted ? "" : parts_section(d)) + rows_section(d, subject));
}

}  // namespace orrery
