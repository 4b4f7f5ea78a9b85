// The division of a plan's work among sites that differ by which no site holds the others up.
//
// Stages across sites: each layer in turn goes to the device that would then be the least busy,
//
//   device = argmin_d ( e_d + (n_d + 1) t_d ),   t_d = (F + B of all layers at its site) / layers,
//
// e_d: its embedding or head. For layers that all take the same time no other division has a faster
// slowest device. A device's layers are divided among its chunks as evenly as can be.
//
// Replicas across sites: a replica of site k works on m_k microbatches,
//
//   min over m of max_k m_k t_k,   sum_k r_k b_k m_k = global batch,   m_k >= 1,
//
// r_k its replicas, b_k the sequences of its microbatch, t_k = F + B of its slowest device. The
// optimum where some m meets the batch exactly at that time or soon after; else the even numbers stay.
//
// Sequences of a microbatch: each site has those by which it would be the fastest among those whose
// activations its memory has room for, by the lower bound of its step with an even part of the batch,
// so that a large memory makes larger products and a small one no plan impossible. Where this is no
// whole number of microbatches, W = global batch / (replicas b), the bound is that of m <= W of them and
// (W - m) t_k. Source: Cephalo,
// arXiv 2411.01075 s.4, which divides compute apart from the states (lower/state_division.h). It looks
// for the batch of each rank by dynamic programming over profiled ranks; here ranks of a site are
// alike, and what is chosen for one site does not depend on another.
#pragma once

#include <optional>
#include <span>

#include "lower/step_costs.h"

namespace orrery {

// The plan of a step on sites that differ, with its `layers` or its `site_microbatches` so divided.
// O(layers x devices), or O(microbatches x sites).
Plan divided_by_speed(const StepCosts& step);

// The first of these plans, which differ in micro_batch and the equal site_microbatches that then have
// room in the batch, with the one of them that is best in each site as `site_micro_batch`, divided by
// speed from as many microbatches everywhere; without the last of them where no numbers of such
// microbatches make the batch. None if one size is best everywhere or nothing fits somewhere. All plans
// must be valid but for the batch, and replicas lie across sites that differ. O(plans^2 x sites +
// microbatches x sites).
std::optional<Plan> sized_by_site(CostCache& cache, std::span<const Plan> plans);

}  // namespace orrery
