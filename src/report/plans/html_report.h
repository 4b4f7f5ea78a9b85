// An estimate, or a search and its winner, as one HTML file that needs nothing else: no network, no
// fonts, no libraries. Light and dark scheme follow the reader's system. Without scripts everything
// but tooltips and the pipeline's zoom works.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "estimate/estimate.h"
#include "report/plans/subject.h"
#include "schedule/pipeline_span.h"
#include "search/search.h"

namespace orrery {

// Only `estimate` is needed; a part without data is left out.
struct HtmlReport {
  Subject subject;
  const Estimate* estimate = nullptr;
  std::span<const PipelineSpan> pipeline = {};
  std::span<const Derivation> derivations = {};
  const SearchResult* search = nullptr;  // of which `estimate` is the winner
  Seconds elapsed = {};                  // of the search; zero: not stated
  std::vector<std::string> notes = {};   // sentences shown below the headline
};

std::string html_report(const HtmlReport& report);

}  // namespace orrery
