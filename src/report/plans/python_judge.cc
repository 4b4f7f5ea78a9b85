#include "report/plans/python_judge.h"

#include <memory>
#include <utility>

#include "document/value.h"
#include "report/plans/plans_json.h"

namespace orrery {

Result<Judge> python_judge(const std::string& file, int count, Interpreters where,
                           const PythonLimits& limits, const Subject& subject) {
  ORRERY_TRY(std::shared_ptr<UserFunctions> functions,
             UserFunctions::load_file(file, count, where, limits));
  const bool judges = functions->has("objective");
  const bool allows = functions->has("constraint");
  if (!judges && !allows) {
    return bad_input("defines neither objective nor constraint", file,
                     "write def objective(step): return step.step_time_s");
  }
  return Judge([functions = std::move(functions), judges, allows,
                subject](const Estimate& e) -> Result<std::optional<double>> {
    const EstimateExtras extras;
    const KeyText key = [&](std::string_view name) -> std::optional<std::string> {
      const auto value = estimate_json_key(e, subject, extras, name);
      return value ? std::optional(to_json(*value)) : std::nullopt;
    };
    if (allows) {
      ORRERY_TRY(const double allowed, functions->call("constraint", key));
      if (allowed == 0) return std::optional<double>();
    }
    if (!judges) return std::optional(e.step_time.value());
    ORRERY_TRY(const double value, functions->call("objective", key));
    return std::optional(value);
  });
}

}  // namespace orrery
