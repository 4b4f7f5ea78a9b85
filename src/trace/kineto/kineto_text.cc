#include "trace/kineto/kineto_text.h"

#include <utility>

#include "trace/kineto/json_text.h"
#include "trace/known_formats.h"

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

Result<void> KinetoText::ends_early(const std::string& inside) {
  if (any_list_ && incomplete_ == Incomplete::use_what_is_whole) {
    truncated_ = true;
    place_ = Place::after;
    return {};
  }
  return bad_input(
      std::string(window_.stream().truncated() ? "the gzip stream" : "the file") + " ends " +
          inside,
      window_.place(window_.text().size()),
      any_list_ ? "a job that is killed leaves such files; --partial uses what is whole" : "");
}

Result<KinetoText::Piece> KinetoText::early_end(const std::string& inside) {
  return ends_early(inside).map([] { return Piece{}; });
}

Result<bool> KinetoText::closes(char bracket) {
  ORRERY_TRY(const char next, window_.peek());
  const bool first = std::exchange(first_, false);
  if (next == bracket) {
    window_.take(1);
    return true;
  }
  if (!first && !window_.text().empty()) {
    if (next != ',') return wrong(std::string("not JSON: a comma or ") + bracket + " is missing");
    window_.take(1);
    ORRERY_TRY([[maybe_unused]] const char behind, window_.peek());
  }
  return false;
}

Result<KinetoText::Piece> KinetoText::next() {
  window_.take(std::exchange(given_, 0));
  if (place_ == Place::before) {
    ORRERY_RETURN_IF_ERROR(begin());
    if (is_list_) return Piece{Kind::begin_of_events};
  }
  if (place_ == Place::members) return member();
  return place_ == Place::events ? event() : end();
}

Result<void> KinetoText::begin() {
  ORRERY_TRY(char next, window_.peek());
  if (next == '\xef' && window_.text().starts_with("\xef\xbb\xbf")) {
    window_.take(3);
    ORRERY_TRY(next, window_.peek());
  }
  if (window_.text().empty()) return ends_early("before it begins");
  if (next != '{') {
    const TraceFormat* format = format_of(window_.text());
    is_list_ = next == '[' && (format == &kKineto || format == &kUnknownFormat);
    if (!is_list_ && format != &kUnknownFormat) {
      return wrong(
          "this is " + std::string(format->name),
          "a trace of the PyTorch profiler was expected: an object with a list traceEvents");
    }
  }
  const ForeignBytes foreign = foreign_bytes(window_.text());
  if (!is_list_ && !foreign.message.empty()) {
    return wrong(std::string(foreign.message), std::string(foreign.hint));
  }
  if (!is_list_ && next != '{') {
    return wrong("not JSON", "a trace of the PyTorch profiler begins with {, or is gzip of that");
  }
  place_ = Place::members;
  window_.take(1);
  if (is_list_) begin_events();
  return {};
}

void KinetoText::begin_events() {
  place_ = Place::events;
  any_list_ = true;
  first_ = true;
}

Result<KinetoText::Piece> KinetoText::member() {
  ORRERY_TRY(const bool closed, closes('}'));
  if (closed) {
    place_ = Place::after;
    return end();
  }
  if (window_.text().empty()) return early_end("in the header");
  if (window_.text().front() != '"') return wrong("not JSON: a key is missing");
  ORRERY_TRY(const std::string_view key, window_.value());
  if (key.empty()) return early_end("in a key");
  std::string buffer;
  Piece out{Kind::member, std::string(plain_text(key, buffer))};
  const std::string shown = "\"" + out.key.substr(0, 100) + "\"";
  window_.take(key.size());
  ORRERY_TRY(char next, window_.peek());
  if (window_.text().empty()) return early_end("in the header");
  if (next != ':') return wrong("not JSON: a colon is missing behind " + shown);
  window_.take(1);
  ORRERY_TRY(next, window_.peek());
  if (window_.text().empty()) return early_end("in the header");
  if (next == '[' && out.key == "traceEvents") {
    if (any_list_) return wrong("a second list traceEvents", "one file holds one trace");
    window_.take(1);
    begin_events();
    out.kind = Kind::begin_of_events;
    return out;
  }
  ORRERY_TRY(out.text, window_.value());
  if (out.text.empty() && (next == ',' || next == '}' || next == ']')) {
    return wrong("not JSON: " + shown + " has no value");
  }
  if (out.text.empty()) return early_end("in the value of " + shown);
  given_ = out.text.size();
  return out;
}

Result<bool> KinetoText::at_event() {
  ORRERY_TRY(const bool closed, closes(']'));
  if (closed) {
    place_ = is_list_ ? Place::after : Place::members;
    return false;
  }
  if (window_.text().empty()) {
    ORRERY_RETURN_IF_ERROR(ends_early("in the middle of its events"));
    return false;
  }
  if (window_.text().front() != '{') return wrong("not an event: { is missing");
  return true;
}

Result<KinetoText::Piece> KinetoText::event() {
  ORRERY_TRY(const bool any, at_event());
  if (!any) return Piece{truncated_ ? Kind::end : Kind::end_of_events};
  ORRERY_TRY(const std::string_view text, window_.value());
  if (text.empty()) return early_end("in the middle of an event");
  given_ = text.size();
  return Piece{Kind::event, "", text};
}

Result<KinetoText::Piece> KinetoText::end() {
  if (truncated_) return Piece{};
  ORRERY_TRY([[maybe_unused]] const char next, window_.peek());
  if (!window_.text().empty() && !any_list_) {
    return wrong(
        "not a trace of the PyTorch profiler: an object without traceEvents ends here, "
        "and more follows");
  }
  if (!window_.text().empty()) {
    return wrong("something follows the end of the trace", "one file holds one trace");
  }
  return window_.stream().truncated() ? early_end("in the middle of the gzip stream") : Piece{};
}

}  // namespace orrery
