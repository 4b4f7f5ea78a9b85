#include "trace/kineto/kineto_text.h"

#include <utility>

#include "trace/kineto/json_text.h"

namespace orrery {

Failure KinetoText::changed() const {
  return bad_input(
      "not what was read before", window_.place(),
      "the file changed meanwhile, or is not JSON in a value that reading it passes over");
}

Failure KinetoText::broken(std::size_t at) const {
  return bad_input(
      "not JSON", window_.place(at),
      "what reading passes over is copied here and has to be JSON; from standard input only "
      "what was read is written");
}

Result<KinetoText::Piece> KinetoText::cut() {
  if (incomplete_ == Incomplete::refuse) return broken();
  place_ = Place::after;
  return Piece{};
}

Result<char> KinetoText::behind_comma() {
  ORRERY_TRY(char next, window_.peek());
  if (next != ',') return next;
  window_.take(1);
  ORRERY_TRY(next, window_.peek());
  return next;
}

Result<KinetoText::Piece> KinetoText::next() {
  window_.take(std::exchange(given_, 0));
  if (place_ == Place::before) {
    ORRERY_TRY(char next, window_.peek());
    if (next == '\xef' && window_.text().starts_with("\xef\xbb\xbf")) {
      window_.take(3);
      ORRERY_TRY(next, window_.peek());
    }
    if (next != '{' && next != '[') return broken();
    window_.take(1);
    is_list_ = next == '[';
    place_ = is_list_ ? Place::events : Place::members;
    if (is_list_) return Piece{Kind::begin_of_events, "", ""};
  }
  if (place_ == Place::events) return event();
  if (place_ == Place::after) return Piece{};
  return member();
}

Result<KinetoText::Piece> KinetoText::member() {
  ORRERY_TRY(char next, behind_comma());
  if (window_.text().empty()) return cut();
  if (next == '}') {
    window_.take(1);
    place_ = Place::after;
    return Piece{};
  }
  if (next != '"') return broken();
  ORRERY_TRY(const std::string_view key, window_.value());
  if (key.empty()) return cut();
  std::string buffer;
  Piece out{Kind::member, std::string(plain_text(key, buffer)), ""};
  window_.take(key.size());
  ORRERY_TRY(next, window_.peek());
  if (window_.text().empty()) return cut();
  if (next != ':') return broken();
  window_.take(1);
  ORRERY_TRY(next, window_.peek());
  if (window_.text().empty()) return cut();
  if (next == '[' && out.key == "traceEvents") {
    window_.take(1);
    place_ = Place::events;
    out.kind = Kind::begin_of_events;
    return out;
  }
  ORRERY_TRY(out.text, window_.value());
  if (out.text.empty()) return cut();
  given_ = out.text.size();
  return out;
}

Result<KinetoText::Piece> KinetoText::event() {
  ORRERY_TRY(const char next, behind_comma());
  if (window_.text().empty()) return cut();
  if (next == ']') {
    window_.take(1);
    place_ = is_list_ ? Place::after : Place::members;
    return Piece{Kind::end_of_events, "", ""};
  }
  if (next != '{') return broken();
  ORRERY_TRY(const std::string_view text, window_.value());
  if (text.empty()) return cut();
  given_ = text.size();
  return Piece{Kind::event, "", text};
}

}  // namespace orrery
