// A trace of the PyTorch profiler as text: the members of its header and its events, one after the
// other, byte for byte. The file is read in pieces and may be larger than memory.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "outcome/result.h"
#include "trace/byte_stream.h"
#include "trace/incomplete.h"
#include "trace/kineto/text_window.h"

namespace orrery {

class KinetoText {
 public:
  enum class Kind {
    member,           // of the header: `key` and `text`
    begin_of_events,  // `key` is traceEvents; empty if the file consists of the list alone
    event,
    end_of_events,
    end,
  };
  struct Piece {
    Kind kind = Kind::end;
    std::string key = {};        // without quotes, escapes resolved
    std::string_view text = {};  // valid until the next call of next()
  };

  // With Incomplete::use_what_is_whole, a text that is cut among its events ends at the cut.
  KinetoText(ByteStream stream, Incomplete incomplete)
      : window_(std::move(stream)), incomplete_(incomplete) {}

  // Errors, each with its byte: what is no JSON or no such trace, or ends in the middle.
  Result<Piece> next();
  // Instead of next(), inside the list of events: whether another event follows. If so, the window
  // begins with it, and the caller takes it and as many after it as it wants.
  Result<bool> at_event();
  // The text ends where it should not: an error, or the end of what is used.
  Result<void> ends_early(const std::string& inside);
  // Whether the text was cut among its events.
  [[nodiscard]] bool truncated() const { return truncated_; }

  // The text from the first byte that was not taken yet.
  TextWindow& window() { return window_; }
  // An error at the first byte of the window.
  [[nodiscard]] Failure wrong(const std::string& message, const std::string& hint = "") const {
    return bad_input(message, window_.place(), hint);
  }
  // Of a file that was read before: the errors that the last piece has changed since then, and that
  // it is not JSON at one of its bytes.
  [[nodiscard]] Failure changed() const;
  [[nodiscard]] Failure broken(std::size_t at) const;

 private:
  enum class Place { before, members, events, after };

  Result<void> begin();
  Result<Piece> early_end(const std::string& inside);  // of ends_early(), if it is no error
  void begin_events();
  // Takes the closing bracket, or goes behind the comma before what follows.
  Result<bool> closes(char bracket);
  Result<Piece> member();
  Result<Piece> event();
  // Nothing but white space may follow.
  Result<Piece> end();

  TextWindow window_;
  Incomplete incomplete_;
  Place place_ = Place::before;
  std::size_t given_ = 0;  // bytes of the window that contain the last piece
  bool first_ = true;      // of the members or events
  bool is_list_ = false;
  bool any_list_ = false;  // of events was begun
  bool truncated_ = false;
};

}  // namespace orrery
