// Turns pieces of Kineto's list of events into the columns of a RecordedTrace.
//
// simdjson indexes a piece; the keys of each event are read once, in any order, and the event is
// appended. Whatever refers to other events (names of rows, arrows, the base of times) is resolved
// by finish().
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "trace/kineto/kineto.h"
#include "trace/recorded_trace.h"

namespace orrery {

class EventReader {
 public:
  // `ranks`: one, or all that share the file (rank_process.h). They must outlive the reader.
  EventReader(std::vector<RecordedTrace>& ranks, const KinetoOptions& options);
  EventReader(const EventReader&) = delete;
  EventReader& operator=(const EventReader&) = delete;
  ~EventReader();

  enum class Fault {
    none,
    syntax,   // the JSON is invalid, or the piece ends inside an event
    content,  // a value that no trace can have
  };
  struct Outcome {
    std::size_t read = 0;  // bytes of complete events and the space after them
    Fault fault = Fault::none;
    std::size_t fault_at = 0;
    std::string message;
    std::string hint;
  };

  // Reads events separated by commas. The bytes before `text` and after its end are overwritten
  // with brackets and restored; kPadding bytes (text_window.h) after the end must be readable.
  Outcome read(char* text, std::size_t size);

  // Brings everything into its final form: order, names of rows, arrows, the base of times. Error:
  // the times cannot belong to one recording (possible_times.h).
  Result<void> finish();

 private:
  struct Rank;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace orrery
