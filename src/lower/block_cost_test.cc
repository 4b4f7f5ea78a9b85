// What a block costs: its two directions, and a backward split in two.
#include "lower/block_cost.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "lower/priced_model.h"
#include "lower/random_plan.h"
#include "model/transformer/division_rules.h"
#include "model/transformer/transformer.h"

namespace orrery {
namespace {

// Time of kernels by what they compute, without communication and the slowing by it.
Picoseconds kernels(const BlockPass& pass) {
  return pass.computing() - pass.breakdown[Category::contention] - pass.breakdown[Category::host];
}

// torch.utils.checkpoint without reentrance: the product behind the last kept tensor runs once.
TEST(FullRecomputation, StopsEarlyWhereTheFrameworkDoes) {
  SoftwareProfile early;
  early.recompute_stops_early = true;
  const auto priced = [&](const char* model, const SoftwareProfile& software) {
    PricedModel p(small_model(model, 4), "h100-sxm:8", "dp=8,recompute=full", 2048,
                  NumberFormat::bf16, software);
    return p.costs(Backward::fused).blocks[0];
  };
  // GPT: 4 of 12 h² of the products are in the last one, beside attention.
  const BlockCost whole = priced("gpt-3-1.3b", {});
  const BlockCost stopped = priced("gpt-3-1.3b", early);
  EXPECT_EQ(whole.forward.time, stopped.forward.time);
  EXPECT_LT(stopped.backward.breakdown[Category::recompute],
            whole.backward.breakdown[Category::recompute]);
  const double h = 2048;
  EXPECT_NEAR((whole.recomputed - stopped.recomputed) / Flops(2 * 2048.0 * 4 * h * h), 1, 1e-9);
  // The router's gradient reads what experts return.
  EXPECT_EQ(priced("mixtral-8x7b", early).backward.time, priced("mixtral-8x7b", {}).backward.time);
}

// Whatever modules are named beside, one more is never faster, and what is done again is counted:
// its FLOPs and its kernels are those that were done before.
TEST(SelectiveRecomputation, MoreModulesNeverRunFaster) {
  const std::vector<const char*> names = {"core_attn", "layernorm",     "mla_up_proj",
                                          "moe_act",   "mlp_act",       "mlp",
                                          "moe",       "shared_experts"};
  for (const char* parallel : {"dp=8", "tp=2,ep=4", "dp=8,ep=8,dispatch=deduplicated"}) {
    const auto priced = [&](unsigned bits) {
      std::string text(parallel);
      for (std::size_t i = 0; i < names.size(); ++i) {
        if ((bits >> i & 1U) != 0) {
          text +=
              (text.find("modules") == std::string::npos ? ",recompute=selective,recompute_modules="
                                                         : "+") +
              std::string(names[i]);
        }
      }
      PricedModel p(small_model("deepseek-v2-lite", 4), "h100-sxm:8", text, 4096);
      EXPECT_THAT(plan_problems(p.model, p.cluster, p.training, p.plan), testing::IsEmpty())
          << text;
      const ModelCosts& costs = p.costs(Backward::fused);
      return std::pair(costs.blocks[0], costs.blocks[1]);
    };
    const auto none = priced(0);
    const auto full = [&] {
      PricedModel p(small_model("deepseek-v2-lite", 4), "h100-sxm:8",
                    std::string(parallel) + ",recompute=full", 4096);
      const ModelCosts& costs = p.costs(Backward::fused);
      return std::pair(costs.blocks[0], costs.blocks[1]);
    }();
    std::vector<std::pair<BlockCost, BlockCost>> by_bits;
    for (unsigned bits = 0; bits < 1U << names.size(); ++bits) by_bits.push_back(priced(bits));
    for (unsigned bits = 1; bits < by_bits.size(); ++bits) {
      const auto check = [&](const BlockCost& some, const BlockCost& plain,
                             const BlockCost& whole) {
        // But for the host, whose lead a longer backward spares.
        ASSERT_EQ(some.forward.time - some.forward.breakdown[Category::host],
                  plain.forward.time - plain.forward.breakdown[Category::host]);
        ASSERT_LE(some.recomputed, whole.recomputed);
        // What is done again is on its own line, its exchanges on theirs; all else is as before.
        ASSERT_EQ(kernels(some.backward) - some.backward.breakdown[Category::recompute],
                  kernels(plain.backward));
        ASSERT_LE(some.backward.breakdown[Category::recompute],
                  whole.backward.breakdown[Category::recompute]);
        ASSERT_LE(some.memory.saved, plain.memory.saved);
        ASSERT_GE(some.memory.saved, whole.memory.saved);
      };
      check(by_bits[bits].first, none.first, full.first);
      check(by_bits[bits].second, none.second, full.second);
      for (unsigned bit = 1; bit < by_bits.size(); bit <<= 1U) {
        ASSERT_LE(by_bits[bits].first.backward.time, by_bits[bits | bit].first.backward.time);
        ASSERT_LE(by_bits[bits].second.backward.time, by_bits[bits | bit].second.backward.time);
        ASSERT_LE(by_bits[bits].second.recomputed, by_bits[bits | bit].second.recomputed);
      }
    }
  }
}

// The whole expert layer sends its tokens away and back once more.
TEST(SelectiveRecomputation, AnExpertLayerExchangesItsTokensAgain) {
  const auto backward = [](const char* recompute) {
    PricedModel p(small_model("deepseek-v2-lite", 4), "h100-sxm:8",
                  std::string("dp=8,ep=8") + recompute, 4096);
    return p.costs(Backward::fused).blocks[1].backward.breakdown[Category::exposed_ep].count();
  };
  const auto once = backward("");
  EXPECT_EQ(backward(",recompute=selective,recompute_modules=layernorm+moe_act"), once);
  // Two more beside the two of gradients, which travel in the same format.
  EXPECT_NEAR(backward(",recompute=selective,recompute_modules=moe"), 2 * once, 0.01 * once);
}

// A shared expert beside the exchange of tokens is beside it when both are made again.
TEST(SelectiveRecomputation, WhatRunsBesideAnExchangeDoesSoAgain) {
  const auto again = [](const char* overlap) {
    PricedModel p(
        small_model("deepseek-v2-lite", 4), "h100-sxm:8",
        std::string("dp=8,ep=8,recompute=selective,recompute_modules=moe,overlap.expert=") +
            overlap,
        4096);
    return p.costs(Backward::fused).blocks[1];
  };
  EXPECT_EQ(again("on").recomputed, again("off").recomputed);
  EXPECT_EQ(kernels(again("on").backward), kernels(again("off").backward));
  EXPECT_LT(again("on").backward.breakdown[Category::exposed_ep],
            again("off").backward.breakdown[Category::exposed_ep]);
}

// Logits of all ranks on each: their loss does not shrink with tensor parallelism.
TEST(Head, GatheredLogitsCostTheirLossOnEveryRank) {
  SoftwareProfile gathers;
  gathers.memory.loss = Loss::gathered_log_softmax;
  const auto loss = [&](const char* plan, const SoftwareProfile& software) {
    PricedModel p(small_model("llama-3-8b", 4), "a100-80gb-sxm:8", plan, 4096, NumberFormat::bf16,
                  software);
    const BlockCost& head = p.costs(Backward::fused).head;
    const Picoseconds sum =
        head.forward.breakdown[Category::loss] + head.backward.breakdown[Category::loss];
    return sum.count();
  };
  const double sharded = loss("tp=8", {}) / loss("tp=1,dp=8", {});
  EXPECT_NEAR(sharded, 1.0 / 8, 0.01);
  // 26 passes, and 4 more that join the gathered pieces.
  const double gathered = loss("tp=8", gathers) / loss("tp=1,dp=8", gathers);
  EXPECT_NEAR(gathered, 30.0 / 26, 0.01);
}

TEST(Host, ReadingALengthBackStopsTheDeviceInEveryForward) {
  SoftwareProfile reads;
  reads.host.waits = HostWaits::transfers_and_attention;
  const auto priced = [&](const SoftwareProfile& software) {
    PricedModel p(small_model("llama-3-8b", 4), "a100-80gb-sxm:8", "dp=8,recompute=full", 8192,
                  NumberFormat::bf16, software);
    return p.costs(Backward::fused).blocks[0];
  };
  const BlockCost plain = priced({});
  const BlockCost stopped = priced(reads);
  const Seconds wait = reads.host.product + reads.host.kernel;
  EXPECT_NEAR((stopped.forward.time - plain.forward.time).seconds() / wait, 1, 1e-6);
  EXPECT_NEAR((stopped.backward.time - plain.backward.time).seconds() / wait, 1, 1e-6);
}

// What comes back from experts, half of what a forward exchanges, runs beside the attention of a
// backward and nothing else; likewise the gradients that go out beside the attention of a forward.
TEST(ExpertBatches, HideWhatComesBackBesideAttentionOnly) {
  const auto experts = [](const char* plan) {
    PricedModel p(small_model("deepseek-v2-lite", 4), "h100-sxm:64", plan, 4096);
    return p.costs(Backward::fused).blocks.back();
  };
  const BlockCost alone = experts("ep=64");
  const BlockCost paired = experts("ep=64,overlap.expert_batches=on");
  const auto exposed = [](const BlockPass& pass) {
    return pass.breakdown[Category::exposed_ep].seconds();
  };
  const auto attention = [](const BlockPass& pass) {
    return (pass.computing() - pass.breakdown[Category::experts]).seconds();
  };
  ASSERT_GT(exposed(alone.forward) / 2, attention(alone.backward));
  EXPECT_GE(exposed(paired.forward),
            exposed(alone.forward) / 2 - attention(alone.backward) - Seconds(1e-9));
  EXPECT_GE(exposed(paired.backward),
            exposed(alone.backward) / 2 - attention(alone.forward) - Seconds(1e-9));
  EXPECT_LT(exposed(paired.forward), exposed(alone.forward));
  EXPECT_LT(paired.forward.time + paired.backward.time, alone.forward.time + alone.backward.time);
  // Of the rest, no more than the experts of the other pass take.
  const auto other = [](const BlockPass& pass) { return pass.computing().seconds(); };
  EXPECT_GE(exposed(paired.forward),
            exposed(alone.forward) - other(alone.backward) - Seconds(1e-9));
  EXPECT_GE(exposed(paired.backward),
            exposed(alone.backward) - other(alone.forward) - Seconds(1e-9));
}

TEST(SplitBackward, IsNotPricedUnlessAskedFor) {
  PricedModel p(small_model("llama-3-8b", 4), "h100-sxm:8", "tp=2", 2048);
  EXPECT_EQ(p.costs(Backward::fused).blocks[0].weight_gradient.time, Picoseconds(0));
  EXPECT_EQ(p.costs(Backward::fused).before[4].input_gradient, Picoseconds(0));
  EXPECT_GT(p.costs(Backward::split).blocks[0].weight_gradient.time, Picoseconds(0));
  EXPECT_EQ(p.costs(Backward::split).blocks[0].backward.time,
            p.costs(Backward::fused).blocks[0].backward.time);
}

// The same kernels, whatever is computed again and however the model is divided. Cutting products
// in pieces changes their efficiency, so tensor-parallel overlap is left out.
TEST(SplitBackward, HalvesComputeWhatTheWholeDoes) {
  for (const char* model : {"llama-3-8b", "gpt-3-1.3b", "mixtral-8x7b", "deepseek-v2-lite"}) {
    for (const char* plan : {"tp=1", "tp=4", "tp=4,sequence_parallel=false", "cp=2",
                             "tp=2,recompute=full", "tp=2,recompute=selective",
                             "cp=2,context_parallel=ring", "cp=2,context_parallel=all-to-all",
                             "tp=2,recompute=selective,recompute_modules=layernorm+core_attn"}) {
      PricedModel p(small_model(model, 4), "h100-sxm:8", plan, 2048);
      const ModelCosts& costs = p.costs(Backward::split);
      for (const BlockCost* block : {&costs.blocks[0], &costs.blocks.back(), &costs.head}) {
        EXPECT_EQ(kernels(block->input_gradient) + kernels(block->weight_gradient),
                  kernels(block->backward))
            << model << " " << plan;
      }
    }
  }
}

TEST(SplitBackward, WithoutCommunicationTimesAddUp) {
  for (const char* plan : {"tp=1", "recompute=full", "recompute=selective"}) {
    PricedModel p(small_model("llama-3-8b", 8), "h100-sxm:1", plan, 4096);
    const PassTotals all = p.costs(Backward::split).before[8];
    EXPECT_EQ(all.input_gradient + all.weight_gradient, all.backward) << plan;
    const BlockCost& block = p.costs(Backward::split).blocks[0];
    EXPECT_EQ(block.weight_gradient.breakdown[Category::recompute], Picoseconds(0)) << plan;
    EXPECT_EQ(block.input_gradient.breakdown[Category::recompute],
              block.backward.breakdown[Category::recompute])
        << plan;
  }
}

// arXiv 2401.10241 s.2.3: 24 s b h^2 FLOPs of weight gradient against 24 s b h^2 + 8 s^2 b h of
// input gradient, so a weight gradient takes less time; 32 s b h bytes are kept between the two.
TEST(SplitBackward, MemoryBetweenTheHalvesIsThatOfThePaper) {
  PricedModel p(small_model("gpt-3-175b", 2), "a100-80gb-sxm:8", "tp=1,micro_batch=2", 2048);
  const BlockCost& block = p.costs(Backward::split).blocks[0];
  const double sbh = 2048.0 * 2 * 12288;
  EXPECT_DOUBLE_EQ(block.saved_for_weight_gradient.value(), 32 * sbh);
  EXPECT_LT(block.saved_for_weight_gradient, block.memory.saved);
  EXPECT_LT(block.weight_gradient.time, block.input_gradient.time);
}

// Under sequence parallelism inputs of column products stay cut; gradients of row products' outputs
// stay gathered: per tp rank 2 x 2sbh/t (cut inputs) + 10sbh/t (inputs of row products) + 14sbh/t
// (gradients of column outputs) + 4sbh (gradients of row outputs).
TEST(SplitBackward, SequenceParallelKeepsGatheredOutputGradients) {
  PricedModel p(small_model("gpt-3-175b", 2), "a100-80gb-sxm:8", "tp=8,micro_batch=1", 2048);
  const double sbh = 2048.0 * 12288;
  EXPECT_DOUBLE_EQ(p.costs(Backward::split).blocks[0].saved_for_weight_gradient.value(),
                   28 * sbh / 8 + 4 * sbh);
}

// With the gathered input hidden behind the product before it, only the first gather of the weight
// gradients is exposed.
TEST(SplitBackward, GathersRunBesideTheProductBefore) {
  PricedModel p(small_model("gpt-3-175b", 2), "a100-80gb-sxm:8", "tp=8,micro_batch=1", 2048);
  const BlockCost& block = p.costs(Backward::split).blocks[0];
  EXPECT_LT(block.weight_gradient.breakdown[Category::exposed_tp],
            block.input_gradient.breakdown[Category::exposed_tp]);
}

TEST(SplitBackward, NarrowOperandsAreKeptNarrow) {
  PricedModel wide(small_model("llama-3-8b", 2), "h100-sxm:8", "tp=1", 2048);
  PricedModel narrow(small_model("llama-3-8b", 2), "h100-sxm:8", "tp=1", 2048, NumberFormat::fp8);
  const Bytes a = wide.costs(Backward::split).blocks[0].saved_for_weight_gradient;
  const Bytes b = narrow.costs(Backward::split).blocks[0].saved_for_weight_gradient;
  EXPECT_LT(b, a);
  EXPECT_GE(b, a / 2);
}

// A block too small for its device takes what the host needs to launch it, no less; a large one
// does not notice the host.
TEST(Host, IsAFloorUnderForwardAndBackwardTogether) {
  PricedModel small(small_model("gpt-3-125m", 2), "h100-sxm:1", "tp=1", 128);
  const BlockCost& block = small.costs(Backward::fused).blocks[0];
  EXPECT_EQ(block.forward.time + block.backward.time, block.forward.host + block.backward.host);
  EXPECT_GT(block.forward.breakdown[Category::host], Picoseconds(0));
  EXPECT_EQ(block.forward.breakdown.total(), block.forward.time);

  PricedModel large(small_model("gpt-3-175b", 2), "h100-sxm:1", "tp=1", 2048);
  EXPECT_EQ(large.costs(Backward::fused).blocks[0].forward.breakdown[Category::host],
            Picoseconds(0));
}

TEST(Host, AGraphHidesIt) {
  SoftwareProfile graphs;
  graphs.host.launches = LaunchPath::graphs;
  PricedModel p(small_model("gpt-3-125m", 2), "h100-sxm:1", "tp=1", 128, NumberFormat::bf16,
                graphs);
  EXPECT_EQ(p.costs(Backward::fused).blocks[0].forward.breakdown[Category::host], Picoseconds(0));
}

// A layer of P parameters: separately, 2 + 4 + 4 bytes a parameter and microbatch in kernels of
// their own; in the product, 0.45 of 4 + 4 - 2; nothing with a single microbatch.
TEST(Accumulation, CostsTheBytesItMoves) {
  const auto backward = [](GradientAccumulation how, std::int64_t batch) {
    SoftwareProfile software;
    software.accumulation = how;
    PricedModel p(small_model("gpt-3-175b", 2), "a100-80gb-sxm:1", "tp=1", 2048, NumberFormat::bf16,
                  software);
    p.training.global_batch = batch;
    return p.costs(Backward::fused).blocks[0].backward.breakdown.total().seconds();
  };
  const auto context =
      *cost_context(*parse_cluster("a100-80gb-sxm:1", Catalog::built_in()), Catalog::built_in());
  const Bytes parameters(12.0 * 12288 * 12288);
  const BytesPerSecond rate = context.kernels.parameters().memory_bandwidth;
  const Seconds alone = backward(GradientAccumulation::in_product, 1);
  EXPECT_NEAR(
      (backward(GradientAccumulation::in_product, 8) - alone) / (parameters * (0.45 * 6) / rate), 1,
      1e-6);
  EXPECT_EQ(backward(GradientAccumulation::separate, 1), alone);
  EXPECT_NEAR((backward(GradientAccumulation::separate, 8) - alone) / (parameters * 10 / rate), 1,
              2e-3);  // and a launch floor each
}

// Llama 3 8B: 32 query heads share 8 of keys and values. Forward these are read and those written,
// of 128 elements for keys and as many for values.
TEST(ContextParallel, RepeatedKeysCostTheBytesTheyMove) {
  const auto forward = [](bool repeats) {
    SoftwareProfile software;
    if (repeats) software.attention_copies = AttentionCopies::repeated_keys;
    PricedModel p(small_model("llama-3-8b", 2), "h100-sxm:1", "tp=1", 65536, NumberFormat::bf16,
                  software);
    return p.costs(Backward::fused).blocks[0].forward.breakdown[Category::attention_core].seconds();
  };
  const auto context =
      *cost_context(*parse_cluster("h100-sxm:1", Catalog::built_in()), Catalog::built_in());
  const Seconds moved =
      Bytes(2.0 * 65536 * (32 + 8) * 2 * 128) / context.kernels.parameters().memory_bandwidth;
  EXPECT_NEAR((forward(true) - forward(false)) / moved, 1, 0.02);  // and two launch floors
}

// On four ranks of a long sequence the gather hides beside the first of four pieces, and of the
// gradients' ring only the last step, to their owner, is left. Three pieces are merged: an fp32 sum
// read and written and 16 bits read.
TEST(ContextParallel, PiecesHideTheirTransfersAndAreMerged) {
  const auto priced = [](bool pieces, std::string_view plan) {
    SoftwareProfile software;
    software.attends_in_pieces = pieces;
    PricedModel p(small_model("llama-3-8b", 2), "h100-sxm:4", plan, 131072, NumberFormat::bf16,
                  software);
    return p.costs(Backward::fused).blocks[0];
  };
  const BlockCost whole = priced(false, "cp=4");
  const BlockCost pieces = priced(true, "cp=4");
  EXPECT_GT(whole.forward.breakdown[Category::exposed_cp], Picoseconds(0));
  EXPECT_EQ(pieces.forward.breakdown[Category::exposed_cp], Picoseconds(0));
  // One fp32 step of the ring against all of its three in 16 bits, and the gather.
  EXPECT_NEAR(pieces.backward.breakdown[Category::exposed_cp].count() /
                  static_cast<double>(whole.backward.breakdown[Category::exposed_cp].count()),
              2.0 / 6, 0.01);
  const auto context =
      *cost_context(*parse_cluster("h100-sxm:4", Catalog::built_in()), Catalog::built_in());
  const double rows = 131072.0 / 4;
  const Seconds moved = Bytes(2 * rows * (3 * 5 * 32 * 128 + 2 * 8 * 2 * 128)) /
                        context.kernels.parameters().memory_bandwidth;
  const Seconds longer = pieces.forward.breakdown[Category::attention_core].seconds() -
                         whole.forward.breakdown[Category::attention_core].seconds();
  EXPECT_NEAR(longer / moved, 1, 0.02);
  // Round the ring they hide as well.
  EXPECT_EQ(priced(true, "cp=4,context_parallel=ring").forward.breakdown[Category::exposed_cp],
            Picoseconds(0));
}

// Two modules of one input reduce two gradients of it; sequence parallelism reduces one.
// 8 key-value heads under tp 16: each is on two ranks, with its weights and work; all else is
// divided as ever. The model itself counts them once.
TEST(TensorParallel, KeyValueHeadsAreCopiedWhereRanksAreMore) {
  constexpr double kCopied = 8 * 2 * 128;  // columns of the copies of keys and values
  constexpr double kHidden = 4096;
  constexpr double kTokens = 4096;
  constexpr double kNorms = 2 * kHidden;  // on every rank
  const Model model = small_model("llama-3-8b", 4);
  const auto priced = [&](std::int64_t tp, const char* recompute = "full") {
    PricedModel p(model, "gb200:16", "tp=" + std::to_string(tp) + ",recompute=" + recompute, 4096);
    return p.costs(Backward::fused).blocks[0];
  };
  const BlockCost divided = priced(8);
  const BlockCost copied = priced(16);
  EXPECT_DOUBLE_EQ(16 * (copied.trained.dense - kNorms),
                   8 * (divided.trained.dense - kNorms) + kHidden * kCopied);
  EXPECT_DOUBLE_EQ((16 * copied.recomputed).value(),
                   (8 * divided.recomputed).value() + 2 * kTokens * kHidden * kCopied);
  // Half the work and the copies, on twice the ranks.
  EXPECT_LT(copied.forward.breakdown[Category::attention_core],
            divided.forward.breakdown[Category::attention_core]);
  EXPECT_GT(priced(16, "none").memory.saved * 16, priced(8, "none").memory.saved * 8);

  EXPECT_FALSE(with_copied_heads(model, {.tp = 8}));
  EXPECT_FALSE(with_copied_heads(small_model("deepseek-v2-lite", 4), {.tp = 16}));
  EXPECT_EQ(architecture_of(*with_copied_heads(model, {.tp = 32}))->attention, AttentionKind::mha);
}

TEST(TensorParallel, SeparateGateReducesItsInputGradientAlone) {
  const auto exposed = [](bool separate, bool overlaps, std::string_view plan) {
    SoftwareProfile software;
    if (separate) software.memory.gate = Gate::modules;
    software.overlaps_input_gradients = overlaps;
    PricedModel p(small_model("llama-3-8b", 2), "h100-sxm:8", plan, 4096, NumberFormat::bf16,
                  software);
    return p.costs(Backward::fused).blocks[0].backward.breakdown[Category::exposed_tp].count();
  };
  constexpr std::string_view kPlain = "tp=8,sequence_parallel=false";
  // Input gradients of attention and feed-forward: two reductions in line, or three.
  EXPECT_NEAR(exposed(true, false, kPlain) / exposed(false, false, kPlain), 1.5, 1e-6);
  EXPECT_EQ(exposed(true, false, "tp=8"), exposed(false, false, "tp=8"));
  EXPECT_LT(exposed(false, true, kPlain), exposed(false, false, kPlain));
}

// Narrow formats leave the logits in 16 bits.
TEST(NarrowFormats, LogitsStayWide) {
  const auto head = [](NumberFormat format) {
    PricedModel p(small_model("llama-3-8b", 2), "h100-sxm:8", "tp=1", 4096, format);
    return p.costs(Backward::fused).head.forward.breakdown[Category::logits];
  };
  EXPECT_EQ(head(NumberFormat::fp8), head(NumberFormat::bf16));
}

Model one_layer(Architecture a) {
  a.num_layers = 1;
  a.hidden = 4096;
  a.vocab = 1000;
  return *build_model(a);
}

Model mamba_2() {
  Architecture a;
  a.mixers = {Mixer::state_space};
  a.feed_forwards = {FeedForwardPart::none};
  a.state_space = StateSpace{.inner = 8192, .state = 128, .heads = 128, .groups = 8};
  return one_layer(a);
}

// The work of a state-space layer grows with the tokens alone; its backward has two products for
// one of the forward, and computes scores and states again.
TEST(StateSpaceLayer, CostsWhatItsTokensDo) {
  const auto pass = [](std::int64_t sequence) {
    PricedModel p(mamba_2(), "h100-sxm:8", "dp=8", sequence);
    return p.costs(Backward::fused).blocks[0];
  };
  const BlockCost once = pass(8192);
  const BlockCost twice = pass(16384);
  const auto core = [](const BlockPass& p) {
    return p.breakdown[Category::attention_core].count();
  };
  EXPECT_NEAR(core(twice.forward) / core(once.forward), 2, 0.1);
  EXPECT_NEAR(core(twice.backward) / core(once.backward), 2, 0.1);
  EXPECT_GT(core(once.backward), 2 * core(once.forward));
  EXPECT_LT(core(once.backward), 3 * core(once.forward));
  // On two ranks half of it on each.
  PricedModel halved(mamba_2(), "h100-sxm:8", "tp=2", 16384);
  const BlockCost& half = halved.costs(Backward::fused).blocks[0];
  EXPECT_NEAR(core(half.forward) / core(twice.forward), 0.5, 0.05);
}

// No product of a scan runs faster than the device's peak allows.
TEST(StateSpaceLayer, IsNoFasterThanItsFlops) {
  const Model model = mamba_2();
  const Binding b{.sequence_length = 8192};
  Flops flops(0);
  for (const Operator& op : model.blocks[0].operators) flops += model_flops(op, Phase::forward, b);
  PricedModel p(mamba_2(), "h100-sxm:8", "dp=8", 8192);
  const double seconds = p.costs(Backward::fused).blocks[0].forward.time.count() * 1e-12;
  EXPECT_GT(seconds, flops.value() / 989e12);
  EXPECT_LT(seconds, 4 * flops.value() / 989e12);
}

// Pieces of a sequence that do not see each other cost what as many sequences do.
TEST(ChunkedAttention, CostsThatOfShorterSequences) {
  Architecture a;
  a.ffn_hidden = 4096;
  a.num_heads = 32;
  a.head_dim = 128;
  const Model whole = one_layer(a);
  // The attention kernel does not tell four sequences from four times the heads.
  a.num_heads = 128;
  const Model heads = one_layer(a);
  a.num_heads = 32;
  a.sliding_window = 2048;
  a.chunked_attention = true;
  const Model pieces = one_layer(a);
  PricedModel chunked(pieces, "h100-sxm:8", "dp=8", 8192);
  PricedModel shorter(heads, "h100-sxm:8", "dp=8", 2048);
  const auto& one = chunked.costs(Backward::fused).blocks[0];
  const auto& other = shorter.costs(Backward::fused).blocks[0];
  EXPECT_EQ(one.forward.breakdown[Category::attention_core],
            other.forward.breakdown[Category::attention_core]);
  EXPECT_EQ(one.backward.breakdown[Category::attention_core],
            other.backward.breakdown[Category::attention_core]);
  PricedModel unchanged(pieces, "h100-sxm:8", "dp=8", 2048);
  PricedModel plain(whole, "h100-sxm:8", "dp=8", 2048);
  EXPECT_EQ(unchanged.costs(Backward::fused).blocks[0].forward.time,
            plain.costs(Backward::fused).blocks[0].forward.time);
}

}  // namespace
}  // namespace orrery
