#include "infer/recorded_division.h"

#include <gtest/gtest.h>

#include "trace/recorded_run.h"

namespace orrery {
namespace {

KnownDivision of(const std::string& file) {
  const auto run = read_run({std::string(ORRERY_SOURCE_DIR) + "/validation/traces/" + file});
  EXPECT_TRUE(run) << run.error().text();
  return run ? recorded_division(run->ranks, Catalog::built_in()) : KnownDivision{};
}

TEST(KnownDivision, IsThatOfTheInferredSpecification) {
  const KnownDivision known = of("astra-sim/megatron-tp8");
  EXPECT_EQ(known.tensor_ranks, 8);
  EXPECT_EQ(known.data_ranks, 1);
  EXPECT_EQ(known.hidden, 4096);
  EXPECT_EQ(known.feed_forward, 16'384);
  EXPECT_EQ(known.heads, 64);
  EXPECT_EQ(known.head_size, 64);
  EXPECT_EQ(known.sequence, 2048);
  EXPECT_EQ(known.micro_batch, 4);
}

TEST(KnownDivision, IsNothingWhereNoTransformerIsRecorded) {
  EXPECT_FALSE(of("torchrec/sst_long_a2a_optimizer_4").known());
}

}  // namespace
}  // namespace orrery
