// Scenarios of the built-in catalog for tests.
#pragma once

#include <cstdint>
#include <string_view>

#include "estimate/spec.h"

namespace orrery {

inline const Catalog& catalog() { return Catalog::built_in(); }

inline Scenario scenario(const char* model, const char* cluster, std::string_view plan,
                         std::int64_t sequence, std::int64_t batch) {
  Scenario s;
  s.model = *load_model(model, catalog());
  s.cluster = *parse_cluster(cluster, catalog());
  s.plan = *parse_plan(plan);
  s.training.sequence_length = sequence;
  s.training.global_batch = batch;
  return s;
}

}  // namespace orrery
