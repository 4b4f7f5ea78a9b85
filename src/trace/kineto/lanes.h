// Rows of a Kineto file, in order of appearance: processes and threads, devices and streams.
//
// Process and thread are numbers, numbers as texts ("5786"), numbers after a word ("stream 7") or
// plain texts ("Spans"). A plain text becomes the row's name, and its number is kNotRecorded.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "trace/recorded_trace.h"

namespace orrery {

struct RowName {
  std::int64_t number = kNotRecorded;
  std::uint32_t text = 0;  // index in the table; only of a row without a number
};

// `token` is a JSON number or text, with its quotes. Bare words that are not JSON count as texts,
// lists as absent.
RowName row_name(std::string_view token, TextTable& texts);

class Lanes {
 public:
  explicit Lanes(RecordedTrace& trace) : trace_(trace) {}

  std::uint32_t host(RowName process, RowName thread) { return find(false, process, thread); }
  std::uint32_t device(std::int64_t ordinal, std::int64_t stream) {
    return find(true, RowName{ordinal, 0}, RowName{stream, 0});
  }
  void name_process(RowName process, std::string_view name);
  void name_thread(RowName process, RowName thread, std::string_view name);
  // Gives the rows that have events their names.
  void finish();

 private:
  struct Key {
    bool device = false;
    std::int64_t process = 0;
    std::int64_t thread = 0;
    std::uint32_t process_text = 0;
    std::uint32_t thread_text = 0;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };
  std::uint32_t find(bool device, RowName process, RowName thread);

  RecordedTrace& trace_;
  std::unordered_map<Key, std::uint32_t, Hash> lanes_;
  Key last_;  // consecutive events share a row more often than not
  std::uint32_t last_lane_ = kNoDetails;
  std::unordered_map<Key, std::uint32_t, Hash> names_;  // a thread's, or with thread_text max
};

}  // namespace orrery
