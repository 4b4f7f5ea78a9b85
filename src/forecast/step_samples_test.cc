// Samples of a step against closed forms, against every replica simulated alone, and against what
// must not matter.
#include "forecast/step_samples.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "estimate/built_in_scenario.h"
#include "estimate/estimate.h"
#include "forecast/run_spread.h"
#include "forecast/time_law.h"
#include "forecast/varying_factor.h"

namespace orrery {
namespace {

PredictedStep step_of(const char* cluster, const char* plan, std::int64_t batch,
                      const char* model = "llama-3-8b") {
  auto step = predict(scenario(model, cluster, plan, 8192, batch), catalog());
  EXPECT_TRUE(step) << step.error().text();
  return *step;
}

// Only products vary, and only from one accelerator to another, unless the test says more.
StepDraws with(std::string_view settings) {
  return {.variability = *with_settings(*load_variability(catalog(), "none"), settings)};
}
StepDraws published() { return {.variability = *load_variability(catalog(), "prism")}; }

struct Quantiles {
  double p5, p50, p95, mean;
};
Quantiles quantiles(std::vector<double> times) {
  const auto spread = run_spread_of(std::move(times));
  return {spread.p5.value, spread.p50.value, spread.p95.value, spread.mean};
}
// Of the slowest replica but `dropped`.
Quantiles quantiles(const VaryingStep& work, const StepDraws& draws, std::int64_t samples,
                    std::size_t dropped = 0) {
  const StepSamples s = sample_steps(work, draws, samples, 2);
  std::vector<double> out;
  for (std::size_t i = dropped; i < s.times_ps.size(); i += s.kept) out.push_back(s.times_ps[i]);
  return quantiles(std::move(out));
}

TEST(StepSamples, WithoutSpreadAreTheEstimate) {
  for (const char* plan :
       {"tp=8,pp=4", "tp=4,pp=4,zero=1", "tp=1,pp=1,zero=3", "tp=2,pp=4,schedule=zb-h1"}) {
    const PredictedStep step = step_of("h100-sxm:64", plan, 128);
    const StepSamples samples = sample_steps(VaryingStep(step), with(""), 20, 1);
    const Estimate figures = estimate(step);
    for (const double t : samples.times_ps) {
      EXPECT_EQ(t, step.folded.time.count()) << plan;
      EXPECT_EQ(Picoseconds(t).seconds(), figures.step_time) << plan;
    }
  }
}

TEST(StepSamples, AreTheSameForAnyNumberOfThreads) {
  const PredictedStep step = step_of("h100-sxm:512", "tp=8,pp=4", 128);
  const VaryingStep work(step);
  const StepSamples one = sample_steps(work, published(), 333, 1);
  for (const int threads : {2, 4}) {
    EXPECT_EQ(one.times_ps, sample_steps(work, published(), 333, threads).times_ps);
  }
  // And a sample does not depend on how many others there are.
  const StepSamples fewer = sample_steps(work, published(), 50, 1);
  EXPECT_TRUE(std::equal(fewer.times_ps.begin(), fewer.times_ps.end(), one.times_ps.begin()));
}

// The forms that are drawn where none is stated, stated; and one that is not symmetric.
TEST(StepSamples, HaveTheFormThatIsStated) {
  const PredictedStep step = step_of("h100-sxm:64", "tp=8,pp=4", 128);
  const VaryingStep work(step);
  const auto law = [](TimeForm form, double variation) {
    TimeLaw out{.law = form};
    if (form == TimeForm::log_normal) {
      out.median = Seconds(3);
      out.spread = std::sqrt(std::log1p(variation * variation));
    } else {
      out.mean = Seconds(3);
      if (form == TimeForm::normal) out.deviation = Seconds(3 * variation);
      if (form == TimeForm::gamma) out.shape = 1 / (variation * variation);
    }
    return out;
  };
  const StepDraws usual = with(
      "products.spatial=0.05,products.temporal=0.1,communication.within_node=0.5,"
      "communication.between_nodes=0.5");
  StepDraws stated = usual;
  Variability& v = stated.variability;
  v.products.spatial_law = law(TimeForm::log_normal, 0.05);
  v.products.temporal_law = law(TimeForm::normal, 0.2);
  v.communication.within_node_law = v.communication.between_nodes_law =
      law(TimeForm::log_normal, 0.5);
  const StepSamples a = sample_steps(work, usual, 500, 2);
  const StepSamples b = sample_steps(work, stated, 500, 2);
  for (std::size_t i = 0; i < a.times_ps.size(); ++i) {
    EXPECT_NEAR(b.times_ps[i] / a.times_ps[i], 1, 1e-3);
  }
  // Of the same spread, a law with a longer tail makes the slowest of many slower.
  v.products.spatial_law = law(TimeForm::gamma, 0.9);
  EXPECT_GT(quantiles(work, stated, 500).p95, 1.02 * quantiles(work, usual, 500).p95);
}

TEST(StandardForm, HasMeanZeroAndDeviationOne) {
  for (const TimeLaw& law :
       {TimeLaw{.law = TimeForm::gamma, .mean = Seconds(2), .shape = 0.7},
        TimeLaw{.law = TimeForm::sampled, .samples = {Seconds(1), Seconds(2), Seconds(9)}}}) {
    const StandardForm form(law);
    double sum = 0;
    double squares = 0;
    double before = form(-9);
    constexpr int kDraws = 100'000;
    for (int i = 0; i < kDraws; ++i) {
      const double x = form(normal_quantile((i + 0.5) / kDraws));
      EXPECT_GE(x, before);
      before = x;
      sum += x;
      squares += x * x;
    }
    EXPECT_NEAR(sum / kDraws, 0, 1e-3);
    EXPECT_NEAR(squares / kDraws, 1, 5e-3);
  }
}

TEST(Variability, RefusesALawThatDoesNotVary) {
  Variability v = *load_variability(catalog(), "none");
  v.attention.temporal_law = TimeLaw{.law = TimeForm::exactly, .mean = Seconds(1)};
  EXPECT_EQ(
      check(v).error().text(),
      "attention.temporal_law: all of its times are alike (leave it out, and write a spread of "
      "0 for what does not vary)");
  v.attention.temporal_law = TimeLaw{.law = TimeForm::gamma, .mean = Seconds(1)};
  EXPECT_EQ(check(v).error().text(),
            "attention.temporal_law: shape: a distribution of the law gamma needs it");
}

// One stage, one accelerator a replica: the step is the slowest of R accelerators, whose
// distribution is F^R.
TEST(StepSamples, OfOneStageAreTheMaximumByOrderStatistics) {
  const double spatial = 0.05;
  for (const auto& [cluster, plan, batch, accelerators] :
       {std::tuple{"h100-sxm:64", "tp=1,pp=1,zero=0", 8192, 64.0},
        std::tuple{"h100-sxm:64", "tp=8,pp=1,zero=0", 4096, 64.0},
        std::tuple{"h100-sxm:64", "tp=1,pp=1,zero=3", 512, 64.0}}) {
    const PredictedStep step = step_of(cluster, plan, batch);
    const VaryingStep work(step);
    EXPECT_EQ(work.replicas() * work.lock_step(), 64) << plan;
    StepDraws draws = with("products.spatial=0.05");
    const StepSamples samples = sample_steps(work, draws, 20'000, 2);
    std::vector<double> factors;
    const double products = work.parts(0)[0];
    for (std::size_t i = 0; i < samples.times_ps.size(); i += samples.kept) {
      factors.push_back(1 + (samples.times_ps[i] - step.folded.time.count()) / products);
    }
    std::ranges::sort(factors);
    const double s = std::sqrt(std::log1p(spatial * spatial));
    for (const double p : {0.05, 0.5, 0.95}) {
      const double u = std::pow(p, 1 / accelerators);
      const double expected = std::exp(s * normal_quantile(u) - s * s / 2);
      const auto q = quantile_of_sorted(factors, p);
      EXPECT_NEAR(q.value, expected, 2 * (q.high - q.low)) << plan << " p " << p;
    }
  }
}

// Every replica simulated alone, with another generator and no shortcuts.
Quantiles brute_force(const VaryingStep& work, const Variability& v, int samples) {
  const Graph& graph = work.step().folded.step.graph;
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  const auto factor = [](double variation, double z) {
    const double s = std::sqrt(std::log1p(variation * variation));
    return std::exp(s * z - s * s / 2);
  };
  std::vector<double> durations(graph.size());
  std::vector<double> out;
  for (int i = 0; i < samples; ++i) {
    const double network = normal(random);
    std::vector<double> shared;
    for (std::size_t n = 0; n < graph.size(); ++n) shared.push_back(normal(random));
    double longest = 0;
    for (std::int64_t replica = 0; replica < work.replicas(); ++replica) {
      std::vector<double> slowest;
      for (std::size_t s = 0; s < work.devices(); ++s) {
        double z = -10;
        for (std::int64_t g = 0; g < work.lock_step(); ++g) z = std::max(z, normal(random));
        slowest.push_back(z);
      }
      for (std::size_t n = 0; n < graph.size(); ++n) {
        const VaryingStep::Shape& shape = work.shapes()[work.shape_of(n)];
        const double noise = normal(random);
        double time = shape.time;
        for (std::size_t k = 0; k < kVaryingWork; ++k) {
          const auto kind = static_cast<VaryingWork>(k);
          if (shape.part[k] == 0) continue;
          if (k < kComputingKinds) {
            time += shape.part[k] * (factor(v.of(kind).spatial, slowest[shape.device]) *
                                         (1 + v.of(kind).temporal * noise) -
                                     1);
          } else {
            const CommunicationSpread& c = v.communication;
            const double own = kind == VaryingWork::dp ? shared[n] : normal(random);
            const double z =
                std::sqrt(c.correlation) * network + std::sqrt(1 - c.correlation) * own;
            time += shape.part[k] *
                    (factor(work.between_nodes(kind) ? c.between_nodes : c.within_node, z) - 1);
          }
        }
        durations[n] = std::max(std::round(time), 0.0);
      }
      longest = std::max(longest, simulate(graph, durations).makespan.count());
    }
    out.push_back(longest);
  }
  return quantiles(std::move(out));
}

// The p-th quantile of 2,000 steps is known within 0.2 %, which is added to the bias.
TEST(StepSamples, AgreeWithAllReplicasSimulatedAlone) {
  const PredictedStep step = step_of("h100-sxm:2048", "tp=8,pp=4", 512);
  const VaryingStep work(step);
  EXPECT_EQ(work.replicas(), 64);
  EXPECT_EQ(work.lock_step(), 8);
  const auto compare = [&](std::string_view settings, double low, double high) {
    StepDraws draws = published();
    draws.variability = *with_settings(draws.variability, settings);
    const Quantiles all = brute_force(work, draws.variability, 2000);
    const Quantiles some = quantiles(work, draws, 8000);
    for (const auto& [drawn, simulated] : {std::pair{some.p5, all.p5},
                                           {some.p50, all.p50},
                                           {some.p95, all.p95},
                                           {some.mean, all.mean}}) {
      EXPECT_GT(drawn / simulated - 1, low) << settings;
      EXPECT_LT(drawn / simulated - 1, high) << settings;
    }
  };
  compare("", -0.002, 0.003);
  compare("products.temporal=0,attention.temporal=0,memory_bound.temporal=0", -0.002, 0.003);
  // Where nothing tells replicas apart but noise, the slowest are not found: the stated bias.
  compare("products.spatial=0,attention.spatial=0,memory_bound.spatial=0", -0.008, 0);
}

TEST(StepSamples, Of64000AcceleratorsSpreadAsPublished) {
  const PredictedStep step =
      step_of("h100-sxm:64000", "tp=8,pp=16", std::int64_t{500} * 128, "llama-3.1-405b");
  const VaryingStep work(step);
  EXPECT_EQ(work.replicas(), 500);
  const auto spread = [&](std::string_view settings) {
    StepDraws draws = published();
    draws.variability = *with_settings(draws.variability, settings);
    return quantiles(work, draws, 1000);
  };
  // From the lower end of the published spatial spreads to the middle (18.6, 18.8, 19.3 s: 0.989
  // and 1.027).
  for (const char* settings : {"", "products.spatial=0.0164,attention.spatial=0.0164"}) {
    const Quantiles q = spread(settings);
    EXPECT_GT(q.p95 / q.p50, 1.01) << settings;
    EXPECT_LT(q.p95 / q.p50, 1.05) << settings;
    EXPECT_GT(q.p5 / q.p50, 0.97) << settings;
    EXPECT_LT(q.p5 / q.p50, 0.995) << settings;
  }
}

// Draws that members share, and what all communication of a step has in common, each switched off.
TEST(StepSamples, SharedDrawsAndCorrelationMatter) {
  const PredictedStep step = step_of("h100-sxm:512", "tp=8,pp=4", 256);
  const VaryingStep work(step);
  const auto width = [&](std::string_view settings) {
    const Quantiles q = quantiles(work, with(settings), 4000);
    return std::pair{q.p95 - q.p5, q.p50};
  };
  const auto [apart, apart_median] =
      width("communication.between_nodes=0.6,communication.correlation=0");
  const auto [together, together_median] =
      width("communication.between_nodes=0.6,communication.correlation=1");
  EXPECT_GT(together, 1.3 * apart);
  // The data-parallel reduction alone, one draw of all replicas: its mean is the predicted one.
  // A draw of each replica would wait for the longest of 16 reductions.
  StepDraws dp = with("communication.between_nodes=0.6");
  for (const VaryingWork k : {VaryingWork::tp, VaryingWork::pp}) {
    dp.still[static_cast<std::size_t>(k)] = true;
  }
  double reduction = 0;
  for (std::size_t d = 0; d < work.devices(); ++d) {
    reduction = std::max(reduction, work.parts(d)[static_cast<std::size_t>(VaryingWork::dp)]);
  }
  const double longer = quantiles(work, dp, 8000).mean - step.folded.time.count();
  EXPECT_GT(reduction, 0);
  // The longest of four stages' reductions; of 64 it would be 2.3 times the spread above the mean.
  EXPECT_LT(longer, 1.2 * 0.6 * reduction);
}

// The same total variance in more parts: averaged out where they follow each other, more to wait
// for where they run beside each other.
TEST(StepSamples, TailsShrinkInSeriesAndGrowInParallel) {
  const auto tail = [&](const char* cluster, const char* plan, std::int64_t batch,
                        std::string_view settings) {
    const PredictedStep step = step_of(cluster, plan, batch);
    const VaryingStep work(step);
    const Quantiles q = quantiles(work, with(settings), 2000);
    return std::pair{q.p95 / q.p50, q.p50 / step.folded.time.count()};
  };
  const char* noise = "products.temporal=0.05";
  const auto few = tail("h100-sxm:1", "tp=1,pp=1", 4, noise);
  const auto many = tail("h100-sxm:1", "tp=1,pp=1", 64, noise);
  EXPECT_NEAR((few.first - 1) / (many.first - 1), 4, 0.8);  // root of 16
  const char* machines = "products.spatial=0.05";
  const auto one = tail("h100-sxm:1", "tp=1,pp=1", 4, machines);
  const auto all = tail("h100-sxm:64", "tp=1,pp=1,zero=0", 256, machines);
  EXPECT_NEAR(one.second, 1, 0.01);
  EXPECT_GT(all.second, 1.05);
}

// Pipeline transfers run beside the passes: their spread does little.
TEST(StepSamples, SpreadOffTheCriticalPathHasLittleEffect) {
  const PredictedStep step = step_of("h100-sxm:512", "tp=8,pp=4", 256);
  const VaryingStep work(step);
  StepDraws draws = with("communication.between_nodes=0.6");
  draws.still[static_cast<std::size_t>(VaryingWork::tp)] = true;
  draws.still[static_cast<std::size_t>(VaryingWork::dp)] = true;
  double transfers = 0;
  for (std::size_t d = 0; d < work.devices(); ++d) {
    transfers = std::max(transfers, work.parts(d)[static_cast<std::size_t>(VaryingWork::pp)]);
  }
  EXPECT_GT(transfers, 0);
  const Quantiles q = quantiles(work, draws, 2000);
  EXPECT_LT(q.p95 - step.folded.time.count(), 0.5 * 0.6 * transfers);
}

TEST(StepSamples, OneHotNodeCostsAsMuchAsPublished) {
  const PredictedStep step = step_of("h100-sxm:1024", "tp=8,pp=8", 1024, "llama-3.1-405b");
  const VaryingStep work(step);
  const StepDraws even = published();
  const double without = quantiles(work, even, 1000).p50;
  StepDraws hot = even;
  double least = 1e9;
  double most = 0;
  double at_first_stage = 0;  // of the slower node in the end
  for (const double time : {1.3, 1.5}) {
    for (std::int64_t stage = 0; stage < 8; ++stage) {
      hot.slow = {{.stage = stage, .nodes = 1, .time = time}};
      const double cost = quantiles(work, hot, 1000).p50 / without - 1;

      least = std::min(least, cost);
      most = std::max(most, cost);
      if (stage == 0) at_first_stage = cost;
    }
  }
  // Published: 9 to 35 %, and 8 to 15.6 % between stages.
  EXPECT_NEAR(least, 0.08, 0.01);
  EXPECT_NEAR(most, 0.305, 0.01);
  EXPECT_GT((1 + most) / (1 + at_first_stage), 1.08);
}

}  // namespace
}  // namespace orrery
