// What was replayed, beside what was recorded where that is known: tables for a terminal, and JSON.
#pragma once

#include <span>
#include <string>

#include "document/description.h"
#include "replay/graph_replay.h"
#include "replay/operation_replay.h"
#include "replay/replay.h"
#include "report/drawing/text_style.h"

namespace orrery {

inline constexpr int kReplaySchemaVersion = 1;

// One row a rank and step, then the error over all and what was found and assumed.
std::string replay_text(const Replay& replay, const GraphFromRun& graph, const TextStyle& style);

// A document of kind "trace-replay"; described in docs/trace-replay.md.
Value replay_json(const Replay& replay, const GraphFromRun& graph,
                  std::span<const RecordedTrace> traces);
const Description& replay_document();

// The same of a job's operation timeline: steps as they were, without launch delays and without
// stragglers, and what each part of the job costs.
std::string operation_replay_text(const OperationReplay& replay, const TextStyle& style);
// A document of kind "operation-replay".
Value operation_replay_json(const OperationReplay& replay);
const Description& operation_replay_document();

// A replayed graph, of Chakra traces or of a file.
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
