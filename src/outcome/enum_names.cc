#include "outcome/enum_names.h"

#include <algorithm>

#include "outcome/nearest_name.h"

namespace orrery {

Result<std::size_t> place_of_text(std::string_view text, const std::vector<std::string>& texts) {
  const auto folded = [](char c) { return c == '_' ? '-' : c; };
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (std::ranges::equal(text, texts[i], {}, folded, folded)) return i;
  }
  return bad_input("unknown value '" + std::string(text) + "'", "", name_hint(text, texts));
}

}  // namespace orrery
