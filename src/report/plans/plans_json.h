// Estimates and searches as the versioned JSON documents of `orrery estimate --json` and
// `orrery search --json`. Their keys: docs/json-schema.md.
//
// Times of the breakdown are whole picoseconds written as decimal seconds with up to twelve digits
// after the point, so that the lines of `breakdown_s` add up to `step_time_s` exactly in decimal
// arithmetic, and to the last bits in binary.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "document/description.h"
#include "estimate/estimate.h"
#include "estimate/fabric_simulation.h"
#include "estimate/operator_shares.h"
#include "estimate/sensitivity.h"
#include "estimate/traffic.h"
#include "forecast/run_costs.h"
#include "numerics/plan_numerics.h"
#include "report/plans/plan_text.h"
#include "search/across_sites.h"
#include "search/search.h"

namespace orrery {

// What the document shows besides the figures, if it is asked for.
struct EstimateExtras {
  std::optional<std::vector<Derivation>> explained;
  std::optional<std::vector<Sensitivity>> sensitivity;
  std::optional<StepTraffic> traffic;
  std::optional<StepFlows> flows;
  std::optional<PlanNumerics> numerics;
  std::optional<HealthyRun> run;
  std::optional<OperatorShares> operators;
};
Value estimate_json(const Estimate& estimate, const Subject& subject,
                    const EstimateExtras& extras = {});
const Description& estimate_document();
// One key of that document, without the work of the others; none if it has no such key.
std::optional<Value> estimate_json_key(const Estimate& estimate, const Subject& subject,
                                       const EstimateExtras& extras, std::string_view key);

// What a search may also be asked.
struct SearchExtras {
  std::optional<AcrossSites> sites;
  std::optional<PlanNumerics> numerics;         // of the best plan
  std::optional<std::vector<HealthyRun>> runs;  // of the plans, in their order
};
// Everything but `elapsed_s` is the same at every run and thread count.
Value search_json(const SearchResult& result, const Subject& subject, Seconds elapsed,
                  const SearchExtras& extras = {});
const Description& search_document();

}  // namespace orrery
