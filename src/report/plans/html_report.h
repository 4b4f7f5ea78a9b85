// An estimate, or a search and its winner, as one HTML file that needs nothing else: no network, no
// fonts, no libraries. Light and dark scheme follow the reader's system. Without scripts everything
// but tooltips and the pipeline's zoom works.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "estimate/estimate.h"
#include "estimate/operator_shares.h"
#include "estimate/traffic.h"
#include "forecast/run_costs.h"
#include "report/plans/plan_text.h"
#include "schedule/pipeline_span.h"
#include "search/across_sites.h"
#include "search/search.h"

namespace orrery {

// The search that found a step, and what else is known of it.
struct FoundBy {
  const SearchResult* search = nullptr;   // of which the step is the winner
  Seconds elapsed = {};                   // of the search; zero: not stated
  std::span<const HealthyRun> runs = {};  // of the plans of the search, or of the estimate
  const AcrossSites* sites = nullptr;
};
// Only `estimate` is needed; a part without data is left out.
struct HtmlReport {
  Subject subject;
  const Estimate* estimate = nullptr;
  std::span<const PipelineSpan> pipeline = {};
  std::span<const Derivation> derivations = {};
  FoundBy found = {};
  std::optional<StepTraffic> traffic = {};
  std::vector<OperatorShare> operators = {};  // the longest first
  std::vector<std::string> notes = {};        // sentences shown below the headline
};

std::string html_report(const HtmlReport& report);

// The whole report of a predicted step, of which `estimate` is.
std::string step_html(const PredictedStep& step, const Estimate& estimate,
                      const FoundBy& found = {});

}  // namespace orrery
