// seeds: tests/seeds/cluster catalog/clusters
// parser: src/cluster/parse_cluster.cc src/cluster/cluster_description.cc src/cluster/cluster.cc
// Any text is a cluster by its short form or as a file, or an error in one line; a cluster keeps
// its promises, in part too, and survives being written and read.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "cluster/cluster.h"

namespace orrery {
namespace {

void check_one(const Result<Cluster>& cluster) {
  if (!cluster) {
    if (cluster.error().text().find('\n') != std::string::npos) std::abort();
    return;
  }
  if (!check(*cluster)) std::abort();
  const auto document = parse_yaml(to_yaml(Codec<Cluster>::write(*cluster)), "written.yaml");
  if (!document) std::abort();
  const auto again = read_cluster(*document, Catalog::built_in());
  if (!again || *again != *cluster) std::abort();
  const std::int64_t half = std::max<std::int64_t>(1, cluster->accelerators / 2);
  const auto part = part_of(*cluster, half);
  if (part && !check(*part)) std::abort();
}

}  // namespace
}  // namespace orrery

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace orrery;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_one(parse_cluster_name(text, Catalog::built_in()));
  const auto document = parse_yaml(text, "fuzz.yaml");
  if (document) check_one(read_cluster(*document, Catalog::built_in()));
  return 0;
}
