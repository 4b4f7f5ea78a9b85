// How many microbatches a device of a step holds at its fullest moment, from its schedule's order.
#pragma once

#include "lower/step_costs.h"
#include "schedule/in_flight.h"

namespace orrery {

// By chunk of the device: microbatches whose activations are held, and those whose weight gradient
// alone is still to come. The schedule's closed form where it has one; else counted along its order
// and remembered by the cost cache, since a search asks for the same shapes again and again. An
// order made for times is counted as made for equal stages with F = B = W: schedules of that kind
// keep to a limit of units, whatever the times. O(1) after the first question for a shape.
InFlight held_units(const StepCosts& step, int device);

}  // namespace orrery
