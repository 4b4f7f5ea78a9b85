// A replayed graph, of Chakra traces or of a file: a table for a terminal, and JSON.
#pragma once

#include <string>

#include "document/description.h"
#include "replay/graph_replay.h"
#include "report/drawing/text_style.h"

namespace orrery {

inline constexpr int kGraphReplaySchemaVersion = 1;

// One row a rank, at most 64, and what was found and assumed.
std::string chakra_replay_text(const GraphReplay& replay, const ChakraGraph& graph,
                               const TextStyle& style);

// A document of kind "chakra-replay"; described in docs/trace-replay.md.
Value chakra_replay_json(const GraphReplay& replay, const ChakraGraph& graph, const ChakraRun& run);
const Description& chakra_replay_document();

// The same of a graph file, with the steps it names; a document of kind "graph-replay".
std::string graph_replay_text(const GraphReplay& replay, const GraphFile& file,
                              const TextStyle& style);
Value graph_replay_json(const GraphReplay& replay, const GraphFile& file);
const Description& graph_replay_document();

}  // namespace orrery
