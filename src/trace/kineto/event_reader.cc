#include "trace/kineto/event_reader.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>

#include "trace/kept_events.h"
#include "trace/kineto/event_category.h"
#include "trace/kineto/event_keys.h"
#include "trace/kineto/forward_arrows.h"
#include "trace/kineto/json_text.h"
#include "trace/kineto/lanes.h"
#include "trace/kineto/number_text.h"
#include "trace/kineto/open_events.h"
#include "trace/kineto/rank_process.h"
#include "trace/kineto/raw_event.h"
#include "trace/kineto/text_window.h"
#include "trace/possible_times.h"
#include "trace/repeated_events.h"
#include "trace/sorted_events.h"

namespace orrery {
namespace {

std::int64_t integer(std::string_view token) {
  if (!token.empty() && token.front() == '"') token.remove_prefix(1);
  return token.empty() ? kNotRecorded : integer_of(token).value_or(kNotRecorded);
}

// With or without quotes.
std::optional<std::int64_t> time_of(std::string_view token) {
  const bool quoted = token.size() > 1 && token.front() == '"';
  return nanoseconds_of(quoted ? token.substr(1, token.size() - 2) : token);
}

// In place of the duration of an event whose end was not met yet.
constexpr std::int64_t kOpen = -1;

constexpr std::string_view kTimesAre = "times are microseconds between -4e15 and 4e15";
constexpr std::string_view kEndsLater = "an event ends after it begins";
constexpr std::string_view kNoLonger = "microseconds; no event takes longer than a day";

// Streams are signed numbers; some writers give -1 as 2^32 - 1.
std::int64_t stream_number(std::string_view token) {
  const std::int64_t number = integer(token);
  return number == 4294967295 ? -1 : number;
}

std::int32_t small_integer(std::string_view token, std::int32_t otherwise) {
  const std::int64_t number = integer(token);
  const bool fits = number >= std::numeric_limits<std::int32_t>::min() &&
                    number <= std::numeric_limits<std::int32_t>::max();
  return fits ? static_cast<std::int32_t>(number) : otherwise;
}

// A name for an error: names of C++ kernels run to thousands of characters.
std::string shortened(std::string_view token) {
  constexpr std::size_t kShown = 60;
  if (token.size() <= kShown) return std::string(token);
  std::size_t end = kShown;
  while (end > 0 && (static_cast<unsigned char>(token[end]) & 0xc0U) == 0x80U) --end;
  return std::string(token.substr(0, end)) + "...\"";
}

// What is wrong with the text, in words for people.
std::string fault_of(simdjson::error_code error) {
  switch (error) {
    case simdjson::UNESCAPED_CHARS:
      return "not JSON: a control character inside a text";
    case simdjson::UTF8_ERROR:
      return "not UTF-8";
    case simdjson::UNCLOSED_STRING:
      return "not JSON: a text has no end";
    default:
      return "not JSON";
  }
}

// Of "[57344, 1, 1]".
std::array<std::int32_t, 3> three_integers(std::string_view list) {
  std::array<std::int32_t, 3> numbers{};
  std::size_t at = 1;
  for (std::int32_t& number : numbers) {
    while (at < list.size() && (is_json_space(list[at]) || list[at] == ',')) ++at;
    if (at >= list.size()) break;
    number = small_integer(list.substr(at), 0);
    at = std::min(list.find(',', at), list.size());
  }
  return numbers;
}

}  // namespace

// What is met of one rank.
struct EventReader::Rank {
  RecordedTrace& trace;
  const KinetoOptions& options;
  Lanes lanes;
  std::vector<ArrowEnd> arrows;
  OpenEvents open;
  std::string unescaped;
  // What went wrong with the content of the event at hand.
  std::string message;
  std::string hint;

  bool shares_file;

  Rank(RecordedTrace& into, const KinetoOptions& chosen, bool shares)
      : trace(into), options(chosen), lanes(into), shares_file(shares) {}

