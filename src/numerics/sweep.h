// "length=1Ki,2Ki": one setting of an experiment takes several values in turn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "numerics/deviation.h"
#include "outcome/result.h"

namespace orrery {

struct Sweep {
  std::string axis;                 // empty: nothing is swept
  std::vector<std::string> values;  // one empty value if nothing is
};
// Errors: no "axis=value,value", an axis that is none of `axes`, more than 64 values.
Result<Sweep> parse_sweep(std::string_view text, std::initializer_list<std::string_view> axes);

// A whole number from `least` to `most`: "1024", "1Ki".
Result<std::size_t> parse_size(std::string_view text, std::size_t least, std::size_t most);

// The mean over seeds of what each way to compute deviates: `measured(seed)` gives one deviation for
// each way.
std::vector<Deviation> mean_over_seeds(
    std::uint64_t first, int seeds,
    const std::function<std::vector<Deviation>(std::uint64_t seed)>& measured);

}  // namespace orrery
