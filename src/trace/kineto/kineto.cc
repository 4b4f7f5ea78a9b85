#include "trace/kineto/kineto.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "trace/kineto/event_reader.h"
#include "trace/kineto/header.h"
#include "trace/kineto/json_text.h"
#include "trace/kineto/rank_process.h"
#include "trace/kineto/text_window.h"
#include "trace/known_formats.h"

namespace orrery {
namespace {

// Of memory: what an event takes at most, and a text beside its bytes.
constexpr std::uint64_t kMemoryOfEvent = 200;
constexpr std::uint64_t kMemoryOfText = 100;
// `place` has 32 bits.
constexpr std::int64_t kMostEntries = 4'000'000'000;

// Where the last whole event of the window ends, as far as its text alone tells: at the last "},
// {". It may be one inside an event; then its JSON turns out broken, and the brackets are counted.
std::size_t last_seam(std::string_view text) {
  std::size_t open = text.size();
  while (open > 0) {
    open = text.rfind('{', open - 1);
    if (open == std::string_view::npos || open == 0) return 0;
    std::size_t at = open;
    while (at > 0 && is_json_space(text[at - 1])) --at;
    if (at == 0 || text[at - 1] != ',') continue;
    --at;
    while (at > 0 && is_json_space(text[at - 1])) --at;
    if (at > 0 && text[at - 1] == '}') return at;
  }
  return 0;
}

// Where the last whole event ends, by counting brackets from the first one on; 0 if none is whole.
std::size_t last_whole_event(std::string_view text) {
  std::size_t end = 0;
  std::size_t at = 0;
  while (true) {
    while (at < text.size() && is_json_space(text[at])) ++at;
    if (at == text.size() || text[at] == ']') return end;
    at = end_of_json_value(text, at);
    if (at == std::string_view::npos) return end;
    end = at;
    while (at < text.size() && is_json_space(text[at])) ++at;
    if (at == text.size() || text[at] != ',') return end;
    ++at;
  }
}

class FileReader {
 public:
  FileReader(ByteStream stream, const std::string& name, const KinetoOptions& options)
      : window_(std::move(stream), name), options_(options), traces_(1) {}

  Result<std::vector<RecordedTrace>> read();

 private:
  Result<void> header();
  Result<void> member();
  Result<void> header_value(const std::string& key, std::string_view value);
  Result<void> event_list();
  // Nothing but white space may follow.
  Result<void> end_of_file();
  // Reads whole events from the front of the window and gives their bytes; 0 if none is whole.
  Result<std::size_t> read_events();
  // The text ends where it should not: an error, or the end of what is used.
  Result<void> ends_early(const std::string& inside);
  [[nodiscard]] Failure wrong(const std::string& message, const std::string& hint = "") const {
    return bad_input(message, window_.place(), hint);
  }

