// Everything that `orrery trace analyze` shows of a recorded run, by rank and over all ranks.
//
// Ranks are analyzed in parallel; the result does not depend on the number of threads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/communication_table.h"
#include "analyze/copy_rates.h"
#include "analyze/critical_path.h"
#include "analyze/device_lag.h"
#include "analyze/host_activity.h"
#include "analyze/kernel_overlap.h"
#include "analyze/kernel_sequences.h"
#include "analyze/kernel_table.h"
#include "analyze/kernels_across_ranks.h"
#include "analyze/launch_statistics.h"
#include "analyze/memory_timeline.h"
#include "analyze/operator_table.h"
#include "analyze/queue_length.h"
#include "analyze/rank_timeline.h"
#include "analyze/sections.h"
#include "analyze/steps.h"
#include "analyze/temporal_breakdown.h"
#include "analyze/utilization.h"
#include "catalog/catalog.h"
#include "timeline/intervals.h"
#include "trace/recorded_run.h"

namespace orrery {

struct AnalysisOptions {
  BreakdownPreset preset = BreakdownPreset::orrery;
  OperatorGrouping grouping = OperatorGrouping::shapes;
  std::string accelerator;  // a catalog name; empty: by the name of the recorded device
  // The critical path of one annotation; empty: of the first step, without steps of everything.
  // Only of the preset hta, whose construction it is; that of a run's graph is replay/step_path.h.
  std::string critical_annotation;
  std::size_t critical_instance = 0;
  // By rank of the run: idle time in which another process had the device, by start
  // (replay/time_slices.h); empty: not known of any.
  std::vector<Intervals> other_process;
  int threads = 1;
};

struct StepAnalysis {
  RecordedStep step;
  TemporalBreakdown parts;  // of the step's window on the host
  DeviceLag lag;
};

struct RankAnalysis {
  std::int64_t rank = 0;
  std::string device;                      // as recorded; empty: none
  std::optional<Accelerator> accelerator;  // what rooflines refer to
  TemporalBreakdown whole;                 // by the preset
  std::vector<StepAnalysis> steps;
  // During host waits of the steps, without the turns of another process; of the whole where there
  // are no steps.
  HostTime host;
  KernelOverlap overlap;  // of the whole; like kernels and streams by the preset
  std::vector<KernelRow> kernels;
  std::vector<KernelSequence> sequences;
  std::vector<SectionRow> sections;
  std::vector<StreamRow> streams;
  std::vector<QueueSummary> queues;       // of the streams
  std::vector<QueueSeries> queue_series;  // of the streams, over the span of the device
  OperatorTable operators;
  LaunchStatistics launch;
  Utilization utilization;
  std::vector<CopyRates> copies;
  RankTimeline timeline;  // over the span of all devices of the run
  std::vector<MemoryTimeline> memory;
  StepPath critical;  // empty with presets other than hta

  bool recorded_work = false;  // of the device, whether the preset counts it or not
  // Device work in any step, or at all where there are none.
  [[nodiscard]] bool has_device_work() const { return recorded_work || !kernels.empty(); }
};

// A step, on average, as replayed and on a network of twice the bandwidth.
struct FasterNetwork {
  Seconds before;
  Seconds after;
};

struct RunAnalysis {
  BreakdownPreset preset = BreakdownPreset::orrery;
  OperatorGrouping grouping = OperatorGrouping::shapes;
  std::vector<RankAnalysis> ranks;  // of the run, in its order
  CommunicationTable communication;
  std::vector<RunKernelRow> kernels;  // over all ranks
  // Filled in by the caller, which can replay the run (whatif/); analyze() leaves it empty.
  std::optional<FasterNetwork> faster_network;
};

// Errors: an accelerator that is not in the catalog; an annotation that was not recorded. A
// critical path that would be a cycle is left empty.
Result<RunAnalysis> analyze(const RecordedRun& run, const Catalog& catalog,
                            const AnalysisOptions& options = {});

}  // namespace orrery
