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

namespace orrery {

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

}  // namespace orrery
