// The events of one rank as Chrome Trace Event JSON, from the columns of its recording.
//
// Writes part of a list of events; the caller adds its brackets and the header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "trace/kineto/rank_process.h"
#include "trace/piece_writer.h"
#include "trace/recorded_trace.h"

namespace orrery {

// The text of a file, or the part of it that has not been written yet.
struct JsonText {
  std::string text;
  PieceWriter* file = nullptr;  // nullptr: the whole text stays in memory
  bool any_event = false;

  void next_event();
  void drain();
};

class RankEvents {
 public:
  // Adds `shift_ns` to all times.
  RankEvents(const RecordedTrace& trace, std::int64_t shift_ns, const PlaceInFile& place,
             JsonText& out)
      : trace_(trace), shift_ns_(shift_ns), place_(place), json_(out), out_(out.text) {}

  void all();
  // Arrows from runtime calls to the kernels and copies that they launched.
  void launches();
  // Names with the rank for processes without a name, if several ranks share the file.
  void nameless_processes();

 private:
  void event(std::size_t e);
  void arrow(std::string_view flow, bool start, std::int64_t id, std::size_t e);
  void forward_to_backward();
  void allocations();
  void names();
  void process_label(const Lane& lane);
  void label(std::string_view what, const Lane& lane, std::string_view name);
  void row(const Lane& lane);
  void process(std::int64_t number, std::string_view name);
  void time(std::int64_t ns);

  const RecordedTrace& trace_;
  std::int64_t shift_ns_;
  PlaceInFile place_;
  JsonText& json_;
  std::string& out_;  // of json_
};

}  // namespace orrery
