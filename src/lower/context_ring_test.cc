// What goes round rings of context-parallel ranks, which states they hand on, and what tiles keep.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "lower/head_exchange.h"
#include "lower/random_plan.h"
#include "lower/step_graph.h"
#include "lower/step_window.h"
#include "simulate/simulate.h"

namespace orrery {
namespace {

struct LongContext {
  Model model;
  Cluster cluster;
  Training training;
  Plan plan;
  CostCache cache;
  LongContext(const char* name, const char* on, std::string_view text, std::int64_t sequence)
      : LongContext(small_model(name, 4), on, text, sequence) {}
  LongContext(Model of, const char* on, std::string_view text, std::int64_t sequence)
      : model(std::move(of)),
        cluster(*parse_cluster(on, Catalog::built_in())),
        training(length(sequence, cluster.accelerators)),
        plan(complete(text)),
        cache(model, training, *cost_context(cluster, Catalog::built_in())) {
    const auto problems = plan_problems(model, cluster, training, plan);
    EXPECT_TRUE(problems.empty()) << text << ": " << problems.front();
  }
  [[nodiscard]] const BlockCost& block() {
    return cache.costs(plan, plan.recompute, Backward::fused).blocks.front();
  }
  [[nodiscard]] const BlockCost& head() { return cache.costs(plan, plan.recompute).head; }

