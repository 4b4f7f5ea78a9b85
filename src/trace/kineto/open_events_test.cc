#include "trace/kineto/open_events.h"

#include <gmock/gmock.h>

#include <string>

#include "trace/kineto/kineto.h"
#include "trace/read_one_rank.h"

namespace orrery {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr RowName kProcess{1, 0};

TEST(OpenEvents, EndInnermostFirstRowByRow) {
  OpenEvents open;
  open.begin(kProcess, {1, 0}, {.name = 5, .event = 0});
  open.begin(kProcess, {1, 0}, {.name = 5, .event = 1});
  open.begin(kProcess, {2, 0}, {.name = 5, .event = 2});
  EXPECT_EQ(open.end(kProcess, {1, 0}, 5)->event, 1U);
  EXPECT_EQ(open.end(kProcess, {2, 0}, 0)->event, 2U);
  EXPECT_EQ(open.end(kProcess, {1, 0}, 0)->event, 0U);
  EXPECT_FALSE(open.end(kProcess, {1, 0}, 0));
}

// What began inside of what ends can no longer end.
TEST(OpenEvents, EndByNameClosesWhatBeganInside) {
  OpenEvents open;
  open.begin(kProcess, {1, 0}, {.name = 5, .event = 0});
  open.begin(kProcess, {1, 0}, {.name = 6, .event = 1});
  EXPECT_FALSE(open.end(kProcess, {1, 0}, 7));
  EXPECT_EQ(open.end(kProcess, {1, 0}, 5)->event, 0U);
  EXPECT_FALSE(open.end(kProcess, {1, 0}, 6));
}

RecordedTrace read(const std::string& events, Incomplete incomplete = Incomplete::refuse,
                   PythonFunctions python = PythonFunctions::keep) {
  KinetoOptions options;
  options.incomplete = incomplete;
  options.python_functions = python;
  auto trace = read_kineto_bytes(R"({"traceEvents": [)" + events + "]}", "t.json", options);
  EXPECT_TRUE(trace) << (trace ? "" : trace.error().text());
  return trace ? *std::move(trace) : RecordedTrace();
}

// ph, name, thread, ts and what else there is.
std::string event(const char* phase, const std::string& name, int thread, int start,
                  const std::string& more = "") {
  return R"({"ph": ")" + std::string(phase) + "\"" +
         (name.empty() ? "" : R"(, "name": ")" + name + "\"") + R"(, "pid": 1, "tid": )" +
         std::to_string(thread) + R"(, "ts": )" + std::to_string(start) + more + "}";
}

const std::string kOperator = R"(, "cat": "cpu_op", "args": {"External id": 7})";

TEST(Kineto, ReadsPairsOfBeginningAndEndAsWholeEvents) {
  const RecordedTrace pairs =
      read(event("B", "outer", 1, 0, kOperator) + "," +
           event("B", "other", 2, 1, R"(, "cat": "user_annotation")") + "," +
           event("B", "inner", 1, 2, R"(, "cat": "cuda_runtime")") + "," +
           event("E", "inner", 1, 5) + "," + event("E", "", 2, 6) + "," + event("E", "", 1, 9));
  const RecordedTrace whole =
      read(event("X", "outer", 1, 0, R"(, "dur": 9)" + kOperator) + "," +
           event("X", "other", 2, 1, R"(, "dur": 5, "cat": "user_annotation")") + "," +
           event("X", "inner", 1, 2, R"(, "dur": 3, "cat": "cuda_runtime")"));
  ASSERT_EQ(pairs.size(), 3U);
  EXPECT_EQ(pairs.start_ns, whole.start_ns);
  EXPECT_EQ(pairs.duration_ns, whole.duration_ns);
  EXPECT_EQ(pairs.kind, whole.kind);
  EXPECT_EQ(pairs.lane, whole.lane);
  EXPECT_EQ(pairs.external_id, whole.external_id);
  for (std::size_t e = 0; e < 3; ++e) EXPECT_EQ(pairs.name_of(e), whole.name_of(e));
  EXPECT_EQ(pairs.left_out, 0);
  EXPECT_EQ(pairs.entries, 6);
}

TEST(Kineto, CountsBeginningsAndEndsThatLackTheOther) {
  const RecordedTrace trace =
      read(event("E", "before", 1, 0) + "," + event("B", "whole", 1, 1) + "," +
           event("B", "lost", 1, 2) + "," + event("E", "never", 1, 3) + "," +
           event("E", "whole", 1, 4) + "," + event("B", "last", 1, 5));
  ASSERT_EQ(trace.size(), 1U);
  EXPECT_EQ(trace.name_of(0), "whole");
  EXPECT_THAT(trace.duration_ns, ElementsAre(3000));
  EXPECT_EQ(trace.left_out, 4);
  EXPECT_EQ(trace.unpaired, 4);
}

TEST(Kineto, RefusesAnEndBeforeItsBeginning) {
  const std::string events = event("B", "whole", 1, 1) + "," + event("E", "whole", 1, 4) + "," +
                             event("B", "gemm", 1, 8) + "," + event("E", "gemm", 1, 6);
  const auto refused = read_kineto_bytes(R"({"traceEvents": [)" + events + "]}", "t.json");
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().text(),
              HasSubstr(R"(event 3, "gemm": ts is 6, the end of an event that began at 8.000 (an )"
                        "event ends after it begins; --partial leaves such events out)"));
  const RecordedTrace partial = read(events, Incomplete::use_what_is_whole);
  EXPECT_THAT(partial.duration_ns, ElementsAre(3000));
  EXPECT_EQ(partial.left_out, 1);
}

// Pairs of kinds that are not wanted are neither kept nor missed.
TEST(Kineto, LeavesPairsOfPythonFunctionsOut) {
  const RecordedTrace trace =
      read(event("B", "f.py(1): f", 1, 0, R"(, "cat": "python_function")") + "," +
               event("B", "aten::mm", 1, 1, kOperator) + "," + event("E", "", 1, 2) + "," +
               event("E", "", 1, 3) + "," +
               event("B", "f.py(2): g", 1, 4, R"(, "cat": "python_function")"),
           Incomplete::refuse, PythonFunctions::leave_out);
  ASSERT_EQ(trace.size(), 1U);
  EXPECT_EQ(trace.name_of(0), "aten::mm");
  EXPECT_EQ(trace.left_out, 0);
}

}  // namespace
}  // namespace orrery
