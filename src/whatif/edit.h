// One change to a recorded run, as it is written in the language of what-ifs (edit_language.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "units/quantity.h"

namespace orrery {

struct EditVerb;

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
  const EditVerb* verb = nullptr;
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