  std::uint32_t text(std::string_view token) {
    if (token.empty()) return 0;
    return trace.texts.intern(plain_text(token, unescaped));
  }

  [[nodiscard]] std::uint32_t place() const { return static_cast<std::uint32_t>(trace.entries); }

  // Appends the event; false if its content is impossible.
  bool commit(const RawEvent& raw) {
    const std::string_view phase = raw[EventKey::phase];
    if (phase == "\"X\"") return complete_event(raw);
    if (phase == "\"B\"") return beginning(raw);
    if (phase == "\"E\"") return end(raw);
    if (phase == "\"M\"") {
      metadata(raw);
    } else if (phase == "\"s\"" || phase == "\"f\"") {
      arrow(raw);
    } else if (raw.memory && raw[EventKey::name] == "\"[memory]\"") {
      memory_event(raw);
    }
    return true;
  }

  bool is_wanted(const RawEvent& raw, EventKind kind) const {
    const std::string_view category = raw[EventKey::category];
    if (category == "\"Trace\"" || category == "\"external_correlation\"") return false;
    if (kind != EventKind::python_function) return true;
    return options.python_functions == PythonFunctions::keep ||
           (options.python_functions == PythonFunctions::modules &&
            raw[EventKey::name].starts_with("\"nn.Module: "));
  }

  // An event whose times no recording has: counted, or false and what went wrong.
  bool impossible(std::string_view name, const std::string& what, std::string_view right) {
    if (options.incomplete == Incomplete::use_what_is_whole) {
      ++trace.left_out;
      return true;
    }
    message = "event " + std::to_string(trace.entries) + ", " + shortened(name) + ": " + what;
    hint = std::string(right) + "; --partial leaves such events out";
    return false;
  }

  bool complete_event(const RawEvent& raw) {
    const EventKind kind = kind_of(raw[EventKey::category], raw[EventKey::name]);
    if (!is_wanted(raw, kind)) return true;
    if (raw[EventKey::start].empty() || raw[EventKey::duration].empty()) {
      ++trace.left_out;
      return true;
    }
    const auto start = time_of(raw[EventKey::start]);
    const auto duration = time_of(raw[EventKey::duration]);
    if (!start || !duration || *duration < 0 || *duration > kLongestRecordingNs) {
      const std::string_view given = start ? raw[EventKey::duration] : raw[EventKey::start];
      return impossible(raw[EventKey::name],
                        (start ? "dur is " : "ts is ") + std::string(given.substr(0, 40)),
                        !start || !duration ? kTimesAre
                        : *duration < 0     ? kEndsLater
                                            : kNoLonger);
    }
    append(raw, kind, *start, *duration);
    return true;
  }

  bool beginning(const RawEvent& raw) {
    const EventKind kind = kind_of(raw[EventKey::category], raw[EventKey::name]);
    OpenEvent opened{text(raw[EventKey::name]), kNoEvent};
    if (is_wanted(raw, kind)) {
      const auto start = time_of(raw[EventKey::start]);
      if (raw[EventKey::start].empty()) {
        ++trace.left_out;
      } else if (start) {
        opened.event = static_cast<std::uint32_t>(trace.size());
        append(raw, kind, *start, kOpen);
      } else if (!impossible(raw[EventKey::name],
                             "ts is " + std::string(raw[EventKey::start].substr(0, 40)),
                             kTimesAre)) {
        return false;
      }
    }
    open.begin(row_name(raw[EventKey::process], trace.texts),
               row_name(raw[EventKey::thread], trace.texts), opened);
    return true;
  }

