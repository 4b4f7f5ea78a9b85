// The prices of all blocks of a model, and what they are kept by.
#include "lower/model_costs.h"

#include <gtest/gtest.h>

#include "lower/priced_model.h"
#include "model/transformer/transformer.h"

namespace orrery {
namespace {

// What a block costs depends neither on the number of stages nor on the replicas of experts.
TEST(ModelCosts, ArePricedOnceForAllNumbersOfStages) {
  PricedModel priced(
      *build_model(*read_architecture(*Catalog::built_in().find("models", "mixtral-8x7b"))),
      "h100-sxm:64", "ep=8,pp=2", 4096);
  const ModelCosts* const of_two = &priced.costs(Backward::fused);
  priced.plan.pp = 4;
  priced.plan.dp /= 2;
  EXPECT_EQ(&priced.costs(Backward::fused), of_two);
}

}  // namespace
}  // namespace orrery
