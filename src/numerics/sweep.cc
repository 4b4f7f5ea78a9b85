#include "numerics/sweep.h"

#include <algorithm>

#include "outcome/nearest_name.h"
#include "units/quantity_text.h"

namespace orrery {

Result<Sweep> parse_sweep(std::string_view text, std::initializer_list<std::string_view> axes) {
  if (text.empty()) return Sweep{"", {""}};
  const std::vector<std::string> known(axes.begin(), axes.end());
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    return bad_input("'" + std::string(text) + "' names no values", "--sweep",
                     "write " + known.front() + "=VALUE,VALUE");
  }
  Sweep out{std::string(text.substr(0, equals)), {}};
  if (std::ranges::find(known, out.axis) == known.end()) {
    return bad_input("'" + out.axis + "' cannot be swept", "--sweep", name_hint(out.axis, known));
  }
  std::string_view rest = text.substr(equals + 1);
  while (true) {
    const std::size_t comma = rest.find(',');
    out.values.emplace_back(rest.substr(0, comma));
    if (out.values.back().empty()) {
      return bad_input("a value of the sweep is empty", "--sweep",
                       "write " + out.axis + "=VALUE,VALUE");
    }
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  constexpr std::size_t kMostValues = 64;
  if (out.values.size() > kMostValues) {
    return bad_input("a sweep of " + std::to_string(out.values.size()) + " values", "--sweep",
                     "at most 64");
  }
  return out;
}

Result<std::size_t> parse_size(std::string_view text, std::size_t least, std::size_t most) {
  ORRERY_TRY(const double n, parse_count(text));
  const auto size = static_cast<std::size_t>(std::clamp(n, 0.0, 1e15));
  if (static_cast<double>(size) != n || size < least || size > most) {
    return bad_input("'" + std::string(text) + "' is not a whole number from " +
                     std::to_string(least) + " to " + std::to_string(most));
  }
  return size;
}

std::vector<Deviation> mean_over_seeds(
    std::uint64_t first, int seeds,
    const std::function<std::vector<Deviation>(std::uint64_t seed)>& measured) {
  std::vector<std::vector<Deviation>> of_way;
  for (int s = 0; s < seeds; ++s) {
    const std::vector<Deviation> all = measured(first + static_cast<std::uint64_t>(s));
    of_way.resize(all.size());
    for (std::size_t w = 0; w < all.size(); ++w) of_way[w].push_back(all[w]);
  }
  std::vector<Deviation> out;
  out.reserve(of_way.size());
  for (const std::vector<Deviation>& w : of_way) out.push_back(mean_of(w));
  return out;
}

}  // namespace orrery
