// Programs of collectives found for the links of a network, where no known algorithm was made for it:
// all-gather, reduce-scatter and all-reduce over accelerators that are joined directly, as in a torus
// or a mesh.
//
// As TACOS does (Won, Elavazhagan, Srinivasan, Gupta, Krishna, MICRO 2024, arXiv 2304.05301), links are
// matched with parts greedily over time. In each round, every link whose end lacks a part that its
// beginning has carries one: of those, the part that the fewest ranks have, and of these the first
// behind the part of the end's own number, so that equal links do not all choose the same. A
// reduce-scatter is an all-gather backwards in time, every send being turned round and adding up; an
// all-reduce is both, one after the other.
//
// With d links into every accelerator no all-gather of P ranks takes fewer than (P - 1) / d rounds.
// Left out: links of unequal capacity, which here carry equal parts; switches, over which every
// accelerator reaches every other.
#pragma once

#include <optional>

#include "network/network.h"
#include "network/program.h"

namespace orrery {

// The search looks at every part for every link and round.
inline constexpr std::uint32_t kMostSynthesizedRanks = 512;

// Over the links among the first `ranks` accelerators. Nothing for other collectives, for more ranks,
// and where these links do not join them all.
std::optional<Program> synthesized_program(CollectiveKind kind, const Network& network,
                                           std::uint32_t ranks);

}  // namespace orrery
