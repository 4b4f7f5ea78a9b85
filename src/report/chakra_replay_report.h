// A replayed run of Chakra traces: a table for a terminal, and JSON.
#pragma once

#include <string>

#include "document/value.h"
#include "replay/chakra_replay.h"
#include "report/text_style.h"

namespace orrery {

inline constexpr int kChakraReplaySchemaVersion = 1;

// One row a rank, at most 64, and what was found and assumed.
std::string chakra_replay_text(const ChakraReplay& replay, const ChakraGraph& graph,
                               const TextStyle& style);

// A document of kind "chakra-replay"; described in docs/trace-replay.md.
Value chakra_replay_json(const ChakraReplay& replay, const ChakraGraph& graph,
                         const ChakraRun& run);

}  // namespace orrery
