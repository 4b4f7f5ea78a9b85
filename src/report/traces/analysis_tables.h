// The tables of an analyzed run, each as it stands in the terminal and on a page. `rows` limits
// them.
#pragma once

#include <string>

#include "analyze/run_analysis.h"
#include "lower/step_category.h"
#include "report/drawing/table.h"
#include "trace/recorded_run.h"

namespace orrery {

// Turns of another process have a column where there are any.
Table breakdown_table(const RunAnalysis& analysis);
// `longest`: the time of the longest row.
void add_breakdown(Table& table, const std::string& rank, const std::string& step,
                   const TemporalBreakdown& breakdown, std::int64_t longest);

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

}  // namespace orrery
