#include <fmt/format.h>

#include "document/results.h"
#include "report/drawing/figures.h"
#include "report/drawing/table.h"
#include "report/forecasts/forecast_reports.h"

namespace orrery {

template <>
inline constexpr auto kResults<SizeChoice> = table<SizeChoice>(
    "size", "A size of a model, and what it is trained on.",
    field<&SizeChoice::choice>("least compute, smallest model, largest model or least loss"),
    field<&SizeChoice::size, &Allocation::parameters>("parameters", "that the law counts"),
    field<&SizeChoice::size, &Allocation::tokens>("tokens", "of the run"),
    field<&SizeChoice::size, &Allocation::loss>("loss", "nats a token"),
    field("compute_flops", "6 x parameters x tokens", [](auto& c) { return c.size.compute(); }),
    field<&SizeChoice::critical_batch>("critical_batch_tokens",
                                       "beyond which a batch costs tokens"));

template <>
inline constexpr auto kResults<SizeAnswer> = table<SizeAnswer>(
    "sizes document", "Which sizes of a model a scaling law says.", schema_version<1>(),
    field<&SizeAnswer::law>("name in the catalog"), field<&SizeAnswer::choices>("one or more"),
    field<&SizeAnswer::assumed>("sentences"));

Value sizes_json(const SizeAnswer& a) { return answer(a); }
const Description& sizes_document() { return description_of<SizeAnswer>(); }

std::string sizes_text(const SizeAnswer& answer, const TextStyle& style) {
  Table table(left(answer.law, 4), right("parameters", 3), right("tokens", 3),
              right("a parameter", 2), right("FLOPs", 3), right("loss", 3),
              right("critical batch", 2));
  for (const SizeChoice& c : answer.choices) {
    table.row(c.choice, billions(c.size.parameters), compact(c.size.tokens),
              fmt::format("{:.3g}", c.size.tokens / c.size.parameters),
              fmt::format("{:.3g}", c.size.compute()), fmt::format("{:.4f}", c.size.loss),
              compact(c.critical_batch) + " tokens");
  }
  return table.text(style) + assumed_text(answer.assumed, style);
}

}  // namespace orrery
