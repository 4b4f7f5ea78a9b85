// Functions of users in both kinds of interpreters: what they return, and every way in which an
// evaluation ends without a value.
#include "python/user_functions.h"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace orrery {
namespace {

constexpr const char* kSource = R"(import math

def objective(step):
    return step.step_time_s * math.sqrt(step.plan.tp) + step["stages"][1].end_s

def fits(step):
    return step.step_time_s < 2

def raises(step):
    return 1 / 0

def absent(step):
    return step.step_time

def nothing(step):
    pass

def endless(step):
    while True:
        pass

def endless_and_caught(step):
    try:
        endless(step)
    except Exception:
        return 1

def large(step):
    return len([0] * 10 ** 9)

def growing(step):
    out = []
    while True:
        out.append(bytes(100000))

def infinite(step):
    return math.inf
)";

std::optional<std::string> key(std::string_view name) {
  if (name == "step_time_s") return "1.5";
  if (name == "plan") return R"({"tp": 4})";
  if (name == "stages") return R"([{"end_s": 0.25}, {"end_s": 0.5}])";
  return std::nullopt;
}

class UserFunctionsTest : public testing::TestWithParam<Interpreters> {
 protected:
  std::unique_ptr<UserFunctions> load(const std::string& source, int count = 1) {
    auto out = UserFunctions::load(source, "functions.py", count, GetParam(),
                                   {.time = Seconds(1), .memory = 64UL << 20U});
    EXPECT_TRUE(out) << out.error().text();
    return out ? *std::move(out) : nullptr;
  }
  std::string error(const std::string& function) {
    const auto answer = load(kSource)->call(function, key);
    return answer ? std::to_string(*answer) : answer.error().text();
  }
};

TEST_P(UserFunctionsTest, KeysAreReadAndNumbersReturned) {
  const auto functions = load(kSource);
  EXPECT_TRUE(functions->has("objective"));
  EXPECT_FALSE(functions->has("constraint"));
  EXPECT_EQ(functions->call("objective", key).value_or(0), 3.5);
  EXPECT_EQ(functions->call("fits", key).value_or(0), 1);
}

