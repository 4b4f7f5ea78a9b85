// The model of a measured row.
//
// Starts from the catalog entry the row names, or else from the family its feed-forward suggests
// (two matrices with GELU: GPT-2 and Megatron; SwiGLU: LLaMA; squared ReLU: Nemotron-4), and lets
// the row's own dimensions win. What the row leaves open and was assumed goes to `assumed`.
#pragma once

#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "model/architecture.h"
#include "validate/expressible.h"
#include "validate/measured_row.h"
#include "validate/run_convention.h"

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
