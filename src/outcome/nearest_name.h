// "Did you mean ...?": the known name nearest to a misspelt one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace orrery {

// The name with the least edit distance (insert, delete, replace, swap of neighbours; case and the
// difference of '-' and '_' ignored), if that is at most a third of the longer name, or a name of
// which `wrong` is a part. O(names x length^2).
std::optional<std::string> nearest_name(std::string_view wrong, std::span<const std::string> names);

// "did you mean 'x'?" or, if nothing is near, "known: a, b, c, ..." (at most 12 names).
std::string name_hint(std::string_view wrong, std::span<const std::string> names);

}  // namespace orrery
