#include "report/numerics/adam_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "document/results.h"
#include "report/drawing/table.h"

namespace orrery {

std::string adam_text(const AdamStudy& study, const TextStyle& style) {
  const AdamSettings& s = study.settings;
  std::string out =
      wrapped(fmt::format("Adam with b1 = {:g}, b2 = {:g}, eps = {:g}", s.b1, s.b2, s.eps), 2,
              style) +
      "\n";
  const bool expected = std::ranges::any_of(
      study.rows, [](const AdamRow& r) { return r.expected_update_norm.has_value(); });
  Table table(left("", 6), left("", 6), right("update norm", 5),
              right("expected", 4).shown_if(expected), right("bimodality", 4), right("cosine", 3),
              right("|r| > 0.8", 3), right("correlation 1", 3), right("10", 1),
              right("below eps", 3), right("|m| / |sqrt v|", 1), right("rms of g", 2));
  std::string last;
  for (const AdamRow& row : study.rows) {
    const AdamFigures& f = row.figures;
    if (!last.empty() && row.layer != last) table.add_rule();
    const auto number = [](double x) { return fmt::format("{:.3f}", x); };
    table.row(row.layer == last ? "" : row.layer, row.at, bold(number(f.update_norm)),
              row.expected_update_norm ? number(*row.expected_update_norm) : "",
              number(f.bimodality), number(f.cosine), percent(f.near_one),
              number(f.autocorrelation.front()), number(f.autocorrelation.back()),
              percent(f.eps_dominated), number(f.variance_ratio),
              fmt::format("{:.2e}", f.gradient_rms));
    last = row.layer;
  }
  out += table.text(style);
  if (!study.remarks.empty()) out += "\n";
  for (const std::string& remark : study.remarks) out += wrapped(remark, 2, style);
  return out;
}

template <>
inline constexpr auto kResults<AdamFigures> = table<AdamFigures>(
    "update statistics", "Of the ratio r of Adam's moments over the components of a layer.",
    field<&AdamFigures::update_norm>("root mean square of r"),
    field<&AdamFigures::bimodality>("(skewness^2 + 1) / kurtosis of r"),
    field<&AdamFigures::cosine>("of r and the gradient"),
    field<&AdamFigures::near_one>("share of components with |r| > 0.8"),
    field<&AdamFigures::autocorrelation>("of the gradient, at lags of 1, 2, 5 and 10 steps"),
    field<&AdamFigures::eps_dominated>("share of components whose root of v is below eps"),
    field<&AdamFigures::variance_ratio>("norm of m over norm of the root of v"),
    field<&AdamFigures::gradient_rms>("root mean square of the gradient"));

template <>
inline constexpr auto kResults<AdamRow> =
    table<AdamRow>("adam row", "One layer at one step, or one simulation.",
                   field<&AdamRow::layer>("layer, or what is simulated"),
                   field<&AdamRow::at>("step, or the value that simulations differ in"),
                   fields_within([](auto& r) { return r.figures; }),
                   field<&AdamRow::expected_update_norm>("closed form; null: none"));

template <>
inline constexpr auto kResults<AdamStudy> = table<AdamStudy>(
    "adam", "What Adam makes of gradients.", schema_version<1>(),
    constant("kind", "what the document is", "numerics-adam"),
    field("b1", "decay of the first moment", [](auto& s) { return s.settings.b1; }),
    field("b2", "decay of the second moment", [](auto& s) { return s.settings.b2; }),
    field("eps", "added to the root of v", [](auto& s) { return s.settings.eps; }),
    field<&AdamStudy::rows>("in the order of the text"),
    field<&AdamStudy::remarks>("sentences; warnings first"));

Value adam_json(const AdamStudy& study) { return answer(study); }
const Description& adam_document() { return description_of<AdamStudy>(); }

}  // namespace orrery
