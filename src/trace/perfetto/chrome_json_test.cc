#include "trace/perfetto/chrome_json.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "document/value.h"

namespace orrery {
namespace {

// Two stages, two streams each, four microbatches: a pass computes, then sends; the next stage
// waits for what was sent.
std::vector<TimelineSpan> two_stages() {
  std::vector<TimelineSpan> out;
  for (int j = 0; j < 4; ++j) {
    const double begin = j * 1'500'000.0 + 1;  // picoseconds that are no whole nanoseconds
    out.push_back({.stage = 0,
                   .stream = "compute",
                   .name = "forward",
                   .category = "feed_forward",
                   .start = Picoseconds(begin),
                   .end = Picoseconds(begin + 1'000'000),
                   .microbatch = j,
                   .chunk = 0});
    out.push_back({.stage = 0,
                   .stream = "pp_forward",
                   .name = "send \"activation\"",
                   .category = "pp",
                   .start = Picoseconds(begin + 1'000'000),
                   .end = Picoseconds(begin + 1'200'000),
                   .microbatch = j,
                   .chunk = 0,
                   .flow_out = j});
    out.push_back({.stage = 1,
                   .stream = "compute",
                   .name = "forward",
                   .category = "feed_forward",
                   .start = Picoseconds(begin + 1'200'000),
                   .end = Picoseconds(begin + 2'200'000),
                   .microbatch = j,
                   .chunk = 0,
                   .flow_in = j});
  }
  return out;
}

const Value& member(const Value& map, std::string_view key) {
  static const Value kAbsent;
  const Value* found = map.find(key);
  EXPECT_NE(found, nullptr) << "no key " << key;
  return found != nullptr ? *found : kAbsent;
}

// "12.000001" microseconds -> 12000001 picoseconds, without floating point.
std::int64_t picoseconds(const Value& microseconds) {
  const std::string& text = microseconds.scalar_text();
  const std::size_t point = std::min(text.find('.'), text.size());
  std::string fraction = point < text.size() ? text.substr(point + 1) : "";
  EXPECT_LE(fraction.size(), 6u);
  fraction.resize(6, '0');
  return std::stoll(text.substr(0, point)) * 1'000'000 + std::stoll(fraction);
}

std::vector<Value> events(const std::string& json) {
  const auto document = parse_json(json, "trace.json");
  EXPECT_TRUE(document.has_value()) << (document ? "" : document.error().text());
  if (!document) return {};
  return member(document->root, "traceEvents").items();
}

TEST(ChromeJson, EveryEventHasItsRequiredKeys) {
  std::map<std::string, std::vector<std::string>> required = {
      {"M", {"name", "pid", "tid", "args"}},
      {"X", {"name", "cat", "pid", "tid", "ts", "dur", "args"}},
      {"s", {"name", "cat", "id", "pid", "tid", "ts"}},
      {"f", {"name", "cat", "id", "pid", "tid", "ts", "bp"}}};
  std::map<std::string, int> count;
  for (const Value& event : events(chrome_json(two_stages(), "test"))) {
    const std::string phase = member(event, "ph").scalar_text();
    ASSERT_TRUE(required.contains(phase)) << phase;
    ++count[phase];
    for (const std::string& key : required[phase]) EXPECT_NE(event.find(key), nullptr) << key;
  }
  EXPECT_EQ(count["X"], 12);
  EXPECT_EQ(count["s"], 4);
  EXPECT_EQ(count["f"], 4);
  EXPECT_EQ(count["M"], 2 * 2 + 3 * 2);  // two processes, three threads, a name and an order each
}

TEST(ChromeJson, SpansOfAThreadAreSortedAndNeverOverlap) {
  std::vector<TimelineSpan> shuffled = two_stages();
  std::reverse(shuffled.begin(), shuffled.end());
  std::map<std::pair<std::string, std::string>, std::int64_t> end;
  int seen = 0;
  for (const Value& event : events(chrome_json(shuffled, "test"))) {
    if (member(event, "ph").scalar_text() != "X") continue;
    const std::pair key(member(event, "pid").scalar_text(), member(event, "tid").scalar_text());
    const std::int64_t start = picoseconds(member(event, "ts"));
    if (end.contains(key)) {
      EXPECT_GE(start, end[key]);
    }
    end[key] = start + picoseconds(member(event, "dur"));
    ++seen;
  }
  EXPECT_EQ(seen, 12);
  EXPECT_EQ(end.size(), 3u);
}

TEST(ChromeJson, KeepsEveryPicosecondOfStarts) {
  std::multiset<std::int64_t> written;
  for (const Value& event : events(chrome_json(two_stages(), "test"))) {
    if (member(event, "ph").scalar_text() == "X") written.insert(picoseconds(member(event, "ts")));
  }
  std::multiset<std::int64_t> given;
  for (const TimelineSpan& span : two_stages()) {
    given.insert(static_cast<std::int64_t>(span.start.count()));
  }
  EXPECT_EQ(written, given);
}

TEST(ChromeJson, ArrowsGoForwardFromSenderToReceiver) {
  std::map<std::string, std::pair<std::int64_t, std::string>> sent;
  std::map<std::string, std::pair<std::int64_t, std::string>> received;
  for (const Value& event : events(chrome_json(two_stages(), "test"))) {
    const std::string phase = member(event, "ph").scalar_text();
    if (phase != "s" && phase != "f") continue;
    (phase == "s" ? sent : received)[member(event, "id").scalar_text()] = {
        picoseconds(member(event, "ts")), member(event, "pid").scalar_text()};
  }
  ASSERT_EQ(sent.size(), 4u);
  for (const auto& [id, end] : received) {
    ASSERT_TRUE(sent.contains(id));
    EXPECT_GE(end.first, sent[id].first);
    EXPECT_EQ(sent[id].second, "0");
    EXPECT_EQ(end.second, "1");
  }
}

TEST(ChromeJson, NamesProcessesAndThreadsAndArguments) {
  const std::string json = chrome_json(two_stages(), "a \"title\" <script>");
  EXPECT_THAT(json, testing::HasSubstr(R"("name":"stage 1")"));
  EXPECT_THAT(json, testing::HasSubstr(R"("name":"pp_forward")"));
  EXPECT_THAT(json, testing::HasSubstr(R"("name":"send \"activation\"")"));
  EXPECT_THAT(json,
              testing::HasSubstr(R"("args":{"class":"feed_forward","microbatch":3,"chunk":0})"));
  const auto document = parse_json(json, "trace.json");
  ASSERT_TRUE(document.has_value());
  EXPECT_EQ(member(member(document->root, "otherData"), "title").scalar_text(),
            "a \"title\" <script>");
}

TEST(ChromeJson, WritesAnEmptyTimeline) { EXPECT_TRUE(events(chrome_json({}, "nothing")).empty()); }

}  // namespace
}  // namespace orrery
