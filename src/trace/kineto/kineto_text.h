// A trace of the PyTorch profiler as text: the members of its header and its events, one after the
// other, byte for byte. The file is read in pieces and may be larger than memory.
//
// For files that kineto.h has already read. Errors are therefore short: the file has changed since
// then, or it is invalid in a value that was not read.
#pragma once

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
    std::string key;        // without quotes, escapes resolved
    std::string_view text;  // valid until the next call of next()
  };

  // With Incomplete::use_what_is_whole, a text that is cut ends at the cut.
  KinetoText(ByteStream stream, std::string name, Incomplete incomplete)
      : window_(std::move(stream), std::move(name)), incomplete_(incomplete) {}

  Result<Piece> next();
  // The errors that the last piece has changed since the file was read, and that it is not JSON at
  // one of its bytes.
  [[nodiscard]] Failure changed() const;
  [[nodiscard]] Failure broken(std::size_t at = 0) const;

 private:
  enum class Place { before, members, events, after };

  // The first byte of the window after a comma, if there is one; '\0' at the end of the text.
  Result<char> behind_comma();
  Result<Piece> member();
  Result<Piece> event();
  Result<Piece> cut();

  TextWindow window_;
  Incomplete incomplete_;
  Place place_ = Place::before;
  std::size_t given_ = 0;  // bytes of the window that contain the last piece
  bool is_list_ = false;
};

}  // namespace orrery
