// Any bytes as a list of values: an error, or values of a bounded number that stand for themselves.
// seeds: tests/seeds/value_list
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "document/value_list.h"
#include "outcome/invariant.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const auto& read : {orrery::value_list(text), orrery::setting_lists(text)}) {
    if (!read) {
      ORRERY_INVARIANT(!read.error().message.empty());
    } else {
      ORRERY_INVARIANT(!read->empty() && read->size() <= orrery::kMostValues);
    }
  }
  return 0;
}
