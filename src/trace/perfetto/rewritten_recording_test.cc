// What a viewer's file holds of the files it was made of, seen by a reader of JSON that knows
// nothing of traces: every member of every event and of the header, byte for byte where numbers
// have more digits than a double.
#include "trace/perfetto/rewritten_recording.h"

#include <gmock/gmock.h>
#include <simdjson.h>

#include <cmath>
#include <filesystem>
#include <map>

#include "trace/kineto/kineto.h"
#include "trace/kineto/rank_process.h"
#include "trace/perfetto/recorded_json.h"
#include "trace/published_traces.h"
#include "trace/read_one_rank.h"
#include "trace/trace_inputs.h"

namespace orrery {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string unpacked(const std::string& file) {
  auto stream = ByteStream::open(file);
  EXPECT_TRUE(stream) << file;
  auto text = stream->rest(Incomplete::use_what_is_whole);
  EXPECT_TRUE(text) << file;
  return *text;
}

// The members of an object as texts, in their order; numbers as they are written.
using Members = std::vector<std::pair<std::string, std::string>>;

Members members_of(simdjson::ondemand::object object) {
  Members out;
  for (auto field : object) {
    const std::string key(std::string_view(field.unescaped_key()));
    out.emplace_back(key, std::string(std::string_view(simdjson::to_json_string(field.value()))));
  }
  return out;
}

struct Contents {
  Members header;
  std::vector<Members> events;
};

Contents contents_of(const std::string& json) {
  Contents out;
  const simdjson::padded_string padded(json);
  simdjson::ondemand::parser parser;
  auto document = parser.iterate(padded);
  for (auto field : document.get_object()) {
    const std::string key(std::string_view(field.unescaped_key()));
    if (key != "traceEvents") {
      out.header.emplace_back(
          key, std::string(std::string_view(simdjson::to_json_string(field.value()))));
      continue;
    }
    for (auto event : field.value().get_array()) {
      out.events.push_back(members_of(event.get_object()));
    }
  }
  return out;
}

std::string value_of(const Members& members, std::string_view key) {
  for (const auto& [name, value] : members) {
    if (name == key) return value;
  }
  return "";
}

RecordedRun run_of(const std::vector<std::string>& files,
                   Incomplete incomplete = Incomplete::refuse,
                   PythonFunctions python = PythonFunctions::keep) {
  RunOptions options;
  options.kineto.incomplete = incomplete;
  options.kineto.python_functions = python;
  auto run = read_run(files, options);
  EXPECT_TRUE(run) << run.error().text();
  return run ? std::move(*run) : RecordedRun{};
}

std::string rewritten(const RecordedRun& run, const RewriteOptions& options = {}) {
  auto text = rewritten_recording(run, options);
  EXPECT_TRUE(text) << text.error().text();
  // Numbers of more than 64 bits are JSON too.
  simdjson::dom::parser strict;
  const auto error = text ? strict.parse(*text).error() : simdjson::SUCCESS;
  EXPECT_TRUE(error == simdjson::SUCCESS || error == simdjson::NUMBER_ERROR)
      << simdjson::error_message(error);
  return text ? *text : "";
}

// Every recording of the profiler in the repository, one file a rank.
std::vector<std::string> all_recordings() {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kTraces)) {
    const std::string path = entry.path().string();
    const bool named = path.ends_with(".json") || path.ends_with(".json.gz");
    if (named && path != kTraces + "metrics.json" &&
        format_of_file(path).value_or(&kUnknownFormat) == &kKineto) {
      out.push_back(path);
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

TEST(RewrittenRecording, HoldsAllOfEveryFile) {
  std::size_t files = 0;
  for (const std::string& file : all_recordings()) {
    SCOPED_TRACE(file);
    ++files;
    const Contents source = contents_of(unpacked(file));
    const Contents written = contents_of(rewritten(run_of({file})));
    ASSERT_EQ(written.events.size() >= source.events.size(), true);
    for (std::size_t e = 0; e < source.events.size(); ++e) {
      ASSERT_EQ(written.events[e], source.events[e]) << "event " << e;
    }
    // Added: arrows of launches, where the file has none.
    const bool any_arrow =
        std::any_of(source.events.begin(), source.events.end(),
                    [](const Members& event) { return value_of(event, "ph") == "\"s\""; });
    for (std::size_t e = source.events.size(); e < written.events.size(); ++e) {
      ASSERT_FALSE(any_arrow);
      ASSERT_EQ(value_of(written.events[e], "cat"), "\"ac2g\"");
    }
    // And the rank of the file's name, where the header has none.
    Members header = written.header;
    if (header.size() > source.header.size()) {
      EXPECT_EQ(header.back().first, "distributedInfo");
      EXPECT_NE(rank_of_name(file), kNotRecorded);
      header.pop_back();
    }
    ASSERT_EQ(header.size(), source.header.size());
    for (std::size_t i = 0; i < header.size(); ++i) {
      EXPECT_EQ(header[i].first, source.header[i].first);
      std::string value = header[i].second;
      if (header[i].first == "distributedInfo" && value != source.header[i].second) {
        const std::string added = ", \"rank\": " + std::to_string(rank_of_name(file)) + "}";
        ASSERT_TRUE(value.ends_with(added)) << value;
        value = value.substr(0, value.size() - added.size()) + "}";
      }
      EXPECT_EQ(value, source.header[i].second);
    }
  }
  EXPECT_GT(files, 40u);
}

// Back from a file of several ranks to what each had.
struct Unshared {
  std::int64_t rank = 0;
  Members event;
};

Unshared unshared(Members event, std::size_t ranks, const std::vector<std::int64_t>& numbers) {
  Unshared out;
  const auto source = rank_process(value_of(event, "pid"));
  EXPECT_TRUE(source) << value_of(event, "pid");
  if (!source) return out;
  out.rank = source->rank;
  const bool names_process = value_of(event, "name") == "\"process_name\"";
  for (auto& [key, value] : event) {
    if (key == "pid") value = source->process;
    if (key == "id") {
      const std::int64_t id = std::stoll(value);
      EXPECT_EQ(numbers[static_cast<std::size_t>(id) % ranks], out.rank);
      value = std::to_string(id / static_cast<std::int64_t>(ranks));
    }
    const std::string before = "\"name\": \"rank " + std::to_string(out.rank) + " ";
    if (key == "args" && names_process && value.find(before) != std::string::npos) {
      value.replace(value.find(before), before.size(), "\"name\": \"");
    }
  }
  out.event = std::move(event);
  return out;
}

// Nanoseconds; of texts that a double holds to the digit.
std::int64_t time_ns(const std::string& microseconds) {
  return std::llround(std::stold(microseconds) * 1000);
}

class RewrittenRun : public ::testing::TestWithParam<const char*> {};

TEST_P(RewrittenRun, HoldsAllOfEveryRank) {
  const auto sources = trace_sources({kTraces + GetParam()});
  ASSERT_TRUE(sources);
  const RecordedRun run = run_of(sources->files);
  ASSERT_GT(run.ranks.size(), 1u);
  const Contents written = contents_of(rewritten(run));
  std::vector<std::int64_t> numbers;
  for (const RecordedTrace& trace : run.ranks) numbers.push_back(trace.rank);
  std::map<std::int64_t, std::vector<Members>> of_rank;
  for (const Members& event : written.events) {
    Unshared back = unshared(event, run.ranks.size(), numbers);
    of_rank[back.rank].push_back(std::move(back.event));
  }
  for (std::size_t r = 0; r < run.ranks.size(); ++r) {
    SCOPED_TRACE(run.ranks[r].file);
    const Contents source = contents_of(unpacked(run.ranks[r].file));
    const std::vector<Members>& events = of_rank[run.ranks[r].rank];
    ASSERT_GE(events.size(), source.events.size());
    const std::int64_t shift_ns = run.clocks[r].offset_ns;
    for (std::size_t e = 0; e < source.events.size(); ++e) {
      Members expected = source.events[e];
      Members event = events[e];
      ASSERT_EQ(event.size(), expected.size());
      for (std::size_t i = 0; i < event.size(); ++i) {
        if (event[i].first != "ts" || shift_ns == 0) continue;
        ASSERT_EQ(time_ns(event[i].second), time_ns(expected[i].second) + shift_ns);
        event[i].second = expected[i].second;
      }
      ASSERT_EQ(event, expected) << "event " << e;
    }
    const std::string key = "orreryHeader " + std::to_string(run.ranks[r].rank);
    const simdjson::padded_string header(value_of(written.header, key));
    simdjson::ondemand::parser parser;
    auto document = parser.iterate(header);
    EXPECT_EQ(members_of(document.get_object()), source.header);
  }
}

INSTANTIATE_TEST_SUITE_P(, RewrittenRun,
                         ::testing::Values("torchrec/sst_long_a2a_optimizer_4",
                                           "astra-sim/megatron-tp8", "megatron-lm-fork/tp2",
                                           "HolisticTraceAnalysis/trace_filter"));

// Two files by content, which RewriteOptions::open gives once more.
struct Given {
  std::map<std::string, std::string> texts;
  RewriteOptions options;

  RecordedRun run(Incomplete incomplete = Incomplete::refuse,
                  PythonFunctions python = PythonFunctions::keep) {
    options.open = [this](const std::string& file) { return ByteStream::of(texts[file], file); };
    options.incomplete = incomplete;
    options.python_functions = python;
    RunOptions reading;
    reading.kineto.incomplete = incomplete;
    reading.kineto.python_functions = python;
    std::vector<RecordedTrace> traces;
    for (const auto& [file, text] : texts) {
      auto ranks = read_kineto_ranks_bytes(text, file, reading.kineto);
      EXPECT_TRUE(ranks) << ranks.error().text();
      for (RecordedTrace& trace : *ranks) traces.push_back(std::move(trace));
    }
    auto made = make_run(std::move(traces), reading);
    EXPECT_TRUE(made) << made.error().text();
    return std::move(*made);
  }
};

constexpr const char* kEvent =
    R"({"ph": "X", "cat": "cpu_op", "name": "a", "pid": 7, "tid": 8, "ts": 10, "dur": 5,
        "args": {"Python id": 12345678901234567890123, "x": [1, {"y": null}], "nan": "nan"}})";

