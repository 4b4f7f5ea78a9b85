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
//   min over m of max_k m_k t_k,   sum_k r_k m_k = global batch / micro-batch,   m_k >= 1,
//
// r_k its replicas, t_k = F + B of its slowest device. The optimum where some m meets the batch
// exactly at that time or soon after; else the even numbers stay.
#pragma once

#include <cstdint>
#include <vector>

#include "lower/step_costs.h"

namespace orrery {

// The plan of a step on sites that differ, with its `layers` or its `site_microbatches` so divided.
// O(layers x devices), or O(microbatches x sites).
Plan divided_by_speed(const StepCosts& step);

}  // namespace orrery
