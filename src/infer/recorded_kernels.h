// The kernels of a recorded run as measurements: what was computed or moved, of which size, how
// often, and how long it took.
//
// Work of the device belongs to the innermost operator around its launch whose work is known from
// its name and arguments (analyze/recorded_work.h, analyze/recorded_attention.h); calls of one
// operator with the same shapes and types are one row. Its time is the median over the calls of all
// ranks, where one call's time is the sum of what it launched: a product split along k and the sum
// of its parts are one call.
//
// Of communications a row is one collective, volume and group size. Its time is the median over the
// instances of which all ranks are recorded, without waiting for the last of them
// (trace/collective_instances.h). Where no instance is whole, the shortest duration stands in for
// it, which still may hold waiting: `waiting_included`.
//
// Everything else is kept by class with the reason why it is no measurement: convolutions, copies
// between host and device, kernels of operators without shapes or of unknown operators. No time is
// lost: the totals add up to the time of all device work. O(events log events).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cost/collective/collective.h"
#include "cost/kernel/kernel_model.h"
#include "trace/recorded_trace.h"

namespace orrery {

enum class RecordedKernelKind : std::uint8_t {
  product,
  attention,
  memory_bound,
  communication,
  other,  // no measurement: `why`
};

struct RecordedKernel {
  RecordedKernelKind kind = RecordedKernelKind::other;
  std::string name;                    // "aten::mm", "all-reduce"
  std::string shapes;                  // of the inputs, as recorded
  std::string of_class;                // "product", "normalization", "convolution"
  std::string kernel;                  // of the device, of the first call
  std::optional<NumberFormat> format;  // of a product or attention
  GemmShape product;
  AttentionShape attention;
  AttentionKernel attention_kernel = AttentionKernel::flash_2;
  Direction direction = Direction::forward;
  Bytes moved;                               // memory-bound: read and written; else the message
  std::optional<CollectiveKind> collective;  // that has a cost model
  bool sends = false;                        // a communication of two ranks
  std::string data_type;                     // of a communication: "BFloat16"
  std::int64_t ranks = 1;                    // of the group
  bool waiting_included = false;
  std::string why;         // `other`: no measurement because
  std::int64_t calls = 0;  // of a communication instances
  double launches = 1;     // kernels of one call, in the mean
  Seconds time;            // of one call: the median
  Seconds total;           // of all calls; of a communication with waiting, of all ranks
  Seconds waiting;         // of the total: a communication's, for ranks that came later
};

struct RecordedKernels {
  std::vector<RecordedKernel> kernels;  // most total time first
  Seconds total;                        // of all device work of all ranks: the sum of the totals
  Seconds waiting;                      // of it, communications wait for other ranks
  std::int64_t ranks = 0;               // recorded
};

RecordedKernels recorded_kernels(std::span<const RecordedTrace> run);

// A type of elements as PyTorch names it ("c10::BFloat16", "Half"); the kernel's name tells tf32
// from fp32. Empty for types no matrix product is modelled in.
std::optional<NumberFormat> recorded_format(std::string_view type, std::string_view kernel);

}  // namespace orrery
