#include "trace/perfetto/rewritten_recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "document/json_fault.h"
#include "trace/kineto/event_category.h"
#include "trace/kineto/event_keys.h"
#include "trace/kineto/header.h"
#include "trace/kineto/json_members.h"
#include "trace/kineto/json_text.h"
#include "trace/kineto/kineto_text.h"
#include "trace/kineto/number_text.h"
#include "trace/kineto/open_events.h"
#include "trace/kineto/rank_process.h"
#include "trace/perfetto/event_arguments.h"
#include "trace/perfetto/json_values.h"
#include "trace/perfetto/rank_events.h"
#include "trace/perfetto/run_header.h"
#include "trace/piece_writer.h"

namespace orrery {
namespace {

// One event of a profiler's file as text, with only the necessary changes.

// The raw values of an event's own keys, with their quotes. If a key occurs twice, the last one
// counts. Only `args` may be an object, and it may be nothing else.
struct EventText {
  std::string_view text;
  std::array<std::string_view, kEventKeys> value{};

  std::string_view operator[](EventKey key) const { return value[static_cast<std::size_t>(key)]; }
};

struct EventChanges {
  std::int64_t shift_ns = 0;          // added to times
  std::optional<PlaceInFile> shared;  // process, its name and arrows are written as in shared files
  std::optional<std::int64_t> rank;   // of an event without a process
  std::string added_arguments;        // members of an object, written before the existing ones
};

// Copies a text from its beginning, but for the values that are replaced.
class EventCopy {
 public:
  EventCopy(std::string_view text, std::string& out) : text_(text), out_(out) {}

  void replace(std::string_view value, std::string_view with) {
    before(place_of(value));
    out_ += with;
    copied_ += value.size();
  }
  // Behind the opening brace of an object.
  void insert(std::string_view object, std::string_view members) {
    before(place_of(object) + 1);
    out_ += members;
    JsonMembers inside(object);
    if (inside.next()) out_ += ", ";
  }
  void rest() { out_ += text_.substr(copied_); }

 private:
  [[nodiscard]] std::size_t place_of(std::string_view part) const {
    return static_cast<std::size_t>(part.data() - text_.data());
  }
  void before(std::size_t at) {
    out_ += text_.substr(copied_, at - copied_);
    copied_ = at;
  }

  std::string_view text_;
  std::string& out_;
  std::size_t copied_ = 0;
};

// As the reader has it (kineto/raw_event.cc): arguments are an object, and nothing else is.
bool is_read(EventKey key, std::string_view value) {
  return value.starts_with('{') == (key == EventKey::arguments);
}

// "python" as "rank 3 python"; without a name, a viewer's row says the rank all the same.
void rename_process(std::string_view arguments, std::int64_t rank, EventCopy& copy) {
  JsonMembers members(arguments);
  while (const auto member = members.next()) {
    if (member->key != "name" || !member->value.starts_with('"')) continue;
    copy.replace(member->value,
                 "\"rank " + std::to_string(rank) + " " + std::string(member->value.substr(1)));
  }
}

// `event` must be JSON.
EventText event_text(std::string_view event) {
  EventText out;
  out.text = event;
  JsonMembers members(event);
  while (const auto member = members.next()) {
    const EventKey key = event_key(member->key);
    if (key == EventKey::unknown || !is_read(key, member->value)) continue;
    out.value[static_cast<std::size_t>(key)] = member->value;
  }
  return out;
}

// Appends the event with times, process and identifier changed and arguments added. Everything else
// is copied byte for byte.
void append_rewritten(const EventText& event, const EventChanges& changes, std::string& out) {
  const std::string_view arguments = event[EventKey::arguments];
  const bool has_arguments = !arguments.empty();
  EventCopy copy(event.text, out);
  std::string in_front;
  if (changes.rank && event[EventKey::process].empty()) {
    in_front = "\"pid\": " + shared_process_token("", *changes.rank);
  }
  if (!changes.added_arguments.empty() && !has_arguments) {
    in_front += in_front.empty() ? "" : ", ";
    in_front += "\"args\": {" + changes.added_arguments + "}";
  }
  if (!in_front.empty()) copy.insert(event.text, in_front);
  const bool names_process =
      event[EventKey::phase] == "\"M\"" && event[EventKey::name] == "\"process_name\"";
  JsonMembers members(event.text);
  while (const auto member = members.next()) {
    const EventKey key = event_key(member->key);
    if (!is_read(key, member->value)) continue;
    switch (key) {
      case EventKey::start:
        if (changes.shift_ns != 0) {
          copy.replace(member->value, later_microseconds(member->value, changes.shift_ns));
        }
        break;
      case EventKey::process:
        if (changes.shared) {
          copy.replace(member->value, shared_process_token(member->value, changes.shared->rank));
        }
        break;
      case EventKey::flow_id:
        if (changes.shared) {
          copy.replace(member->value, shared_flow(member->value, *changes.shared));
        }
        break;
      case EventKey::arguments:
        if (!changes.added_arguments.empty() && member->value.data() == arguments.data()) {
          copy.insert(member->value, changes.added_arguments);
        }
        if (changes.shared && names_process) {
          rename_process(member->value, changes.shared->rank, copy);
        }
        break;
      default:
        if (changes.shared && member->key == "bind_id") {
          copy.replace(member->value, shared_flow(member->value, *changes.shared));
        }
        break;
    }
  }
  copy.rest();
}

constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();

std::string_view unquoted(std::string_view token) {
  const bool quoted = token.size() > 1 && token.front() == '"' && token.back() == '"';
  return quoted ? token.substr(1, token.size() - 2) : token;
}

std::optional<std::int64_t> start_of(const EventText& event) {
  return nanoseconds_of(unquoted(event[EventKey::start]));
}

// A rank of a file, and how far its events were met.
struct SourceRank {
  std::size_t in_run = 0;
  std::int64_t entries = 0;
  bool any_arrow = false;
  // What its times in the new file are later than in its own; the first event with a time that the
  // columns have tells.
  std::int64_t shift_ns = 0;
  std::int64_t timed_place = -1;
  std::int64_t timed_ns = 0;            // since 1970, corrected
  std::vector<bool> kept;               // places of events in the columns, where some are left out
  OpenEvents open;                      // `event` is kNoEvent of those that are not written
  std::vector<std::uint32_t> event_at;  // by place, where arguments may be added

