// ExpectedPerf numbers: pytorch/torchrec (BSD-3-Clause), torchrec/distributed/planner/tests/
// test_shard_estimators.py, commit 06572ad2: two ranks of one node, 512 samples a rank, one
// look-up.
#include "model/recommendation/torchrec_costs.h"

#include <gtest/gtest.h>

namespace orrery {
namespace {

TorchRecShard shard(TorchRecSharding sharding, TorchRecKernel kernel) {
  return {.sharding = sharding,
          .kernel = kernel,
          .rows = 100,
          .columns = 10,
          .ranks = 2,
          .ranks_of_node = 2};
}

void expect_equal(double got, double wanted) { EXPECT_NEAR(got, wanted, 1e-14 * wanted); }

TEST(TorchRecCosts, OneTableHasTheFourPartsOfItsTest) {
  using enum TorchRecSharding;
  using enum TorchRecKernel;
  struct ExpectedPerf {
    TorchRecSharding sharding;
    TorchRecKernel kernel;
    double forward_compute, forward_exchange, backward_compute, backward_exchange;
  };
  constexpr double kExchange = 6.357828776041667e-05;
  const ExpectedPerf all[] = {
      {data_parallel, dense, 9.356002212235228e-05, 0, 0.00018712004424470456,
       0.000225593945387348},
      {table_wise, fused, 0.000327460077428233, kExchange, 0.000654920154856466, kExchange},
      {table_wise, fused_uvm, 0.05759444891237746, kExchange, 0.11518889782475492, kExchange},
      {table_wise, fused_uvm_caching, 0.013339313780795867, kExchange, 0.026678627561591735,
       kExchange},
      {column_wise, fused, 0.000327460077428233, kExchange, 0.000654920154856466, kExchange},
      {column_wise, fused_uvm, 0.05759444891237746, kExchange, 0.11518889782475492, kExchange},
      {column_wise, fused_uvm_caching, 0.013339313780795867, kExchange, 0.026678627561591735,
       kExchange},
      {row_wise, fused, 6.804365245261984e-05, kExchange, 0.0001360873049052397,
       0.00016798276699240525},
      {row_wise, fused_uvm, 0.011967677696078432, kExchange, 0.023935355392156864,
       0.018426483752680762},
      {row_wise, fused_uvm_caching, 0.0027718054609445954, kExchange, 0.005543610921889191,
       0.004316567291897281},
      {table_row_wise, fused, 6.804365245261984e-05, kExchange, 0.0001360873049052397,
       0.00016798276699240525},
      {table_row_wise, fused_uvm, 0.011967677696078432, kExchange, 0.023935355392156864,
       0.018426483752680762},
      {table_row_wise, fused_uvm_caching, 0.0027718054609445954, kExchange, 0.005543610921889191,
       0.004316567291897281},
  };
  for (const ExpectedPerf& e : all) {
    SCOPED_TRACE(std::string(to_text(e.sharding)) + " " + std::string(to_text(e.kernel)));
    const TorchRecPerf got = torchrec_perf(shard(e.sharding, e.kernel));
    expect_equal(got.forward_compute, e.forward_compute);
    expect_equal(got.forward_exchange, e.forward_exchange);
    expect_equal(got.backward_compute, e.backward_compute);
    expect_equal(got.backward_exchange, e.backward_exchange);
  }
}

// Vectors travel in 8 bits; a reduce-scatter, which knows none, in 16.
TEST(TorchRecCosts, NarrowExchangesHaveTheTotalsOfItsTest) {
  using enum TorchRecSharding;
  using enum TorchRecKernel;
  struct ExpectedPerf {
    TorchRecSharding sharding;
    TorchRecKernel kernel;
    double exchanged, total;
  };
  const ExpectedPerf all[] = {
      {table_wise, fused, 1, 0.000846718200207288},
      {table_wise, fused_uvm, 1, 0.14336342905081956},
      {table_wise, fused_uvm_caching, 1, 0.03322849048472446},
      {row_wise, fused, 2, 0.0002561205605599394},
      {row_wise, fused_uvm, 2, 0.03392836626838235},
      {row_wise, fused_uvm_caching, 2, 0.007906921553027076},
      {table_row_wise, fused, 2, 0.0002561205605599394},
      {data_parallel, dense, 4, 0.0005062740117544049},
  };
  for (const ExpectedPerf& e : all) {
    TorchRecShard s = shard(e.sharding, e.kernel);
    s.exchanged_bytes = e.exchanged;
    expect_equal(torchrec_perf(s).total(), e.total);
  }
}

TEST(TorchRecCosts, SequencesHaveTheTotalsOfItsTest) {
  using enum TorchRecSharding;
  using enum TorchRecKernel;
  struct ExpectedPerf {
    TorchRecSharding sharding;
    TorchRecKernel kernel;
    double total;
  };
  const ExpectedPerf all[] = {
      {data_parallel, dense, 0.0026901057997143255},
      {table_wise, fused, 0.001880471390093715},
      {table_wise, fused_uvm, 0.25958192114736517},
      {table_wise, fused_uvm_caching, 0.06043381305524807},
      {row_wise, fused, 0.0007915177871551004},
      {row_wise, fused_uvm, 0.10363410500919118},
      {row_wise, fused_uvm_caching, 0.024158779217047004},
  };
  for (const ExpectedPerf& e : all) {
    TorchRecShard s = shard(e.sharding, e.kernel);
    s.rows = 256;  // the second of two tables, whose totals the test keeps
    s.columns = 32;
    s.pooled = false;
    expect_equal(torchrec_perf(s).total(), e.total);
  }
}

// Rows of 8-bit tables are 16 bytes long: ten numbers, their scale and offset, rounded up.
TEST(TorchRecCosts, InferenceHasTheTotalsOfItsTest) {
  using enum TorchRecSharding;
  using enum TorchRecKernel;
  const auto total = [](TorchRecSharding sharding, TorchRecKernel kernel) {
    TorchRecShard s = shard(sharding, kernel);
    s.columns = 16;
    s.element_bytes = s.exchanged_bytes = 1;
    const TorchRecPerf perf = torchrec_perf(s);
    return perf.forward_compute + perf.forward_exchange;
  };
  expect_equal(total(table_wise, fused), 0.0001296231579222408);
  expect_equal(total(table_wise, fused_uvm), 0.018350937787224266);
  expect_equal(total(column_wise, fused_uvm_caching), 0.004269758427175579);
  expect_equal(total(row_wise, fused), 0.000055200413052187844);
  expect_equal(total(row_wise, fused_uvm), 0.005261290307138481);
  expect_equal(total(row_wise, fused_uvm_caching), 0.0012380962042674274);
}

}  // namespace
}  // namespace orrery
