// What would have happened: a recorded run or a predicted step, edited and simulated again.
//
// Edits (whatif/edit_verb.h) are applied in order to the graph of the recording
// (replay/graph_from_run.h) or prediction (replay/graph_run.h); the one simulator gives both
// timelines. Every edit tells how much it changed and what it assumed. Without edits, and with
// edits that change nothing, the timeline is the one of the replay, to the nanosecond.
//
// Times of steps are those of whatif/step_outcomes.h. Source: Lumos, arXiv 2504.09307, section 3.5;
// ByteDance, "Understanding Stragglers in Large Model Training Using What-if Analysis", for `even`.
// Linear in the run for each edit, up to a sort.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "outcome/result.h"
#include "replay/replay.h"
#include "whatif/edit.h"
#include "whatif/known_division.h"

namespace orrery {

struct PredictedOperations;

struct AppliedEdit {
  Edit edit;
  std::string text;                  // as the language writes it
  std::size_t changed = 0;           // pieces of work, or of host time
  std::vector<std::string> assumed;  // sentences
};

struct WhatIfStep {
  std::uint32_t trace = 0;
  std::int64_t rank = kNotRecorded;
  std::uint32_t stage = 0;  // of the pipeline that an edit made of the rank
  std::string name;         // "ProfilerStep#4"
  Seconds before;           // of the whole rank
  Seconds after;
  FourParts parts_before;
  FourParts parts_after;
  Seconds waiting_before;  // for other ranks (whatif/step_outcomes.h)
  Seconds waiting_after;
};

struct WhatIf {
  std::vector<AppliedEdit> edits;
  std::vector<WhatIfStep> steps;  // by trace, then by start, then by stage
  bool staged = false;            // an edit made a pipeline
  bool predicted = false;         // the run is a prediction, not a recording
  Seconds before;                 // mean of the steps
  Seconds after;
  Seconds waiting_before;  // of a rank for others in a step, on average
  Seconds waiting_after;
  // How far `before` may be trusted: mean of the replayed steps against the recorded ones, both
  // counted as `before` is (whatif/step_outcomes.h).
  double replay_error = 0;
  Seconds earlier;       // most that a rank's first step leaves out for work launched before it
  RunGraph graph;        // edited
  ReplayedRun timeline;  // of that graph
};

// Whether a graph without launches, passes and steps of a recording can be edited so: predicted
// steps and other graph files. Errors: the first edit that needs them.
Result<void> check_graph_edits(const std::vector<Edit>& edits);

// Errors: an edit that selects nothing, an unknown accelerator, what ranks cannot divide as far as
// `known` tells. `operations` are those of a prediction (replay/graph_run.h), nullptr of a
// recording.
Result<WhatIf> what_if(std::span<const RecordedTrace> traces, const RunGraph& graph,
                       const std::vector<Edit>& edits, const Catalog& catalog,
                       const KnownDivision& known = {},
                       const PredictedOperations* operations = nullptr);

}  // namespace orrery