  SourceRank(const RecordedTrace& trace, std::size_t which, Incomplete incomplete, bool linked)
      : in_run(which) {
    const auto met = [&](std::uint32_t place, std::int64_t time_ns) {
      if (timed_place >= 0 && place >= timed_place) return;
      timed_place = place;
      timed_ns = trace.base_ns + time_ns;
    };
    for (std::size_t e = 0; e < trace.size(); ++e) met(trace.place[e], trace.start_ns[e]);
    for (const MemoryEvent& m : trace.memory) met(m.place, m.time_ns);
    const auto count = static_cast<std::size_t>(trace.entries);
    if (incomplete == Incomplete::use_what_is_whole) {
      kept.resize(count);
      for (const std::uint32_t place : trace.place) kept[place] = true;
      for (const MemoryEvent& m : trace.memory) kept[m.place] = true;
    }
    if (linked) {
      event_at.resize(count, kNowhere);
      for (std::size_t e = 0; e < trace.size(); ++e) {
        event_at[trace.place[e]] = static_cast<std::uint32_t>(e);
      }
    }
  }
};

// The ranks of one file in their order there, and whose event is whose: as EventReader has it.
class SourceRanks {
 public:
  SourceRanks(const RecordedRun& run, const std::string& file, Incomplete incomplete)
      : run_(run), file_(file) {
    for (std::size_t i = 0; i < run.ranks.size(); ++i) {
      if (run.ranks[i].file != file) continue;
      ranks_.emplace_back(run.ranks[i], i, incomplete, i < run.hosts.size() && run.hosts[i]);
    }
  }

  // The list of ranks in the file's header.
  Result<void> order(std::string_view json) {
    ORRERY_TRY(const std::vector<RecordedTrace> listed, read_header_of_ranks(json));
    const auto number = [&](const SourceRank& rank) { return run_.ranks[rank.in_run].rank; };
    for (std::size_t i = 0; i < std::min(listed.size(), ranks_.size()); ++i) {
      const auto it =
          std::find_if(ranks_.begin() + static_cast<std::ptrdiff_t>(i), ranks_.end(),
                       [&](const SourceRank& r) { return number(r) == listed[i].rank; });
      if (it != ranks_.end()) std::iter_swap(ranks_.begin() + static_cast<std::ptrdiff_t>(i), it);
    }
    last_ = nullptr;
    return {};
  }

