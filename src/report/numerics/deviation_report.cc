#include "report/numerics/deviation_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "document/results.h"
#include "report/drawing/figures.h"
#include "report/drawing/table.h"

namespace orrery {
namespace {

std::string ulps(double x) { return x < 1000 ? fmt::format("{:.2f}", x) : scientific(x, 2); }

}  // namespace

Table deviation_table(const DeviationStudy& study) {
  const auto any = [&](const auto& has) { return std::ranges::any_of(study.rows, has); };
  Table table(
      left(study.swept, 6).shown_if(!study.swept.empty()), left("", 6), right("largest", 5),
      right("mean", 5), right("spread", 2), right("relative rms", 4),
      right("expected", 3).shown_if(any([](const auto& r) { return r.expected.has_value(); })),
      right("ulps, median", 1), right("p99", 1), right("largest", 1),
      right("bits", 3).shown_if(any([](const auto& r) { return r.bits_an_element.has_value(); })),
      right("not finite", 3).shown_if(any([](const auto& r) {
        return r.deviation.not_finite > 0;
      })));
  std::string last;
  for (const MeasuredDeviation& row : study.rows) {
    const Deviation& d = row.deviation;
    if (!last.empty() && last != row.at) table.add_rule();
    table.row(row.at == last ? "" : row.at, row.variant, bold(scientific(d.largest, 2)),
              scientific(d.mean, 2), scientific(d.spread, 2), scientific(d.relative_rms, 2),
              row.expected ? scientific(*row.expected, 2) : "", ulps(d.ulps_median),
              ulps(d.ulps_p99), ulps(d.ulps_largest),
              row.bits_an_element ? fmt::format("{:.2f}", *row.bits_an_element) : "",
              grouped(d.not_finite));
    last = row.at;
  }
  return table;
}

std::string deviation_text(const DeviationStudy& study, const TextStyle& style) {
  std::string settings;
  for (const auto& [name, value] : study.settings) {
    settings += (settings.empty() ? "" : "; ") + name + ": " + value;
  }
  std::string out = wrapped(study.experiment + ": " + settings, 2, style) + "\n";
  out += deviation_table(study).text(style);
  if (!study.remarks.empty()) out += "\n";
  for (const std::string& remark : study.remarks) out += wrapped(remark, 2, style);
  return out;
}

template <>
inline constexpr auto kResults<std::pair<std::string, std::string>> =
    table<std::pair<std::string, std::string>>(
        "setting", "A setting of the experiment.",
        field("name", "of the setting",
              [](const std::pair<std::string, std::string>& s) { return s.first; }),
        field("value", "in words",
              [](const std::pair<std::string, std::string>& s) { return s.second; }));

template <>
inline constexpr auto kResults<Deviation> = table<Deviation>(
    "deviation", "How far a computed tensor is from a golden one; means over the seeds.",
    field<&Deviation::largest>("absolute difference"),
    field<&Deviation::mean>("absolute difference"),
    field<&Deviation::spread>("standard deviation of the absolute difference"),
    field<&Deviation::relative_rms>("root of the squared differences over the squared golden "
                                    "elements"),
    field<&Deviation::largest_relative>("largest difference over the largest golden magnitude"),
    field<&Deviation::ulps_median>("in units in the last place of the format `ulp_of`"),
    field<&Deviation::ulps_p99>("the same"), field<&Deviation::ulps_largest>("the same"),
    field<&Deviation::not_finite>("elements that are infinite or NaN; in no other figure"));

template <>
inline constexpr auto kResults<MeasuredDeviation> = table<MeasuredDeviation>(
    "measured deviation", "One way to compute, at one value of what is swept.",
    field<&MeasuredDeviation::variant>("way to compute"),
    field<&MeasuredDeviation::at>("swept value; empty: nothing is swept"),
    fields_within([](auto& m) { return m.deviation; }),
    field<&MeasuredDeviation::expected>("expected_relative_rms", "by theory; null: none"),
    field<&MeasuredDeviation::bits_an_element>("of what is stored, scales included; null: nothing "
                                               "is"));

template <>
inline constexpr auto kResults<DeviationStudy> = table<DeviationStudy>(
    "deviations", "Deviations of an experiment in narrow formats from golden values.",
    schema_version<1>(), constant("kind", "what the document is", "numerics"),
    field<&DeviationStudy::experiment>("attention, gemm, allreduce or quantize"),
    field<&DeviationStudy::settings>("what was computed"),
    field<&DeviationStudy::swept>("setting that takes several values; empty: none"),
    field("ulp_of", "format whose units in the last place are counted",
          [](auto& s) { return to_text(s.ulp_of); }),
    field<&DeviationStudy::rows>("in the order of the text"),
    field<&DeviationStudy::remarks>("sentences"));

Value deviation_json(const DeviationStudy& study) { return answer(study); }
const Description& deviation_document() { return description_of<DeviationStudy>(); }

}  // namespace orrery
