// The answers of the commands on recorded runs, `orrery trace ...`: texts, pages and documents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/run_analysis.h"
#include "compare/difference.h"
#include "document/description.h"
#include "document/value.h"
#include "infer/fitted_spreads.h"
#include "infer/inferred_comparison.h"
#include "infer/kernel_comparison.h"
#include "replay/graph_replay.h"
#include "replay/operation_replay.h"
#include "replay/replay.h"
#include "replay/step_path.h"
#include "report/drawing/text_style.h"
#include "trace/recorded_run.h"
#include "trace/trace_contents.h"
#include "whatif/stragglers.h"
#include "whatif/whatif.h"

namespace orrery {

// What `orrery trace analyze` prints, its page with charts and its document.
//
// Tables beside those that always stand in the terminal.
enum class MoreTables : std::uint8_t { none, all };

struct AnalysisView {
  std::size_t rank = 0;   // place in the run of the rank whose tables are shown
  std::size_t rows = 12;  // of each table
  MoreTables more = MoreTables::none;
  // Of every rank, by the replayed graph; empty: the paths of the analysis, if it has any.
  std::span<const StepPath> paths = {};
};

// `analysis` is of `run`.
std::string analysis_text(const RecordedRun& run, const RunAnalysis& analysis,
                          const AnalysisView& view, const TextStyle& style);
// One self-contained page; `view.rows` limits every table.
std::string analysis_html(const RecordedRun& run, const RunAnalysis& analysis,
                          const AnalysisView& view);

// `paths`: as in AnalysisView.
Value analysis_json(const RecordedRun& run, const RunAnalysis& analysis,
                    std::span<const StepPath> paths = {});
const Description& analysis_document();

// The difference of two runs (`orrery trace diff`).
inline constexpr int kDifferenceSchemaVersion = 1;

struct DifferenceSubject {
  std::string first;  // what the runs are called: their file
  std::string second;
  int rows = 20;           // that the table shows
  bool predicted = false;  // the second is a prediction: lines are kinds of work
  RunSource first_source = RunSource::profiler;
  RunSource second_source = RunSource::profiler;
  std::vector<std::string> notes = {};  // on what is predicted, a sentence each
};

std::string difference_text(const Difference& difference, const DifferenceSubject& subject,
                            const TextStyle& style);
// The page of `orrery trace diff --html`.
std::string difference_html(const Difference& difference, const DifferenceSubject& subject);

// Every row, with its causes in seconds, which add up to its difference.
Value difference_json(const Difference& difference, const DifferenceSubject& subject);
const Description& difference_document();

// A specification inferred from a recording, and its prediction beside what was recorded
// (`orrery trace spec`).
inline constexpr int kInferredSchemaVersion = 1;

// A sentence where most of what was recorded is not the inferred model; else empty.
std::string other_model_warning(const InferredComparison& comparison);

std::string inferred_text(const InferredComparison& comparison, const TextStyle& style);
Value inferred_json(const InferredComparison& comparison);

// model, cluster, software, training, plan: docs/spec.md. Of a complete specification.
std::string inferred_yaml(const InferredSpec& spec);

// Our cost model beside the kernels of a recorded run (`orrery trace kernels`).
inline constexpr int kKernelSchemaVersion = 1;

// `top`: rows of the table of kernels, those of the greatest difference first.
std::string kernel_text(const KernelComparison& comparison, std::size_t top,
                        const TextStyle& style);
Value kernel_json(const KernelComparison& comparison);
const Description& kernel_document();

// What was replayed, beside what was recorded where that is known (`orrery trace replay`).
inline constexpr int kReplaySchemaVersion = 1;

// One row a rank and step, then the error over all and what was found and assumed.
std::string replay_text(const Replay& replay, const GraphFromRun& graph, const TextStyle& style);

// A document of kind "trace-replay"; described in docs/trace-replay.md.
Value replay_json(const Replay& replay, const GraphFromRun& graph,
                  std::span<const RecordedTrace> traces);
const Description& replay_document();

// The same of a job's operation timeline: steps as they were, without launch delays and without
// stragglers, and what each part of the job costs.
std::string operation_replay_text(const OperationReplay& replay, const TextStyle& style);
// A document of kind "operation-replay".
Value operation_replay_json(const OperationReplay& replay);
const Description& operation_replay_document();

// A replayed graph, of Chakra traces or of a file.
inline constexpr int kGraphReplaySchemaVersion = 1;

// One row a rank, at most 64, and what was found and assumed.
std::string chakra_replay_text(const GraphReplay& replay, const ChakraGraph& graph,
                               const TextStyle& style);

// A document of kind "chakra-replay"; described in docs/trace-replay.md.
Value chakra_replay_json(const GraphReplay& replay, const ChakraGraph& graph, const ChakraRun& run);
const Description& chakra_replay_document();

// The same of a graph file, with the steps it names; a document of kind "graph-replay".
std::string graph_replay_text(const GraphReplay& replay, const GraphFile& file,
                              const TextStyle& style);
Value graph_replay_json(const GraphReplay& replay, const GraphFile& file);
const Description& graph_replay_document();

// How much the operations of a recording vary (`orrery trace spreads`).
//
// `top`: rows of the table of operations, those of the most time.
std::string spreads_text(const FittedSpreads& spreads, std::size_t top, const TextStyle& style);
Value spreads_json(const FittedSpreads& spreads);
const Description& spreads_document();

// What recorded files hold (`orrery trace info`; docs/schema/trace-info-1.json).
std::string trace_info_text(const RecordedRun& run, const TextStyle& style);
// Of files of other kinds than the profiler's traces.
std::string trace_contents_text(const std::vector<TraceContents>& files, const TextStyle& style);
// `files`: of other kinds, beside the run.
Value trace_info_json(const RecordedRun& run, const std::vector<TraceContents>& files = {});

// The answer to a what-if, and the attribution of stragglers (`orrery trace whatif`).
inline constexpr int kWhatIfSchemaVersion = 1;

std::string whatif_text(const WhatIf& whatif, const TextStyle& style);
// A page with charts. `graph` is the run before the edits; one simulation, for what its devices
// did.
std::string whatif_html(std::span<const RecordedTrace> traces, const RunGraph& graph,
                        const WhatIf& whatif);
Value whatif_json(const WhatIf& whatif);
const Description& whatif_document();

std::string stragglers_text(const Stragglers& stragglers, const TextStyle& style);
Value stragglers_json(const Stragglers& stragglers);
const Description& stragglers_document();

}  // namespace orrery
