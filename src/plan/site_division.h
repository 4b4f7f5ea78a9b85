// How a plan lies over the sites of a cluster: which mesh axis crosses from one to the next, and
// which site each pipeline device is in.
//
// Ranks fill the sites in order, so the outermost axis of the placement crosses. Where sites differ
// (cluster/cluster.h), each must hold whole units of that axis: stages of a pipeline, whose devices
// then belong to one site each, or replicas, which all take the time of the slowest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cluster/cluster.h"
#include "model/model.h"
#include "plan/plan.h"

namespace orrery {

// The last axis of the placement that has more than one rank; dp if none has.
MeshAxis outermost_axis(const Plan& plan);

// By pipeline device, where sites differ and the pipeline lies across them; else empty. The plan
// must be complete and without site_problems().
std::vector<std::size_t> device_sites(const Plan& plan, const Cluster& cluster);

// Replicas in that site, where sites differ and replicas lie across them.
std::int64_t replicas_of(const Plan& plan, const Cluster& cluster, std::size_t site);

// Sequences of a microbatch of every replica together, sum_k r_k b_k, where replicas lie across sites
// that differ; with site_microbatches, sum_k r_k b_k m_k. A double, which no number can overflow.
double sequences_at_once(const Cluster& cluster, const Plan& plan);

// The plan as replicas of that site run it: where sites have different microbatches, with those of
// the site. Sites that state only how many sequences these have all work through as many,
//
//   m = global batch / sum_k r_k b_k,
//
// r_k: replicas of site k, b_k: sequences of its microbatch (Cephalo, arXiv 2411.01075 s.4).
Plan plan_of_site(const Training& training, const Cluster& cluster, const Plan& plan,
                  std::size_t site);

// Why the microbatches that a plan states for each site are none; empty otherwise. `most`: of one
// replica.
std::vector<std::string> share_problems(const Cluster& cluster, const Training& training,
                                        const Plan& plan, std::int64_t most);

// Why states cannot be divided by memory among sites; empty otherwise.
std::vector<std::string> state_division_problems(const Model& model, const Cluster& cluster,
                                                 const Plan& plan);

// Why copies of the model cannot average by the bandwidth of their sites; empty otherwise.
std::vector<std::string> averaging_problems(const Cluster& cluster, const Plan& plan);

// Why a complete plan cannot run, or is not modelled, across sites that differ; empty otherwise.
std::vector<std::string> site_problems(const Model& model, const Cluster& cluster,
                                       const Plan& plan);

}  // namespace orrery
