// The laws of a lowered step, over a thousand random valid plans.
#include "lower/step_graph.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "lower/random_plan.h"
#include "lower/step_window.h"
#include "model/transformer/transformer.h"
#include "outcome/sanitizers.h"
#include "simulate/simulate.h"
#include "timeline/attribution.h"

namespace orrery {
namespace {

TEST(StepGraph, FoldedAndExpandedAgreeToTheBitOnAThousandPlans) {
  std::mt19937 random(20261121);
  int plans = 0;
  while (plans < (kSanitized ? 100 : 1000)) {
    const auto drawn = random_case(random);
    if (!drawn) continue;
    ++plans;
    CostCache cache(drawn->model, drawn->training,
                    *cost_context(drawn->cluster, Catalog::built_in(), drawn->software));
    const StepCosts step = step_costs(cache, drawn->plan);
    const auto folded = step_graph(step, Folding::folded);
    const auto expanded = step_graph(step, Folding::expanded);
    ASSERT_TRUE(folded) << to_text(drawn->plan) << ": " << folded.error().text();
    ASSERT_TRUE(expanded) << to_text(drawn->plan) << ": " << expanded.error().text();
    const Timeline short_time = simulate(folded->graph);
    const Timeline long_time = simulate(expanded->graph);
    ASSERT_EQ(short_time.makespan, long_time.makespan) << to_text(drawn->plan);
    const Picoseconds time = step_time(windows(step, *folded, short_time));
    ASSERT_EQ(time, step_time(windows(step, *expanded, long_time))) << to_text(drawn->plan);
    // No faster than its bound, nor than its model FLOPs at peak.
    ASSERT_GE(time, lower_bound(step)) << to_text(drawn->plan);
    const Flops work =
        static_cast<double>(drawn->training.global_batch) *
        model_flops_per_sequence(drawn->model, static_cast<double>(drawn->training.sequence_length),
                                 AttentionCount::causal, 0, drawn->training.workload);
    const Seconds ideal = work / (*drawn->cluster.accelerator.peak(NumberFormat::bf16) *
                                  static_cast<double>(drawn->cluster.accelerators));
    ASSERT_GE(time.seconds(), ideal) << to_text(drawn->plan);
    // Every device's time adds up, and is the same both ways.
    const auto window = windows(step, *folded, short_time);
    for (std::uint32_t d = 0; d < static_cast<std::uint32_t>(drawn->plan.pp); ++d) {
      const StepWindow& w = window[d];
      const Breakdown a = attribute(folded->graph, short_time, d, folded->blocks, w.from, w.until);
      const Breakdown b =
          attribute(expanded->graph, long_time, d, expanded->blocks, w.from, w.until);
      ASSERT_EQ(a.total(), w.until - w.from) << to_text(drawn->plan);
      ASSERT_EQ(a, b) << to_text(drawn->plan) << " device " << d;
    }
  }
}

bool keeps_its_bound(const RandomCase& c) {
  CostCache cache(c.model, c.training, *cost_context(c.cluster, Catalog::built_in(), c.software));
  const StepCosts step = step_costs(cache, c.plan);
  const auto graph = step_graph(step, Folding::folded);
  return step_time(windows(step, *graph, simulate(graph->graph))) >= lower_bound(step);
}

// Every way to shard and overlap: without a pipeline nothing hides what the bound counts too much.
std::vector<std::string> ways_to_move() {
  std::vector<std::string> out;
  for (const char* zero : {",zero=0", ",zero=1", ",zero=2", ",zero=3", ",zero=3,shard_group=1",
                           ",zero=2,shard_group=4"}) {
    for (const char* overlap : {"", ",overlap.gradient_reduction=false",
                                ",overlap.parameter_gather=false", ",overlap.optimizer=true"}) {
      out.push_back(std::string(zero) + overlap);
    }
  }
  return out;
}

class SmallModels
    : public testing::TestWithParam<std::tuple<const char*, const char*, const char*>> {};

TEST_P(SmallModels, AreNotFasterThanTheirBound) {
  const auto& [model, cluster, plan] = GetParam();
  int plans = 0;
  for (const std::string& moves : ways_to_move()) {
    for (const std::int64_t sequence : {256, 4096}) {
      RandomCase c =
          stated_case(*build_model(*read_architecture(*Catalog::built_in().find("models", model))),
                      cluster, plan + moves, sequence, 32);
      if (!plan_problems(c.model, c.cluster, c.training, c.plan).empty()) continue;
      for (const char* profile : {"megatron-core-0.12", "torchtitan", "llm-foundry"}) {
        c.software = *load_software(Catalog::built_in(), profile);
        EXPECT_TRUE(keeps_its_bound(c)) << model << " " << to_text(c.plan) << " " << profile;
        ++plans;
      }
    }
  }
  EXPECT_GT(plans, 0);
}

INSTANTIATE_TEST_SUITE_P(
    StepGraph, SmallModels,
    testing::Values(std::tuple("gpt-3-125m", "gb200:16", "tp=4,micro_batch=2"),
                    std::tuple("gpt-3-125m", "gb200:16", "tp=1,cp=2"),
                    std::tuple("gpt-3-125m", "gb200:16", "tp=1,recompute=full"),
                    std::tuple("gpt-3-125m", "gb200:16", "pp=2"),
                    std::tuple("qwen3-0.6b", "b200-sxm:32", "tp=1"),
                    std::tuple("qwen3-0.6b", "b200-sxm:32", "tp=1,cp=2,recompute=full"),
                    std::tuple("qwen3-0.6b", "h100-sxm:8", "tp=4,pp=2,schedule=vocab_1"),
                    std::tuple("qwen3-0.6b", "h100-sxm:8", "tp=2,schedule=vocab_2"),
                    std::tuple("vit-l-16", "gb200:8", "tp=2,schedule=vocab_2"),
                    std::tuple("vit-l-16", "gb200:8", "schedule=vocab_1")));

RandomCase llama(std::int64_t layers, const char* cluster, std::string_view plan,
                 std::int64_t global_batch) {
  return stated_case(small_model("llama-3-8b", layers), cluster, plan, 4096, global_batch);
}

Picoseconds step_time(const RandomCase& c) {
  CostCache cache(c.model, c.training, *cost_context(c.cluster, Catalog::built_in()));
  return simulate(step_graph(step_costs(cache, c.plan), Folding::folded)->graph).makespan;
}

// With equal stages, no transfers to speak of and one replica, the step is (m + p - 1) passes.
TEST(StepGraph, PipelineHasItsClosedForm) {
  RandomCase c = llama(16, "h100-sxm:4", "pp=4", 8);
  CostCache cache(c.model, c.training, *cost_context(c.cluster, Catalog::built_in()));
  StepCosts step = step_costs(cache, c.plan);
  for (VirtualStage& s : step.stages) {
    s.embedding = s.head = false;
    s.totals = step.kept->before[4] - step.kept->before[0];
  }
  for (Picoseconds& t : step.transfer) t = Picoseconds(0);
  step.optimizer.assign(4, Picoseconds(0));
  step.gradient_norm = Picoseconds(0);
  const Picoseconds pass = step.stages[0].totals.forward + step.stages[0].totals.backward;
  const Timeline t = simulate(step_graph(step, Folding::folded)->graph);
  EXPECT_EQ(t.makespan, pass * (8 + 4 - 1));
}

// Each of tp ranks sends a piece of what they share, and they gather it inside their node.
TEST(StepCosts, TransfersInPiecesCarryATpthOverTheNetwork) {
  const RandomCase c = llama(16, "a100-80gb-sxm:16", "tp=8,pp=2,sequence_parallel=false", 8);
  const auto priced = [&](bool splits) {
    SoftwareProfile software;
    software.splits_transfers = splits;
    const CostContext context = *cost_context(c.cluster, Catalog::built_in(), software);
    CostCache cache(c.model, c.training, context);
    const StepCosts step = step_costs(cache, c.plan);
    const Seconds gather =
        context.communicate(CollectiveKind::all_gather, step.boundary, step.layout->tp);
    return std::pair{step.transfer[0].seconds(), gather};
  };
  const auto [whole, gather] = priced(false);
  const auto [pieces, unused] = priced(true);
  EXPECT_LT(pieces, whole);
  EXPECT_GT(pieces, gather);
  // 4096 x 4096 two-byte activations: the network carries an eighth, in an eighth of the time and
  // its latency.
  EXPECT_NEAR((pieces - gather) / whole, 1.0 / 8, 0.02);
}

// Of a layer: queries, keys and values, output, gate and up, down; and two adapters of two each.
TEST(StepCosts, FrozenTensorsAreGatheredAndNotReduced) {
  RandomCase c = llama(4, "a100-80gb-sxm:64", "dp=64,zero=3", 64);
  c.model = *with_adapters(c.model, {16});
  CostCache cache(c.model, c.training, *cost_context(c.cluster, Catalog::built_in()));
  const StepCosts step = step_costs(cache, c.plan);
  const BlockCost& block = step.kept->blocks[0];
  EXPECT_EQ(block.weight_tensors, 8);
  EXPECT_EQ(block.trained_tensors, 4);
  EXPECT_EQ(block.trained.all() * 4, trained_parameters(c.model));
  EXPECT_LT(step.reduce(block.trained), step.gather(block.trained, block.frozen, Gather::forward));
  EXPECT_EQ(step.kept->embedding.trained.all(), 0);
}

TEST(StepCosts, ListsOfPiecesCostTheHostTwoOperatorsARank) {
  const auto priced = [](bool lists, std::string_view plan) {
    const RandomCase c = llama(4, "a100-80gb-sxm:64", plan, 64);
    SoftwareProfile software;
    software.shard_transfers = lists ? ShardTransfers::lists : ShardTransfers::copied;
    CostCache cache(c.model, c.training, *cost_context(c.cluster, Catalog::built_in(), software));
    const StepCosts step = step_costs(cache, c.plan);
    return std::pair{step.listing(step.kept->blocks[0].weight_tensors),
                     simulate(step_graph(step, Folding::folded)->graph).makespan};
  };
  const char* sharded =
      "dp=64,zero=3,overlap.gradient_reduction=false,overlap.parameter_gather=false";
  const auto [none, whole] = priced(false, sharded);
  const auto [listing, listed] = priced(true, sharded);
  EXPECT_EQ(none, Seconds(0));
  // Queries, keys and values, output, gate and up, down.
  EXPECT_NEAR(listing / (2.0 * 4 * 64 * HostCosts{}.kernel), 1, 1e-9);
  // Four layers gather twice and reduce once; embedding and head add their own.
  EXPECT_GT((listed - whole).seconds(), listing * 12.0);
  EXPECT_EQ(priced(true, "dp=64,zero=1").first, Seconds(0));
}

// FSDP1 joins gradients (2 + 2 bytes), casts them to fp32 (2 + 4) and divides them (4 + 4); FSDP2
// copies weights out of the gathered buffer (2 + 2) and casts gradients into another (2 + 4).
TEST(StepCosts, BuffersOfShardsMoveBytesOnTheDevice) {
  const auto priced = [](ShardTransfers transfers, std::string_view plan) {
    RandomCase c = llama(4, "h100-sxm:16", plan, 16);
    SoftwareProfile software;
    software.shard_transfers = transfers;
    const CostContext context = *cost_context(c.cluster, Catalog::built_in(), software);
    CostCache cache(c.model, c.training, context);
    const StepCosts step = step_costs(cache, c.plan);
    const double parameters = 1e9;
    const Seconds byte = context.kernels.memory_bound(Bytes(1e9)) / 1e9;
    const auto folded = simulate(step_graph(step, Folding::folded)->graph).makespan;
    EXPECT_EQ(folded, simulate(step_graph(step, Folding::expanded)->graph).makespan);
    return std::tuple{
        step.copying(step.copied_gathered(parameters, Gather::forward)).seconds() /
            (byte * parameters),
        step.copying(step.copied_reduced({.dense = parameters})).seconds() / (byte * parameters),
        folded.seconds()};
  };
  const char* sharded = "dp=16,zero=3";
  const auto [in_gathered, in_reduced, in_place] = priced(ShardTransfers::in_place, sharded);
  const auto [flat_gathered, flat_reduced, flat] = priced(ShardTransfers::flat, sharded);
  const auto [out_gathered, out_reduced, copied] = priced(ShardTransfers::copied, sharded);
  EXPECT_EQ(in_gathered + in_reduced + flat_gathered, 0);
  EXPECT_NEAR(flat_reduced, 18, 0.3);  // the start of a kernel counts less in more bytes
  EXPECT_NEAR(out_gathered, 4, 0.1);
  EXPECT_NEAR(out_reduced, 6, 0.1);
  EXPECT_GT(flat, in_place);
  EXPECT_GT(copied, in_place);
  // Nothing is gathered or copied where only the optimizer is sharded.
  EXPECT_EQ(std::get<2>(priced(ShardTransfers::flat, "dp=16,zero=1")),
            std::get<2>(priced(ShardTransfers::in_place, "dp=16,zero=1")));
}

// 10 bytes a parameter travel instead of 4: fp32 gradients, twice over the ring of an all-reduce, and
// 16-bit weights, where else both are scattered or gathered once. Kernels around it move 24 bytes a
// parameter for 16-bit gradients, and 6 for their norm and 4 for lists of weights under ZeRO 1.
TEST(StepCosts, GradientsInFp32GoToEveryRank) {
  const auto priced = [](GradientExchange exchange, std::string_view plan) {
    RandomCase c = llama(4, "a100-80gb-sxm:64", plan, 64);
    c.training.gradients = NumberFormat::bf16;
    SoftwareProfile software;
    software.gradient_exchange = exchange;
    const CostContext context = *cost_context(c.cluster, Catalog::built_in(), software);
    CostCache cache(c.model, c.training, context);
    const StepCosts step = step_costs(cache, c.plan);
    EXPECT_EQ(simulate(step_graph(step, Folding::folded)->graph).makespan,
              simulate(step_graph(step, Folding::expanded)->graph).makespan);
    const RankParameters trained{1e9, 0};
    const auto parts = step.reduce_parts(trained);
    const auto& sent = std::get<Communication>(parts.front().what);
    const Seconds byte = context.kernels.memory_bound(Bytes(1e9)) / 1e9;
    return std::tuple{sent.collective, sent.payload.value() / 1e9,
                      step.optimizer.front().seconds() / (byte * step.held(0).trained.all()),
                      step.widening_bytes()};
  };
  const char* sharded =
      "dp=64,zero=1,overlap.gradient_reduction=false,overlap.parameter_gather=false";
  const auto [kind, bytes, optimizer, none] = priced(GradientExchange::to_owners, sharded);
  const auto [wide_kind, wide, wide_optimizer, beside] =
      priced(GradientExchange::fp32_to_all, sharded);
  EXPECT_EQ(kind, CollectiveKind::reduce_scatter);
  EXPECT_EQ(bytes, 2);
  EXPECT_EQ(wide_kind, CollectiveKind::all_reduce);
  EXPECT_EQ(wide, 4);
  EXPECT_EQ(beside, 34);
  EXPECT_NEAR(wide_optimizer - optimizer, 34, 0.5);
  const char* whole =
      "dp=64,zero=0,overlap.gradient_reduction=false,overlap.parameter_gather=false";
  EXPECT_EQ(std::get<3>(priced(GradientExchange::fp32_to_all, whole)), 24);
}

// A layer gathers twice and scatters twice each way, each with a copy of the whole activation: read
// and written, 16 passes. Products in pieces beside their transfers are not copied.
TEST(StepCosts, SequenceShardsAreCopiedAroundTheirCollectives) {
  const auto block = [](bool copies, std::string_view plan) {
    RandomCase c = llama(4, "h100-sxm:8", plan, 1);
    SoftwareProfile software;
    software.copies_sequence_shards = copies;
    software.memory.keeps_gathered_input = true;  // or copies hide behind gathering them again
    software.host.kernel = software.host.product = software.host.collective = Seconds(0);
    const CostContext context = *cost_context(c.cluster, Catalog::built_in(), software);
    CostCache cache(c.model, c.training, context);
    const StepCosts step = step_costs(cache, c.plan);
    const BlockCost& of = step.kept->blocks[0];
    const Seconds pass = context.kernels.memory_bound(Bytes(2.0 * 2 * 4096 * c.model.width));
    return (of.forward.time + of.backward.time).seconds() / pass;
  };
  EXPECT_NEAR(block(true, "tp=8") - block(false, "tp=8"), 8, 0.2);
  EXPECT_EQ(block(true, "tp=8,sequence_parallel=false"),
            block(false, "tp=8,sequence_parallel=false"));
  EXPECT_LT(block(true, "tp=8,overlap.tensor_parallel=true") -
                block(false, "tp=8,overlap.tensor_parallel=true"),
            3);
}

// 64 broadcasts of a 64th each: as many bytes as one all-gather, and 64 times the latency of a
// broadcast.
TEST(StepCosts, WeightsSentRankByRankTakeABroadcastEach) {
  const auto gathered = [](bool broadcasts, std::string_view plan) {
    const RandomCase c = llama(4, "a100-80gb-sxm:64", plan, 64);
    SoftwareProfile software;
    if (broadcasts) software.shard_transfers = ShardTransfers::broadcasts;
    const CostContext context = *cost_context(c.cluster, Catalog::built_in(), software);
    CostCache cache(c.model, c.training, context);
    const StepCosts step = step_costs(cache, c.plan);
    const double parameters = 64e6;
    const Seconds one = context.communicate(CollectiveKind::broadcast, Bytes(2 * parameters / 64),
                                            step.layout->dense_shard);
    return std::pair{step.gather({parameters, 0}, {}, Gather::forward).seconds(), 64 * one};
  };
  const auto [in_turn, broadcasts] = gathered(true, "dp=64,zero=1");
  EXPECT_NEAR(in_turn / broadcasts, 1, 1e-6);
  EXPECT_GT(in_turn, gathered(false, "dp=64,zero=1").first);
  EXPECT_EQ(gathered(true, "dp=64,zero=3").first, gathered(false, "dp=64,zero=3").first);
}

// Gradients of shards of 8 are reduced over 8 nodes while the next block is gathered inside its
// own.
TEST(StepGraph, HybridShardsReduceBesideTheNextGather) {
  const auto step = [](std::string_view reduction) {
    return step_time(llama(8, "a100-80gb-sxm:64",
                           "dp=64,zero=3,shard_group=8,overlap.parameter_gather=true,"
                           "overlap.gradient_reduction=" +
                               std::string(reduction),
                           64));
  };
  const Seconds beside = step("true").seconds();
  const Seconds blocking = step("false").seconds();
  EXPECT_LT(beside / blocking, 0.97);
}

// The gather of the next block was queued before a block's gradients were there to be reduced:
// where blocks compute longer than both take, only the ends of a step show either.
TEST(StepGraph, FullyShardedBlocksHideGatherAndReductionBehindComputing) {
  const auto step = [](std::string_view overlap) {
    RandomCase c =
        llama(16, "h100-sxm:64", std::string("dp=64,zero=3,") + std::string(overlap), 64);
    c.training.sequence_length = 8192;
    return step_time(c).seconds();
  };
  const Seconds hidden = step("overlap.gradient_reduction=true,overlap.parameter_gather=true");
  const Seconds shown = step("overlap.gradient_reduction=false,overlap.parameter_gather=false");
  const RandomCase one = llama(16, "h100-sxm:1", "", 1);
  RandomCase alone = one;
  alone.training.sequence_length = 8192;
  const Seconds computing = step_time(alone).seconds();
  EXPECT_LT(hidden / computing, 1.15);
  EXPECT_GT(shown / hidden, 1.2);
}

TEST(StepGraph, MoreMicrobatchesAndLongerModelsTakeLonger) {
  EXPECT_LT(step_time(llama(8, "h100-sxm:8", "tp=2,pp=2", 8)),
            step_time(llama(8, "h100-sxm:8", "tp=2,pp=2", 16)));
  EXPECT_LT(step_time(llama(8, "h100-sxm:8", "tp=2,pp=2", 8)),
            step_time(llama(12, "h100-sxm:8", "tp=2,pp=2", 8)));
}

TEST(StepGraph, OverlapNeverHurtsMoreThanItsContention) {
  const Picoseconds with = step_time(llama(8, "h100-sxm:32", "tp=2,zero=1", 64));
  const Picoseconds without =
      step_time(llama(8, "h100-sxm:32", "tp=2,zero=1,overlap.gradient_reduction=false", 64));
  EXPECT_LT(with, without);
}

// Eight ranks divide dense weights and hold two copies of each expert: experts alone are reduced,
// those of the first layer at once, the others behind the last layer that has any, beside the dense
// layer and the embedding.
TEST(StepGraph, TheLastBucketWaitsForNoBlockThatIsNotReduced) {
  for (const std::int64_t sequence : {4096, 16384}) {
    const RandomCase c = stated_case(
        small_model("deepseek-v2-lite", 4), "h100-sxm:8",
        "tp=8,ep=4,zero=0,gradient_bucket_mib=2000,overlap.gradient_reduction=on", sequence, 1);
    ASSERT_TRUE(plan_problems(c.model, c.cluster, c.training, c.plan).empty());
    CostCache cache(c.model, c.training, *cost_context(c.cluster, Catalog::built_in()));
    const StepCosts step = step_costs(cache, c.plan);
    ASSERT_EQ(step.layout->dense_shard.size, 1);
    ASSERT_EQ(step.layout->expert_shard.size, 2);
    const VirtualStage& whole = step.stages[0];
    const Picoseconds backward = step.block(whole, 1).backward.time;
    const Picoseconds first = whole.totals.forward + step.kept->head.backward.time + backward;
    std::vector<Picoseconds> ends;
    for (const Folding folding : {Folding::folded, Folding::expanded}) {
      const StepGraph lowered = *step_graph(step, folding);
      const Timeline timeline = simulate(lowered.graph);
      ends.push_back(timeline.makespan);
      std::vector<Picoseconds> begins;
      for (std::size_t i = 0; i < lowered.graph.size(); ++i) {
        const NodeIndex n(i);
        if (lowered.graph.name(n) != "reduce gradients") continue;
        begins.push_back(timeline.start(lowered.graph, n));
      }
      EXPECT_EQ(begins, (std::vector{first, first + backward * 2})) << sequence;
    }
    EXPECT_EQ(ends[0], ends[1]) << sequence;
    EXPECT_GE(ends[0], lower_bound(step)) << sequence;
  }
}

TEST(StepGraph, TheSharedExpertHidesTheExchange) {
  const auto timed = [](std::string_view plan) {
    RandomCase c;
    c.model = small_model("deepseek-v2-lite", 4);
    c.cluster = *parse_cluster("h100-sxm:16", Catalog::built_in());
    c.training.sequence_length = 4096;
    c.training.global_batch = 16;
    CompletedPlan completed = completed_plan(c.model, c.cluster, c.training, *parse_plan(plan));
    c.training = completed.training;
    c.plan = completed.plan;
    return step_time(c);
  };
  EXPECT_LT(timed("ep=16,overlap.expert=on"), timed("ep=16"));
}

// Exchanges beside another microbatch: between hiding them all and hiding none, and never more than
// what the other pass computes.
TEST(StepGraph, AnotherMicrobatchHidesTheExchange) {
  const auto timed = [](std::string_view plan, const char* on) {
    RandomCase c;
    c.model = small_model("deepseek-v2-lite", 8);
    c.cluster = *parse_cluster(on, Catalog::built_in());
    c.training.sequence_length = 4096;
    c.training.global_batch = 128;
    CompletedPlan completed = completed_plan(c.model, c.cluster, c.training, *parse_plan(plan));
    c.training = completed.training;
    c.plan = completed.plan;
    return step_time(c);
  };
  const auto share = [&](const char* on, std::string_view plan) {
    const std::string text(plan);
    return timed(text + ",overlap.expert_batches=on", on).count() / timed(text, on).count();
  };
  EXPECT_LT(share("h100-sxm:16", "ep=16"), 0.95);
  EXPECT_LT(share("h100-sxm:16", "pp=2,ep=8,chunks=2"), 1);
  EXPECT_GT(share("h100-sxm:16", "ep=16"), 0.3);
}

// The first forward and the last backward of a step run beside nothing, and cost what they do
// without the overlap; of the others a forward and a backward run beside each other.
TEST(StepGraph, PassesWithoutAPartnerHideNoExchange) {
  for (const int microbatches : {1, 2, 5}) {
    RandomCase c = stated_case(small_model("deepseek-v2-lite", 8), "h100-sxm:16", "ep=16", 4096,
                               std::int64_t{16} * microbatches);
    c.plan.micro_batch = 1;
    CostCache cache(c.model, c.training, *cost_context(c.cluster, Catalog::built_in()));
    const auto passes = [&](bool beside) {
      c.plan.overlap.expert_batches = beside;
      const StepCosts step = step_costs(cache, c.plan);
      EXPECT_GE(step_time(c), lower_bound(step)) << microbatches;
      const PassTotals& of = step.stages.front().totals;
      return std::pair{of.forward + of.backward, step_time(c)};
    };
    const auto [alone, without] = passes(false);
    const auto [together, with] = passes(true);
    EXPECT_LT(together, alone);
    EXPECT_EQ(without - with, (alone - together) * (microbatches - 1)) << microbatches;
  }
}

// Tokens travel once to each rank, so that the wider network matters less.
TEST(StepGraph, DeduplicatedTokensTakeNoLongerBetweenNodes) {
  for (const char* plan : {"ep=16", "tp=2,ep=16", "ep=16,overlap.expert_batches=on"}) {
    RandomCase c;
    c.model = small_model("deepseek-v2-lite", 4);
    c.cluster = *parse_cluster("h100-sxm:16", Catalog::built_in());
    c.training.sequence_length = 4096;
    c.training.global_batch = 32;
    CompletedPlan completed = completed_plan(c.model, c.cluster, c.training, *parse_plan(plan));
    c.training = completed.training;
    c.plan = completed.plan;
    const Picoseconds plain = step_time(c);
    c.plan.dispatch = ExpertDispatch::deduplicated;
    EXPECT_LT(step_time(c), plain) << plan;
  }
}

// Each law of monotonicity changes one figure of the cluster for the better.
TEST(StepGraph, ABetterNetworkIsNeverSlower) {
  for (const char* plan : {"tp=2,pp=2,zero=1", "zero=3", "tp=4,cp=2,zero=2", "pp=4,zero=0"}) {
    RandomCase c = llama(8, "h100-sxm:32", plan, 64);
    const Picoseconds before = step_time(c);
    for (FabricLevel& level : c.cluster.levels) level.bandwidth *= 2;
    EXPECT_LE(step_time(c), before) << plan;
    for (FabricLevel& level : c.cluster.levels) level.latency = level.latency * 0.5;
    EXPECT_LE(step_time(c), before) << plan;
  }
}

TEST(StepGraph, WorkIsNeitherLostNorDoubledBySplittingIt) {
  // FLOPs of all ranks together are the model's, however it is divided.
  const RandomCase whole = llama(8, "h100-sxm:1", "tp=1", 1);
  const auto flops = [](const RandomCase& c) {
    CostCache cache(c.model, c.training, *cost_context(c.cluster, Catalog::built_in()));
    const Binding b = binding(c.model, c.training, c.plan);
    double sum = 0;
    for (const std::uint16_t l : c.model.layers) {
      for (const Operator& op : c.model.blocks[l].operators) {
        for (const Phase phase : {Phase::forward, Phase::input_gradient, Phase::weight_gradient}) {
          sum += model_flops(op, phase, b).value();
        }
      }
    }
    return sum * b.tp * b.cp;
  };
  const double all = flops(whole);
  for (const char* plan : {"tp=8", "cp=8", "tp=2,cp=4", "tp=8,sequence_parallel=false"}) {
    EXPECT_NEAR(flops(llama(8, "h100-sxm:8", plan, 1)) / all, 1, 1e-12) << plan;
  }
}

}  // namespace
}  // namespace orrery
