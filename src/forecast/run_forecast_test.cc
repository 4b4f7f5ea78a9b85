#include "forecast/run_forecast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "estimate/spec.h"
#include "lower/stage_memory.h"
#include "model/family.h"

namespace orrery {
namespace {

constexpr Seconds kForecastDay{86400};

const PredictedStep& step_of_405b() {
  static const PredictedStep kStep = [] {
    const Catalog& catalog = Catalog::built_in();
    Scenario s;
    s.model = *load_model("llama-3.1-405b", catalog);
    s.cluster = *parse_cluster("h100-sxm:16384", catalog);
    s.training.sequence_length = 8192;
    s.training.global_batch = 2048;
    s.plan = *parse_plan("tp=8,pp=16,chunks=8");
    return *predict(s, catalog);
  }();
  return kStep;
}

Result<RunForecast> asked(const RunQuestion& question,
                          const std::optional<FailureRates>& failures = std::nullopt) {
  return forecast(step_of_405b(), estimate(step_of_405b()), question, failures, Catalog::built_in(),
                  {.threads = 2});
}

RunQuestion of_tokens(std::string tokens) {
  RunQuestion q;
  q.tokens = std::move(tokens);
  q.runs = 1000;
  return q;
}

std::string refusal(const RunQuestion& question) {
  const auto run = asked(question);
  return run ? std::string() : run.error().text();
}

TEST(Tokens, AreReadWithTheSuffixesOfPapers) {
  EXPECT_EQ(*parse_tokens("15.6T"), 15.6e12);
  EXPECT_EQ(*parse_tokens("300B"), 300e9);
  EXPECT_EQ(*parse_tokens("1e12"), 1e12);
  EXPECT_EQ(parse_tokens("15.6M").error().text(),
            "forecast.tokens: '15.6M' is not a number of tokens from 1 to 1e18 (write 15.6T or "
            "300B)");
  for (const char* wrong : {"", "T", "-3T", "nan", "0", "1e30", "12 T"}) {
    EXPECT_FALSE(parse_tokens(wrong)) << wrong;
  }
}

TEST(RunForecast, WithoutFailuresAndWithFreeSavesIsStepsTimesStep) {
  RunQuestion q = of_tokens("15.6T");
  q.checkpoint.blocked = Seconds(0);
  q.failures = "none";
  q.restart = "meta-rsc";
  auto run = asked(q);
  ASSERT_TRUE(run) << run.error().text();
  // 2,048 sequences of 8,192 tokens a step.
  EXPECT_EQ(run->steps, static_cast<std::int64_t>(std::ceil(15.6e12 / (2048.0 * 8192))));
  const double start = 300;  // the first start of meta-rsc
  EXPECT_NEAR(run->wall.p50.value.value(), run->healthy.value() + start,
              static_cast<double>(run->steps) * 0.5e-9);
  EXPECT_EQ(run->interruptions.mean, 0);
  EXPECT_EQ(run->wall.p5.value, run->wall.p95.value);
}

TEST(RunForecast, AddsUp) {
  RunQuestion q = of_tokens("2T");
  q.evaluation = EvaluationPauses{1000, Seconds(300)};
  q.queue = TimeLaw{.mean = Seconds(60)};
  const auto run = asked(q);
  ASSERT_TRUE(run) << run.error().text();
  const Seconds sum = std::accumulate(run->badput.begin(), run->badput.end(), run->healthy);
  EXPECT_NEAR(sum / run->wall.mean, 1, 1e-9);
  EXPECT_NEAR(run->interruptions.mean, run->wall.mean / run->mean_time_to_failure,
              4 * std::sqrt(run->interruptions.mean / 1000));
  EXPECT_NEAR(run->gpu_hours(kForecastDay), 16384 * 24, 1e-6);
  EXPECT_NEAR(run->energy(kForecastDay).value(), 16384 * 700.0 * 86400, 1);
  EXPECT_NEAR(run->cost(kForecastDay).value(), run->price->value() * 86400 * 16384, 1e-6);
  EXPECT_FALSE(run->exact_ettr) << "the closed form knows no evaluations";
  EXPECT_TRUE(std::ranges::is_sorted(run->walls));
  EXPECT_EQ(run->walls[run->walls.size() / 2], run->wall.p50.value);
  q.evaluation.reset();
  const auto plain = asked(q);
  ASSERT_TRUE(plain) << plain.error().text();
  EXPECT_NEAR(plain->ettr.mean, *plain->exact_ettr, 0.01);
}

TEST(RunForecast, SavesFourteenBytesAParameter) {
  const auto run = asked(of_tokens("1T"));
  ASSERT_TRUE(run) << run.error().text();
  EXPECT_NEAR(run->checkpoint.size.value() / 405.85e9, 14, 0.01);
  // BLOOM-176B wrote 2.3 TB.
  Training training;
  const Model bloom = *load_model("bloom-176b", Catalog::built_in());
  const auto cost = checkpoint_cost(bloom, training, step_of_405b().cluster(), {});
  EXPECT_NEAR(cost.size.value() / 2.3e12, 1, 0.08);
}

// A checkpoint cannot hold more than the accelerators do.
TEST(RunForecast, SavesTablesAsTheyAreHeld) {
  Spec spec;
  spec.scenario.model = *load_model("dlrm-a", Catalog::built_in());
  spec.scenario.cluster = *parse_cluster("h100-sxm:128", Catalog::built_in());
  spec.scenario.plan = *parse_plan("ep=128");
  const auto step = predict(spec.scenario, Catalog::built_in());
  ASSERT_TRUE(step) << step.error().text();
  RunQuestion q;
  q.steps = 1000;
  const auto run =
      forecast(*step, estimate(*step), q, std::nullopt, Catalog::built_in(), {.threads = 2});
  ASSERT_TRUE(run) << run.error().text();
  const MemoryReport memory = stage_memory(step->costs, 0);
  const double held = 128 * static_cast<double>(memory.parameters + memory.optimizer_states);
  EXPECT_LT(run->checkpoint.size.value(), held);
  EXPECT_GT(run->checkpoint.size.value(), 0.9 * held);
  // Tables that lie in memory of the host are saved as well.
  Value document = spec.scenario.model.family->write(spec.scenario.model);
  document.set("table_memory", Value::text("host"));
  const auto on_hosts = read_model(Document{"on hosts", document});
  ASSERT_TRUE(on_hosts) << on_hosts.error().text();
  const CheckpointCost cost =
      checkpoint_cost(*on_hosts, step->training(), spec.scenario.cluster, {});
  EXPECT_EQ(cost.size, run->checkpoint.size);
}

TEST(RunForecast, GainsFromWhatSavesWithoutWaiting) {
  RunQuestion q = of_tokens("15.6T");
  const auto blocking = asked(q);
  q.checkpoint.memory = MemoryReplicas{.interval = std::nullopt, .survives = 0.95};
  const auto replicas = asked(q);
  q.checkpoint.memory = std::nullopt;
  q.checkpoint.mode = SaveMode::asynchronous;
  const auto asynchronous = asked(q);
  q.checkpoint.memory = MemoryReplicas{.interval = std::nullopt, .survives = 0.95};
  const auto both = asked(q);
  ASSERT_TRUE(blocking && asynchronous && replicas && both);
  EXPECT_LT(asynchronous->wall.mean, blocking->wall.mean);
  EXPECT_LT(replicas->wall.mean, blocking->wall.mean);
  EXPECT_LE(both->wall.mean, asynchronous->wall.mean);
  EXPECT_TRUE(blocking->exact_ettr);
  for (const auto* other : {&asynchronous, &replicas, &both}) {
    EXPECT_FALSE((*other)->exact_ettr);  // which knows one level of blocking saves
  }
}

// The storage is for the failures that no copy in memory survives: one in twenty here.
TEST(RunForecast, SavesEachKindOfCheckpointForTheFailuresThatNeedIt) {
  RunQuestion q = of_tokens("15.6T");
  const auto alone = asked(q);
  const auto with = [&](double survives) {
    q.checkpoint.memory = MemoryReplicas{.interval = std::nullopt, .survives = survives};
    return asked(q);
  };
  const auto most = with(0.95);
  ASSERT_TRUE(alone && most);
  ASSERT_EQ(most->levels.size(), 2u);
  const auto every = [](const auto& run) { return static_cast<double>(run->levels.back().every); };
  EXPECT_NEAR(every(most) / every(alone), std::sqrt(20), 0.2);
  EXPECT_LT(alone->levels.back().restore + most->mean_restart, 2 * alone->mean_restart);
  const auto none = with(0);
  ASSERT_TRUE(none) << none.error().text();
  EXPECT_EQ(none->levels, alone->levels);
  EXPECT_EQ(none->wall.mean, alone->wall.mean);
  const auto all = with(1);
  ASSERT_TRUE(all) << all.error().text();
  EXPECT_EQ(all->levels.back().every, all->steps);
  EXPECT_THAT(all->assumed, testing::Contains("copies in memory survive every failure, so that the "
                                              "storage takes the last state alone"));
}

TEST(RunForecast, LoadsNothingTwice) {
  RunQuestion q = of_tokens("1T");
  q.restart = "meta-rsc";  // five minutes with the loading
  const auto run = asked(q);
  ASSERT_TRUE(run) << run.error().text();
  EXPECT_EQ(run->mean_restart, Seconds(300));
  EXPECT_EQ(run->badput[static_cast<std::size_t>(Badput::unproductive_checkpoint_restore_time)],
            Seconds(0));
}

TEST(RunForecast, SaysWhereTheTimesOfARestartWereNotMeasured) {
  const auto said = [](const PredictedStep& step) {
    const auto run = forecast(step, estimate(step), of_tokens("1T"), std::nullopt,
                              Catalog::built_in(), {.threads = 2});
    std::string all;
    for (const std::string& sentence : run->assumed) all += sentence + "\n";
    return all;
  };
  EXPECT_THAT(said(step_of_405b()), testing::Not(testing::HasSubstr("requeue: ")));
  Scenario s;
  s.model = *load_model("llama-3-8b", Catalog::built_in());
  s.cluster = *parse_cluster("h100-sxm:1024", Catalog::built_in());
  s.training.global_batch = 1024;
  EXPECT_THAT(
      said(*predict(s, Catalog::built_in())),
      testing::HasSubstr("requeue: known from 2,048 to 16,384 accelerators, below as at the "
                         "least of them"));
}

TEST(RunForecast, SaysHowRecordedGapsAreUsed) {
  FailureRates rates = *load_failure_rates(Catalog::built_in(), "meta-rsc-2");
  rates.gaps = {.law = TimeForm::sampled, .samples = {Seconds(60), Seconds(7200)}};
  const auto run = asked(of_tokens("1T"), rates);
  ASSERT_TRUE(run) << run.error().text();
  EXPECT_THAT(
      run->assumed,
      testing::Contains(testing::HasSubstr(
          "gaps as 2 recorded times, stretched to the rate of the job, whose failures are taken to "
          "cluster as those of the whole cluster do")));
  EXPECT_FALSE(run->exact_ettr);
}

TEST(RunForecast, SaysHowLikelyTheRunEndsInTime) {
  RunQuestion q = of_tokens("15.6T");
  const auto run = asked(q);
  q.within = run->wall.p50.value;
  const auto likely = asked(q);
  EXPECT_NEAR(likely->ends_within.value, 0.5, 0.002);
  EXPECT_LT(likely->ends_within.low, 0.5);
  EXPECT_GT(likely->ends_within.high, 0.5);
}

TEST(RunForecast, TurnsEveryKnob) {
  const auto run = asked(of_tokens("15.6T"));
  ASSERT_TRUE(run);
  ASSERT_EQ(run->knobs.size(), 4u);
  EXPECT_EQ(run->knobs[0].name, "half the failures");
  EXPECT_GT(run->knobs[0].saved, run->knobs[1].saved);
  for (const Knob& knob : run->knobs) {
    EXPECT_EQ(knob.saved > Seconds(0), knob.name != "half the interval of checkpoints");
  }
}

// Storage of 10 GB/s takes longer than half the interval; copies in memory can come twice as often.
TEST(RunForecast, HalvesTheIntervalsThatCanBe) {
  RunQuestion q = of_tokens("1T");
  q.checkpoint.mode = SaveMode::asynchronous;
  q.checkpoint.bandwidth = BytesPerSecond(10e9);
  const auto names = [](const auto& run) {
    std::vector<std::string> out;
    for (const Knob& knob : run->knobs) out.push_back(knob.name);
    return out;
  };
  const std::string sentence =
      "checkpoints cannot come twice as often, so that it is not said what that gains";
  const auto storage = asked(q);
  ASSERT_TRUE(storage) << storage.error().text();
  EXPECT_THAT(names(storage), testing::Not(testing::Contains("half the interval of checkpoints")));
  EXPECT_THAT(storage->assumed, testing::Contains(sentence));
  q.checkpoint.memory = MemoryReplicas{.interval = std::nullopt, .survives = 0.5};
  const auto both = asked(q);
  ASSERT_TRUE(both) << both.error().text();
  EXPECT_THAT(names(both), testing::Contains("half the interval of checkpoints"));
  EXPECT_THAT(both->assumed, testing::Not(testing::Contains(sentence)));
}

TEST(RunForecast, ShowsWhatSparesAreWorth) {
  RunQuestion q = of_tokens("1T");
  q.repair = TimeLaw{.law = TimeForm::log_normal, .median = Seconds(6 * 3600), .spread = 1};
  q.spares = 2;
  const auto few = asked(q);
  ASSERT_TRUE(few) << few.error().text();
  const auto knob = std::ranges::find(few->knobs, "twice the spares", &Knob::name);
  ASSERT_NE(knob, few->knobs.end());
  EXPECT_GT(knob->saved, Seconds(0));
  q.spares = 0;
  const auto none = asked(q);
  ASSERT_TRUE(none) << none.error().text();
  EXPECT_TRUE(std::ranges::count(none->knobs, "one spare", &Knob::name));
  q.spares = 1000;
  const auto many = asked(q);
  q.spares = std::nullopt;
  const auto always = asked(q);
  EXPECT_LT(many->wall.mean, few->wall.mean);
  EXPECT_EQ(many->wall.mean, always->wall.mean);  // on the same random numbers
}

TEST(RunForecast, ThatCannotBeIsRefused) {
  EXPECT_EQ(refusal(RunQuestion{}),
            "forecast.tokens: the length of the run is not given (write --tokens 15.6T, --steps "
            "100000 or --loss 2)");
  RunQuestion q = of_tokens("1T");
  q.failures = "meta-rsc";
  EXPECT_EQ(refusal(q),
            "forecast.failures: no 'meta-rsc' among the failures of the catalog (did you mean "
            "'meta-rsc-1'?)");
  q = of_tokens("1T");
  q.spares = 4;
  EXPECT_EQ(
      refusal(q),
      "forecast.spares: spares need a time of repair, which meta-llama-3 does not have (write "
      "repair: {law: log_normal, median: 30 h, spread: 1.5} in the section forecast of a "
      "specification)");
  q.repair = TimeLaw{.law = TimeForm::log_normal, .median = Seconds(1), .spread = -2};
  EXPECT_EQ(refusal(q),
            "forecast.repair: spread: a negative spread, -2 (write the standard deviation of the "
            "logarithm: 0 or more)");
  q = of_tokens("1T");
  q.checkpoint.memory = MemoryReplicas{.interval = std::nullopt, .survives = 2};
  EXPECT_EQ(refusal(q),
            "forecast.checkpoint.memory.survives: a probability of 2 (write one between 0 and 1)");
  q = of_tokens("1T");
  q.runs = 1;
  EXPECT_EQ(refusal(q),
            "forecast.runs: 1 runs (write 100 to 1000000: quantiles of fewer mean little)");
  q = of_tokens("1T");
  q.pue = 0.9;
  EXPECT_EQ(refusal(q), "forecast.pue: a factor of 0.9 (write 1 or more, such as 1.2)");
  q = of_tokens("1T");
  q.carbon = 1e300;
  EXPECT_EQ(refusal(q),
            "forecast.carbon: an intensity of 1e+300 (write grams of CO2 a kWh, 0 to 1000000)");
  q = of_tokens("1T");
  q.price = "1e300 $/h";
  EXPECT_EQ(refusal(q), "forecast.price: a price above 1,000,000 $/h");
  q = of_tokens("1T");
  q.repair = TimeLaw{.mean = Seconds(3600)};
  q.spares = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(refusal(q), "spares: 9223372036854775807 spares (write 0 to 1000000000)");
}

TEST(Dates, AreReadAsTheCalendarHasThem) {
  EXPECT_EQ(date_text(*parse_date("2028-02-29")), "2028-02-29");
  EXPECT_EQ(*parse_date("2027-03-01") - *parse_date("2026-12-01"), std::chrono::days(90));
  for (const char* wrong : {"", "2026-02-29", "2026-13-01", "2026-00-10", "2026-1-1", "20261201--",
                            "1969-12-31", "2200-01-01", "2026-12-0x", "+026-12-01"}) {
    EXPECT_FALSE(parse_date(wrong)) << wrong;
  }
}

TEST(RunForecast, EndsBeforeADateAsWithinTheDaysUntilThen) {
  RunQuestion q = of_tokens("1T");
  q.within = Seconds(6 * 86400.0);
  const auto within = asked(q);
  q.within = std::nullopt;
  q.start = "2028-02-25";
  q.by = "2028-03-02";
  const auto by = asked(q);
  ASSERT_TRUE(within && by);
  EXPECT_EQ(within->ends_within.value, by->ends_within.value);
  EXPECT_EQ(by->within, within->within);
  q.by = q.start;
  EXPECT_EQ(refusal(q), "forecast.by: 2028-02-25 is not after the start, 2028-02-25");
  q.start.clear();
  EXPECT_NE(refusal(q).find("no start of the run"), std::string::npos);
}

TEST(RunForecast, TakesTheStepThatItsDistributionSays) {
  RunQuestion q = of_tokens("1T");
  q.runs = 100;
  q.step.samples = 200;
  const auto predicted = asked(q);
  q.step_at = StepOfRun::p95;
  const auto p95 = asked(q);
  q.step_at = StepOfRun::mean;
  const auto mean = asked(q);
  q.step.slow = {{.stage = 3, .nodes = 1, .time = 1.3}};
  const auto slow = asked(q);
  ASSERT_TRUE(predicted && p95 && mean && slow);
  EXPECT_EQ(predicted->step_time, estimate(step_of_405b()).step_time);
  EXPECT_LT(predicted->step_time, mean->step_time);
  EXPECT_LT(mean->step_time, p95->step_time);
  EXPECT_LT(mean->step_time, slow->step_time);
  EXPECT_LT(mean->wall.mean, slow->wall.mean);
  EXPECT_EQ(slow->healthy, static_cast<double>(slow->steps) * slow->step_time);
  q.step.variability = "none";
  q.step.slow.clear();
  EXPECT_EQ(asked(q)->wall.mean, predicted->wall.mean);
}

// The step is that of the estimate; a node of any site fails, so that with as many nodes of as many
// accelerators the failures are those of a cluster whose sites are alike.
TEST(RunForecast, OfSitesThatDifferCountsTheNodesOfAll) {
  const Catalog& catalog = Catalog::built_in();
  const auto step = [&](const std::string& cluster) {
    const auto document =
        parse_yaml("{model: llama-3.1-8b, cluster: '" + cluster +
                       "', training: {sequence_length: 4096, global_batch: 96}, "
                       "plan: {tp: 8, pp: 3, layers: [12, 10, 10], micro_batch: 1}}",
                   "test");
    return *predict(read_spec(*document, "", catalog)->scenario, catalog);
  };
  const PredictedStep differ = step("h100-sxm:64+a100-80gb-sxm:128@metro-pair");
  const PredictedStep alike = step("a100-80gb-sxm:192");
  RunQuestion q = of_tokens("100B");
  q.runs = 100;
  q.step.samples = 200;
  const auto of = [&](const PredictedStep& s) {
    return *forecast(s, estimate(s), q, std::nullopt, catalog, {.knobs = false});
  };
  const RunForecast mixed = of(differ);
  EXPECT_EQ(mixed.step_time, estimate(differ).step_time);
  EXPECT_EQ(mixed.nodes, 24);
  EXPECT_NEAR(mixed.mean_time_to_failure / of(alike).mean_time_to_failure, 1, 1e-12);
  q.step_at = StepOfRun::p95;
  EXPECT_GT(of(differ).step_time, mixed.step_time);
  q.repair = TimeLaw{.law = TimeForm::log_normal, .median = Seconds(6 * 3600), .spread = 1};
  q.spares = 2;
  q.elastic = ElasticQuestion{};
  const auto elastic = forecast(differ, estimate(differ), q, std::nullopt, catalog, {});
  ASSERT_FALSE(elastic);
  EXPECT_NE(elastic.error().text().find("an elastic run is not modelled where sites differ"),
            std::string::npos)
      << elastic.error().text();
}

}  // namespace
}  // namespace orrery
