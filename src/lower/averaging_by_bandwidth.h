// An all-reduce among members whose links differ, each of which adds up as much as its link has
// room for.
//
// Every member sends all of its n bytes but its own part to those that add up, and its part of the
// sum to all others; it receives as much. With parts a_i of K members and rates u_i:
//
//   least tau   with   n (1 - a_i) + n a_i (K - 1) <= u_i tau,   sum a_i = 1,   a_i >= 0
//
// Adding up the constraints gives tau >= 2 n (K - 1) / sum u, and each alone tau >= n / u_i. With
// K > 2 the parts a_i = (u_i tau / n - 1) / (K - 2), lessened to a sum of 1, reach the larger of
// both; with K = 2 all parts do, for both members send n bytes in any case. So
//
//   tau = max( n / least u,  2 n (K - 1) / sum u )
//
// Equal rates: tau = 2 n (K - 1) / (K u), an all-reduce of equal parts. One fast member:
// tau = n / u of the others, a parameter server. In terms of the time t_i = 2 n (K - 1) / (K u_i)
// that an all-reduce takes among K members like i, with which the rates hold what the cost model
// knows of messages:
//
//   tau = max( K / (2 (K - 1)) most t,  K / sum (1 / t_i) )
//
// Holds for members each of which has its link for itself: t of a site of several members is that
// of a reduction inside the site and n bytes over the link, not 2 n (K - 1) / (K u).
// plan/site_division.h refuses such plans.
//
// Source: DeDLOC (arXiv 2106.10207); learning-at-home/hivemind 4bd43b7
// hivemind/averaging/load_balancing.py solves the same program. Not modelled: links that are slower
// in one direction, members that only add up or only send, and those that join or leave.
#pragma once

#include <span>

#include "units/quantity.h"

namespace orrery {

struct EqualMembers {
  double count = 0;
  Seconds alone;  // of the all-reduce if all members were like these
};

// At least two members together.
Seconds averaging_by_bandwidth(std::span<const EqualMembers> members);

}  // namespace orrery
