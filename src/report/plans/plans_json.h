// Estimates and searches as the versioned JSON documents of `orrery estimate --json` and
// `orrery search --json`. Their keys: docs/json-schema.md.
//
// Times of the breakdown are whole picoseconds written as decimal seconds with up to twelve digits
// after the point, so that the lines of `breakdown_s` add up to `step_time_s` exactly in decimal
// arithmetic, and to the last bits in binary.
#pragma once

#include <optional>
#include <vector>

#include "document/description.h"
#include "estimate/estimate.h"
#include "estimate/sensitivity.h"
#include "estimate/traffic.h"
#include "report/plans/subject.h"
#include "search/across_sites.h"
#include "search/search.h"

namespace orrery {

// What the document shows besides the figures, if it is asked for.
struct EstimateExtras {
  std::optional<std::vector<Derivation>> explained;
  std::optional<std::vector<Sensitivity>> sensitivity;
  std::optional<StepTraffic> traffic;
};
Value estimate_json(const Estimate& estimate, const Subject& subject,
                    const EstimateExtras& extras = {});
const Description& estimate_document();

// Everything but `elapsed_s` is the same at every run and thread count.
Value search_json(const SearchResult& result, const Subject& subject, Seconds elapsed,
                  const std::optional<AcrossSites>& sites = {});
const Description& search_document();

}  // namespace orrery
