// A graph simulated: the step, and what every rank does in it.
//
//   step          from the first operation of any rank to the last
//   rank          from its first operation to its last, not counting transfers between two ranks,
//                 which may overlap with the next step; `recorded` is taken from the start times,
//                 if there are any (those of a prediction were simulated before)
//
// and the step in five parts that add up to it:
//
//   computing       kernels run, no communication does
//   overlapped      both
//   communicating   communication runs, no kernel does
//   waiting         neither, and an operation of a stream that communicates waits for other ranks
//   idle            none of these: the host works, copies run, the pipeline is empty
//
// Source: the four parts of replay/replay.h; waiting is separate because a simulation knows it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "replay/chakra_graph.h"
#include "trace/graph_file/graph_file.h"
#include "units/quantity.h"

namespace orrery {

struct ReplayedParts {
  Seconds computing;
  Seconds overlapped;
  Seconds communicating;
  Seconds waiting;
  Seconds idle;
  bool operator==(const ReplayedParts&) const = default;
};

struct ReplayedRank {
  std::int64_t rank = 0;
  std::optional<Seconds> recorded;
  Seconds replayed;
  ReplayedParts parts;
};

// A step that a file names, from the end of one node to that of another.
struct ReplayedGraphStep {
  std::int64_t rank = 0;
  std::string name;
  std::optional<Seconds> recorded;
  Seconds replayed;
};

struct GraphReplay {
  Seconds step;
  Seconds longest_rank;                  // the largest `replayed`
  std::vector<ReplayedRank> ranks;       // ascending
  bool of_simulated_times = false;       // the start times of the traces were simulated
  std::vector<ReplayedGraphStep> steps;  // that the file names
};

// The rank of a stream is its rank class.
GraphReplay replay(const Graph& graph);
// With the steps of the file; with what the traces recorded of each rank.
GraphReplay replay(const GraphFile& file);
GraphReplay replay(const ChakraRun& run, const ChakraGraph& graph);

}  // namespace orrery
