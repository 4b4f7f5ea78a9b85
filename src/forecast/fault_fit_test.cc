#include "forecast/fault_fit.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "document/value.h"
#include "parallel/random_draws.h"

namespace orrery {
namespace {

constexpr Seconds kFaultHour{3600};
const std::string kRecorded =
    std::string(ORRERY_SOURCE_DIR) + "/validation/faults/infinitehbd-faults-days-0-175.json";

std::string refusal(std::string_view text) {
  const auto log = parse_fault_log(text, "log");
  return log ? std::string() : log.error().text();
}

TEST(FaultLog, ReadsATable) {
  const auto log =
      parse_fault_log("node,start,end,class\nb,2,2.5,GPU\na,1,,\"NIC, link\"\n", "log");
  ASSERT_TRUE(log) << log.error().text();
  ASSERT_EQ(log->faults.size(), 2u);
  EXPECT_EQ(log->faults[0].node, "a");
  EXPECT_EQ(log->faults[0].kind, "NIC, link");
  EXPECT_FALSE(log->faults[0].end);
  EXPECT_EQ(log->faults[1].end, 2.5 * Seconds(86400));
}

TEST(FaultLog, PairsAnEndWithTheOldestOpenFaultOfItsKind) {
  const auto event = [](double time, const char* type, const char* kind) {
    return fmt::format(
        R"({{"node_id": "n", "event_time": {}, "event_type": "{}", "fault_type": {{"Class": "{}"}}}})",
        time, type, kind);
  };
  const auto log =
      parse_fault_log("[" + event(0, "fault_start", "GPU") + "," + event(1, "fault_start", "NIC") +
                          "," + event(2, "fault_start", "GPU") + "," +
                          event(3, "fault_end", "GPU") + "," + event(4, "fault_end", "NIC") + "]",
                      "log");
  ASSERT_TRUE(log) << log.error().text();
  ASSERT_EQ(log->faults.size(), 3u);
  EXPECT_EQ(log->faults[0].end, 3 * Seconds(86400));
  EXPECT_EQ(log->faults[1].end, 4 * Seconds(86400));
  EXPECT_FALSE(log->faults[2].end);
}

TEST(FaultLog, NamesRowsWithImpossibleTimes) {
  EXPECT_EQ(
      refusal("node,start,end\na,2,1\nb,1,2\nc,-3,4\nd,x,\n"),
      "log: 3 rows have impossible times: line 2 ends on day 1 and starts on day 2; line 4 has "
      "no time from 0 to 36525 days; line 5 has no time from 0 to 36525 days (times are days "
      "since the start of the log, as numbers)");
  EXPECT_EQ(refusal(R"([{"node_id": "n", "event_time": 1, "event_type": "fault_end"}])"),
            "log: 1 row has impossible times: event 1 (line 1) ends on day 1 what has not started "
            "(times are days since the start of the log, as numbers)");
  EXPECT_EQ(
      refusal("[{\"node_id\": \"n\", \"event_time\": 5, \"event_type\": \"fault_start\"},\n"
              "{\"node_id\": \"n\", \"event_time\": 4, \"event_type\": \"fault_end\"}]"),
      "log: 1 row has impossible times: event 2 (line 2) comes after day 5, on day 4 (times are "
      "days since the start of the log, as numbers)");
}

TEST(FaultLog, ThatIsNoneIsRefused) {
  EXPECT_EQ(refusal("[]"), "log: a log without faults");
  EXPECT_EQ(refusal("node,start,end\n"), "log: a log without faults");
  EXPECT_EQ(
      refusal("node,when\na,1\n"),
      "log: a log of faults needs the columns node, start and end (write node,start,end,class "
      "with times in days)");
  EXPECT_EQ(refusal(R"([{"node_id": "n", "event_time": 1}])"),
            "log: event 1 (line 1) needs a node_id and an event_type, fault_start or fault_end");
}

TEST(FaultFit, NeedsTwentyFaults) {
  const auto log = parse_fault_log("node,start,end\na,0,1\n", "log");
  EXPECT_EQ(fit(*log, {}).error().text(),
            "log: 1 fault is too few to fit rates to (20 or more are needed)");
}

TEST(FaultFit, OfARegularLogIsWhatItWasMadeOf) {
  std::string text = "node,start,end\n";
  for (int day = 0; day < 40; ++day) text += fmt::format("n{},{}.25,{}.75\n", day % 4, day, day);
  const auto fitted = fit(*parse_fault_log(text, "log"), {.nodes = 8});
  ASSERT_TRUE(fitted) << fitted.error().text();
  EXPECT_EQ(fitted->days, 40);
  EXPECT_EQ(fitted->faults_a_day, 1);
  EXPECT_EQ(fitted->dispersion_by_day, 0);
  EXPECT_EQ(fitted->days_without, 0);
  EXPECT_EQ(fitted->nodes_that_failed, 4);
  EXPECT_EQ(fitted->most_of_a_node, 10);
  EXPECT_EQ(fitted->worst_tenth, 0.25);
  EXPECT_EQ(fitted->nodes_down, 0.5);
  EXPECT_EQ(fitted->rates.per_1000_node_days, 125);
  EXPECT_EQ(quantile_of(fitted->repairs, 0.5), 12 * kFaultHour);
}

// Of 20,000 nodes, 5 % fail at ten times the rate of the others, 0.2 faults each.
TEST(FaultFit, FindsLemonNodesWhereThereAreSome) {
  const auto fitted = [](double share) {
    FaultLog log{"made", {}};
    for (std::uint64_t node = 0; node < 20'000; ++node) {
      const RandomDraws draws(3, node);
      const double rate = draws.uniform(0, 0) < share ? 2 : 0.2;
      double until = -std::log(draws.uniform(1, 0)) / rate;  // in units of the log
      for (std::uint64_t i = 1; until < 1; ++i) {
        log.faults.push_back({std::to_string(node), "", until * Seconds(8.64e6), std::nullopt});
        until -= std::log(draws.uniform(1, i)) / rate;
      }
    }
    std::ranges::sort(log.faults, {}, &Fault::start);
    return fit(log, {.last_day = 100, .nodes = 20'000})->rates.lemons;
  };
  EXPECT_NEAR(fitted(0.05).share, 0.05, 0.01);
  EXPECT_NEAR(fitted(0.05).factor, 10, 1.5);
  EXPECT_EQ(fitted(0).share, 0);
}

// Counts that an independent program made of the file.
TEST(FaultFit, OfTheRecordedClusterHasItsCounts) {
  const auto log = read_fault_log(kRecorded);
  ASSERT_TRUE(log) << log.error().text();
  const auto fitted = fit(*log, {.last_day = 176, .nodes = 400});
  ASSERT_TRUE(fitted) << fitted.error().text();
  EXPECT_EQ(fitted->faults, 313);
  EXPECT_EQ(fitted->open, 4);
  EXPECT_EQ(fitted->nodes_that_failed, 159);
  EXPECT_EQ(fitted->most_of_a_node, 8);
  EXPECT_NEAR(fitted->dispersion_by_day, 4.7104, 1e-4);
  EXPECT_NEAR(fitted->days_without, 76.0 / 176, 1e-12);
  EXPECT_NEAR(quantile_of(fitted->repairs, 0.5) / kFaultHour, 31.579, 0.001);
  EXPECT_NEAR(mean_of(*fitted->rates.repair) / kFaultHour, 153.63, 0.01);
  EXPECT_NEAR(fitted->rates.per_1000_node_days, 4.446, 0.001);
  // By the moments of its counts of faults by node.
  EXPECT_NEAR(fitted->rates.lemons.share, 0.1295, 5e-5);
  EXPECT_NEAR(fitted->rates.lemons.factor, 9.2078, 5e-5);
  EXPECT_TRUE(check(fitted->rates));
}

}  // namespace
}  // namespace orrery
