// Any text is either refused with an Error or read into a profile that is written and read again.
// seeds: catalog/software
#include <cstddef>
#include <cstdint>

#include "outcome/invariant.h"
#include "plan/software.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace orrery;
  const auto document = parse_yaml({reinterpret_cast<const char*>(data), size}, "fuzz.yaml");
  if (!document) return 0;
  const auto profile = read_software(*document);
  if (!profile) return 0;
  const Value written = non_default_fields(*profile);
  ORRERY_INVARIANT(read_software(Document{"again", written}).has_value());
  return 0;
}
