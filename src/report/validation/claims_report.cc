#include "report/validation/claims_report.h"

#include <fmt/core.h>

namespace orrery {
namespace {

std::string value_text(ClaimFigure figure, double value) {
  switch (figure) {
    case ClaimFigure::mfu:
      return fmt::format("{:.1f} % MFU", 100 * value);
    case ClaimFigure::tflops:
    case ClaimFigure::causal_tflops:
      return fmt::format("{:.0f} TFLOP/s", value);
    case ClaimFigure::tokens:
      return fmt::format("{:.0f} tokens/s", value);
    case ClaimFigure::speedup:
    case ClaimFigure::states_ratio:
    case ClaimFigure::memory_ratio:
    case ClaimFigure::context_bytes_ratio:
    case ClaimFigure::replica_bytes_ratio:
      return fmt::format("{:.2f}x", value);
    case ClaimFigure::longest:
      return fmt::format("{:.0f} K tokens", value / 1024);
  }
  return "";
}

std::string band_text(double band) { return fmt::format("{:.3g} %", 100 * band); }

}  // namespace

std::string claims_markdown(std::span<const JudgedClaim> claims) {
  std::size_t judged = 0;
  std::size_t held = 0;
  for (const JudgedClaim& c : claims) {
    if (!c.holds || c.claim.type == ClaimType::upper_bound) continue;
    ++judged;
    if (*c.holds) ++held;
  }
  std::string out = fmt::format(
      "# Strategies and what their papers claim\n\n"
      "Written by `make validate` from `validation/strategies.yaml`, which has the whole "
      "configurations. Nothing was fitted\nto these figures, and bands were stated beforehand. A "
      "strict claim holds if the prediction is within its band. A\nloose claim holds if prediction "
      "and claim differ by at most a factor of 1 + band; for a ratio its gain over 1 is\ncompared. "
      "An upper bound holds if the prediction does not exceed it by more than its band. Most "
      "configurations are\nknown in part; what was assumed stands in the last column. "
      "Informational claims are shown, not judged.\n\n"
      "**{} of {} strict and loose claims hold.**\n\n"
      "| strategy | paper | claim | class | published | band | predicted | difference | | "
      "configuration |\n"
      "| --- | --- | --- | --- | ---: | ---: | ---: | ---: | --- | --- |\n",
      held, judged);
  for (const auto& [claim, predicted, holds] : claims) {
    if (!predicted) continue;
    out +=
        fmt::format("| {} | {} | {} | {} | {} | {} | {} | {:+.1f} % | {} | {} |\n", claim.strategy,
                    claim.source, claim.headline, to_text(claim.type),
                    value_text(*claim.figure, claim.published), holds ? band_text(claim.band) : "",
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
