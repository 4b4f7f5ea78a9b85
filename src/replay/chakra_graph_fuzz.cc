// seeds: validation/traces/astra-sim/et-custom-collectives
// Any bytes as the Chakra traces of two ranks: an error, or a run that simulates to its end.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "outcome/invariant.h"
#include "replay/graph_replay.h"
#include "trace/chakra/chakra_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto trace = orrery::read_chakra(*orrery::ByteStream::of(bytes, "fuzz"));
  if (!trace) return 0;
  const orrery::ChakraRun run = {{0, "fuzz.0.et", *trace}, {1, "fuzz.1.et", *trace}};
  const auto graph =
      orrery::chakra_graph(run, {.absent = orrery::AbsentDependencies::count_as_done});
  if (!graph) {
    ORRERY_INVARIANT(!graph.error().message.empty());
    return 0;
  }
  const orrery::GraphReplay replayed = orrery::replay(run, *graph);
  ORRERY_INVARIANT(replayed.step.value() >= 0);
  return 0;
}
