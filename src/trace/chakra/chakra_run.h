// A run as Chakra traces: one trace a rank.
//
// Ranks are the numbers in the names ("trace.3.et"), or count from 0 in the order given where those
// do not tell the files apart. Any subset of a job's ranks is a run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "outcome/result.h"
#include "trace/chakra/chakra_trace.h"
#include "trace/incomplete.h"

namespace orrery {

struct ChakraRank {
  std::int64_t rank = 0;
  std::string file;  // as given
  ChakraTrace trace;
};

// Ascending by rank, each rank once.
using ChakraRun = std::vector<ChakraRank>;

// The number in "trace.3.et" or "trace.3.et.gz", or nothing.
std::optional<std::int64_t> rank_of_chakra(std::string_view file);
// Of each file, in the order given.
std::vector<std::int64_t> chakra_ranks(const std::vector<std::string>& files);

// Errors: as read_chakra. Memory: of all ranks together.
Result<ChakraRun> read_chakra_run(const std::vector<std::string>& files,
                                  Incomplete incomplete = Incomplete::refuse);

}  // namespace orrery