TEST(RewrittenRecording, TurnsWordsThatAreNoJsonIntoTexts) {
  Given given;
  given.texts["a.json"] =
      R"({"flops": nan, "traceEvents": [{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1,
         "dur": 1, "args": {"flops": inf, "bits": 0x7f, "n": -1.5e3, "ok": true}}]})";
  const std::string text = rewritten(given.run(), given.options);
  EXPECT_THAT(text, HasSubstr(R"("flops": "nan",)"));
  EXPECT_THAT(text,
              HasSubstr(R"("args": {"flops": "inf", "bits": "0x7f", "n": -1.5e3, "ok": true})"));
}

// Quoted they are the same rows, so that a beginning keeps its end.
TEST(RewrittenRecording, KeepsRowsNamedByWordsThatAreNoJson) {
  Given given;
  given.texts["a.json"] =
      R"({"traceEvents": [{"ph": "B", "name": "a", "pid": x, "tid": ., "ts": 1},
         {"ph": "B", "name": "b", "pid": x, "ts": 2}, {"ph": "E", "pid": x, "tid": ., "ts": 9},
         {"ph": "E", "pid": x, "ts": 4}]})";
  const auto once = given.run();
  Given again;
  again.texts["a.json"] = rewritten(once, given.options);
  const auto twice = again.run();
  for (const RecordedRun* run : {&once, &twice}) {
    ASSERT_EQ(run->ranks[0].size(), 2);
    EXPECT_EQ(run->ranks[0].duration_ns, (std::vector<std::int64_t>{8000, 2000}));
    EXPECT_EQ(run->ranks[0].lanes[0].thread_name, ".");
  }
}

