// An estimate as the versioned JSON document of `orrery estimate --json`
// (docs/schema/estimate-1.json, docs/json-schema.md).
//
// Keys carry their unit. Times of the breakdown are whole picoseconds written as decimal seconds
// with up to twelve digits after the point, so that the lines of `breakdown_s` add up to
// `step_time_s` exactly in decimal arithmetic, and to the last bits in binary.
#pragma once

#include "document/value.h"
#include "estimate/estimate.h"
#include "report/plans/subject.h"

namespace orrery {

inline constexpr int kEstimateSchemaVersion = 1;

// The whole document. Deterministic.
Value estimate_json(const Estimate& estimate, const Subject& subject);

// The same without `schema_version`, `model` and `cluster`: an entry of a longer document.
Value estimate_fields_json(const Estimate& estimate);

// `breakdown_s`: every line is present, also where it is zero.
Value breakdown_json(const Breakdown& breakdown);

// Every field of a plan or of the training, also where it has its default.
Value plan_json(const Plan& plan);
Value training_json(const Training& training);

// A list of figures with formula, inputs, value and source.
Value derivations_json(const std::vector<Derivation>& derivations);

// "fits", "tight", "does-not-fit".
std::string_view verdict_key(Verdict verdict);

// A time that is exact to the picosecond.
Value seconds_json(Picoseconds time);

}  // namespace orrery
