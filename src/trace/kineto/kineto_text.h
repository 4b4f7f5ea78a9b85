// A trace of the PyTorch profiler as text: the members of its header and its events, one after the
// other, byte for byte, piece by piece of a file larger than memory.
//
// Of files that kineto.h has read: what it would refuse is an error here too, but a short one. The
// file has changed since, or is broken in a value that was not read then.
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
    begin_of_events,  // `key` is traceEvents; empty of a file that is nothing but its list
    event,
    end_of_events,
    end,
  };
  struct Piece {
    Kind kind = Kind::end;
    std::string key;        // without its quotes and escapes
    std::string_view text;  // until the next piece is asked for
  };

  // With Incomplete::use_what_is_whole a text that is cut ends where it is cut.
  KinetoText(ByteStream stream, std::string name, Incomplete incomplete)
      : window_(std::move(stream), std::move(name)), incomplete_(incomplete) {}

  Result<Piece> next();
  // That the last piece is not what it was when the file was read; that it is no JSON at one of its
  // bytes.
  [[nodiscard]] Failure changed() const;
  [[nodiscard]] Failure broken(std::size_t at = 0) const;

 private:
  enum class Place { before, members, events, after };

  // The first byte of the window behind a comma, if there is one; '\0' at the end of the text.
  Result<char> behind_comma();
  Result<Piece> member();
  Result<Piece> event();
  Result<Piece> cut();

  TextWindow window_;
  Incomplete incomplete_;
  Place place_ = Place::before;
  std::size_t given_ = 0;  // bytes of the window that the last piece lies in
  bool is_list_ = false;
};

}  // namespace orrery