TEST(RewrittenRecording, MakesAnObjectOfAList) {
  Given given;
  given.texts["a.json"] = std::string("[") + kEvent + "]";
  EXPECT_EQ(rewritten(given.run(), given.options),
            std::string("{\n\"traceEvents\": [\n  ") + kEvent + "\n]\n}\n");
}

TEST(RewrittenRecording, SaysTheRankOfTheName) {
  Given given;
  given.texts["rank3.json"] = std::string(R"({"traceEvents": [)") + kEvent + "]}";
  EXPECT_THAT(rewritten(given.run(), given.options),
              HasSubstr("\"distributedInfo\": {\"rank\": 3}"));
  given.texts["rank3.json"] =
      std::string(R"({"distributedInfo": {"backend": "nccl"}, "traceEvents": [)") + kEvent + "]}";
  EXPECT_THAT(rewritten(given.run(), given.options),
              HasSubstr(R"("distributedInfo": {"backend": "nccl", "rank": 3})"));
}

TEST(RewrittenRecording, LeavesOutWhatWasNotWanted) {
  Given given;
  const std::string frame =
      R"({"ph": "X", "cat": "python_function", "name": "f", "pid": 7, "tid": 8, "ts": 1, "dur": 1})";
  const std::string row =
      R"({"ph": "X", "cat": "Trace", "name": "t", "pid": "Spans", "tid": 8, "ts": 1, "dur": 1})";
  given.texts["a.json"] =
      R"({"traceEvents": [)" + frame + ", " + row + ", " + kEvent + R"(], "traceName": "/t"})";
  const auto run = given.run(Incomplete::refuse, PythonFunctions::leave_out);
  const std::string text = rewritten(run, given.options);
  EXPECT_THAT(text, Not(HasSubstr("python_function")));
  EXPECT_THAT(text, HasSubstr(row));
  EXPECT_THAT(text, HasSubstr(kEvent));
  EXPECT_THAT(text, HasSubstr(R"("traceName": "/t")"));
}

