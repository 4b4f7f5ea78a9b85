#include "calibrate/error_summary.h"

#include <cmath>
#include <vector>

#include "calibrate/statistics.h"
#include "outcome/invariant.h"

namespace orrery {

ErrorSummary error_summary(std::span<const double> errors, std::span<const std::string> names) {
  ORRERY_INVARIANT(names.empty() || names.size() == errors.size());
  ErrorSummary out;
  std::vector<double> absolute;
  absolute.reserve(errors.size());
  for (std::size_t i = 0; i < errors.size(); ++i) {
    absolute.push_back(std::abs(errors[i]));
    if (i > 0 && !(absolute.back() > std::abs(out.worst))) continue;
    out.worst = errors[i];
    if (!names.empty()) out.worst_row = names[i];
  }
  out.rows = static_cast<int>(errors.size());
  out.median = quantile(absolute, 0.5);
  out.mean = mean(absolute);
  out.p90 = quantile(absolute, 0.9);
  out.bias = mean(errors);
  return out;
}

Value value_of(const ErrorSummary& errors, ErrorKeys keys) {
  const bool brief = keys == ErrorKeys::brief;
  Value out = Value::map();
  out.set("rows", Value::number(static_cast<std::int64_t>(errors.rows)));
  if (!brief && errors.rows == 0) return out;
  out.set(brief ? "median" : "median_absolute_error", Value::number(errors.median));
  out.set(brief ? "mean" : "mean_absolute_error", Value::number(errors.mean));
  out.set(brief ? "p90" : "p90_absolute_error", Value::number(errors.p90));
  out.set("bias", Value::number(errors.bias));
  if (errors.worst_row.empty()) return out;
  out.set("worst_error", Value::number(errors.worst));
  out.set("worst_row", Value::text(errors.worst_row));
  return out;
}

}  // namespace orrery
