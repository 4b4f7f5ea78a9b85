// Reads a trace of PyTorch's profiler (Kineto): Chrome trace-event JSON, or gzip of it, of every
// format since 2021, from CUDA, ROCm and hosts without accelerators.
//
//   era  since       how it differs
//   A    2021        categories Operator, Kernel, Runtime, ...; rows "stream 7"; "external id"
//   B    2022        today's categories; whole microseconds since 1970; on the GPU side "External
//                    id" repeats the correlation
//   C    April 2024  decimals down to the nanosecond, relative to baseTimeNanoseconds; "Record
//                    function id"; arguments of NCCL
//   D    2026        "Seq" of collectives, device-side times of events
//
// The list of events is read in blocks of a megabyte that end between two events. simdjson indexes
// each block, which is read once; no other part of the file is in memory. Time is linear in the
// size of the file. Memory is about 100 bytes per event (250 with many shapes and collectives).
//
// Kept: complete events ("X") of hosts and devices, also those given as a beginning and an end
// ("B", "E"; open_events.h), arrows from forward to backward operators, allocations ("[memory]"),
// names of processes and threads, and the header. Not kept: "Trace" rows, counters, launch arrows
// (the correlation says the same), call stacks as texts.
//
// A file of several ranks, as recorded_json writes it, has events and a header for each of them.
//
// Refused, each with its byte: a text that is not JSON or not a trace, damaged gzip, an event with
// a negative duration or a time that is not a number, and a file that ends in the middle. With
// Incomplete::use_what_is_whole, the last two cost only the events concerned. Events without a
// start or a duration are left out and counted, as are beginnings without an end and ends without a
// beginning. Repeated events count once (repeated_events.h). Of values that are not read, only
// brackets and quotes are checked, because profilers have written nan and inf there.
//
// Source: the writers of pytorch/kineto (libkineto/src/output_json.cpp) and the recorded files of
// validation/traces.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "outcome/result.h"
#include "trace/byte_stream.h"
#include "trace/incomplete.h"
#include "trace/recorded_trace.h"

namespace orrery {

enum class PythonFunctions {
  keep,
  modules,    // only those of nn.Module
  leave_out,  // in recordings with stacks, most events are Python functions
};

struct KinetoOptions {
  Incomplete incomplete = Incomplete::refuse;
  PythonFunctions python_functions = PythonFunctions::keep;
  // Called now and then with the bytes of the file read so far and its size (0: unknown).
  std::function<void(std::uint64_t, std::uint64_t)> progress;
  const std::atomic<bool>* interrupted = nullptr;  // true: give up, with an error
};

// `file` is a path, or "-" for standard input. Several ranks may share a file (rank_process.h).
Result<std::vector<RecordedTrace>> read_kineto_ranks(const std::string& file,
                                                     const KinetoOptions& options = {});
Result<std::vector<RecordedTrace>> read_kineto_ranks(ByteStream stream,
                                                     const KinetoOptions& options = {});

}  // namespace orrery
