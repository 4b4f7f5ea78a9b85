// The errors of predictions in five figures. Of relative errors e = predicted / measured - 1:
//
//   median, mean, p90   of |e|; 0.1 is 10 %, p90 the 90th percentile
//   bias                mean of e: above 0 predicted too slow (or too much)
//   worst               the e of the largest |e|, the first of equals
//
// Used for fits (calibrate), measured steps (validate) and recorded kernels (infer). O(n log n).
#pragma once

#include <span>
#include <string>

#include "document/value.h"

namespace orrery {

struct ErrorSummary {
  int rows = 0;
  double median = 0;
  double mean = 0;
  double p90 = 0;
  double bias = 0;
  double worst = 0;
  std::string worst_row = {};  // where rows have names
};

// `names`: of the rows, or empty.
ErrorSummary error_summary(std::span<const double> errors, std::span<const std::string> names = {});

// "median", or "median_absolute_error" as in documents of measured steps, which leave out figures
// without rows.
enum class ErrorKeys { brief, spelled_out };
// The worst error is written if its row has a name.
Value value_of(const ErrorSummary& errors, ErrorKeys keys);

}  // namespace orrery
