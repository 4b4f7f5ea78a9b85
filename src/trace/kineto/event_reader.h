// Turns pieces of Kineto's list of events into the columns of a RecordedTrace.
//
// simdjson indexes a piece; each event is walked once, its keys in whatever order, and appended.
// What refers to other events (names of rows, arrows, the base of times) waits for finish().
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "trace/kineto/kineto.h"
#include "trace/recorded_trace.h"

namespace orrery {

class EventReader {
 public:
  // Of one rank, or of the ranks that share the file (rank_process.h). They outlive the reader.
  EventReader(std::vector<RecordedTrace>& ranks, const KinetoOptions& options);
  EventReader(const EventReader&) = delete;
  EventReader& operator=(const EventReader&) = delete;
  ~EventReader();

  enum class Fault {
    none,
    syntax,   // of the JSON, or the piece ends inside an event
    content,  // a value that no trace can have
  };
  struct Outcome {
    std::size_t read = 0;  // bytes of whole events and the space behind them
    Fault fault = Fault::none;
    std::size_t fault_at = 0;
    std::string message;
    std::string hint;
  };

  // Reads events separated by commas. The byte before `text` and 64 behind `size` must be
  // writable or readable; they are as before when it returns.
  Outcome read(char* text, std::size_t size);

  // Brings everything into its final form: order, rows' names, arrows, the base of times. An error
  // if the times cannot be of one recording (possible_times.h).
  Result<void> finish();

 private:
  struct Rank;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace orrery
