// seeds: validation/measured
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "measured/measured_row.h"
#include "measured/network_link.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto rows = orrery::parse_measured_rows(text, "fuzz.csv")) {
    for (const orrery::MeasuredRow& row : rows->rows)
      (void)orrery::network_link(row.inter_node_link);
  } else {
    (void)orrery::network_link(text);
  }
  return 0;
}
