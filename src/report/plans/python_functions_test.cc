// Times of kernels from a function, in the steps that are made of them.
#include "report/plans/python_functions.h"

#include <gmock/gmock.h>

#include <atomic>

#include "estimate/predicted_step.h"
#include "lower/random_plan.h"
#include "search/search.h"

namespace orrery {
namespace {

using Function = std::function<Result<double>(const AskedKernel&)>;

Scenario scenario_of(Function function) {
  Scenario s;
  s.model = small_model("llama-3-8b", 4);
  s.cluster = *parse_cluster("h100-sxm:8", Catalog::built_in());
  s.training.sequence_length = 2048;
  s.training.global_batch = 8;
  s.plan.tp = 2;
  s.plan.pp = 2;
  if (function) s.kernel_times = kernel_times(std::move(function), "test");
  return s;
}

TEST(KernelTimes, ThoseOfTheCostModelChangeNoBit) {
  const auto plain = predict(scenario_of({}), Catalog::built_in());
  const auto same = predict(
      scenario_of([](const AskedKernel& k) -> Result<double> { return k.predicted.value(); }),
      Catalog::built_in());
  ASSERT_TRUE(plain && same);
  EXPECT_EQ(plain->folded.time, same->folded.time);
  EXPECT_EQ(simulated(same->costs, Folding::expanded)->time, same->folded.time);
  EXPECT_THAT(same->priced->cache.context().assumed,
              testing::Contains(testing::HasSubstr("kernel_time in test")));
}

TEST(KernelTimes, SlowerKernelsMakeALongerStepAndFoldedStillEqualsExpanded) {
  const auto plain = predict(scenario_of({}), Catalog::built_in());
  std::atomic<int> asked = 0;
  const auto slower = predict(scenario_of([&](const AskedKernel& k) -> Result<double> {
                                ++asked;
                                return 3 * k.predicted.value();
                              }),
                              Catalog::built_in());
  ASSERT_TRUE(plain && slower);
  EXPECT_GT(slower->folded.time.count(), 2 * plain->folded.time.count());
  EXPECT_EQ(simulated(slower->costs, Folding::expanded)->time, slower->folded.time);
  const int of_the_step = asked;
  EXPECT_GT(of_the_step, 10);
  // A step of the same blocks asks for nothing again.
  ASSERT_TRUE(predict(slower->priced, slower->plan()));
  EXPECT_EQ(asked, of_the_step);
}

TEST(KernelTimes, WhatTheFunctionRefusesIsTheErrorOfTheStepAndOfTheSearch) {
  for (const Function& function : {Function([](const AskedKernel&) -> Result<double> { return 0; }),
                                   Function([](const AskedKernel&) -> Result<double> {
                                     return bad_input("above 0 no time");
                                   })}) {
    const Scenario scenario = scenario_of(function);
    const auto step = predict(scenario, Catalog::built_in());
    ASSERT_FALSE(step);
    EXPECT_THAT(step.error().text(), testing::HasSubstr("above 0"));
    EXPECT_THAT(step.error().text(), testing::HasSubstr("\"kind\":"));
    SearchOptions options;
    options.threads = 2;
    for (const bool judged : {false, true}) {
      if (judged) {
        options.judge = [](const Estimate& e) -> Result<std::optional<double>> {
          return std::optional(e.step_time.value());
        };
      }
      const auto found = search(scenario, {}, options, Catalog::built_in());
      ASSERT_FALSE(found);
      EXPECT_THAT(found.error().text(), testing::HasSubstr("above 0"));
    }
  }
}

// Some kernels are priced only when the graph is made.
TEST(KernelTimes, NoKernelOfAStepIsRefusedInSilence) {
  std::vector<double> bytes;
  const auto with = [&](const Function& function) {
    Scenario s = scenario_of(function);
    s.plan.pp = 1;
    s.plan.tp = 1;
    s.plan.zero = 3;
    s.software = *load_software(Catalog::built_in(), "torchtitan");
    return predict(s, Catalog::built_in());
  };
  ASSERT_TRUE(with([&](const AskedKernel& k) -> Result<double> {
    if (std::holds_alternative<std::monostate>(k.kernel.shape)) {
      bytes.push_back(k.kernel.bytes.value());
    }
    return k.predicted.value();
  }));
  ASSERT_FALSE(bytes.empty());
  for (const double refused : bytes) {
    EXPECT_FALSE(with([&](const AskedKernel& k) -> Result<double> {
      return k.kernel.bytes.value() == refused ? 0 : k.predicted.value();
    })) << refused;
  }
}

TEST(KernelTimes, AKernelHasTheKeysOfItsKind) {
  const std::string accelerator = "h100-sxm";
  const Kernel product{.shape = GemmShape{.m = 2, .n = 3, .k = 4}, .flops = Flops(48)};
  const AskedKernel asked{product, Seconds(1e-6), accelerator};
  EXPECT_EQ(kernel_key(asked, "n")->scalar_text(), "3");
  EXPECT_EQ(kernel_key(asked, "kind")->scalar_text(), "product");
  EXPECT_EQ(kernel_key(asked, "predicted_s")->scalar_text(), "1e-06");
  EXPECT_FALSE(kernel_key(asked, "heads"));
  EXPECT_FALSE(kernel_key(asked, "colour"));
}

}  // namespace
}  // namespace orrery
