// Changes of single settings of a scenario: what if the network were twice as fast?
//
//   network=2x                                 a resource, multiplied
//   cluster.levels.nvlink.bandwidth=900 GB/s   a field, replaced
//   plan.micro_batch=2x                        a field, multiplied
//
// A field is named as in the specification that the scenario would be written as
// (estimate/spec.h): members of lists by their `name`, their number from 0, * for all, or 1+ for
// all from that number on. The resources are short names for one or more fields.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "estimate/scenario.h"
#include "outcome/result.h"
#include "units/quantity.h"

namespace orrery {

class Catalog;
struct PredictedStep;

struct Resource {
  std::string_view name;
  std::string_view sentence;
  std::vector<std::string_view> fields;
  bool less_is_better = false;
};

// network, scale-up, latency, hbm, memory, compute.
std::span<const Resource> resources();

// Changes the scenario as `text` says, and adds a sentence to what its cluster assumes. Errors: no
// '='; a field that does not exist, with the nearest; a value that is not one of the field, or that
// its section refuses; a factor where there is no number to multiply.
Result<void> change(Scenario& scenario, std::string_view text);

// What ten percent more of each resource of a cluster would gain.

// The share by which a resource grows; a latency becomes 1 / (1 + kMoreOfAResource) of itself.
inline constexpr double kMoreOfAResource = 0.1;

struct Sensitivity {
  std::string resource;  // of resources(): "network"
  Seconds step_time;     // with more of it
  double saved = 0;      // of the step time; 0.03 is 3 %
};

// Of every resource that the cluster has, the greatest saving first. Errors: those of a prediction.
Result<std::vector<Sensitivity>> sensitivities(const PredictedStep& step, const Catalog& catalog);

}  // namespace orrery
