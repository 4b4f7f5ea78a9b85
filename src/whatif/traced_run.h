// Recordings with their graph, and what edits make of them, for tests.
#pragma once

#include <gtest/gtest.h>

#include <string_view>
#include <utility>
#include <vector>

#include "replay/graph_from_run.h"
#include "whatif/edit_language.h"
#include "whatif/whatif.h"

namespace orrery {

struct TracedRun {
  std::vector<RecordedTrace> traces;
  RunGraph graph;
};

inline TracedRun traced(std::vector<RecordedTrace> traces) {
  auto graph = graph_from_run(traces);
  EXPECT_TRUE(graph) << graph.error().text();
  return {std::move(traces), std::move(graph->graph)};
}

inline TracedRun traced(RecordedTrace trace) {
  std::vector<RecordedTrace> traces;
  traces.push_back(std::move(trace));
  return traced(std::move(traces));
}

inline Result<WhatIf> tried(const TracedRun& run, std::string_view text) {
  const auto edits = parse_edits(text, "edits");
  EXPECT_TRUE(edits) << edits.error().text();
  return what_if(run.traces, run.graph, *edits, Catalog::built_in());
}

inline WhatIf changed(const TracedRun& run, std::string_view text) {
  auto result = tried(run, text);
  EXPECT_TRUE(result) << text << ": " << result.error().text();
  return result ? *std::move(result) : WhatIf{};
}

inline double microseconds(Seconds s) { return s.value() * 1e6; }

inline double after(const TracedRun& run, std::string_view text) {
  return microseconds(changed(run, text).after);
}

}  // namespace orrery