TEST_P(UserFunctionsTest, ManyThreadsShareAFewInterpreters) {
  const auto functions = load(kSource, 2);
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      const auto mine = [i](std::string_view name) -> std::optional<std::string> {
        return name == "step_time_s" ? std::optional(std::to_string(i)) : key(name);
      };
      for (int k = 0; k < 20; ++k) {
        right += functions->call("objective", mine).value_or(-1) == 2 * i + 0.5 ? 1 : 0;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(right, 160);
}

TEST_P(UserFunctionsTest, WhatIsRaisedIsSaidWithItsLine) {
  EXPECT_EQ(error("raises"), "functions.py:10: in raises: ZeroDivisionError: division by zero");
  EXPECT_EQ(error("absent"), "functions.py:13: in absent: AttributeError: no key 'step_time'");
  EXPECT_EQ(error("nothing"), "functions.py: TypeError: nothing returned NoneType, not a number");
  EXPECT_EQ(error("infinite"),
            "functions.py: ValueError: infinite returned inf, not a finite number");
}

TEST_P(UserFunctionsTest, EndlessLoopsEnd) {
  EXPECT_THAT(error("endless"), testing::HasSubstr("TimeLimit: takes longer than 1 s"));
  EXPECT_THAT(error("endless_and_caught"), testing::HasSubstr("TimeLimit: takes longer than 1 s"));
}

TEST_P(UserFunctionsTest, WhatStaysIsGivenNoKeysOfACallThatIsOver) {
  const auto functions = load(R"(def stays(step):
    while True:
        try:
            while True:
                try:
                    step.nothing_like_it
                except AttributeError:
                    pass
        except BaseException:
            pass

def one(step):
    return step.step_time_s
)");
  std::atomic<std::int64_t> asked = 0;
  {
    const KeyText counted = [&](std::string_view) -> std::optional<std::string> {
      ++asked;
      return std::nullopt;
    };
    // An interruption that falls between two of its handlers ends it.
    EXPECT_THAT(functions->call("stays", counted).error().text(),
                testing::AnyOf(testing::HasSubstr("does not end, and catches what should end it"),
                               testing::HasSubstr("TimeLimit: takes longer than 1 s")));
  }
  const std::int64_t before = asked;
  EXPECT_GT(before, 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(asked, before);
  EXPECT_EQ(functions->call("one", key).value_or(0), 1.5);
}

TEST_P(UserFunctionsTest, AStepThatWasKeptHasNoKeysOfTheNext) {
  const auto functions = load(R"(kept = []
def keeps(step):
    kept.append(step)
    return step.step_time_s
def looks_back(step):
    return kept[0].step_time_s
def looks_further(step):
    return kept[0].plan.tp
)");
  EXPECT_EQ(functions->call("keeps", key).value_or(0), 1.5);
  const auto other = [](std::string_view name) -> std::optional<std::string> {
    return name == "step_time_s" ? std::optional<std::string>("9") : key(name);
  };
  EXPECT_EQ(functions->call("looks_back", other).value_or(0), 1.5);
  EXPECT_EQ(
      functions->call("looks_further", other).error().text(),
      "functions.py:8: in looks_further: AttributeError: key 'plan' of a step whose evaluation "
      "is over");
}

TEST_P(UserFunctionsTest, MemoryHasALimit) {
  EXPECT_EQ(error("large"), "functions.py:29: in large: MemoryError");
  EXPECT_EQ(error("growing"), "functions.py:34: in growing: MemoryError");
}

TEST_P(UserFunctionsTest, TheNextEvaluationIsAsGoodAsNew) {
  const auto functions = load(kSource);
  for (const char* bad : {"endless", "large", "raises"}) {
    EXPECT_FALSE(functions->call(bad, key));
    EXPECT_EQ(functions->call("objective", key).value_or(0), 3.5) << bad;
  }
}

TEST_P(UserFunctionsTest, WhatCannotBeLoadedIsSaid) {
  const auto loaded = [&](const std::string& source) {
    const auto out = UserFunctions::load(source, "functions.py", 1, GetParam(), {});
    return out ? "loaded" : out.error().text();
  };
  EXPECT_EQ(loaded("def objective(:\n"),
            "functions.py:1: SyntaxError: invalid syntax (functions.py, line 1)");
  EXPECT_EQ(loaded("\nimport nothing_like_it\n"),
            "functions.py:2: in <module>: ModuleNotFoundError: No module named 'nothing_like_it'");
}

INSTANTIATE_TEST_SUITE_P(Both, UserFunctionsTest,
                         testing::Values(Interpreters::in_threads, Interpreters::in_processes),
                         [](const auto& one) {
                           return one.param == Interpreters::in_threads ? "Threads" : "Processes";
                         });

TEST(PythonProcesses, ACrashIsAnError) {
  const std::string source =
      "import os, signal\n"
      "def crash(step):\n    os.kill(os.getpid(), signal.SIGSEGV)\n"
      "def leave(step):\n    os._exit(3)\n"
      "def one(step):\n    return 1\n";
  const auto functions =
      UserFunctions::load(source, "functions.py", 1, Interpreters::in_processes, {});
  ASSERT_TRUE(functions);
  EXPECT_EQ((*functions)->call("crash", key).error().text(),
            "functions.py: the interpreter crashed: Segmentation fault");
  EXPECT_EQ((*functions)->call("leave", key).error().text(),
            "functions.py: the interpreter ended with exit code 3");
  EXPECT_EQ((*functions)->call("one", key).value_or(0), 1);
}

// Of each evaluation the value must be its own, whatever it writes.
TEST(PythonProcesses, WhatIsWrittenIsNoAnswer) {
  const std::string source =
      "import os, subprocess, __main__\n"
      "def writes(step):\n"
      "    v = step.step_time_s\n"
      "    os.write(1, b'value 7\\n')\n"
      "    subprocess.run(['echo', 'value 8'], check=True)\n"
      "    return v\n"
      "def reads(step):\n    return len(os.read(0, 1))\n"
      "def says(step):\n    __main__._out.write('x\\n')\n    return step.step_time_s\n"
      "def answers_twice(step):\n    __main__._out.write('value 7\\n')\n    return 8\n";
  const auto functions =
      UserFunctions::load(source, "functions.py", 1, Interpreters::in_processes, {});
  ASSERT_TRUE(functions);
  const auto value = [&](const std::string& function, int i) {
    const auto mine = [i](std::string_view name) -> std::optional<std::string> {
      return name == "step_time_s" ? std::optional(std::to_string(i)) : std::nullopt;
    };
    const auto answer = (*functions)->call(function, mine);
    return answer ? std::to_string(static_cast<int>(*answer)) : answer.error().text();
  };
  const char* const refused = "functions.py: the interpreter does not answer as expected";
  EXPECT_EQ(value("writes", 1), "1");
  EXPECT_EQ(value("writes", 2), "2");
  EXPECT_EQ(value("reads", 3), "0");
  EXPECT_EQ(value("says", 4), refused);
  EXPECT_EQ(value("writes", 5), "5");
  EXPECT_EQ(value("answers_twice", 6), refused);
  EXPECT_EQ(value("writes", 7), "7");
}

}  // namespace
}  // namespace orrery
