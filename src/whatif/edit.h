// One change to a recorded run, as it is written in the language of what-ifs (edit_language.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "units/quantity.h"

namespace orrery {

enum class EditKind : std::uint8_t {
  scale,         // what is selected takes a multiple of its time
  set,           // each takes this time
  remove,        // takes no time, and is not launched
  fuse,          // neighbours on a stream become one, with one launch
  capture,       // launched by graphs: the host takes no time
  bandwidth,     // of the network
  latency,       // of the network
  bucket,        // small communications are joined
  overlap,       // what runs beside a communication no longer waits for it
  even,          // all ranks take the same time: no stragglers
  data_ranks,    // another number of ranks in data-parallel groups
  tensor_ranks,  // another number of ranks that divide every layer
  resize,        // a dimension of tensors
  pipeline,      // another pipeline: stages, schedule, microbatches
  microbatches,  // another number of them in a step
  repeat,        // layers: what repeats does so more or less often
  accelerator,   // another one
  price,         // kernels take what the cost model says
};
inline constexpr std::size_t kEditKinds = 18;

// What an edit means; every condition that is stated must hold. Texts are patterns in which * is
// anything and ? any character; upper and lower case do not matter.
struct Selection {
  std::string kernel;
  std::string kernel_class;  // a name of trace/kernel_class.h, or "communication", "copy"
  std::string op;            // of the framework, around the launch
  std::string shape;         // of the operator's inputs, as recorded
  std::string collective;
  std::string group;
  std::optional<std::int64_t> rank;
  std::optional<std::int64_t> stream;
  bool host = false;  // the host's own work instead of the device's

  [[nodiscard]] bool everything() const { return *this == Selection{}; }
  bool operator==(const Selection&) const = default;
};

struct Edit {
  EditKind kind = EditKind::scale;
  std::string verb;  // as written
  Selection where;
  std::optional<double> factor;  // by
  std::optional<Seconds> time;   // to, latency
  std::optional<Bytes> size;     // bucket, send
  std::int64_t from = 0;         // layers 40 to 48
  std::int64_t count = 0;        // dp 16, pp 4
  std::string name;              // accelerator h100-sxm, schedule 1f1b
  std::int64_t chunks = 0;       // of a pipeline; 0: not said
  std::int64_t microbatches = 0;
  std::optional<BytesPerSecond> rate;  // link 50GB/s

  bool operator==(const Edit&) const = default;
};

}  // namespace orrery
