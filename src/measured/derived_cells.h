// Cells of a measured row that follow from its others.
//
//   micro_batch = global_batch / (dp x microbatches), dp = num_gpus / (tp x pp x cp) if not stated
//   num_layers, hidden, num_heads, ffn_hidden, vocab   of the catalog's model that the row names
//
// Such a row says what a prediction needs without stating it: it is estimated, with the cells under
// what was assumed, but never fitted and not among the complete rows.
#pragma once

#include <string>
#include <vector>

#include "measured/measured_row.h"

namespace orrery {

// The row with such cells filled and their names gone from `missing`; what was filled, in
// sentences, is appended to `assumed`. A micro-batch that is no whole number stays missing.
MeasuredRow with_derived_cells(MeasuredRow row, std::vector<std::string>& assumed);

}  // namespace orrery
