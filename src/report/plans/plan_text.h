// A plan in the words of a report.
#pragma once

#include <string>

#include "plan/plan.h"

namespace orrery {

// "tp 8 · pp 16 × 4 chunks · dp 128 · micro-batch 1 · interleaved_1f1b · zero 1 · recompute none":
// degrees of one are left out.
std::string plan_sentence(const Plan& plan);
// "sequence 8,192 · global batch 2,048 · bf16 · adamw".
std::string training_sentence(const Training& training);
// Mesh axes from the fastest network outwards: "tp+cp+dp+pp".
std::string placement_words(const Plan& plan);
// What `--plan` takes for this completed plan, short enough for a table: what has a default that
// completes to the same is left out. "tp=8,pp=16,dp=128,chunks=4,zero=1".
std::string plan_settings(Plan plan);

}  // namespace orrery
