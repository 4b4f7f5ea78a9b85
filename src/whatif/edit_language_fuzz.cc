// seeds: tests/seeds/whatif
// Edits: never crash; what is read is written and read again unchanged; errors are one line.
#include <cstdint>
#include <string_view>

#include "outcome/invariant.h"
#include "whatif/edit_language.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace orrery;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto edits = parse_edits(text, "edits");
  if (!edits) {
    ORRERY_INVARIANT(!edits.error().message.empty());
    return 0;
  }
  for (const Edit& edit : *edits) {
    const auto again = parse_edits(to_text(edit), "edits");
    ORRERY_INVARIANT(again && again->size() == 1 && again->front() == edit);
    (void)fits_pattern(text, edit.where.kernel);
  }
  return 0;
}