  // nullptr: of none of them.
  SourceRank* of(std::string_view process) {
    if (ranks_.size() == 1 || process.empty()) return &ranks_.front();
    if (last_ != nullptr && process == last_process_) return last_;
    const auto found = rank_process(process);
    if (!found) return nullptr;
    for (SourceRank& rank : ranks_) {
      if (run_.ranks[rank.in_run].rank != found->rank) continue;
      last_process_ = process;
      last_ = &rank;
      return last_;
    }
    return nullptr;
  }

  [[nodiscard]] bool shared() const { return ranks_.size() > 1; }
  [[nodiscard]] const std::string& file() const { return file_; }
  std::vector<SourceRank>& all() { return ranks_; }
  // Whether as many events were met as were read.
  [[nodiscard]] bool met_all() const {
    return std::ranges::all_of(ranks_, [&](const SourceRank& rank) {
      return rank.entries == run_.ranks[rank.in_run].entries;
    });
  }
  // Of a rank whose events are counted, though they are nobody's.
  SourceRank& first() { return ranks_.front(); }

 private:
  const RecordedRun& run_;
  std::string file_;
  std::vector<SourceRank> ranks_;
  SourceRank* last_ = nullptr;
  std::string last_process_;
};

// What the columns know of the event and its text does not say.
std::string missing_arguments(const RecordedTrace& trace, std::uint32_t event,
                              std::string_view arguments) {
  std::string known;
  append_event_arguments(trace, event, known);
  std::unordered_set<EventKey> there;
  JsonMembers members(arguments);
  while (const auto member = members.next()) there.insert(argument_key(member->key));
  known = "{" + known + "}";
  std::string out;
  MembersText missing(out);
  JsonMembers all(known);
  while (const auto member = all.next()) {
    if (!there.contains(argument_key(member->key))) missing.raw(member->key, member->value);
  }
  return out;
}

class Rewriting {
 public:
  Rewriting(const RecordedRun& run, const RewriteOptions& options, JsonText& out)
      : run_(run), options_(options), out_(out), places_(places_in_file(run.ranks)) {
    for (const RecordedTrace& trace : run.ranks) {
      const bool known = std::ranges::any_of(
          sources_, [&](const SourceRanks& s) { return s.file() == trace.file; });
      if (!known) sources_.emplace_back(run, trace.file, options.incomplete);
    }
  }

  Result<void> write() {
    for (SourceRanks& source : sources_) ORRERY_RETURN_IF_ERROR(find_shifts(source));
    out_.text += "{\n";
    if (merged()) {
      out_.text += "\"schemaVersion\": 1,\n";
      append_ranks(run_.ranks, out_.text);
      out_.text += "\"displayTimeUnit\": \"ms\",\n";
      fmt::format_to(std::back_inserter(out_.text),
                     "\"baseTimeNanoseconds\": {},\n\"traceEvents\": [", base_ns_);
    }
    std::string headers;
    for (SourceRanks& source : sources_) ORRERY_RETURN_IF_ERROR(copy(source, headers));
    out_.text += merged() ? "\n]" + headers + "\n}\n" : "\n}\n";
    return {};
  }

 private:
  // Several files become one.
  [[nodiscard]] bool merged() const { return sources_.size() > 1; }
  // Whether the events of that file get new processes.
  [[nodiscard]] bool renumbered(const SourceRanks& source) const {
    return merged() && !source.shared();
  }

  Result<KinetoText> text_of(const SourceRanks& source) {
    ORRERY_TRY(ByteStream stream, options_.open(source.file()));
    return KinetoText(std::move(stream), options_.incomplete);
  }

  // Until the next one is asked for.
  Result<EventText> event_of(const KinetoText::Piece& piece, const KinetoText& text) {
    event_.clear();
    append_as_json(piece.text, event_);
    if (const auto fault = json_fault(event_)) {
      return text.broken(event_.size() == piece.text.size() ? *fault : 0);
    }
    return event_text(event_);
  }

