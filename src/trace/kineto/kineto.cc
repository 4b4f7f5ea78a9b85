#include "trace/kineto/kineto.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "trace/kineto/event_reader.h"
#include "trace/kineto/header.h"
#include "trace/kineto/kineto_text.h"
#include "trace/kineto/rank_process.h"
#include "trace/kineto/text_window.h"

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

class FileReader {
 public:
  FileReader(ByteStream stream, const KinetoOptions& options)
      : text_(std::move(stream), options.incomplete), options_(options), traces_(1) {}

  Result<std::vector<RecordedTrace>> read() {
    using Kind = KinetoText::Kind;
    while (true) {
      ORRERY_TRY(const KinetoText::Piece piece, text_.next());
      if (piece.kind == Kind::end) break;
      if (piece.kind == Kind::begin_of_events) {
        events_.emplace(traces_, options_);
        ORRERY_RETURN_IF_ERROR(event_list());
        continue;
      }
      if (piece.key == "nodes" || piece.key == "schema") {
        other_format_ = "it looks like a host execution trace of PyTorch";
      }
      ORRERY_RETURN_IF_ERROR(at(window().place(), header_value(piece.key, piece.text)));
    }
    if (!events_) {
      return bad_input("no traceEvents: not a trace of the PyTorch profiler",
                       window().stream().name(), other_format_);
    }
    for (RecordedTrace& trace : traces_) {
      trace.file = window().stream().name();
      trace.truncated = text_.truncated();
      trace.base_ns = traces_.front().base_ns;
    }
    ORRERY_RETURN_IF_ERROR(at(window().stream().name(), events_->finish()));
    return std::move(traces_);
  }

 private:
  TextWindow& window() { return text_.window(); }

  Result<void> header_value(const std::string& key, std::string_view value) {
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

  Result<void> event_list() {
    while (true) {
      ORRERY_TRY(const bool more, text_.at_event());
      if (!more) return {};
      while (true) {
        if (window().text().size() < TextWindow::kBlock / 2) {
          ORRERY_TRY([[maybe_unused]] const bool any, window().more());
        }
        ORRERY_TRY(const std::size_t read, read_events());
        window().take(read);
        if (read > 0) break;
        ORRERY_TRY(const bool any, window().more());
        if (any) continue;
        return text_.ends_early("in the middle of an event");
      }
      if (options_.interrupted != nullptr && options_.interrupted->load()) {
        return fail(ErrorCode::io, "interrupted", window().stream().name());
      }
      if (options_.progress) {
        options_.progress(window().stream().taken(), window().stream().file_size());
      }
    }
  }

  // Reads whole events from the front of the window and gives their bytes; 0 if none is whole.
  Result<std::size_t> read_events() {
    using Fault = EventReader::Fault;
    const auto refuse = [&](const EventReader::Outcome& outcome) {
      const bool packed = outcome.hint.empty() && window().stream().compressed();
      return bad_input(outcome.message, window().place(outcome.fault_at),
                       packed ? "of the unpacked text; gzip -t checks whether the file is damaged"
                              : outcome.hint);
    };
    std::uint64_t held = 0;
    for (const RecordedTrace& trace : traces_) {
      held += kMemoryOfEvent * trace.size() + kMemoryOfText * trace.texts.size();
    }
    ORRERY_RETURN_IF_ERROR(window().stream().allow(held));
    const bool too_many = std::ranges::any_of(
        traces_, [](const RecordedTrace& trace) { return trace.entries > kMostEntries; });
    if (too_many) return text_.wrong("more than 4 billion events", "record fewer steps");
    if (!one_by_one_) {
      const std::string_view text = window().text();
      const std::size_t seam = last_seam(text);
      std::size_t whole = seam > 0 ? seam : last_whole_event(text);
      if (whole == 0) return 0;
      EventReader::Outcome outcome = events_->read(window().data(), whole);
      if (outcome.fault == Fault::content) return refuse(outcome);
      if (outcome.read > 0) return outcome.read;
      if (seam > 0) {
        // The seam may lie inside an event.
        whole = last_whole_event(text);
        if (whole == 0) return 0;
        outcome = events_->read(window().data(), whole);
        if (outcome.fault == Fault::content) return refuse(outcome);
        if (outcome.read > 0) return outcome.read;
      }
      // One of these events is broken, so that none could be read: find out which.
      one_by_one_ = true;
    }
    const std::size_t end = end_of_json_value(window().text(), 0);
    if (end == std::string_view::npos) return 0;
    const EventReader::Outcome outcome = events_->read(window().data(), end);
    if (outcome.fault != Fault::none) return refuse(outcome);
    return end;
  }

  KinetoText text_;
  const KinetoOptions& options_;
  std::vector<RecordedTrace> traces_;  // one, or those of the ranks that share the file
  std::optional<EventReader> events_;  // once the list begins
  bool one_by_one_ = false;            // since an event is broken
  std::string other_format_;           // what the file seems to be instead
};

}  // namespace

Result<std::vector<RecordedTrace>> read_kineto_ranks(ByteStream stream,
                                                     const KinetoOptions& options) {
  return FileReader(std::move(stream), options).read();
}

Result<std::vector<RecordedTrace>> read_kineto_ranks(const std::string& file,
                                                     const KinetoOptions& options) {
  ORRERY_TRY(ByteStream stream, ByteStream::open(file));
  return read_kineto_ranks(std::move(stream), options);
}

}  // namespace orrery
