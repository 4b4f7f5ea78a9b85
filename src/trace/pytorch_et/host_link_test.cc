#include "trace/pytorch_et/host_link.h"

#include <gmock/gmock.h>

#include "trace/kineto/kineto.h"
#include "trace/published_traces.h"
#include "trace/read_one_rank.h"

namespace orrery {
namespace {

using ::testing::HasSubstr;

struct Pair {
  const char* host;
  const char* kineto;
  LinkMethod method;
  std::size_t operators;
};

class LinkOfEveryEra : public ::testing::TestWithParam<Pair> {};

TEST_P(LinkOfEveryEra, FindsEveryOperator) {
  const Pair& pair = GetParam();
  const auto host = read_host_trace(kTraces + pair.host);
  const auto recorded = read_kineto(kTraces + pair.kineto);
  ASSERT_TRUE(host) << host.error().text();
  ASSERT_TRUE(recorded) << recorded.error().text();
  const auto link = link_host(*host, *recorded);
  ASSERT_TRUE(link) << link.error().text();
  EXPECT_EQ(link->method, pair.method);
  EXPECT_EQ(link->operators, pair.operators);
  EXPECT_EQ(link->found, pair.operators);
  for (std::size_t i = 0; i < host->nodes.size(); ++i) {
    if (link->event[i] != kNoEvent) {
      EXPECT_EQ(recorded->name_of(link->event[i]), host->nodes[i].name);
    }
  }
}

// Megatron TP2: all 1880 operators match by rf_id; simple_add: all 36; TP8: 5422 of both (READMEs).
INSTANTIATE_TEST_SUITE_P(
    , LinkOfEveryEra,
    ::testing::Values(
        Pair{"megatron-lm-fork/tp2/pytorch_et_rank0.json.gz",
             "megatron-lm-fork/tp2/kineto_rank0.json.gz", LinkMethod::record_function_id, 1880},
        Pair{"megatron-lm-fork/tp2/pytorch_et_rank1.json.gz",
             "megatron-lm-fork/tp2/kineto_rank1.json.gz", LinkMethod::record_function_id, 1880},
        Pair{"HolisticTraceAnalysis/execution_trace/benchmark_simple_add_et.json.gz",
             "HolisticTraceAnalysis/execution_trace/"
             "benchmark_simple_add_trace.json.gz",
             LinkMethod::external_id, 36},
        Pair{"astra-sim/megatron-tp8/et_rank0.json.gz",
             "astra-sim/megatron-tp8/kineto_rank0.json.gz", LinkMethod::external_id, 5422},
        Pair{"astra-sim/megatron-tp8/et_rank6.json.gz",
             "astra-sim/megatron-tp8/kineto_rank6.json.gz", LinkMethod::external_id, 5422}));

TEST(HostTraceLink, FallsBackToTheOrderOfNames) {
  const auto host = read_host_trace(kTraces + "astra-sim/megatron-tp8/et_rank0.json.gz");
  auto recorded = read_kineto(kTraces + "astra-sim/megatron-tp8/kineto_rank0.json.gz");
  ASSERT_TRUE(host);
  ASSERT_TRUE(recorded);
  const auto by_id = link_host(*host, *recorded);
  ASSERT_TRUE(by_id);
  for (std::int64_t& id : recorded->external_id) id = kNotRecorded;
  const auto link = link_host(*host, *recorded);
  ASSERT_TRUE(link) << link.error().text();
  EXPECT_EQ(link->method, LinkMethod::order);
  EXPECT_EQ(link->event, by_id->event);
}

TEST(HostTraceLink, RefusesRecordingsOfDifferentRuns) {
  const auto host = read_host_trace(kTraces + "megatron-lm-fork/tp2/pytorch_et_rank0.json.gz");
  const auto recorded = read_kineto(kTraces + "ao/ref_ep_moe_fwd.json.gz");
  ASSERT_TRUE(host);
  ASSERT_TRUE(recorded);
  const auto link = link_host(*host, *recorded);
  ASSERT_FALSE(link);
  EXPECT_THAT(link.error().text(), HasSubstr("of its 1880 operators are found in"));
  EXPECT_EQ(link.error().hint, "are both files of the same rank and run?");
}

}  // namespace
}  // namespace orrery
