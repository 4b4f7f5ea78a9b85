// Any bytes as an execution trace of PyTorch: an error, or a tree whose values can be taken apart.
// seeds: tests/seeds/pytorch_et
// parser: src/trace/pytorch_et/host_trace_reader.cc src/trace/pytorch_et/python_text.cc
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "outcome/invariant.h"
#include "trace/pytorch_et/host_trace.h"
#include "trace/pytorch_et/python_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto trace = orrery::read_host_trace(*orrery::ByteStream::of(bytes, "fuzz"));
  if (!trace) {
    ORRERY_INVARIANT(!trace.error().message.empty());
    return 0;
  }
  for (const orrery::HostNode& node : trace->nodes) {
    ORRERY_INVARIANT(orrery::tensor_bytes(node.inputs) >= 0);
    ORRERY_INVARIANT(orrery::python_text(node.inputs.values).starts_with("["));
    ORRERY_INVARIANT(orrery::is_shallow_json(node.outputs.values));
  }
  return 0;
}
