// What the numbers of a report are about, in words. What was read of a model shows in its size: the
// parameters, those that a token meets, and the FLOPs of a token by which MFU is counted.
#pragma once

#include <optional>
#include <string>

#include "estimate/scenario.h"
#include "model/model.h"
#include "model/transformer/architecture.h"
#include "plan/plan.h"

namespace orrery {

struct ModelSize {
  double parameters = 0;  // adapters included
  double active_parameters = 0;
  double flops_per_token = 0;
  const char* unit = "token";  // what a sequence is made of; a recommendation model has samples
};
// A sequence length that is not stated is the usual one of the model.
ModelSize size_of(const Model& model, const Training& training = {});

struct Subject {
  std::string model;    // "llama-3.1-405b"
  std::string cluster;  // "h100-sxm:16384"
  std::optional<Adapters> adapters = std::nullopt;
  ModelSize size = {};
};

Subject subject_of(const Scenario& scenario);

// "llama-3.1-405b", "llama-2-70b with adapters of rank 16 on attention"
std::string model_in_words(const Subject& subject);

// "406 B parameters · 2.68 TFLOP a token", "671 B parameters, 37.6 B active · 250 GFLOP a token"
std::string in_words(const ModelSize& size);

}  // namespace orrery
