// What the contents of a file are counted with: sums by kind and group, and single figures.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/trace_contents.h"

namespace orrery {

// Sums by kind and group. Sums that pass 64 bits stay at the largest number.
class WorkTable {
 public:
  // The row, counted once more.
  TraceWork& at(std::string_view kind, std::string_view group = "");
  static void add_bytes(TraceWork& work, std::int64_t bytes);
  static void add_time(TraceWork& work, Seconds time);
  // The largest first: by time, bytes and count.
  [[nodiscard]] std::vector<TraceWork> rows() const;

 private:
  std::map<std::pair<std::string, std::string>, TraceWork> rows_;
};

class Facts {
 public:
  void number(std::string key, std::size_t n) {
    facts_.push_back({std::move(key), static_cast<std::int64_t>(n)});
  }
  void number(std::string key, std::int64_t n) { facts_.push_back({std::move(key), n}); }
  void text(std::string key, std::string text) {
    facts_.push_back({std::move(key), std::move(text)});
  }
  void time(std::string key, Seconds time) { facts_.push_back({std::move(key), time}); }
  std::vector<TraceFact> take() { return std::move(facts_); }

 private:
  std::vector<TraceFact> facts_;
};

// "standard input" for "-".
std::string shown_name(const std::string& file);

}  // namespace orrery
