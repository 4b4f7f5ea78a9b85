// seeds: tests/seeds/shared_fabric
// Any text is jobs on a fabric, each on accelerators of its own, or an error in one line.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "estimate/shared_fabric.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace orrery;
  const auto document = parse_yaml({reinterpret_cast<const char*>(data), size}, "fuzz.yaml");
  if (!document) return 0;
  const auto jobs = read_jobs(*document, Catalog::built_in());
  if (!jobs && jobs.error().text().find('\n') != std::string::npos) std::abort();
  if (!jobs) return 0;
  for (const DescribedJob& job : jobs->jobs) {
    if (job.accelerators.size() != static_cast<std::size_t>(job.placement.accelerators))
      std::abort();
  }
  return 0;
}
