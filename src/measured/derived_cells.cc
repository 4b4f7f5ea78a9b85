#include "measured/derived_cells.h"

#include <algorithm>
#include <array>
#include <optional>
#include <sstream>
#include <string_view>

namespace orrery {
namespace {

std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string word; in >> word;) out.push_back(std::move(word));
  return out;
}

// Quotients only, so that no product of cells can overflow.
std::optional<std::int64_t> quotient(std::optional<std::int64_t> of,
                                     std::optional<std::int64_t> by) {
  if (!of || !by || *by <= 0 || *of % *by != 0) return std::nullopt;
  return *of / *by;
}

std::optional<std::int64_t> micro_batch_of(const MeasuredRow& row) {
  std::optional<std::int64_t> dp = row.dp;
  if (!dp) dp = quotient(quotient(quotient(row.num_gpus, row.tp), row.pp), row.cp.value_or(1));
  return quotient(quotient(row.global_batch, dp), row.microbatches);
}

}  // namespace

MeasuredRow with_derived_cells(MeasuredRow row, std::vector<std::string>& assumed) {
  constexpr std::array<std::string_view, 5> kOfTheModel = {"num_layers", "hidden", "num_heads",
                                                           "ffn_hidden", "vocab"};
  std::string missing;
  std::string of_the_model;
  for (const std::string& cell : words(row.missing)) {
    if (cell == "micro_batch" && !row.micro_batch) {
      if (const auto derived = micro_batch_of(row); derived && *derived > 0) {
        row.micro_batch = derived;
        assumed.push_back("micro-batch " + std::to_string(*derived) +
                          ": global batch / (dp x microbatches)");
        continue;
      }
    }
    const bool of_model = std::ranges::find(kOfTheModel, cell) != kOfTheModel.end();
    if (of_model && !row.catalog_model.empty()) {
      of_the_model += (of_the_model.empty() ? "" : ", ") + cell;
      continue;
    }
    missing += (missing.empty() ? "" : " ") + cell;
  }
  if (!of_the_model.empty()) {
    assumed.push_back(of_the_model + ": those of " + row.catalog_model + " in the catalog");
  }
  row.missing = std::move(missing);
  return row;
}

}  // namespace orrery
