#include "report/validation/claims_report.h"

#include <fmt/core.h>

namespace orrery {
namespace {

std::string value_text(ClaimFigure figure, double value) {
  switch (figure) {
    case ClaimFigure::mfu:
      return fmt::format("{:.1f} % MFU", 100 * value);
    case ClaimFigure::tflops:
      return fmt::format("{:.0f} TFLOP/s", value);
    case ClaimFigure::tokens:
      return fmt::format("{:.0f} tokens/s", value);
    case ClaimFigure::states:
      return fmt::format("{:.1f} GB", value);
    case ClaimFigure::speedup:
    case ClaimFigure::states_ratio:
    case ClaimFigure::memory_ratio:
      return fmt::format("{:.2f}x", value);
  }
  return "";
}

}  // namespace

std::string claims_markdown(std::span<const JudgedClaim> claims) {
  std::size_t judged = 0;
  std::size_t held = 0;
  for (const JudgedClaim& c : claims) {
    if (c.holds) ++judged;
    if (c.holds.value_or(false)) ++held;
  }
  std::string out = fmt::format(
      "# Strategies and what their papers claim\n\n"
      "Written by `make validate` from `validation/strategies.yaml`, which has the whole "
      "configurations. Nothing was "
      "fitted\nto these figures. A strict claim holds within its band; an upper bound is not "
      "exceeded; of a loose claim "
      "a gain has\nto be a gain, and within the band, which was stated beforehand. Most "
      "configurations are known in part; "
      "what was\nassumed stands in the last column. Informational claims are shown, not judged.\n\n"
      "**{} of {} judged claims hold.**\n\n"
      "| strategy | paper | claim | class | published | predicted | difference | | configuration "
      "|\n"
      "| --- | --- | --- | --- | ---: | ---: | ---: | --- | --- |\n",
      held, judged);
  for (const auto& [claim, predicted, holds] : claims) {
    if (!predicted) continue;
    out += fmt::format(
        "| {} | {} | {} | {} | {} | {} | {:+.1f} % | {} | {} |\n", claim.strategy, claim.source,
        claim.headline, to_text(claim.type), value_text(*claim.figure, claim.published),
        value_text(*claim.figure, *predicted), 100 * (*predicted / claim.published - 1),
        holds ? (*holds ? "holds" : "**missed**") : "shown", claim.configuration);
  }
  out += "\n## Not predicted\n\n| strategy | paper | claim | why |\n| --- | --- | --- | --- |\n";
  for (const JudgedClaim& c : claims) {
    if (c.predicted) continue;
    out += fmt::format("| {} | {} | {} | {} |\n", c.claim.strategy, c.claim.source,
                       c.claim.headline, c.claim.not_predicted);
  }
  return out;
}

}  // namespace orrery
