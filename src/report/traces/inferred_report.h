// A specification inferred from a recording, and its prediction beside what was recorded, as text,
// as the JSON of `orrery trace spec`, and as a specification that `orrery estimate` reads.
#pragma once

#include <string>

#include "document/value.h"
#include "infer/inferred_comparison.h"
#include "report/drawing/text_style.h"

namespace orrery {

inline constexpr int kInferredSchemaVersion = 1;

// A sentence where most of what was recorded is not the inferred model; else empty.
std::string other_model_warning(const InferredComparison& comparison);

std::string inferred_text(const InferredComparison& comparison, const TextStyle& style);
Value inferred_json(const InferredComparison& comparison);

// model, cluster, software, training, plan: docs/spec.md. Of a complete specification.
std::string inferred_yaml(const InferredSpec& spec);

}  // namespace orrery