  bool end(const RawEvent& raw) {
    const auto ended =
        open.end(row_name(raw[EventKey::process], trace.texts),
                 row_name(raw[EventKey::thread], trace.texts), text(raw[EventKey::name]));
    if (!ended) {
      ++trace.left_out;
      ++trace.unpaired;
      return true;
    }
    if (ended->event == kNoEvent || raw[EventKey::start].empty()) return true;
    const auto time = time_of(raw[EventKey::start]);
    const std::int64_t duration = time ? *time - trace.start_ns[ended->event] : 0;
    if (time && duration >= 0 && duration <= kLongestRecordingNs) {
      trace.duration_ns[ended->event] = duration;
      return true;
    }
    // What began is counted with those that are never ended.
    if (options.incomplete == Incomplete::use_what_is_whole) return true;
    const std::string begun =
        " of an event that began at " +
        fmt::format("{:.3f}", static_cast<double>(trace.start_ns[ended->event]) / 1e3);
    return impossible(
        "\"" + std::string(trace.name_of(ended->event)) + "\"",
        "ts is " + std::string(raw[EventKey::start].substr(0, 40)) + ", the end" + begun,
        !time          ? kTimesAre
        : duration < 0 ? kEndsLater
                       : kNoLonger);
  }

  // Those that were begun and not ended.
  void leave_out_open() {
    const auto open_ones = std::ranges::count(trace.duration_ns, kOpen);
    if (open_ones == 0) return;
    std::vector<bool> kept;
    kept.reserve(trace.size());
    for (const std::int64_t duration : trace.duration_ns) kept.push_back(duration != kOpen);
    keep_events(trace, kept);
    trace.left_out += open_ones;
    trace.unpaired += open_ones;
  }

  void append(const RawEvent& raw, EventKind kind, std::int64_t start, std::int64_t duration) {
    const bool on_device = is_device_work(kind) || kind == EventKind::synchronization ||
                           kind == EventKind::event_record || kind == EventKind::device_annotation;
    const RowName process = row_name(raw[EventKey::process], trace.texts);
    const RowName thread = row_name(raw[EventKey::thread], trace.texts);
    std::uint32_t lane = 0;
    if (on_device) {
      const std::int64_t ordinal = integer(raw[EventKey::device]);
      const std::int64_t stream =
          is_device_work(kind) ? stream_number(raw[EventKey::stream]) : kNotRecorded;
      const std::int64_t row = thread.number == 4294967295 ? -1 : thread.number;
      lane = lanes.device(ordinal != kNotRecorded ? ordinal : process.number,
                          stream != kNotRecorded ? stream : row);
    } else {
      lane = lanes.host(process, thread);
    }
    trace.start_ns.push_back(start);
    trace.duration_ns.push_back(duration);
    trace.correlation.push_back(integer(raw[EventKey::correlation]));
    trace.external_id.push_back(integer(raw[EventKey::external_id]));
    trace.name.push_back(text(raw[EventKey::name]));
    trace.lane.push_back(lane);
    trace.details.push_back(details_of(raw, kind));
    trace.communication.push_back(raw.communication ? communication_details(raw) : kNoDetails);
    trace.place.push_back(place());
    trace.kind.push_back(kind);
  }

  std::uint32_t details_of(const RawEvent& raw, EventKind kind) {
    switch (kind) {
      case EventKind::cpu_operator:
      case EventKind::annotation:
        return raw.operator_details ? operator_details(raw) : kNoDetails;
      case EventKind::kernel:
        return kernel_details(raw);
      case EventKind::copy:
      case EventKind::fill:
        if (raw[EventKey::bytes].empty()) return kNoDetails;
        trace.copies.push_back(CopyDetails{integer(raw[EventKey::bytes])});
        return static_cast<std::uint32_t>(trace.copies.size() - 1);
      case EventKind::synchronization:
      case EventKind::event_record: {
        SynchronizationDetails details;
        details.stream = stream_number(raw[EventKey::stream]);
        details.awaited_stream = stream_number(raw[EventKey::awaited_stream]);
        details.record_correlation = stream_number(raw[EventKey::record_correlation]);
        details.event = integer(raw[EventKey::cuda_event]);
        trace.synchronizations.push_back(details);
        return static_cast<std::uint32_t>(trace.synchronizations.size() - 1);
      }
      case EventKind::runtime_call:
      case EventKind::python_function:
      case EventKind::device_annotation:
      case EventKind::overhead:
      case EventKind::other:
        return kNoDetails;
    }
    return kNoDetails;
  }

