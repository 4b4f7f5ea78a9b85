// Which format a file of recorded runs has, by its content: names lie.
#pragma once

#include <string>
#include <string_view>

#include "outcome/result.h"

namespace orrery {

enum class TraceFormat {
  kineto,              // of PyTorch's profiler
  host_execution,      // of PyTorch's execution trace observer
  chakra,              // .et
  chakra_json,         // of Chakra's jsonizer, or its feeder
  operation_timeline,  // a list of Chrome events
  workload_text,       // of ASTRA-sim 1.0 or SimAI
  graph,               // our own (trace/graph_file/graph_file.h)
  unknown,
};
// "a trace of the PyTorch profiler", for people.
std::string_view name(TraceFormat format);
// "kineto", for documents.
std::string_view key(TraceFormat format);

// Of the first bytes of a file, unpacked; 64 KiB are enough, fewer may leave it unknown.
TraceFormat format_of(std::string_view beginning);

// What bytes that are no text of any format are instead, with what to do about it; empty messages
// where nothing is known.
struct ForeignBytes {
  std::string_view message;  // "this is UTF-16"
  std::string_view hint;     // "save it as UTF-8"
};
ForeignBytes foreign_bytes(std::string_view beginning);

// Of a file, or "-", standard input, which can be read afterwards; each may be gzip. Errors: it
// cannot be read.
Result<TraceFormat> format_of_file(const std::string& file);

}  // namespace orrery
