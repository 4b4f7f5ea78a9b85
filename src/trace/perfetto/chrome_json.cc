#include "trace/perfetto/chrome_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <map>
#include <numeric>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "document/json_quoted.h"

namespace orrery {
namespace {

// Whole picoseconds as microseconds in decimal digits: 1234567 -> "1.234567", 2000000 -> "2".
std::string microseconds(Picoseconds time) {
  const auto count = static_cast<std::int64_t>(time.count());
  const std::int64_t magnitude = std::abs(count);
  std::string text =
      fmt::format("{}{}.{:06}", count < 0 ? "-" : "", magnitude / 1'000'000, magnitude % 1'000'000);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

// What is written as the duration of a span, so that no reader sees it end after the next begins.
Picoseconds written_duration(Picoseconds start, Picoseconds end) {
  // As readers take the decimals: doubles, or whole nanoseconds cut off from doubles.
  const auto us = [](Picoseconds time) { return time.count() / 1e6; };
  const auto ns = [&](Picoseconds time) { return std::trunc(us(time) * 1e3); };
  const Picoseconds whole(std::floor((end - start).count() / 1e3) * 1e3);
  const bool passes = us(start) + us(whole) > us(end) || ns(start) + ns(whole) > ns(end);
  return passes ? whole - Picoseconds(1) : whole;
}

// Texts repeat a thousandfold: each is quoted once.
class Quotes {
 public:
  const std::string& operator()(const std::string& text) {
    const auto [place, is_new] = known_.try_emplace(text);
    if (is_new) place->second = json_quoted(text);
    return place->second;
  }

 private:
  std::unordered_map<std::string, std::string> known_;
};

// Threads of each process, numbered in order of their first span.
class Threads {
 public:
  explicit Threads(std::span<const TimelineSpan> spans) {
    std::map<int, int> used;
    for (const TimelineSpan& span : spans) {
      const auto [place, is_new] = numbers_.try_emplace({span.stage, span.stream}, 0);
      if (is_new) place->second = ++used[span.stage];
    }
  }
  [[nodiscard]] int of(const TimelineSpan& span) const {
    return numbers_.find({span.stage, span.stream})->second;
  }
  // Process, thread, name; by process and thread.
  [[nodiscard]] std::vector<std::tuple<int, int, std::string>> all() const {
    std::vector<std::tuple<int, int, std::string>> out;
    for (const auto& [key, number] : numbers_) out.emplace_back(key.first, number, key.second);
    std::ranges::sort(out);
    return out;
  }

 private:
  std::map<std::pair<int, std::string>, int> numbers_;
};

}  // namespace

std::string chrome_json(std::span<const TimelineSpan> spans, std::string_view title) {
  const Threads threads(spans);
  std::vector<int> thread(spans.size());
  for (std::size_t i = 0; i < spans.size(); ++i) thread[i] = threads.of(spans[i]);
  std::vector<std::size_t> order(spans.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
    return std::tuple(spans[a].stage, thread[a], spans[a].start, spans[a].end, a) <
           std::tuple(spans[b].stage, thread[b], spans[b].start, spans[b].end, b);
  });

  std::string out = "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"title\":" + json_quoted(title) +
                    ",\"producer\":\"orrery\"},\n\"traceEvents\":[";
  bool first = true;
  const auto begin_event = [&] {
    out += first ? "\n" : ",\n";
    first = false;
  };
  const auto metadata = [&](std::string_view what, int process, int tid, const std::string& value) {
    begin_event();
    fmt::format_to(std::back_inserter(out),
                   R"({{"ph":"M","name":"{}","pid":{},"tid":{},"args":{{{}}}}})", what, process,
                   tid, value);
  };
  int process = -1;
  bool any_process = false;
  for (const auto& [pid, tid, stream] : threads.all()) {
    if (!any_process || pid != process) {
      metadata("process_name", pid, 0, fmt::format(R"("name":"stage {}")", pid));
      metadata("process_sort_index", pid, 0, fmt::format(R"("sort_index":{})", pid));
    }
    process = pid;
    any_process = true;
    metadata("thread_name", pid, tid, "\"name\":" + json_quoted(stream));
    metadata("thread_sort_index", pid, tid, fmt::format(R"("sort_index":{})", tid));
  }

  Quotes quotes;
  for (const std::size_t i : order) {
    const TimelineSpan& span = spans[i];
    begin_event();
    fmt::format_to(std::back_inserter(out),
                   R"({{"ph":"X","name":{},"cat":{},"pid":{},"tid":{},"ts":{},"dur":{},"args":{{)",
                   quotes(span.name), quotes(span.category), span.stage, thread[i],
                   microseconds(span.start), microseconds(written_duration(span.start, span.end)));
    fmt::format_to(std::back_inserter(out), R"("class":{})", quotes(span.category));
    if (span.microbatch >= 0) {
      fmt::format_to(std::back_inserter(out), R"(,"microbatch":{})", span.microbatch);
    }
    if (span.chunk >= 0) fmt::format_to(std::back_inserter(out), R"(,"chunk":{})", span.chunk);
    out += "}}";
    // An arrow leaves from the start of what sends and ends at the start of what waits; both times
    // lie inside their spans, to which the viewer binds them.
    const auto flow = [&](char phase, std::int64_t id, std::string_view bind) {
      begin_event();
      fmt::format_to(
          std::back_inserter(out),
          R"({{"ph":"{}","name":"sends","cat":"flow","id":{},"pid":{},"tid":{},"ts":{}{}}})", phase,
          id, span.stage, thread[i], microseconds(span.start), bind);
    };
    if (span.flow_out >= 0) flow('s', span.flow_out, "");
    if (span.flow_in >= 0) flow('f', span.flow_in, R"(,"bp":"e")");
  }
  return out + "\n]}\n";
}

}  // namespace orrery