  std::uint32_t operator_details(const RawEvent& raw) {
    OperatorDetails details;
    details.input_shapes = text(raw[EventKey::input_shapes]);
    details.input_types = text(raw[EventKey::input_types]);
    details.input_strides = text(raw[EventKey::input_strides]);
    details.concrete_inputs = text(raw[EventKey::concrete_inputs]);
    details.sequence_number = integer(raw[EventKey::sequence_number]);
    details.forward_thread = integer(raw[EventKey::forward_thread]);
    details.record_function_id = integer(raw[EventKey::record_function_id]);
    trace.operators.push_back(details);
    return static_cast<std::uint32_t>(trace.operators.size() - 1);
  }

  std::uint32_t kernel_details(const RawEvent& raw) {
    const std::string_view grid = raw[EventKey::grid];
    if (grid.empty() && raw[EventKey::registers].empty()) return kNoDetails;
    KernelDetails details;
    details.grid = three_integers(grid);
    details.block = three_integers(raw[EventKey::block]);
    details.registers_per_thread = small_integer(raw[EventKey::registers], -1);
    details.shared_memory_bytes = small_integer(raw[EventKey::shared_memory], -1);
    const std::int64_t percent = integer(raw[EventKey::occupancy]);
    if (percent >= 0) details.achieved_occupancy = static_cast<float>(percent) / 100.0F;
    const std::int64_t graph = integer(raw[EventKey::graph]);
    if (graph != 0) details.graph = graph;  // 0: none
    trace.kernels.push_back(details);
    return static_cast<std::uint32_t>(trace.kernels.size() - 1);
  }

  std::uint32_t communication_details(const RawEvent& raw) {
    CommunicationDetails details;
    details.collective = text(raw[EventKey::collective]);
    details.data_type = text(raw[EventKey::data_type]);
    details.group = text(raw[EventKey::group]);
    details.group_description = text(raw[EventKey::group_description]);
    details.group_ranks = text(raw[EventKey::group_ranks]);
    details.input_splits = text(raw[EventKey::input_splits]);
    details.output_splits = text(raw[EventKey::output_splits]);
    details.input_elements = integer(raw[EventKey::input_elements]);
    details.output_elements = integer(raw[EventKey::output_elements]);
    details.group_size = integer(raw[EventKey::group_size]);
    details.rank_start = integer(raw[EventKey::rank_start]);
    details.rank_stride = integer(raw[EventKey::rank_stride]);
    details.source = integer(raw[EventKey::source]);
    details.destination = integer(raw[EventKey::destination]);
    details.sequence = integer(raw[EventKey::sequence]);
    const std::string_view asynchronous = raw[EventKey::asynchronous];
    details.asynchronous = asynchronous == "true" || asynchronous == "1";
    trace.communications.push_back(details);
    return static_cast<std::uint32_t>(trace.communications.size() - 1);
  }

  void metadata(const RawEvent& raw) {
    const std::string_view label = raw[EventKey::label];
    if (label.empty()) return;
    const RowName process = row_name(raw[EventKey::process], trace.texts);
    if (raw[EventKey::name] == "\"process_name\"") {
      std::string_view name = plain_text(label, unescaped);
      if (shares_file) name = recorded_process_name(name, trace.rank);
      if (!shares_file || !name.empty()) lanes.name_process(process, name);
    } else if (raw[EventKey::name] == "\"thread_name\"") {
      const RowName thread = row_name(raw[EventKey::thread], trace.texts);
      lanes.name_thread(process, thread, plain_text(label, unescaped));
    }
  }