  // Reads as far as to the first event of each rank whose time is known.
  Result<void> find_shifts(SourceRanks& source) {
    auto wanted = static_cast<std::size_t>(std::ranges::count_if(
        source.all(), [](const SourceRank& rank) { return rank.timed_place >= 0; }));
    ORRERY_TRY(KinetoText text, text_of(source));
    while (wanted > 0) {
      ORRERY_TRY(const KinetoText::Piece piece, text.next());
      if (piece.kind == KinetoText::Kind::end) break;
      if (piece.kind == KinetoText::Kind::member && piece.key == kRanksKey && source.shared()) {
        ORRERY_RETURN_IF_ERROR(source.order(piece.text));
      }
      if (piece.kind != KinetoText::Kind::event) continue;
      const EventText event = event_text(piece.text);  // checked when it is copied
      SourceRank* rank = source.of(event[EventKey::process]);
      if (rank == nullptr) rank = &source.first();
      if (rank->entries++ != rank->timed_place) continue;
      --wanted;
      const auto start = start_of(event);
      if (!start) return text.changed();
      const std::int64_t base_ns = rank->timed_ns - *start;
      if (!based_) base_ns_ = base_ns;
      based_ = true;
      rank->shift_ns = base_ns - base_ns_;
    }
    for (SourceRank& rank : source.all()) rank.entries = 0;
    return {};
  }

  Result<void> copy(SourceRanks& source, std::string& headers) {
    ORRERY_TRY(KinetoText text, text_of(source));
    std::string header;  // of a rank that shares the new file
    bool any_member = false;
    bool distributed = source.shared();
    const auto member = [&](std::string_view key, std::string_view value) {
      std::string& to = merged() ? header : out_.text;
      if (any_member) to += ",\n";
      any_member = true;
      append_quoted(key, to);
      to += ": ";
      to += value;
    };
    while (true) {
      ORRERY_TRY(const KinetoText::Piece piece, text.next());
      using Kind = KinetoText::Kind;
      if (piece.kind == Kind::end) break;
      if (piece.kind == Kind::event) {
        ORRERY_TRY(const EventText event, event_of(piece, text));
        if (!copy_event(event, source)) return text.changed();
      } else if (piece.kind == Kind::begin_of_events) {
        if (!merged()) member("traceEvents", "[");
        in_events_ = true;
      } else if (piece.kind == Kind::end_of_events) {
        end_events(source);
      } else if (piece.kind == Kind::member) {
        std::string value;
        append_as_json(piece.text, value);
        if (const auto fault = json_fault(value)) {
          return text.broken(value.size() == piece.text.size() ? *fault : 0);
        }
        if (source.shared() && piece.key == kRanksKey) {
          ORRERY_RETURN_IF_ERROR(source.order(piece.text));
        }
        if (source.shared() && merged()) {
          if (!piece.key.starts_with(kHeaderKey)) continue;
          headers += ",\n";
          append_quoted(piece.key, headers);
          headers += ": " + value;
          continue;
        }
        const bool complete = !merged() && !source.shared();
        if (complete && piece.key == "distributedInfo" && piece.text.starts_with('{')) {
          value = completed_distributed_info(value, run_.ranks[source.first().in_run]);
          distributed = true;
        }
        member(piece.key, value);
      }
    }
    if (!source.met_all()) return text.changed();
    if (in_events_) end_events(source);  // the text was cut
    if (merged() && !source.shared()) {
      headers += fmt::format(",\n\"{}{}\": {{", kHeaderKey, places_[source.first().in_run].rank);
      headers += header + "}";
    } else if (!distributed) {
      const std::string value = completed_distributed_info("", run_.ranks[source.first().in_run]);
      if (!value.empty()) member("distributedInfo", value);
    }
    return {};
  }

  void end_events(SourceRanks& source) {
    for (const SourceRank& rank : source.all()) {
      const RecordedTrace& trace = run_.ranks[rank.in_run];
      RankEvents events(trace, trace.base_ns - base_ns_, places_[rank.in_run], out_);
      if (!rank.any_arrow) events.launches();
      if (renumbered(source)) events.nameless_processes();
    }
    if (!merged()) out_.text += "\n]";
    in_events_ = false;
  }

  // false: it is of no rank, which the reader would have refused.
  bool copy_event(const EventText& event, SourceRanks& source) {
    SourceRank* rank = source.of(event[EventKey::process]);
    if (rank == nullptr) {
      ++source.first().entries;
      return options_.incomplete == Incomplete::use_what_is_whole;
    }
    const auto place = static_cast<std::size_t>(rank->entries++);
    if (unwanted(event, *rank, place) || unwanted_half(event, *rank, place)) return true;
    rank->any_arrow |= event[EventKey::phase] == "\"s\"";
    EventChanges changes;
    changes.shift_ns = rank->shift_ns;
    if (renumbered(source)) changes.shared = places_[rank->in_run];
    // In the new file another rank may be the first, whose are the events without a process.
    if (merged()) changes.rank = places_[rank->in_run].rank;
    if (place < rank->event_at.size() && rank->event_at[place] != kNowhere) {
      changes.added_arguments = missing_arguments(run_.ranks[rank->in_run], rank->event_at[place],
                                                  event[EventKey::arguments]);
    }
    out_.next_event();
    append_rewritten(event, changes, out_.text);
    return true;
  }

