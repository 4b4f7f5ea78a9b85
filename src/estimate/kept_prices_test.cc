// Predictions with kept prices are those without, whatever was asked before.
#include "estimate/kept_prices.h"

#include <gtest/gtest.h>

#include "estimate/estimate.h"
#include "estimate/spec.h"

namespace orrery {
namespace {

Spec spec(const char* model, const char* plan, const std::vector<std::string>& settings = {}) {
  Document document{"test", Value::map()};
  document.root.set("model", Value::text(model));
  document.root.set("cluster", Value::text("h100-sxm:64"));
  document.root.set("training", Value::map()
                                    .set("sequence_length", Value::number(std::int64_t{4096}))
                                    .set("global_batch", Value::number(std::int64_t{256})));
  document.root.set("plan", Value::text(plan));
  Spec out = *read_spec(document, "", Catalog::built_in());
  EXPECT_TRUE(complete(out, settings, Catalog::built_in()));
  return out;
}

TEST(KeptPrices, ChangeNoPrediction) {
  const Catalog& catalog = Catalog::built_in();
  const Uncertainty errors = *load_uncertainty(catalog);
  KeptPrices prices(catalog, 2);
  const std::vector<Spec> asked = {
      spec("llama-3.1-8b", "tp=2"),        spec("llama-3.1-8b", "tp=4,pp=2,micro_batch=2"),
      spec("llama-3.1-8b", "tp=2,zero=1"), spec("llama-3.1-8b", "tp=2", {"network=2x"}),
      spec("mixtral-8x7b", "ep=8,tp=2"),
  };
  for (int round = 0; round < 2; ++round) {
    for (const Spec& s : asked) {
      const auto kept = prices.predict(s.scenario);
      const auto fresh = predict(s.scenario, catalog);
      ASSERT_TRUE(kept && fresh);
      EXPECT_EQ(kept->folded.time, fresh->folded.time);
      EXPECT_EQ(estimate(*kept, errors).assumed, estimate(*fresh, errors).assumed);
    }
  }
}

TEST(KeptPrices, OfOneScenarioAreShared) {
  KeptPrices prices(Catalog::built_in(), 2);
  const auto first = prices.predict(spec("llama-3.1-8b", "tp=2").scenario);
  const auto second = prices.predict(spec("llama-3.1-8b", "tp=4,pp=2").scenario);
  const auto other = prices.predict(spec("llama-3.1-8b", "tp=2", {"hbm=2x"}).scenario);
  ASSERT_TRUE(first && second && other);
  EXPECT_EQ(first->priced, second->priced);
  EXPECT_NE(first->priced, other->priced);
}

TEST(KeptPrices, WhatCannotRunIsRefused) {
  KeptPrices prices(Catalog::built_in());
  const auto refused = prices.predict(spec("llama-3.1-8b", "tp=3").scenario);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().text(),
            predict(spec("llama-3.1-8b", "tp=3").scenario, Catalog::built_in()).error().text());
}

TEST(StatedPlan, TextAndFieldsAreTheSame) {
  Spec text = spec("llama-3.1-8b", "tp=4,pp=2,chunks=2");
  Spec fields = text;
  EXPECT_TRUE(state_plan(text, Value::text("micro_batch=2,zero=2"), "test"));
  Value map = Value::map();
  map.set("micro_batch", Value::number(std::int64_t{2}));
  map.set("dp", Value::map().set("sharding", Value::text("zero-2")));
  EXPECT_TRUE(state_plan(fields, map, "test"));
  EXPECT_EQ(text.scenario.plan, fields.scenario.plan);
  EXPECT_EQ(text.scenario.plan.tp, 4);
  EXPECT_EQ(text.stated, fields.stated);
  EXPECT_EQ(state_plan(text, Value::text("tpp=4"), "test").error().where.substr(0, 10),
            "test: plan");
}

}  // namespace
}  // namespace orrery