  void memory_event(const RawEvent& raw) {
    const auto time = time_of(raw[EventKey::start]);
    if (!time) {
      ++trace.left_out;
      return;
    }
    MemoryEvent event;
    event.time_ns = *time;
    event.bytes = integer(raw[EventKey::memory_bytes]);
    event.address = integer(raw[EventKey::memory_address]);
    event.allocated_bytes = integer(raw[EventKey::memory_allocated]);
    event.reserved_bytes = integer(raw[EventKey::memory_reserved]);
    // Device type 0 is the host, whatever its device id says.
    const bool host = integer(raw[EventKey::memory_device_type]) == 0;
    event.device = host ? -1 : small_integer(raw[EventKey::memory_device], -1);
    event.place = place();
    trace.memory.push_back(event);
  }

  void arrow(const RawEvent& raw) {
    if (raw[EventKey::category] != "\"fwdbwd\"") return;
    const auto time = time_of(raw[EventKey::start]);
    const std::int64_t id = integer(raw[EventKey::flow_id]);
    if (!time || id == kNotRecorded) return;
    const RowName process = row_name(raw[EventKey::process], trace.texts);
    const RowName thread = row_name(raw[EventKey::thread], trace.texts);
    arrows.push_back(
        ArrowEnd{id, *time, lanes.host(process, thread), raw[EventKey::phase] == "\"s\""});
  }

  // Files of before April 2024 count from 1970. They get the base that Kineto would write today, a
  // multiple of three months (7,889,238 s), so that the ranks of a job share it and times stay
  // below 2^53 ns.
  void choose_base() {
    constexpr std::int64_t kThreeMonthsNs = 7'889'238'000'000'000;
    if (trace.base_ns != 0 || trace.start_ns.empty() || trace.start_ns.front() < kThreeMonthsNs) {
      return;
    }
    trace.base_ns = trace.start_ns.front() / kThreeMonthsNs * kThreeMonthsNs;
    for (std::int64_t& start : trace.start_ns) start -= trace.base_ns;
    for (MemoryEvent& event : trace.memory) event.time_ns -= trace.base_ns;
  }

  Result<void> finish() {
    leave_out_open();
    sort_events(trace);
    ORRERY_RETURN_IF_ERROR(options.incomplete == Incomplete::use_what_is_whole
                               ? leave_out_strays(trace)
                               : check_times(trace));
    std::ranges::stable_sort(trace.memory, {}, &MemoryEvent::time_ns);
    leave_out_repeated(trace);
    trace.overlapping_kernels = overlapping_kernels(trace);
    join_arrows(trace, std::move(arrows));
    name_launches();
    choose_base();
    lanes.finish();
    return {};
  }

  // Writers that know no correlation give a launch and its work one External id of their own. What
  // several calls or kernels carry is the operator's.
  void name_launches() {
    const auto recorded = [](std::int64_t id) { return id != kNotRecorded; };
    if (std::ranges::any_of(trace.correlation, recorded)) return;
    struct Carriers {
      int calls = 0;
      int works = 0;
    };
    std::unordered_map<std::int64_t, Carriers> carriers;
    for (std::size_t event = 0; event < trace.size(); ++event) {
      if (!recorded(trace.external_id[event])) continue;
      if (trace.kind[event] == EventKind::runtime_call) ++carriers[trace.external_id[event]].calls;
      if (is_device_work(trace.kind[event])) ++carriers[trace.external_id[event]].works;
    }
    for (std::size_t event = 0; event < trace.size(); ++event) {
      if (trace.kind[event] != EventKind::runtime_call && !is_device_work(trace.kind[event]))
        continue;
      const auto found = carriers.find(trace.external_id[event]);
      if (found != carriers.end() && found->second.calls == 1 && found->second.works == 1) {
        trace.correlation[event] = trace.external_id[event];
      }
    }
  }
};

struct EventReader::State {
  const KinetoOptions& options;
  simdjson::ondemand::parser parser;
  std::vector<std::unique_ptr<Rank>> ranks;
  // Of files that several share.
  std::unordered_map<std::int64_t, Rank*> by_number;
  std::string last_token;  // consecutive events are of one process more often than not
  std::string last_process;
  Rank* last = nullptr;

