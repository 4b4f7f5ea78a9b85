// The arguments of an event as the PyTorch profiler writes them, from the columns of a recording.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "trace/recorded_trace.h"

namespace orrery {

// Appends members of a JSON object, without its braces, separated by commas.
class MembersText {
 public:
  explicit MembersText(std::string& out) : out_(out), first_(out.size()) {}

  // Appends nothing for kNotRecorded and empty texts.
  void number(std::string_view key, std::int64_t value);
  void text(std::string_view key, std::string_view value);
  // Appends a text that begins like a list as JSON, any other one as a string.
  void list(std::string_view key, std::string_view value);
  void raw(std::string_view key, std::string_view value);

 private:
  void begin(std::string_view key);

  std::string& out_;
  std::size_t first_;  // index of the first member in `out_`
};

// Appends "correlation": 7, "grid": [1, 1, 1], ...; nothing if nothing is recorded.
void append_event_arguments(const RecordedTrace& trace, std::size_t event, std::string& out);

}  // namespace orrery
