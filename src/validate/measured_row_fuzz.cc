// seeds: validation/measured
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "validate/measured_row.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)orrery::parse_measured_rows(text, "fuzz.csv");
  return 0;
}
