// What nccl-tests and rccl-tests print, from version 2.13 on:
//
//   # Collective test starting: all_reduce_perf
//   #  Rank  0 Group  0 Pid 1234 on  node-1 device  0 [0000:18:00] NVIDIA H100 80GB HBM3
//   #                                              out-of-place                    in-place
//   #     size  count  type  redop  root   time  algbw  busbw  #wrong   time  algbw  busbw  #wrong
//      8388608 2097152 float    sum    -1  217.3  38.60  74.79       0  216.0 ...
//
// The line of titles says what the columns are. A size is that of the larger of a rank's two
// buffers, as cost/collective/collective.h counts payloads; a time is in microseconds. A text may
// hold several tests, one after another, and lines of other programs between them; what mpirun and
// srun put before a line ("[1,0]<stdout>:", "0: ") is left out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/operation.h"
#include "outcome/result.h"
#include "units/quantity.h"

namespace orrery {

struct MeasuredSize {
  std::size_t line = 0;
  Bytes payload = {};
  Seconds time = {};  // out of place; in place where only that was measured
  std::optional<Seconds> in_place = {};
  std::int64_t wrong = 0;  // elements with wrong values; 0 too where nothing was validated
};

struct CollectiveResults {
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::int64_t ranks = 0;  // 0: not printed
  std::int64_t nodes = 0;  // hosts; 0: not printed
  std::vector<MeasuredSize> sizes = {};
};

inline constexpr std::size_t kMostMeasuredSizes = 10'000;

// Every test of the text. `stated` names the collective where the text does not. Errors: no line of
// titles or no sizes; a row that does not have the columns that its titles name, or numbers in them,
// by line; a test whose collective is unknown, or not one of those that are modelled.
Result<std::vector<CollectiveResults>> parse_collective_results(
    std::string_view text, const std::string& name, std::optional<CollectiveKind> stated);

}  // namespace orrery
