// Algorithms of collectives, as programs (network/program.h).
//
//   P ranks, n bytes, a the latency of a message, b bandwidth of a rank in one direction, where
//   nothing else is on the network:
//
//   ring                    all-reduce 2 (P-1) a + 2 (P-1)/P n/b; all-gather, reduce-scatter half;
//                           over nodes of g ranks g rings, each of which leaves by another card
//   bidirectional_ring      half of the data in each direction
//   tree                    binary, in C pieces: (C + 2 depth - 1) (a + 3 n / (C b)); an inner rank
//                           receives two pieces from below and one from above at a time
//   double_tree             two trees, each with half of the data, the inner ranks of one being the
//                           leaves of the other (Sanders, Speck, Traeff 2009): about 2 n / b
//   recursive_doubling      all-reduce log2 P (a + n/b); all-gather log2 P a + (P-1)/P n/b
//   halving_doubling        recursive halving, then doubling (Rabenseifner): 2 log2 P a + 2 (P-1)/P
//                           n/b; ranks beyond a power of two are folded in first and out last
//   bruck                   all-gather, any P: ceil(log2 P) a + (P-1)/P n/b
//   parallel_trees          all-gather, reduce-scatter, any P: bruck from the largest distance to the
//                           smallest, so that most parts travel least (PAT, arXiv 2506.20252)
//   chain                   broadcast in C pieces: (C + P - 2) (a + n / (C b)), C = sqrt(n (P-2) /
//                           (a b)) (1707.09414)
//   binomial                broadcast: ceil(log2 P) (a + n/b)
//   hierarchical            reduce-scatter inside each unit, the collective between units on what
//                           each rank then has, all-gather inside; two or three levels
//   in_switch               the switch adds up and copies (NVLink SHARP): a rank sends and receives
//                           n (1 + 1/P); of several nodes, a double tree between them for each
//                           rank's part
//   direct                  all-to-all, everything at once: a + (P-1)/P n/b
//   pairwise                all-to-all, P - 1 rounds with one partner each: (P-1) (a + n/(P b))
//   hierarchical, pxn       all-to-all that collects inside the node what goes to one accelerator of
//                           another (hierarchical: an exchange on the sending side, then between
//                           equal ranks of the nodes); pxn: the same, in pieces that overlap
//
// Sources: Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005; Chan et al. 2007; NVIDIA developer blog
// on NCCL 2.12 (PXN). Left out: irregular counts.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "network/program.h"

namespace orrery {

enum class ProgramAlgorithm : std::uint8_t {
  ring,
  bidirectional_ring,
  tree,
  double_tree,
  recursive_doubling,
  halving_doubling,
  bruck,
  parallel_trees,
  chain,
  binomial,
  hierarchical,
  in_switch,
  direct,
  pairwise,
  pxn,
  synthesized,  // of network/synthesis.h, not of program_of()
  imported,     // from a file (network/msccl.h), not of program_of()
};

// How ranks lie, which are numbered from the inside out: `members[l]` in one unit of level l, as in
// GroupShape. Each must divide the next. Where there are several, the first are those of a node, 1
// of nodes with a single rank each.
struct ProgramShape {
  std::vector<std::uint32_t> members;
  std::uint32_t pieces = 8;  // of what is pipelined
  [[nodiscard]] std::uint32_t ranks() const { return members.empty() ? 1 : members.back(); }
};

// Whether the algorithm offers that collective for ranks that lie so; if so, its program.
std::optional<Program> program_of(ProgramAlgorithm algorithm, CollectiveKind kind,
                                  const ProgramShape& shape);

inline constexpr std::uint32_t kMostPieces = 4096;
// The number of pieces that makes a pipeline of so many stages end first: sqrt(n (stages - 1) / (a
// b)), at least 1.
std::uint32_t best_pieces(Bytes payload, double stages, Seconds latency, BytesPerSecond rate);

}  // namespace orrery
