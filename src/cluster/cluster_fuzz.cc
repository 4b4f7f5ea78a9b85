// seeds: catalog/clusters catalog/nodes src/cluster/cluster_fuzz.cc
// parser: src/cluster/parse_cluster.cc src/cluster/cluster_description.cc src/cluster/cluster.cc
// Any text is a cluster by its short form or as a file, or an error in one line; a cluster keeps
// its promises, in part too, and survives being written and read.
//
// Short forms to start from:
// h100-sxm:1024
// gb200:256
// meta-h100-24k-roce:16384
// aws-p5:512
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
  // The last line without its comment sign is tried as a short form.
  const auto begin = text.find_last_of("\n/") + 1;
  const std::string_view line = text.substr(begin);
  if (line.size() < 100) {
    check_one(parse_cluster_name(line.substr(std::min(line.find_first_not_of(' '), line.size())),
                                 Catalog::built_in()));
  }
  const auto document = parse_yaml(text, "fuzz.yaml");
  if (document) check_one(read_cluster(*document, Catalog::built_in()));
  return 0;
}
