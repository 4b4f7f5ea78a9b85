// Every format of recorded files, each in a file of its own beside its reader, which says how it is
// recognised and what it can be read as. trace_format.cc lists them in the order people see.
#pragma once

#include "trace/trace_format.h"

namespace orrery {

extern const TraceFormat kKineto;             // of PyTorch's profiler
extern const TraceFormat kHostExecution;      // of PyTorch's execution trace observer
extern const TraceFormat kChakra;             // .et
extern const TraceFormat kChakraJson;         // of Chakra's jsonizer, or its feeder
extern const TraceFormat kCommunicatorFile;   // the groups of .et files, for ASTRA-sim
extern const TraceFormat kOperationTimeline;  // a list of Chrome events
extern const TraceFormat kWorkloadText;       // of ASTRA-sim 1.0 or SimAI
extern const TraceFormat kGraph;              // our own (trace/graph_file/graph_file.h)

}  // namespace orrery
