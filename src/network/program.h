// A collective as a program: rounds of sends between ranks, each of which carries parts of the
// data.
//
// The data of an all-reduce, all-gather, reduce-scatter and broadcast are `parts` equal parts of
// the payload; those of an all-to-all are one block for each ordered pair of ranks, block `from *
// ranks + to`. A send takes what its sender holds when the round begins; the receiver keeps it, or
// adds it to its own. A round begins when those it waits for have ended: without `after`, the round
// before it. A round may be repeated, each time with parts that are `advance` further (modulo
// `parts`), so that a ring of any size and a pipeline of any length are few rounds. Rounds stand
// behind those they wait for.
//
// Tests run every program on sets of contributions (tests/fixtures/network/verified_program.h):
// each rank ends with what the collective promises, no contribution being added twice.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/operation.h"
#include "outcome/result.h"
#include "units/quantity.h"

namespace orrery {

struct Send {
  std::uint32_t from = 0, to = 0;
  std::uint32_t part = 0;     // the first of
  std::uint32_t count = 1;    // so many
  std::uint32_t stride = 1;   // that are so far apart, modulo all
  bool reduces = false;       // the receiver adds it up
  std::uint32_t advance = 0;  // parts further, each time its round is repeated
  bool operator==(const Send&) const = default;
};

struct Round {
  std::vector<Send> sends = {};
  std::uint32_t repeats = 1;
  std::vector<std::uint32_t> after = {};  // earlier rounds; empty: the one before
  bool operator==(const Round&) const = default;
};

struct Program {
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::uint32_t ranks = 1;
  std::uint32_t switches = 0;              // that reduce and copy: they follow the ranks in number
  std::uint32_t parts = 1;                 // of the data
  double part_share = 1;                   // of the payload in one part
  std::vector<std::uint32_t> owners = {};  // of all-gather and reduce-scatter: the rank that begins
                                           // or ends with a part; empty: parts in order of ranks
  std::uint32_t root = 0;                  // of a broadcast
  std::uint32_t node_ranks = 1;            // ranks that share a switch
  std::vector<Round> rounds = {};
};

// Ranks of programs that are checked contribution by contribution, in ranks^2 * parts / 8 bytes.
inline constexpr std::uint32_t kMostVerifiedRanks = 256;

}  // namespace orrery