 private:
  static Training length(std::int64_t sequence, std::int64_t batch) {
    Training out;
    out.sequence_length = sequence;
    out.global_batch = batch;
    return out;
  }
  Plan complete(std::string_view text) {
    CompletedPlan done = completed_plan(model, cluster, training, *parse_plan(text));
    training = done.training;
    return done.plan;
  }
};

// Layers of Mamba-2, as wide as those of Codestral Mamba 7B.
Model carrying_model() {
  Architecture a = *read_architecture(*Catalog::built_in().find("models", "llama-3-8b"));
  a.num_layers = 4;
  a.mixers = {Mixer::state_space};
  a.state_space = StateSpace{.inner = 8192, .state = 128, .heads = 128, .groups = 8};
  return *build_model(a);
}

// Bytes that a rank sends, of communications whose names begin so.
double sent(const BlockPass& pass, std::string_view what) {
  double out = 0;
  for (std::size_t i = 0; i < pass.graph.size(); ++i) {
    if (!pass.graph.name(NodeIndex(i)).starts_with(what)) continue;
    for (const OperationPart& part : pass.graph.operation(NodeIndex(i)).parts) {
      if (const auto* c = std::get_if<Communication>(&part.what)) {
        out += c->payload.value() * c->times / c->pieces;
      }
    }
  }
  return out;
}

Seconds computing(const BlockPass& pass, std::string_view name) {
  Picoseconds out;
  for (std::size_t i = 0; i < pass.graph.size(); ++i) {
    if (pass.graph.name(NodeIndex(i)) == name) out += pass.graph.duration(NodeIndex(i));
  }
  return out.seconds();
}

// arXiv 2412.20501: with a key-value head for each head, a direction of a link carries queries in
// place of keys and values, half as much; with grouped heads keys and values are the smaller.
TEST(ContextRing, QueriesAreHalfOfKeysAndValues) {
  const auto steps = [](const char* model, const char* kind) {
    LongContext c(model, "h100-sxm:8", std::string("cp=8,context_parallel=") + kind, 65536);
    const char* what = c.plan.context_parallel == ContextParallel::ring
                           ? "keys and values round the ring"
                           : "queries round the ring";
    return sent(c.block().forward, what);
  };
  const double lse = 65536.0 * 32 * 4;  // 4 bytes of each query and head travel back with outputs
  const double ring = steps("llama-2-7b", "ring");
  const double queries = 65536.0 * 4096 * 2;
  EXPECT_NEAR(ring, 2 * queries, 1);
  // The first of 7 steps has no outputs to return.
  EXPECT_NEAR(steps("llama-2-7b", "token-ring"), queries + lse * 6 / 7, 1);
  EXPECT_GT(steps("llama-3-8b", "token-ring"), steps("llama-3-8b", "ring"));
}

TEST(ContextRing, EveryRingComputesTheSameAttention) {
  const auto attention = [](const char* plan) {
    LongContext c("llama-2-7b", "h100-sxm:16", plan, 262144);
    return computing(c.block().forward, "attention.core").value();
  };
  const double ring = attention("cp=16,context_parallel=ring");
  EXPECT_NEAR(attention("cp=16,context_parallel=token-ring") / ring, 1, 1e-9);
  EXPECT_NEAR(attention("cp=16,context_parallel=ring,inner_ring=8") / ring, 1, 1e-9);
}

// LoongTrain, arXiv 2406.18485 s.4.3: a plain ring over two nodes waits for the one rank of a node
// that sends to the next; with an inner ring in each node all of them do.
TEST(ContextRing, ADoubleRingUsesEveryLinkBetweenNodes) {
  const auto exposed = [](const char* plan) {
    LongContext c("llama-2-7b", "a100-80gb-sxm:16", plan, 65536);
    return c.block().forward.breakdown[Category::exposed_cp];
  };
  EXPECT_LT(exposed("cp=16,context_parallel=ring,inner_ring=8") * 2,
            exposed("cp=16,context_parallel=ring"));
  // Within a node there is nothing to gain: the same bytes pass the same links.
  const auto inside = [](const char* plan) {
    LongContext c("llama-2-7b", "a100-80gb-sxm:8", plan, 65536);
    return c.block().forward.time;
  };
  EXPECT_LE(inside("cp=8,context_parallel=ring").count(),
            1.05 * inside("cp=8,context_parallel=ring,inner_ring=4").count());
}

// Ring self-attention (arXiv 2105.13120): keys pass once for the scores, values once for the
// outputs, and backward as much with their gradients: 8 (c - 1)/c b s h bytes in 16 bits.
TEST(ContextRing, RingSelfAttentionSendsWhatTensorParallelismDoes) {
  LongContext c("llama-2-7b", "h100-sxm:8", "cp=8,context_parallel=ring,attention=unfused", 8192);
  const double of_ranks =
      7.0 / 8 *
      (sent(c.block().forward, "keys and values") + sent(c.block().backward, "keys and values"));
  EXPECT_NEAR(of_ranks, 7.0 / 8 * 8 * 2 * 8192 * 4096 / 2 * 2, 1);
  EXPECT_EQ(computing(c.block().forward, "merge of a ring step"), Seconds(0));
}

// LASP-2 (arXiv 2502.07563 s.3): the bytes of states do not depend on the length of the sequence.
TEST(CarriedStates, AreAsLargeForAnyLength) {
  const auto gathered = [](std::int64_t sequence, const char* more) {
    LongContext c(carrying_model(), "h100-sxm:8",
                  std::string("cp=8,context_balance=contiguous") + more, sequence);
    return sent(c.block().forward, "all-gather of states");
  };
  const double elements = 8192 * 128 + 128;
  EXPECT_DOUBLE_EQ(gathered(65536, ""), 8 * 4 * elements);
  EXPECT_EQ(gathered(65536, ""), gathered(1048576, ""));
}

TEST(CarriedStates, PassFromRankToRankInTurnOnlyRoundARing) {
  const auto time = [](const char* kind) {
    LongContext c(carrying_model(), "h100-sxm:64",
                  std::string("cp=64,context_balance=contiguous,context_parallel=") + kind, 131072);
    return c.block().forward.time;
  };
  EXPECT_LT(time("all-gather"), time("ring"));
}

// Work of a sequence is that of its ranks together, apart from the sum of what others hand on.
TEST(CarriedStates, RanksShareTheWorkOfASequence) {
  const auto products = [](const char* plan) {
    LongContext c(carrying_model(), "h100-sxm:8", plan, 262144);
    return computing(c.block().forward, "state_space.scan").value();
  };
  EXPECT_NEAR(products("cp=1") / products("cp=8,context_balance=contiguous"), 8, 0.2);
}

// ALST (arXiv 2506.13996 s.3.1): what is as wide as the vocabulary or the feed-forward part exists
// for one tile, and costs one more forward of the latter.
TEST(SequenceTiles, KeepOneTileOfWideTensors) {
  LongContext whole("llama-3-8b", "h100-sxm:8", "cp=8,zero=3", 1048576);
  LongContext tiled("llama-3-8b", "h100-sxm:8", "cp=8,zero=3,loss_tiles=32,mlp_tiles=32", 1048576);
  const double tokens = 131072;
  const auto logits = [&](LongContext& c) {
    return (c.head().memory.saved + c.head().memory.working).value();
  };
  EXPECT_LT(logits(tiled), logits(whole) / 10);
  EXPECT_GT(logits(whole), tokens * 128256 * 4);
  // Gate, up and the activated product of 14,336 each are no longer kept.
  EXPECT_NEAR((whole.block().memory.saved - tiled.block().memory.saved).value(),
              tokens * 14336 * 2 * 3, tokens * 4096);
  const Flops again = tiled.block().recomputed - whole.block().recomputed;
  EXPECT_NEAR(again.value(), 2 * tokens * 3 * 4096 * 14336, 1e9);
  EXPECT_GT(tiled.block().backward.time, whole.block().backward.time);
}

TEST(SequenceTiles, ManyTilesNeverNeedMoreMemoryThanFew) {
  Bytes before(1e18);
  for (const char* tiles : {"1", "2", "8", "64", "512"}) {
    LongContext c("llama-3-8b", "h100-sxm:8", std::string("cp=8,recompute=full,mlp_tiles=") + tiles,
                  524288);
    EXPECT_LE(c.block().memory.working, before) << tiles;
    before = c.block().memory.working;
  }
}

// Of random plans, with rings, tiles and shards of their own: an expanded step takes as long as a
// folded one, and no step is faster than its bound.
TEST(LongSequences, FoldedIsExpandedAndNothingBeatsTheBound) {
  std::mt19937 random(20250616);
  int checked = 0;
  for (int draw = 0; draw < 20000 && checked < 60; ++draw) {
    auto drawn = random_case(random);
    if (!drawn || drawn->training.workload != Workload::training) continue;
    Plan& p = drawn->plan;
    p.context_balance = ContextBalance::zigzag;
    p.context_parallel = pick(random, {ContextParallel::token_ring, ContextParallel::ring});
    if (p.context_parallel == ContextParallel::ring && ring_ranks(p) == 4) p.inner_ring = 2;
    p.loss_tiles = pick<std::int64_t>(random, {1, 4});
    p.mlp_tiles = pick<std::int64_t>(random, {1, 4});
    if (p.zero == 3) p.weight_shard = pick<std::int64_t>(random, {0, 1, 2});
    if (p.zero >= 2) p.gradient_shard = pick<std::int64_t>(random, {0, 2});
    const bool any = p.cp > 1 || p.loss_tiles + p.mlp_tiles > 2 || p.gradient_shard > 0;
    if (!any || !plan_problems(drawn->model, drawn->cluster, drawn->training, p).empty()) continue;
    ++checked;
    CostCache cache(drawn->model, drawn->training,
                    *cost_context(drawn->cluster, Catalog::built_in(), drawn->software));
    const StepCosts costs = step_costs(cache, p);
    const auto time = [&](Folding folding) {
      const auto graph = step_graph(costs, folding);
      EXPECT_TRUE(graph) << to_text(p);
      return step_time(windows(costs, *graph, simulate(graph->graph)));
    };
    ASSERT_EQ(time(Folding::folded), time(Folding::expanded)) << to_text(p);
    ASSERT_GE(time(Folding::folded), lower_bound(costs)) << to_text(p);
  }
  EXPECT_EQ(checked, 60);
}

}  // namespace
}  // namespace orrery
