#include "trace/operation_timeline/operation_timeline.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "trace/byte_stream.h"
#include "trace/kineto/text_window.h"

namespace orrery {
namespace {

namespace dom = simdjson::dom;

// Ranks, stages, steps and places are small; anything else is damage.
constexpr std::int64_t kLargestIndex = 1'000'000'000;

struct ThreadPlace {
  std::int32_t stage = 0;
  std::int32_t tensor_rank = 0;
};

// "PP rank 3, TP rank 0, compute".
std::optional<ThreadPlace> place_named(std::string_view text) {
  ThreadPlace place;
  const auto number_after = [&](std::string_view words) -> std::optional<std::int32_t> {
    const std::size_t at = text.find(words);
    if (at == std::string_view::npos) return std::nullopt;
    std::uint32_t value = 0;
    const char* first = text.data() + at + words.size();
    const auto [end, error] = std::from_chars(first, text.data() + text.size(), value);
    if (error != std::errc() || value >= kLargestIndex) return std::nullopt;
    return static_cast<std::int32_t>(value);
  };
  const auto stage = number_after("PP rank ");
  const auto tensor_rank = number_after("TP rank ");
  if (!stage || !tensor_rank) return std::nullopt;
  place.stage = *stage;
  place.tensor_rank = *tensor_rank;
  return place;
}

// One entry of the array; what is absent stays at its default.
struct Entry {
  std::string phase;
  std::string name;
  std::int64_t process = -1;
  std::int64_t thread = -1;
  double ts = std::nan("");
  double dur = std::nan("");
  std::string thread_name;
  std::int64_t step = -1;
  std::int64_t chunk = -1;
  std::int64_t microbatch = -1;
  std::int64_t sequence = -1;
};

template <class T>
bool take(const dom::element& value, T& to) {
  return value.get(to) == simdjson::SUCCESS;
}

bool take_text(const dom::element& value, std::string& to) {
  std::string_view text;
  if (value.get(text) != simdjson::SUCCESS) return false;
  to = text;
  return true;
}

bool read_arguments(const dom::object& arguments, Entry& entry) {
  for (const auto& [key, value] : arguments) {
    if (value.is_null()) continue;  // as if it were absent: of which microbatch is not known
    bool good = true;
    if (key == "name") good = take_text(value, entry.thread_name);
    if (key == "step") good = take(value, entry.step);
    if (key == "model_chunk") good = take(value, entry.chunk);
    if (key == "mb_id") good = take(value, entry.microbatch);
    if (key == "seq_id") good = take(value, entry.sequence);
    if (!good) return false;
  }
  return true;
}

bool read_entry(const dom::object& object, Entry& entry) {
  for (const auto& [key, value] : object) {
    bool good = true;
    if (key == "ph") good = take_text(value, entry.phase);
    if (key == "name") good = take_text(value, entry.name);
    if (key == "pid") good = take(value, entry.process);
    if (key == "tid") good = take(value, entry.thread);
    if (key == "ts") good = take(value, entry.ts);
    if (key == "dur") good = take(value, entry.dur);
    if (key == "args") {
      dom::object arguments;
      good = take(value, arguments) && read_arguments(arguments, entry);
    }
    if (!good) return false;
  }
  return true;
}

// Operations name their thread by number; its name may come later in the file.
struct Found {
  TimedOperation operation;
  std::pair<std::int64_t, std::int64_t> thread;
  bool negative = false;  // it ends before it begins
};

class TimelineParser {
 public:
  TimelineParser(const std::string& file, Incomplete incomplete)
      : file_(file), incomplete_(incomplete) {}

  Result<OperationTimeline> parse(const std::string& json) {
    dom::parser parser;
    dom::array array;
    if (parser.parse(json).get_array().get(array) != simdjson::SUCCESS) {
      return refuse("no JSON array of events", "an operation timeline is a JSON array");
    }
    std::size_t index = 0;
    for (const dom::element& item : array) {
      dom::object object;
      Entry entry;
      if (item.get(object) != simdjson::SUCCESS || !read_entry(object, entry)) {
        return refuse(fmt::format("entry {} is not an event", index),
                      "objects with ph, pid, tid, args");
      }
      ORRERY_RETURN_IF_ERROR(add(entry, index));
      ++index;
    }
    return finish();
  }

 private:
  Failure refuse(std::string message, std::string hint) const {
    return bad_input(std::move(message), file_, std::move(hint));
  }

  static bool is_index(std::int64_t value, std::int64_t lowest) {
    return value >= lowest && value < kLargestIndex;
  }

