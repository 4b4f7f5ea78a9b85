// The model of a measured row.
//
// Starts from the catalog entry the row names, or else from the family its feed-forward suggests
// (two matrices with GELU: GPT-2 and Megatron; SwiGLU: LLaMA; squared ReLU: Nemotron-4), and lets
// the row's own dimensions win. What the row leaves open and was assumed goes to `assumed`.
#pragma once

#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "measured/expressible.h"
#include "measured/measured_row.h"
#include "measured/run_convention.h"
#include "model/transformer/architecture.h"

namespace orrery {

struct RowArchitecture {
  Architecture architecture;
  std::vector<std::string> assumed;
};

// Skipped: a dimension that is unknown, a kind of feed-forward or mixture that cannot be expressed.
Expressible<RowArchitecture> architecture_of_row(const MeasuredRow& row,
                                                 const RunConvention& convention,
                                                 const Catalog& catalog);

}  // namespace orrery
