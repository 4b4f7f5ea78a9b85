// seeds: tests/seeds/graph_file
// Graph files: whatever is read must simulate, and be written and read again the same.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "outcome/invariant.h"
#include "simulate/simulate.h"
#include "trace/graph_file/graph_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto file = orrery::parse_graph_file(text, "fuzz");
  if (!file) return 0;
  static_cast<void>(orrery::simulate(file->graph));
  const std::string written = orrery::graph_file_text(*file);
  const auto again = orrery::parse_graph_file(written, "fuzz");
  ORRERY_INVARIANT(again && orrery::graph_file_text(*again) == written);
  return 0;
}
