// A plan in the words of a report.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "plan/plan.h"
#include "plan/plan_settings.h"

namespace orrery {

// "tp 8 · pp 16 × 4 chunks · dp 128 · micro-batch 1 · interleaved_1f1b · zero 1 · recompute none":
// degrees of one are left out. What has no words of its own follows as for `--plan`.
std::string plan_sentence(const Plan& plan);
// Of plan_settings, those whose keys are not among `said`.
std::string settings_beyond(const Plan& plan, std::span<const std::string_view> said);
// "sequence 8,192 · global batch 2,048 · bf16 · adamw".
std::string training_sentence(const Training& training);
// Mesh axes from the fastest network outwards: "tp+cp+dp+pp".
std::string placement_words(const Plan& plan);

}  // namespace orrery
