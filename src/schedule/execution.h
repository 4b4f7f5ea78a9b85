// Executes a pipeline: builds its graph and simulates it.
//
// The graph has one node per operation on the computing stream of its device. For every activation
// or gradient sent to another device it has one node on the link, of duration `transfer`, and one
// on no link, of duration `latency`. An operation starts as soon as its device is free and its
// inputs have arrived. Every makespan comes from this simulation; schedules that search use it too.
#pragma once

#include <vector>

#include "graph/graph.h"
#include "outcome/result.h"
#include "schedule/linear_order.h"
#include "schedule/pipeline_times.h"
#include "schedule/pipeline_wiring.h"
#include "simulate/simulate.h"

namespace orrery {

struct PipelineGraph {
  Graph graph;
  std::vector<DeviceOperation> operations;  // in the order of their nodes
  std::vector<NodeIndex> nodes;             // by operation
};

// Errors: those of linear_order.
Result<PipelineGraph> pipeline_graph(const Pipeline& pipeline, const PipelineTimes& times,
                                     Sends sends = Sends::asynchronous);

// Ratios as in arXiv 2401.10241: `bubble_ratio` = 1 - busy / (p makespan); `bubble_ratio_span`
// = 1 - busiest device / longest span, for steps that follow each other without a flush.
struct PipelineMeasures {
  Picoseconds makespan;
  std::vector<Picoseconds> busy, first_start, last_end;  // by device
  Picoseconds longest_device_span;                       // of last_end - first_start
  double bubble_ratio = 0;
  double bubble_ratio_span = 0;
  std::vector<double> peak_memory;  // by device, in the units of times.memory
};

struct PipelineExecution {
  PipelineGraph graph;
  Timeline timeline;
  PipelineMeasures measures;
};

Result<PipelineExecution> execute(const Pipeline& pipeline, const PipelineTimes& times,
                                  Sends sends = Sends::asynchronous);

// The duration of one operation.
Picoseconds duration(const PipelineTimes& times, const Pipeline& pipeline, std::size_t device,
                     const PipelineOperation& operation);

}  // namespace orrery
