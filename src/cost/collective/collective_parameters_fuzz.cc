// Any text is either refused with an Error or read into parameters that give finite times.
// seeds: catalog/collectives
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "cost/collective/collective.h"
#include "cost/collective/collective_parameters.h"
#include "outcome/invariant.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace orrery;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto document = parse_yaml(text, "fuzz.yaml");
  if (!document) return 0;
  const auto parameters = read_collective_parameters(*document);
  if (!parameters) return 0;
  FabricLevel level;
  level.name = "nvlink";
  level.bandwidth = BytesPerSecond(300e9);
  FabricLevel network = level;
  network.name = "infiniband";
  for (const CollectiveKind kind : {CollectiveKind::all_reduce, CollectiveKind::all_gather,
                                    CollectiveKind::all_to_all, CollectiveKind::broadcast}) {
    const CollectiveChoice choice =
        collective(kind, Bytes(1e6), {32, {8, 32}}, {level, network}, *parameters);
    ORRERY_INVARIANT(std::isfinite(choice.time.value()) && choice.time > Seconds(0));
  }
  return 0;
}