  explicit State(const KinetoOptions& chosen) : options(chosen) {}

  // Whose event it is, with the process as that rank's own file has it; nullptr if nobody's. Rows
  // of viewers have no process: they go to the first.
  Rank* rank_of(RawEvent& raw) {
    if (by_number.empty()) return ranks.front().get();
    std::string_view& process = raw.value[static_cast<std::size_t>(EventKey::process)];
    if (process.empty()) return ranks.front().get();
    if (last == nullptr || process != last_token) {
      auto found = rank_process(process);
      const auto it = found ? by_number.find(found->rank) : by_number.end();
      if (it == by_number.end()) return nullptr;
      last_token = process;
      last_process = std::move(found->process);
      last = it->second;
    }
    process = last_process;
    return last;
  }
};

EventReader::EventReader(std::vector<RecordedTrace>& ranks, const KinetoOptions& options)
    : state_(std::make_unique<State>(options)) {
  for (RecordedTrace& trace : ranks) {
    state_->ranks.push_back(std::make_unique<Rank>(trace, options, ranks.size() > 1));
    if (ranks.size() > 1) state_->by_number.emplace(trace.rank, state_->ranks.back().get());
  }
}
EventReader::~EventReader() = default;

EventReader::Outcome EventReader::read(char* text, std::size_t size) {
  const char before = text[-1];
  const char behind = text[size];
  text[-1] = '[';
  text[size] = ']';
  Outcome outcome;
  const auto run = [&] {
    simdjson::ondemand::document document;
    simdjson::ondemand::array list;
    outcome.fault = Fault::syntax;
    auto error = state_->parser.iterate(text - 1, size + 2, size + 2 + simdjson::SIMDJSON_PADDING)
                     .get(document);
    if (error == simdjson::SUCCESS) error = document.get_array().get(list);
    if (error != simdjson::SUCCESS) {
      outcome.message = fault_of(error);
      return;
    }
    const auto inside = [&](std::size_t otherwise) {
      const char* at = nullptr;
      if (document.current_location().get(at) != simdjson::SUCCESS) return otherwise;
      return static_cast<std::size_t>(std::clamp<const char*>(at, text, text + size) - text);
    };
    for (auto element : list) {
      const std::size_t begin = inside(outcome.read);
      simdjson::ondemand::object object;
      RawEvent raw;
      error = element.get_object().get(object);
      if (error != simdjson::SUCCESS || !collect(object, raw)) {
        outcome.fault_at = inside(outcome.read);
        outcome.message = "not JSON";
        return;
      }
      Rank* rank = state_->rank_of(raw);
      if (rank == nullptr) {
        if (state_->options.incomplete == Incomplete::refuse) {
          outcome.fault = Fault::content;
          outcome.fault_at = begin;
          outcome.message = "process " + shortened(raw[EventKey::process]) +
                            " is of none of the ranks that the file names";
          outcome.hint = "--partial leaves such events out";
          return;
        }
        rank = state_->ranks.front().get();
        ++rank->trace.left_out;
      } else if (!rank->commit(raw)) {
        outcome.fault = Fault::content;
        outcome.fault_at = begin;
        outcome.message = std::move(rank->message);
        outcome.hint = std::move(rank->hint);
        return;
      }
      ++rank->trace.entries;
      outcome.read = inside(size);
    }
    outcome.fault = Fault::none;
  };
  run();
  text[-1] = before;
  text[size] = behind;
  return outcome;
}

Result<void> EventReader::finish() {
  for (const std::unique_ptr<Rank>& rank : state_->ranks) ORRERY_RETURN_IF_ERROR(rank->finish());
  return {};
}

}  // namespace orrery
