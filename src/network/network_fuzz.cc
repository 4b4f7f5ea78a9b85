// seeds: tests/seeds/cluster catalog/clusters
// parser: src/network/network.cc
// Whatever cluster is accepted has a graph or is refused, and every accepted graph has paths.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "cluster/cluster.h"
#include "network/network.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace orrery;
  const auto document = parse_yaml({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!document) return 0;
  const auto cluster = read_cluster(*document, Catalog::built_in());
  if (!cluster || cluster->accelerators > 4096) return 0;
  const auto network = network_of(*cluster);
  if (network) figures_of(*network, cluster->name);
  return 0;
}
