// Fields of a plan that a search ranges over because somebody asked for it.
//
// The space of a search is multiplied by their values: every plan of the product is valid or refused
// by a rule, priced, and simulated if its bound leaves it a chance (search.h), so that the best plans
// are found exactly, as on the axes that every search has. Some of these fields trade memory or what a
// step learns for time, which is why a search leaves them as they are stated unless it is asked.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "outcome/result.h"
#include "plan/plan.h"

namespace orrery {

struct FurtherAxis {
  std::string field;               // "local_steps", "overlap.tensor_parallel"
  std::vector<std::string> names;  // of the values, as they are written in a plan
  std::vector<Plan> values;        // plans that have them
};

// Of "gradient_code", with its usual values, or "local_steps=1,100". Errors: a field that is none of
// these or an axis anyway, values that it does not take, one given twice.
Result<FurtherAxis> further_axis(std::string_view text);
// Those that need not be given values.
std::vector<std::string> fields_with_usual_values();

// How many combinations of values there are. Sets one of them in a plan.
std::size_t combinations(const std::vector<FurtherAxis>& axes);
void set_combination(const std::vector<FurtherAxis>& axes, std::size_t index, Plan& plan);

// Whether a combination differs from an earlier one only in fields that mean nothing with these
// degrees.
bool repeats(const std::vector<FurtherAxis>& axes, std::size_t index, const Plan& degrees);

// The value that a plan has on an axis, as it is written; empty if it is none of them.
std::string value_on(const FurtherAxis& axis, const Plan& plan);

}  // namespace orrery
