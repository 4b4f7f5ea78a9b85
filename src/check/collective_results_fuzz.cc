// seeds: tests/seeds/collective_results
// Any text is results with sizes and times above 0, which can be checked against a cluster or are
// refused, or an error in one line.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "check/collective_check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace orrery;
  static const Cluster kCluster = *parse_cluster_name("h100-sxm:16", Catalog::built_in());
  const auto tests = parse_collective_results({reinterpret_cast<const char*>(data), size}, "text",
                                              CollectiveKind::all_reduce);
  if (!tests) {
    if (tests.error().text().find('\n') != std::string::npos) std::abort();
    return 0;
  }
  for (const CollectiveResults& results : *tests) {
    for (const MeasuredSize& s : results.sizes) {
      if (!(s.payload > Bytes(0) && s.time > Seconds(0))) std::abort();
    }
    const auto checked = check(results, kCluster, Catalog::built_in());
    if (checked && !(checked->error >= 0)) std::abort();
  }
  return 0;
}
