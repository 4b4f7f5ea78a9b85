// The parts of the report on an analyzed run: tables, each as it stands in the terminal and on a
// page, whose rows `rows` limits; findings in words; critical paths.
#pragma once

#include <string>

#include "analyze/findings.h"
#include "analyze/run_analysis.h"
#include "document/value.h"
#include "lower/step_category.h"
#include "report/drawing/table.h"
#include "report/drawing/text_style.h"
#include "timeline/critical_path.h"
#include "trace/recorded_run.h"

namespace orrery {

// Whether a device was another process's for some of the time.
bool shares_device(const RunAnalysis& analysis);
// Where the time of the first `most` ranks went: a row for each step, or one for all steps of a
// rank if there would be more than `most` rows.
Table breakdown_table(const RunAnalysis& analysis, std::size_t most);
Table communication_table(const CommunicationTable& communication, std::size_t rows);
Table waiting_table(const CommunicationTable& communication, std::size_t rows);
Table across_ranks_table(const RunAnalysis& analysis, std::size_t rows);

// Of one rank.
Table operator_table(const RecordedTrace& trace, const RankAnalysis& rank, std::size_t rows);
Table kernel_table(const RecordedTrace& trace, const RankAnalysis& rank, std::size_t rows);
Table stream_table(const RecordedTrace& trace, const RankAnalysis& rank);
Table launch_table(const RecordedTrace& trace, const RankAnalysis& rank, std::size_t rows);
Table outlier_table(const RecordedTrace& trace, const RankAnalysis& rank, std::size_t slow_calls,
                    std::size_t long_delays);
Table section_table(const RankAnalysis& rank, std::size_t rows);
Table sequence_table(const RecordedTrace& trace, const RankAnalysis& rank, std::size_t rows);

// Of `orrery trace analyze --more`, in the terminal alone.
Table overlap_table(const RunAnalysis& analysis);
Table gap_table(const RecordedTrace& trace, const RankAnalysis& rank);
Table copy_table(const RecordedTrace& trace, const RankAnalysis& rank, std::size_t rows);

// ", 3.2 TFLOP of known work in 1.5 ms of device time: 2.1 PFLOP/s"; empty where none is known.
std::string known_work(const OperatorTotals& all);

Category colour_of(RecordedWorkClass c);
// Device time by class of operator, most first, without those that took none.
struct ClassTime {
  std::string_view label;
  std::int64_t ns = 0;
  Category colour = Category::bubble;
};
std::vector<ClassTime> class_times(const RankAnalysis& rank);

// The findings of a recorded run (analyze/findings.h) in words: what costs the time, where, and
// what could be done about it. The same words stand in the terminal, in HTML and in JSON.
struct FindingText {
  std::string title;        // "Ranks wait for each other"
  std::string detail = {};  // sentences
  std::string advice = {};  // a sentence
};

// `finding` is of `analysis`, which is of `run`.
FindingText finding_text(const RecordedRun& run, const RunAnalysis& analysis,
                         const Finding& finding);

// "Exposed communication, 32.2 ms" and "66.1 %"; without a cost the title alone and "note".
std::string finding_title(const Finding& finding, const FindingText& text);
std::string finding_label(const Finding& finding);

// "8 ranks, 3 steps of 396 ms on average: 21.5 % computing, ...".
std::string headline_text(const RunAnalysis& analysis);

// The critical path of a step (timeline/critical_path.h) in the terminal, in JSON and on a page:
// what it was bound by, how it went over threads, streams and ranks, and which names stand on it.
// `rows` of each table.
std::string step_path_text(const StepPath& path, std::size_t rows, const TextStyle& style);
std::string step_path_html(const StepPath& path, std::size_t rows);
// The same of the path of one rank's events (analyze/critical_path.h), behind a remark.
std::string event_path_text(const StepPath& path, const std::string& remark, std::size_t rows,
                            const TextStyle& style);
std::string event_path_html(const StepPath& path, std::size_t rows);
// Places of the longest stretches, in the order of the path; at most `most`.
std::vector<std::size_t> longest_stretches(const StepPath& path, std::size_t most);

}  // namespace orrery
