// Steps whose communications are flows: one step by itself, or those of several jobs that share a
// fabric.
//
// Every communication of the step's expanded graph (collective, group, bytes) is the program of the
// algorithm that the library chooses (network/algorithms.h), run at once by all groups that lie on the
// ranks of one pipeline device. It takes
//
//   alone = what the closed form takes however few the bytes + bytes * (flows of that program, with
//           the links to themselves, spread over all paths)
//
// and, while it runs, keeps link l busy for the share u(l) of its time. In the graph's simulation a
// communication progresses at a rate x <= 1 of that speed, and those under way at once share links
// max-min fairly (network/max_min.h):
//
//   sum over communications i of u_i(l) x_i <= 1   for every link l
//
// Links that all communications use alike are one resource, so that what is simulated has the size of
// the plan and not of the cluster. Everything else of the graph (computing, copies, what computing
// loses beside communication) keeps its duration, and so do collectives of few bytes (kLatencyBound).
//
// Where sites differ, each has its own links and the rates of its own library. A communication inside
// a site is simulated where the closed form prices it, in the site of the device or in the slowest;
// one across sites as all of its groups at once, with the algorithm of the site where it takes longest,
// or in rings where that algorithm reduces in switches and the nodes of the sites are not alike or
// have no switch. The ranks of a group are then taken in the largest units that fill the nodes of
// every site or, beside a site without a network of its own, every site.
//
// Left out: how the use of a link varies while a communication runs (its mean counts); the priority of
// one flow over another; congestion control.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "estimate/predicted_step.h"

namespace orrery {

// A collective with fewer bytes for each rank is latency alone.
inline constexpr Bytes kLatencyBound{64 * 1024};

struct StepOnFabric {
  const PredictedStep* step = nullptr;
  std::vector<std::uint32_t> accelerators;  // of every rank
};

// All communications of one kind of one axis, over the step and summed over pipeline devices.
struct AxisFlows {
  std::string axis;        // "tensor"; "pipeline" of messages
  std::string collective;  // "all_reduce"; "message"
  std::int64_t times = 0;
  Seconds closed;       // by the closed form
  Seconds alone;        // by flows, with the links to themselves
  Seconds shared;       // as simulated, beside what runs at the same time
  std::string busiest;  // level whose links such a communication fills most
};

// Links that are used alike.
struct UsedLinks {
  std::string level;  // where they are on several, the innermost
  double busy = 0;    // share of the time of the step, alone
};

struct StepFlows {
  Seconds closed;               // the step by closed forms
  Seconds time;                 // the step by flows: the mean of those simulated
  std::int64_t steps = 0;       // that were simulated
  std::int64_t resources = 0;   // links that are used differently
  std::vector<UsedLinks> used;  // by resource; those of other jobs have a share of 0
  std::vector<AxisFlows> axes;  // in the order of the groups; of the first step
};

// `levels` are those of the fabric, as a training step sees them. Each job repeats its step until
// every one has done `steps` of them. Errors: as step_graph and network_of; jobs on the same
// accelerators are the caller's to refuse.
Result<std::vector<StepFlows>> simulate_on_fabric(const Cluster& fabric,
                                                  std::span<const StepOnFabric> jobs, int steps);

// The step alone on its cluster.
Result<StepFlows> step_flows(const PredictedStep& step);

}  // namespace orrery