  Result<bool> add(const Entry& entry, std::size_t index) {
    if (entry.phase == "M" && entry.name == "thread_name") {
      const auto place = place_named(entry.thread_name);
      if (!place) {
        return refuse(fmt::format("thread '{}' names no stage", entry.thread_name),
                      "\"PP rank 0, TP rank 0, compute\"");
      }
      places_[{entry.process, entry.thread}] = *place;
      return true;
    }
    if (entry.phase != "X") return true;
    const auto type = parse_enum<OperationType>(entry.name);
    if (!type) {
      return refuse(fmt::format("entry {}: unknown operation '{}'", index, entry.name),
                    "forward-compute, backward-send, params-all-gather, optimizer, ...");
    }
    if (!is_index(entry.process, 0) || !is_index(entry.step, 0) || !is_index(entry.sequence, 0) ||
        !is_index(entry.chunk, -1) || !is_index(entry.microbatch, -1)) {
      return refuse(fmt::format("entry {}: an operation without its place", index),
                    "pid, and args with step, model_chunk, mb_id and seq_id");
    }
    if (!(std::abs(entry.ts) < 1e16) || !(std::abs(entry.dur) < 1e16)) {
      return refuse(fmt::format("entry {}: no start and duration", index),
                    "ts and dur in microseconds");
    }
    Found found;
    found.operation.type = *type;
    found.operation.data_parallel_rank = static_cast<std::int32_t>(entry.process);
    found.operation.step = static_cast<std::int32_t>(entry.step);
    found.operation.chunk = static_cast<std::int32_t>(entry.chunk);
    found.operation.microbatch = static_cast<std::int32_t>(entry.microbatch);
    found.operation.sequence = static_cast<std::int32_t>(entry.sequence);
    found.operation.start = Seconds(entry.ts * 1e-6);
    found.operation.end = Seconds((entry.ts + std::max(0.0, entry.dur)) * 1e-6);
    found.thread = {entry.process, entry.thread};
    found.negative = entry.dur < 0;
    found_.push_back(found);
    return true;
  }

  Result<OperationTimeline> finish() {
    OperationTimeline timeline;
    for (const Found& f : found_) {
      const auto place = places_.find(f.thread);
      if (place == places_.end()) {
        return refuse(
            fmt::format("thread {} of process {} has no name", f.thread.second, f.thread.first),
            "a thread_name event for every thread; where the file is cut, they may be in what is "
            "lost");
      }
      if (place->second.tensor_rank != 0) continue;
      if (f.negative) {
        timeline.negative_durations.push_back(f.operation.step);
        if (incomplete_ == Incomplete::use_what_is_whole) continue;
      }
      timeline.operations.push_back(f.operation);
      timeline.operations.back().stage = place->second.stage;
      timeline.stages = std::max(timeline.stages, place->second.stage + 1);
      timeline.data_parallel_ranks =
          std::max(timeline.data_parallel_ranks, f.operation.data_parallel_rank + 1);
    }
    if (timeline.operations.empty()) return refuse("no operations", "events of phase X");
    std::ranges::sort(timeline.negative_durations);
    const auto key = [](const TimedOperation& o) {
      return std::tuple(o.step, o.data_parallel_rank, o.stage, o.type, o.sequence);
    };
    std::ranges::sort(timeline.operations, {}, key);
    const auto twice = std::ranges::adjacent_find(timeline.operations, {}, key);
    if (twice != timeline.operations.end()) {
      return refuse(fmt::format("{} {} of step {}, stage {}, data-parallel rank {} is there twice",
                                to_text(twice->type), twice->sequence, twice->step, twice->stage,
                                twice->data_parallel_rank),
                    "each operation once");
    }
    return timeline;
  }

  const std::string& file_;
  Incomplete incomplete_;
  std::map<std::pair<std::int64_t, std::int64_t>, ThreadPlace> places_;
  std::vector<Found> found_;
};

// Where the last whole event of a list without an end is over; npos of anything else.
std::size_t end_of_cut_list(std::string_view json) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t begin = json.find_first_not_of(kSpace);
  if (begin == std::string_view::npos || json[begin] != '[') return std::string_view::npos;
  const std::size_t end = begin + 1 + last_whole_event(json.substr(begin + 1));
  std::size_t next = json.find_first_not_of(kSpace, end);
  if (next < json.size() && json[next] == ',') next = json.find_first_not_of(kSpace, next + 1);
  const bool cut = next == std::string_view::npos ||
                   (json[next] == '{' && end_of_json_value(json, next) == std::string_view::npos);
  return cut ? end : std::string_view::npos;
}

}  // namespace

Result<OperationTimeline> parse_operation_timeline(const std::string& json, const std::string& name,
                                                   Incomplete incomplete) {
  const std::size_t end = end_of_cut_list(json);
  if (end == std::string::npos) return TimelineParser(name, incomplete).parse(json);
  if (incomplete == Incomplete::refuse) {
    return bad_input("the file ends in the middle of its events",
                     name + ": byte " + std::to_string(json.size()),
                     "--partial uses what is whole");
  }
  return TimelineParser(name, incomplete).parse(json.substr(0, end) + "]");
}

Result<OperationTimeline> read_operation_timeline(const std::string& file, Incomplete incomplete) {
  ORRERY_TRY(ByteStream stream, ByteStream::open(file));
  ORRERY_TRY(const std::string json, stream.rest(incomplete));
  return parse_operation_timeline(json, stream.name(), incomplete);
}

}  // namespace orrery
