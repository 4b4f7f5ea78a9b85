// The execution trace of PyTorch's ExecutionTraceObserver: the operators of one rank's host as a
// call tree, with their inputs and outputs, without any time.
//
//   schema   what is new
//   1.0.1    flat nodes: parent, inputs, input_shapes, input_types, ...
//   1.0.2    nested inputs and outputs, a list of attributes, the parent as "ctrl_deps"
//   1.0.3    process groups as a pair of name and description
//   1.0.4    kernel_backend, kernel_file
//   1.1.0    attributes of communication on record_param_comms
//   1.1.1    strides
//
// Identifiers are assigned when an operator starts, and nodes are written when it ends. Parents
// therefore come after their children, and the order of identifiers is that of starts. A tensor is
// [tensor, storage, offset, elements, bytes per element, device].
//
// Source: pytorch, torch/csrc/profiler/standalone/execution_trace_observer.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "outcome/result.h"
#include "trace/byte_stream.h"

namespace orrery {

// JSON lists with one entry per input or output. They point into the bytes that their trace keeps.
struct HostValues {
  std::string_view values = "[]";
  std::string_view shapes = "[]";
  std::string_view types = "[]";
  std::string_view strides;  // empty before schema 1.1.1
};

// The attributes of record_param_comms, since schema 1.1.0.
struct HostCommunication {
  std::string collective;
  std::string data_type;
  std::string group;
  std::int64_t input_elements = -1;
  std::int64_t output_elements = -1;
  std::int64_t group_size = -1;
};

inline constexpr std::uint32_t kNoCommunication = 0xFFFFFFFFU;

struct HostNode {
  std::uint64_t id = 0;
  std::uint64_t parent = 0;  // an id; that of the node itself for the root
  std::string name;
  std::string schema;                   // "aten::add.Tensor(Tensor self, ...) -> Tensor", or empty
  std::int64_t record_function_id = 0;  // 0: none
  std::int64_t forward_parent = 0;
  std::int64_t sequence_number = -1;
  std::int64_t scope = 0;   // RecordScope: 0 a function, 1 a backward function, 7 of the user, ...
  std::int64_t thread = 0;  // counted by the observer from 1, not the operating system's
  std::int64_t forward_thread = 0;
  HostValues inputs;
  HostValues outputs;
  std::uint32_t communication = kNoCommunication;  // index into `communications`

  // "[pytorch|profiler|execution_trace|thread]": the root of the operators of one thread.
  [[nodiscard]] bool is_thread() const;
  // "...|process]": the root of all threads.
  [[nodiscard]] bool is_process() const;
};

struct HostTrace {
  std::string schema;  // "1.1.0-chakra.0.0.4"
  std::int64_t process = 0;
  std::string time;
  std::int64_t start_ms = 0;  // of a steady clock
  std::int64_t finish_ms = 0;
  std::vector<HostNode> nodes;  // by ascending id
  std::vector<HostCommunication> communications;
  std::string file;
  std::shared_ptr<const std::string> bytes;  // of the file; HostValues point into them
};

// Reads such a file, or gzip of it. `file` is a path, or "-" for standard input.
// Errors, each with the place: not JSON, cut, an unknown schema, a node without an id or name, two
// nodes with one id, an absent parent, a cycle of parents, values that are not a list, more than 2
// GiB.
Result<HostTrace> read_host_trace(const std::string& file);
Result<HostTrace> read_host_trace(ByteStream stream);

// Bytes of the tensors among the values, counting those inside lists of tensors too.
std::int64_t tensor_bytes(const HostValues& values);
// Elements of all tensors of one value.
std::int64_t tensor_elements(std::string_view value);

}  // namespace orrery
