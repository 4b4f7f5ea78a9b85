// The arguments of an event in the words of the PyTorch profiler, from the columns of a recording.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "trace/recorded_trace.h"

namespace orrery {

// Members of a JSON object without its braces, commas between those that are there.
class MembersText {
 public:
  explicit MembersText(std::string& out) : out_(out), first_(out.size()) {}

  // kNotRecorded and empty texts are left out.
  void number(std::string_view key, std::int64_t value);
  void text(std::string_view key, std::string_view value);
  // A text that is JSON itself where it begins like a list.
  void list(std::string_view key, std::string_view value);
  void raw(std::string_view key, std::string_view value);

 private:
  void begin(std::string_view key);

  std::string& out_;
  std::size_t first_;  // in `out_`
};

// Appends "correlation": 7, "grid": [1, 1, 1], ...; nothing if nothing is recorded.
void append_event_arguments(const RecordedTrace& trace, std::size_t event, std::string& out);

}  // namespace orrery
