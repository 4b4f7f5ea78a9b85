// Numeric experiments as self-contained pages: a plot of the deviations and the table of the text.
#pragma once

#include <string>

#include "numerics/deviation.h"
#include "numerics/small_transformer.h"

namespace orrery {

// Relative and largest deviation of each way to compute over what is swept; where nothing is, the
// table alone.
std::string deviation_html(const DeviationStudy& study);

// Mean and Wasserstein distance of the weights over the steps of the training, of flash attention
// and of the two references, for each seed.
std::string training_html(const TrainingStudy& study);

}  // namespace orrery
