// A plan, and what the numbers of a report are about, in words.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "estimate/scenario.h"
#include "model/model.h"
#include "model/transformer/architecture.h"
#include "plan/plan.h"
#include "plan/plan_settings.h"

namespace orrery {

// "tp 8 · pp 16 × 4 chunks · dp 128 · micro-batch 1 · interleaved_1f1b · zero 1 · recompute none":
// degrees of one are left out, and where none remains it is "one GPU", or what `accelerator` says.
// What has no words of its own follows as for `--plan`.
std::string plan_sentence(const Plan& plan, std::string_view accelerator = "GPU");
// Of plan_settings, those whose keys are not among `said`.
std::string settings_beyond(const Plan& plan, std::span<const std::string_view> said);
// "sequence 8,192 · global batch 2,048 · bf16 · adamw".
std::string training_sentence(const Training& training);
// Mesh axes from the fastest network outwards: "tp+cp+dp+pp".
std::string placement_words(const Plan& plan);

// What was read of a model shows in its size: the
// parameters, those that a token meets, and the FLOPs of a token by which MFU is counted.
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
  std::string accelerator = "GPU";  // what one is called
};

Subject subject_of(const Scenario& scenario);

// "llama-3.1-405b", "llama-2-70b with adapters of rank 16 on attention"
std::string model_in_words(const Subject& subject);

// "406 B parameters · 2.68 TFLOP a token", "671 B parameters, 37.6 B active · 250 GFLOP a token"
std::string in_words(const ModelSize& size);

}  // namespace orrery
