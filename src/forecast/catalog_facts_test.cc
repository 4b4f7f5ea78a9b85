// Every failure rate and every restart of the catalog: it reads, it says where it comes from, and
// the figures that were published of it follow from it.
#include <gtest/gtest.h>

#include "forecast/ettr.h"
#include "forecast/failure_rates.h"
#include "forecast/restart_times.h"

namespace orrery {
namespace {

TEST(FailureRates, OfTheCatalogAreSound) {
  const Catalog& catalog = Catalog::built_in();
  const auto names = catalog.names("failures");
  EXPECT_GE(names.size(), 4u);
  for (const std::string& name : names) {
    const auto rates = load_failure_rates(catalog, name);
    ASSERT_TRUE(rates) << rates.error().text();
    EXPECT_EQ(rates->name, name);
    EXPECT_NE(rates->provenance.source, "");
    EXPECT_EQ(rates->per_1000_node_days > 0, name != "none");
  }
}

TEST(FailureRates, OfLlama3AreThePublishedOnes) {
  const auto rates = load_failure_rates(Catalog::built_in(), "meta-llama-3");
  ASSERT_TRUE(rates);
  std::int64_t unplanned = 0;
  for (const FailureCause& cause : rates->causes) unplanned += cause.count;
  EXPECT_EQ(unplanned, 419);
  EXPECT_EQ(unplanned + *rates->planned, 466);
  // 3.1 hours between them on 2,048 nodes.
  EXPECT_NEAR(mean_time_to_failure(2048, rate_of_node(*rates, 8)) / Seconds(3600), 3.09, 0.005);
  EXPECT_NEAR(node_share(*rates), 289.0 / 419, 1e-12);
  EXPECT_NEAR(rate_of_node(*rates, 16) / rate_of_node(*rates, 8), 2, 1e-12);
}

TEST(FailureRates, ThatContradictTheirCountsAreRefused) {
  auto rates = *load_failure_rates(Catalog::built_in(), "meta-llama-3");
  rates.per_1000_node_days = 4;
  EXPECT_EQ(check(rates).error().text(),
            "per_1000_node_days: the counts give 3.79 failures per 1,000 node-days, not 4");
  rates = {};
  rates.lemons.share = 1.5;
  EXPECT_EQ(check(rates).error().text(),
            "lemons.share: a share of 1.5 (write one between 0 and 1)");
  rates = {};
  rates.causes = {{"rain", 6'000'000'000'000'000'000}, {"hail", 6'000'000'000'000'000'000}};
  EXPECT_EQ(check(rates).error().text(),
            "causes: a count of 6000000000000000000 of 'rain' (write one between 0 and "
            "1000000000)");
}

TEST(RestartTimes, OfTheCatalogAreSound) {
  const Catalog& catalog = Catalog::built_in();
  for (const std::string& name : catalog.names("restarts")) {
    const auto times = load_restart_times(catalog, name);
    ASSERT_TRUE(times) << times.error().text();
    EXPECT_EQ(times->name, name);
    EXPECT_NE(times->provenance.source, "");
    EXPECT_GT(mean_of(stages_at(*times, 1024)), Seconds(0));
  }
}

TEST(RestartTimes, GrowWithTheJobAsPublished) {
  const auto requeue = [](std::int64_t accelerators) {
    const auto times = load_restart_times(Catalog::built_in(), "bytedance");
    return stages_at(*times, accelerators).back().time.mean->value();
  };
  EXPECT_EQ(requeue(2048), 454);
  EXPECT_EQ(requeue(16384), 768);
  EXPECT_NEAR(requeue(11585), (635 + 768) / 2.0, 0.1);  // half a doubling
  EXPECT_EQ(requeue(2047), 454);                        // below the least that was measured
  EXPECT_NEAR(requeue(32768), 768 + 133, 1e-9);
  EXPECT_EQ(requeue(1), 454);
}

}  // namespace
}  // namespace orrery
