// The events of one rank as Chrome Trace Event JSON, from the columns of its recording.
//
// A piece of a list of events: what writes the file puts the brackets and the header around it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "trace/kineto/rank_process.h"
#include "trace/piece_writer.h"
#include "trace/recorded_trace.h"

namespace orrery {

// The text of a file, or the end of it that is not written yet.
struct JsonText {
  std::string text;
  PieceWriter* file = nullptr;  // nullptr: all stays in memory
  bool any_event = false;

  void next_event();
  void drain();
};

class RankEvents {
 public:
  // `shift_ns` is added to all times.
  RankEvents(const RecordedTrace& trace, std::int64_t shift_ns, const PlaceInFile& place,
             JsonText& out)
      : trace_(trace), shift_ns_(shift_ns), place_(place), json_(out), out_(out.text) {}

  void all();
  // Arrows from calls to the work that they launched.
  void launches();
  // Of processes that have none, with the rank, where several share the file.
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