TEST(RewrittenRecording, UsesWhatIsWholeOfACutFile) {
  Given given;
  const std::string impossible =
      R"({"ph": "X", "cat": "cpu_op", "name": "b", "pid": 7, "tid": 8, "ts": 2, "dur": -5})";
  const std::string far =
      R"({"ph": "X", "cat": "cpu_op", "name": "c", "pid": 7, "tid": 8, "ts": 4e15, "dur": 5})";
  given.texts["a.json"] = R"({"schemaVersion": 1, "traceEvents": [)" + impossible + "," + far +
                          "," + kEvent + "," + kEvent + "," + kEvent + ", {\"ph\": \"X\", \"na";
  const auto run = given.run(Incomplete::use_what_is_whole);
  const std::string text = rewritten(run, given.options);
  EXPECT_EQ(text, std::string("{\n\"schemaVersion\": 1,\n\"traceEvents\": [\n  ") + kEvent +
                      ",\n  " + kEvent + ",\n  " + kEvent + "\n]\n}\n");
}

// With an end goes its beginning, and the other way round.
TEST(RewrittenRecording, LeavesOutBothHalvesOfWhatWasNotWanted) {
  const auto half = [](const char* phase, const char* category, const char* name, int time) {
    return R"({"ph": ")" + std::string(phase) + R"(", "cat": ")" + category + R"(", "name": ")" +
           name + R"(", "pid": 7, "tid": 8, "ts": )" + std::to_string(time) + "}";
  };
  const std::string whole = half("B", "cpu_op", "mm", 2) + ",\n  " + half("E", "cpu_op", "mm", 4);
  const std::string frame_begins = half("B", "python_function", "f", 1);
  const std::string frame_ends = half("E", "", "f", 5);
  const std::string backwards =
      half("B", "cpu_op", "add", 8) + ",\n  " + half("E", "cpu_op", "add", 7);
  const std::string alone = half("E", "cpu_op", "lone", 9);
  const auto file = [](const std::string& events) {
    return "{\n\"traceEvents\": [\n  " + events + "\n]\n}\n";
  };
  Given frames;
  frames.texts["a.json"] =
      file(frame_begins + ",\n  " + whole + ",\n  " + frame_ends + ",\n  " + alone);
  EXPECT_EQ(rewritten(frames.run(), frames.options), frames.texts["a.json"]);
  EXPECT_EQ(rewritten(frames.run(Incomplete::refuse, PythonFunctions::leave_out), frames.options),
            file(whole + ",\n  " + alone));
  Given partial;
  partial.texts["a.json"] = file(backwards + ",\n  " + whole + ",\n  " + alone);
  EXPECT_EQ(rewritten(partial.run(Incomplete::use_what_is_whole), partial.options), file(whole));
}