  TextWindow window_;
  const KinetoOptions& options_;
  std::vector<RecordedTrace> traces_;  // one, or those of the ranks that share the file
  std::optional<EventReader> events_;  // once the list begins
  bool truncated_ = false;
  bool one_by_one_ = false;   // since an event is broken
  std::string other_format_;  // what the file seems to be instead
};

Result<std::vector<RecordedTrace>> FileReader::read() {
  ORRERY_RETURN_IF_ERROR(header());
  if (!events_) {
    return bad_input("no traceEvents: not a trace of the PyTorch profiler", window_.name(),
                     other_format_);
  }
  for (RecordedTrace& trace : traces_) {
    trace.file = window_.name();
    trace.truncated = truncated_;
    trace.base_ns = traces_.front().base_ns;
  }
  if (auto possible = events_->finish(); !possible) {
    return fail(at(window_.name(), std::move(possible).error()));
  }
  return std::move(traces_);
}

Result<void> FileReader::header() {
  ORRERY_TRY(char next, window_.peek());
  if (next == '\xef' && window_.text().starts_with("\xef\xbb\xbf")) {
    window_.take(3);
    ORRERY_TRY(next, window_.peek());
  }
  if (next == '\0' && window_.text().empty()) return ends_early("before it begins");
  if (next != '{') {
    const TraceFormat* format = format_of(window_.text());
    if (next == '[' && (format == &kKineto || format == &kUnknownFormat)) {
      ORRERY_RETURN_IF_ERROR(event_list());
      return end_of_file();
    }
    if (format != &kUnknownFormat) {
      return wrong(
          "this is " + std::string(format->name),
          "a trace of the PyTorch profiler was expected: an object with a list traceEvents");
    }
  }
  const ForeignBytes foreign = foreign_bytes(window_.text());
  if (!foreign.message.empty()) {
    return wrong(std::string(foreign.message), std::string(foreign.hint));
  }
  if (next != '{') {
    return wrong("not JSON", "a trace of the PyTorch profiler begins with {, or is gzip of that");
  }
  window_.take(1);
  bool first = true;
  while (!truncated_) {
    ORRERY_TRY(next, window_.peek());
    if (next == '}') {
      window_.take(1);
      return end_of_file();
    }
    if (!first && next == ',') {
      window_.take(1);
      ORRERY_TRY(next, window_.peek());
    } else if (!first && !window_.text().empty()) {
      return wrong("not JSON: a comma or } is missing");
    }
    first = false;
    ORRERY_RETURN_IF_ERROR(member());
  }
  return {};
}

Result<void> FileReader::end_of_file() {
  if (truncated_) return {};
  ORRERY_TRY([[maybe_unused]] const char next, window_.peek());
  if (!window_.text().empty() && !events_) {
    return wrong(
        "not a trace of the PyTorch profiler: an object without traceEvents ends here, "
        "and more follows");
  }
  if (!window_.text().empty()) {
    return wrong("something follows the end of the trace", "one file holds one trace");
  }
  if (window_.stream().truncated()) return ends_early("in the middle of the gzip stream");
  return {};
}

Result<void> FileReader::member() {
  if (window_.text().empty()) return ends_early("in the header");
  if (window_.text().front() != '"') return wrong("not JSON: a key is missing");
  ORRERY_TRY(const std::string_view token, window_.value());
  if (token.empty()) return ends_early("in a key");
  std::string buffer;
  const std::string key(plain_text(token, buffer));
  window_.take(token.size());
  ORRERY_TRY(char next, window_.peek());
  if (window_.text().empty()) return ends_early("in the header");
  if (next != ':')
    return wrong("not JSON: a colon is missing behind \"" + key.substr(0, 100) + "\"");
  window_.take(1);
  ORRERY_TRY(next, window_.peek());
  if (window_.text().empty()) return ends_early("in the header");
  if (key == "traceEvents" && next == '[') {
    if (events_) return wrong("a second list traceEvents", "one file holds one trace");
    return event_list();
  }
  ORRERY_TRY(const std::string_view value, window_.value());
  if (value.empty() && (next == ',' || next == '}' || next == ']')) {
    return wrong("not JSON: \"" + key.substr(0, 100) + "\" has no value");
  }
  if (value.empty()) return ends_early("in the value of \"" + key.substr(0, 100) + "\"");
  if (key == "nodes" || key == "schema") {
    other_format_ = "it looks like a host execution trace of PyTorch";
  }
  if (auto read = header_value(key, value); !read) {
    return fail(at(window_.place(), std::move(read).error()));
  }
  window_.take(value.size());
  return {};
}

Result<void> FileReader::header_value(const std::string& key, std::string_view value) {
  if (key == kRanksKey) {
    if (events_) {
      return bad_input(std::string(kRanksKey) + " stands behind the events", "",
                       "which ranks there are must be known before");
    }
    const std::int64_t base = traces_.front().base_ns;
    ORRERY_TRY(traces_, read_header_of_ranks(value));
    traces_.front().base_ns = base;
    return {};
  }
  // Of several ranks each has its own.
  const bool is_base = key == "baseTimeNanoseconds";
  if (!is_header_key(key) || (traces_.size() > 1 && !is_base)) return {};
  return read_header_value(key, value, traces_.front());
}

Result<void> FileReader::event_list() {
  events_.emplace(traces_, options_);
  window_.take(1);
  for (bool first = true;; first = false) {
    ORRERY_TRY(char next, window_.peek());
    if (next == ']') {
      window_.take(1);
      return {};
    }
    if (!first && next == ',') {
      window_.take(1);
      ORRERY_TRY(next, window_.peek());
    } else if (!first && !window_.text().empty()) {
      return wrong("not JSON: a comma or ] is missing");
    }
    while (true) {
      if (window_.text().size() < TextWindow::kBlock / 2) {
        ORRERY_TRY([[maybe_unused]] const bool any, window_.more());
      }
      if (window_.text().empty()) return ends_early("in the middle of its events");
      if (window_.text().front() != '{') return wrong("not an event: { is missing");
      ORRERY_TRY(const std::size_t read, read_events());
      window_.take(read);
      if (read > 0) break;
      ORRERY_TRY(const bool any, window_.more());
      if (!any) return ends_early("in the middle of an event");
    }
    if (options_.interrupted != nullptr && options_.interrupted->load()) {
      return fail(ErrorCode::io, "interrupted", window_.name());
    }
    if (options_.progress) {
      options_.progress(window_.stream().taken(), window_.stream().file_size());
    }
  }
}

Result<std::size_t> FileReader::read_events() {
  using Fault = EventReader::Fault;
  const auto refuse = [&](const EventReader::Outcome& outcome) {
    const bool packed = outcome.hint.empty() && window_.stream().compressed();
    return bad_input(
        outcome.message, window_.place(outcome.fault_at),
        packed ? "of the unpacked text; gzip -t checks whether the file is damaged" : outcome.hint);
  };
  std::uint64_t held = 0;
  for (const RecordedTrace& trace : traces_) {
    held += kMemoryOfEvent * trace.size() + kMemoryOfText * trace.texts.size();
  }
  ORRERY_RETURN_IF_ERROR(window_.stream().allow(held));
  const bool too_many = std::ranges::any_of(
      traces_, [](const RecordedTrace& trace) { return trace.entries > kMostEntries; });
  if (too_many) return wrong("more than 4 billion events", "record fewer steps");
  if (!one_by_one_) {
    const std::string_view text = window_.text();
    const std::size_t seam = last_seam(text);
    std::size_t whole = seam > 0 ? seam : last_whole_event(text);
    if (whole == 0) return 0;
    EventReader::Outcome outcome = events_->read(window_.data(), whole);
    if (outcome.fault == Fault::content) return refuse(outcome);
    if (outcome.read > 0) return outcome.read;
    if (seam > 0) {
      // The seam may lie inside an event.
      whole = last_whole_event(text);
      if (whole == 0) return 0;
      outcome = events_->read(window_.data(), whole);
      if (outcome.fault == Fault::content) return refuse(outcome);
      if (outcome.read > 0) return outcome.read;
    }
    // One of these events is broken, so that none could be read: find out which.
    one_by_one_ = true;
  }
  const std::size_t end = end_of_json_value(window_.text(), 0);
  if (end == std::string_view::npos) return 0;
  const EventReader::Outcome outcome = events_->read(window_.data(), end);
  if (outcome.fault != Fault::none) return refuse(outcome);
  return end;
}

Result<void> FileReader::ends_early(const std::string& inside) {
  if (events_ && options_.incomplete == Incomplete::use_what_is_whole) {
    truncated_ = true;
    return {};
  }
  return bad_input(
      std::string(window_.stream().truncated() ? "the gzip stream" : "the file") + " ends " +
          inside,
      window_.place(window_.text().size()),
      events_ ? "a job that is killed leaves such files; --partial uses what is whole" : "");
}

Result<RecordedTrace> only_one(std::vector<RecordedTrace> ranks) {
  if (ranks.size() == 1) return std::move(ranks.front());
  return unsupported("holds " + std::to_string(ranks.size()) + " ranks", ranks.front().file,
                     "a file of one rank is needed here");
}

}  // namespace

Result<std::vector<RecordedTrace>> read_kineto_ranks(const std::string& file,
                                                     const KinetoOptions& options) {
  ORRERY_TRY(ByteStream stream, ByteStream::open(file));
  return FileReader(std::move(stream), file == "-" ? "standard input" : file, options).read();
}

Result<std::vector<RecordedTrace>> read_kineto_ranks_bytes(std::string_view bytes,
                                                           const std::string& name,
                                                           const KinetoOptions& options) {
  ORRERY_TRY(ByteStream stream, ByteStream::of(bytes, name));
  return FileReader(std::move(stream), name, options).read();
}

Result<RecordedTrace> read_kineto(const std::string& file, const KinetoOptions& options) {
  ORRERY_TRY(std::vector<RecordedTrace> ranks, read_kineto_ranks(file, options));
  return only_one(std::move(ranks));
}

Result<RecordedTrace> read_kineto_bytes(std::string_view bytes, const std::string& name,
                                        const KinetoOptions& options) {
  ORRERY_TRY(std::vector<RecordedTrace> ranks, read_kineto_ranks_bytes(bytes, name, options));
  return only_one(std::move(ranks));
}

}  // namespace orrery