  static bool is_of_viewers(const EventText& event) {
    const std::string_view category = event[EventKey::category];
    return category == "\"Trace\"" || category == "\"external_correlation\"";
  }

  [[nodiscard]] bool is_unwanted_function(const EventText& event) const {
    return options_.python_functions != PythonFunctions::keep &&
           kind_of(event[EventKey::category], event[EventKey::name]) ==
               EventKind::python_function &&
           (options_.python_functions == PythonFunctions::leave_out ||
            !event[EventKey::name].starts_with("\"nn.Module: "));
  }

  // The same of a beginning, and of the end that belongs to it (kineto/open_events.h).
  bool unwanted_half(const EventText& event, SourceRank& rank, std::size_t place) {
    const bool begins = event[EventKey::phase] == "\"B\"";
    if (!begins && event[EventKey::phase] != "\"E\"") return false;
    const RowName process = row_name(event[EventKey::process], texts_);
    const RowName thread = row_name(event[EventKey::thread], texts_);
    std::string buffer;
    const std::string_view name = event[EventKey::name];
    OpenEvent half{name.empty() ? 0 : texts_.intern(plain_text(name, buffer)), 0};
    const bool partial = options_.incomplete == Incomplete::use_what_is_whole;
    if (!begins) {
      const auto ended = rank.open.end(process, thread, half.name);
      return ended ? ended->event == kNoEvent : partial;
    }
    const bool is_kept = place < rank.kept.size() && rank.kept[place];
    const bool written =
        is_of_viewers(event) || (!is_unwanted_function(event) && (!partial || is_kept));
    if (!written) half.event = kNoEvent;
    rank.open.begin(process, thread, half);
    return !written;
  }

  // Whether the columns leave the event out though its kind is kept, or it was not to be kept.
  [[nodiscard]] bool unwanted(const EventText& event, const SourceRank& rank,
                              std::size_t place) const {
    const bool is_kept = place < rank.kept.size() && rank.kept[place];
    if (event[EventKey::phase] == "\"X\"") {
      if (is_of_viewers(event)) return false;
      if (is_unwanted_function(event)) return true;
      const bool timed = !event[EventKey::start].empty() && !event[EventKey::duration].empty();
      return options_.incomplete == Incomplete::use_what_is_whole && timed && !is_kept;
    }
    // An allocation with a time that is none of this recording.
    if (options_.incomplete == Incomplete::refuse || event[EventKey::name] != "\"[memory]\"") {
      return false;
    }
    JsonMembers arguments(event[EventKey::arguments]);
    while (const auto argument = arguments.next()) {
      if (argument_key(argument->key) == EventKey::memory_bytes &&
          !argument->value.starts_with('{')) {
        return start_of(event).has_value() && !is_kept;
      }
    }
    return false;
  }

  static constexpr std::string_view kHeaderKey = "orreryHeader ";

  const RecordedRun& run_;
  const RewriteOptions& options_;
  JsonText& out_;
  std::vector<PlaceInFile> places_;
  std::vector<SourceRanks> sources_;
  std::string event_;
  TextTable texts_;           // of rows and names of halves
  std::int64_t base_ns_ = 0;  // of the new file
  bool based_ = false;
  bool in_events_ = false;
};

}  // namespace

Result<std::string> rewritten_recording(const RecordedRun& run, const RewriteOptions& options) {
  JsonText out;
  ORRERY_RETURN_IF_ERROR(Rewriting(run, options, out).write());
  return std::move(out.text);
}

Result<void> write_rewritten_recording(const std::string& file, const RecordedRun& run,
                                       const RewriteOptions& options) {
  ORRERY_TRY(PieceWriter writer, PieceWriter::create(file));
  JsonText out;
  out.file = &writer;
  ORRERY_RETURN_IF_ERROR(Rewriting(run, options, out).write());
  writer.append(out.text);
  return writer.finish();
}

}  // namespace orrery