TEST(RewrittenRecording, BringsFilesWithOtherBasesOntoOne) {
  Given given;
  const auto file = [](const std::string& base, const std::string& ts) {
    return R"({"traceEvents": [{"ph": "i", "name": "mark", "pid": "Spans", "ts": )" + ts +
           R"(}, {"ph": "s", "id": 5, "cat": "x", "ts": )" + ts +
           R"(}, {"ph": "X", "cat": "cpu_op", "name": "a", "pid": 7, "tid": 1, "ts": )" + ts +
           R"(, "dur": 1.5}], "baseTimeNanoseconds": )" + base + "}";
  };
  given.texts["rank0.json"] = file("5000000", "12.34567");
  given.texts["rank1.json"] = file("4000500", "1012.3456789");
  const auto run = given.run();
  const std::string text = rewritten(run, given.options);
  EXPECT_THAT(text, HasSubstr(R"("baseTimeNanoseconds": 5000000,
"traceEvents")"));
  EXPECT_THAT(text,
              HasSubstr(R"({"ph": "i", "name": "mark", "pid": "rank 0 Spans", "ts": 12.34567})"));
  EXPECT_THAT(text,
              HasSubstr(R"({"ph": "i", "name": "mark", "pid": "rank 1 Spans", "ts": 12.8456789})"));
  EXPECT_THAT(
      text, HasSubstr(R"({"pid": "rank 1 ", "ph": "s", "id": 11, "cat": "x", "ts": 12.8456789})"));
  EXPECT_THAT(text, HasSubstr(R"("orreryHeader 1": {"baseTimeNanoseconds": 4000500})"));
  // Once more, from the file of both.
  Given again;
  again.texts["both.json"] = text;
  EXPECT_EQ(contents_of(rewritten(again.run(), again.options)).events, contents_of(text).events);
}

TEST(RewrittenRecording, RefusesAFileThatChanged) {
  Given given;
  given.texts["a.json"] = std::string(R"({"traceEvents": [)") + kEvent + "]}";
  const auto run = given.run();
  given.texts["a.json"].resize(60);
  const auto text = rewritten_recording(run, given.options);
  ASSERT_FALSE(text);
  EXPECT_THAT(text.error().text(),
              HasSubstr("a.json: byte 60: the file ends in the middle of an event"));
}

// The reader passes over values that it does not need; where one is broken, what it took for the
// next event may be none.
TEST(RewrittenRecording, RefusesWhatIsNoJsonInValuesThatAreNotRead) {
  for (const std::string value :
       {R"({"a": [{}:1]})", R"("\x")", R"([1 2])", R"(x"y, z")", R"({"a" 1})"}) {
    for (const Incomplete incomplete : {Incomplete::refuse, Incomplete::use_what_is_whole}) {
      Given given;
      given.texts["a.json"] = R"({"traceEvents": [{"ph": "X", "name": "a", "pid": 1, "tid": 1,
          "ts": 1, "dur": 1, "args": {"unread": )" +
                              value + "}}]}";
      const auto run = given.run(incomplete);
      const auto text = rewritten_recording(run, given.options);
      ASSERT_FALSE(text) << value << " gave " << *text;
      EXPECT_THAT(text.error().text(), HasSubstr("a.json: byte 1")) << value;
      EXPECT_THAT(text.error().text(), HasSubstr(": not JSON (")) << value;
    }
  }
}

TEST(RewrittenRecording, KeepsNumbersOfAnyLengthAndHalfACharacter) {
  Given given;
  const std::string event =
      R"({"ph": "X", "name": "\ud83d", "pid": 1, "tid": 1, "ts": 1, "dur": 1, "args": {"a": 1e999, "b": )" +
      std::string(400, '7') + "}}";
  given.texts["a.json"] = R"({"traceEvents": [)" + event + "]}";
  const auto run = given.run();
  EXPECT_THAT(*rewritten_recording(run, given.options), HasSubstr(event));
}

// Where an object stands for a number or a text, neither the reader nor what is copied has a value.
TEST(RewrittenRecording, PassesOverObjectsThatStandForValues) {
  const std::string ranks = R"({"orreryRanks": [{"rank": 0}, {"rank": 1}], "traceEvents": [)";
  const auto event = [](const std::string& name, const std::string& process, int time, int takes) {
    return R"({"ph": "X", "cat": "cpu_op", "name": ")" + name + R"(", "pid": )" + process +
           R"(, "tid": 1, "ts": )" + std::to_string(time) + R"(, "dur": )" + std::to_string(takes) +
           "}";
  };
  const auto kept = [](const std::map<std::string, std::string>& texts, Incomplete incomplete) {
    Given given;
    given.texts = texts;
    const auto once = given.run(incomplete);
    Given again;
    again.texts["a.json"] = rewritten(once, given.options);
    const auto twice = again.run();
    std::vector<std::vector<std::int64_t>> starts;
    for (std::size_t r = 0; r < twice.ranks.size(); ++r) {
      EXPECT_EQ(once.ranks[r].duration_ns, twice.ranks[r].duration_ns);
      starts.emplace_back();
      for (const std::int64_t start : twice.ranks[r].start_ns) {
        starts.back().push_back(twice.ranks[r].base_ns + start);
      }
    }
    return starts;
  };
  using Starts = std::vector<std::vector<std::int64_t>>;
  const std::string first = event("a", "10000001", 1, 2);
  EXPECT_EQ(kept({{"a.json", ranks + first + "," + event("b", R"({"a": 1})", 9, 2) + "]}"}},
                 Incomplete::refuse),
            (Starts{{1000, 9000}, {}}));
  const std::string twice = R"(20000001, "pid": {})";
  EXPECT_EQ(
      kept({{"a.json", ranks + first + "," + event("b", twice, 9, 2) + "]}"}}, Incomplete::refuse),
      (Starts{{1000}, {9000}}));
  EXPECT_EQ(kept({{"a.json", ranks + event("n", twice, 1, 2) + "," +
                                 event("impossible", "20000001", 1, -2) + "," +
                                 event("b", "20000001", 9, 2) + "," + first + "]}"}},
                 Incomplete::use_what_is_whole),
            (Starts{{1000}, {1000, 9000}}));
  const auto file = [&](const std::string& base, const std::string& start) {
    return R"({"baseTimeNanoseconds": )" + base +
           R"(, "traceEvents": [{"ph": "X", "name": "o", "pid": 1, "tid": 1, "ts": )" + start +
           R"(, "dur": 2}]})";
  };
  EXPECT_EQ(kept({{"rank0.json", file("0", "1000000")},
                  {"rank1.json", file("1000000000", R"(0, "ts": {})")}},
                 Incomplete::refuse),
            (Starts{{1000000000}, {1000000000}}));
}

// Of a file that ranks share they are its first rank's, and stay so beside other files.
TEST(RewrittenRecording, EventsWithoutAProcessKeepTheirRank) {
  Given given;
  given.texts["a.json"] = R"({"orreryRanks": [{"rank": 1}, {"rank": 0}], "traceEvents": [
      {"ph": "X", "name": "a", "pid": 10000001, "tid": 1, "ts": 1, "dur": 2},
      {"ph": "X", "name": "z", "tid": 1, "ts": 9, "dur": 3}]})";
  given.texts["rank7.json"] =
      R"({"traceEvents": [{"ph": "X", "name": "o", "pid": 1, "tid": 1, "ts": 5, "dur": 4}]})";
  const auto once = given.run();
  Given again;
  again.texts["a.json"] = rewritten(once, given.options);
  const auto twice = again.run();
  for (const RecordedRun* run : {&once, &twice}) {
    ASSERT_EQ(run->ranks.size(), 3);
    EXPECT_EQ(run->ranks[0].duration_ns, std::vector<std::int64_t>{2000});
    EXPECT_EQ(run->ranks[1].duration_ns, std::vector<std::int64_t>{3000});
    EXPECT_EQ(run->ranks[2].duration_ns, std::vector<std::int64_t>{4000});
  }
}

