// What a file that is no recording holds, counted. Each format counts its own (trace_format.h).
//
// Facts are single figures; work is what is done, by kind and group, with how often it is done, its
// bytes and its time as far as the format has them. Bytes are of one rank's inputs. O(n log n).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "outcome/result.h"
#include "trace/known_formats.h"
#include "units/quantity.h"

namespace orrery {

struct TraceFact {
  std::string key;  // of the JSON document: "data_dependencies"
  std::variant<std::int64_t, std::string, Seconds> value;
};

struct TraceWork {
  std::string kind;   // "ALL_REDUCE", "forward-compute", "aten::mm"
  std::string group;  // of communication, where it is told
  std::int64_t count = 0;
  std::optional<std::int64_t> bytes;  // of all together
  std::optional<Seconds> time;
};

struct TraceContents {
  std::string file;
  const TraceFormat* format = &kUnknownFormat;
  std::vector<TraceFact> facts;
  std::vector<TraceWork> work;  // by time, bytes and count, the largest first
};

// Of a file of that format. Errors: of its reader; a format that has no contents here.
Result<TraceContents> read_contents(const std::string& file, const TraceFormat& format,
                                    Incomplete incomplete = Incomplete::refuse);

}  // namespace orrery