TEST(RewrittenRecording, KnowsKeysOfTheHeaderByWhatTheySay) {
  Given given;
  given.texts["a.json"] =
      std::string(R"({"orrery\u0052anks": [{"rank": 1}, {"rank": 0}], "trace\u0045vents": [
          {"ph": "X", "name": "z", "tid": 1, "ts": 9, "dur": 2},
          {"ph": "X", "name": "a", "pid": 10000001, "tid": 1, "ts": 1, "dur": 2}]})");
  const auto run = given.run(Incomplete::use_what_is_whole);
  Given again;
  again.texts["a.json"] = rewritten(run, given.options);
  const auto twice = again.run();
  ASSERT_EQ(twice.ranks.size(), 2);
  EXPECT_EQ(twice.ranks[0].size(), 1);
  EXPECT_EQ(twice.ranks[1].size(), 1);
}

// A quote behind a backslash outside of any text: the event ends there for the reader only.
TEST(RewrittenRecording, RefusesToLoseAnEventThatWasRead) {
  Given given;
  given.texts["a.json"] =
      R"({"traceEvents": [{"ph": "X", "name": "}, {", "ts": 1, "dur": 2, "args":{"a":\"}}, {"ph": "M",
         "name": "x"}], "y": [{})";
  const auto run = given.run(Incomplete::use_what_is_whole);
  ASSERT_EQ(run.ranks[0].size(), 1);
  const auto text = rewritten_recording(run, given.options);
  ASSERT_FALSE(text) << *text;
  EXPECT_THAT(text.error().text(), HasSubstr("a.json: byte 17: not what was read before ("));
}

}  // namespace
}  // namespace orrery
