// What halves of a microbatch, tiles and late sums hide of the collectives inside a layer.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "lower/block_cost.h"
#include "lower/random_plan.h"

namespace orrery {
namespace {

// One layer of a model under a plan.
struct PricedLayer {
  PricedLayer(Model m, const char* on, const std::string& text, std::int64_t sequence,
              Workload workload = Workload::training, ExpertLoad load = {})
      : model(std::move(m)), cluster(*parse_cluster(on, Catalog::built_in())) {
    training.sequence_length = sequence;
    training.global_batch = 4 * std::int64_t{cluster.accelerators};
    training.workload = workload;
    training.expert_load = std::move(load);
    const CompletedPlan completed = completed_plan(model, cluster, training, *parse_plan(text));
    training = completed.training;
    plan = completed.plan;
    for (const auto& p : plan_problems(model, cluster, training, plan)) ADD_FAILURE() << p;
    cache.emplace(model, training, *cost_context(cluster, Catalog::built_in()));
    cost = &cache->costs(plan, plan.recompute).blocks[0];
  }
  Model model;
  Cluster cluster;
  Training training;
  Plan plan;
  std::optional<CostCache> cache;
  const BlockCost* cost = nullptr;
};

Picoseconds left_exposed(const BlockPass& pass) { return exposed_communication(pass.breakdown); }
Picoseconds lost_to_others(const BlockPass& pass) { return pass.breakdown[Category::contention]; }

struct LayerWork {
  double flops = 0;
  double sent = 0;
};
LayerWork layer_work(const BlockPass& pass) {
  LayerWork out;
  for (std::size_t i = 0; i < pass.graph.size(); ++i) {
    for (const OperationPart& part : pass.graph.operation(NodeIndex(i)).parts) {
      if (const auto* k = std::get_if<Kernel>(&part.what))
        out.flops += k->flops.value() / k->pieces;
      if (const auto* c = std::get_if<Communication>(&part.what)) {
        out.sent += c->payload.value() * c->times / c->pieces;
      }
    }
  }
  return out;
}

constexpr const char* kFlat = "tp=8,sequence_parallel=false,micro_batch=2";

TEST(Halves, ComputeAndSendWhatTheWholeDoes) {
  for (const char* model : {"llama-3-8b", "gpt-3-1.3b"}) {
    const PricedLayer whole(small_model(model, 2), "a100-80gb-sxm:8", kFlat, 4096);
    for (const char* how : {",halves=batch", ",halves=sequence"}) {
      const PricedLayer halves(small_model(model, 2), "a100-80gb-sxm:8", std::string(kFlat) + how,
                               4096);
      for (const auto pass : {&BlockCost::forward, &BlockCost::backward}) {
        const LayerWork all = layer_work(whole.cost->*pass);
        const LayerWork both = layer_work(halves.cost->*pass);
        EXPECT_NEAR(both.sent / all.sent, 1, 1e-12) << model << how;
        // A mask cuts a block of keys on the diagonal of each half.
        EXPECT_NEAR(both.flops / all.flops, 1, 0.02) << model << how;
      }
    }
  }
}

// The all-reduces of one half run beside the other, which they slow; all that is exposed then is less
// than it was, and no pass is faster than what it computes.
TEST(Halves, HideWhatTheOtherHalfComputes) {
  for (const char* on : {"a100-80gb-sxm:8", "l40s:8"}) {
    const PricedLayer whole(small_model("llama-3-8b", 2), on, kFlat, 8192);
    for (const char* how : {",halves=batch", ",halves=sequence"}) {
      const PricedLayer halves(small_model("llama-3-8b", 2), on, std::string(kFlat) + how, 8192);
      for (const auto pass : {&BlockCost::forward, &BlockCost::backward}) {
        const BlockPass& w = whole.cost->*pass;
        const BlockPass& h = halves.cost->*pass;
        EXPECT_LT(left_exposed(h), left_exposed(w)) << on << how;
        EXPECT_GT(lost_to_others(h), lost_to_others(w)) << on << how;
        EXPECT_GE(h.time, w.computing() - lost_to_others(w)) << on << how;
      }
      EXPECT_LT(halves.cost->forward.time, whole.cost->forward.time) << on << how;
    }
  }
}

TEST(Halves, HideExchangesOfTokens) {
  const PricedLayer whole(small_model("mixtral-8x7b", 2), "h100-sxm:16", "ep=8,micro_batch=2",
                          4096);
  const PricedLayer halves(small_model("mixtral-8x7b", 2), "h100-sxm:16",
                           "ep=8,micro_batch=2,halves=batch", 4096);
  for (const auto pass : {&BlockCost::forward, &BlockCost::backward}) {
    EXPECT_LT(left_exposed(halves.cost->*pass),
              Picoseconds(left_exposed(whole.cost->*pass).count() * 0.6));
    EXPECT_GT(lost_to_others(halves.cost->*pass), Picoseconds(0));
  }
}

// Padded experts compute their capacity: each half's is half of it.
TEST(Halves, ComputeTheRowsOfPaddedExpertsOnce) {
  for (const double capacity : {0.01, 1.25}) {
    const auto layer = [&](const char* plan) {
      return PricedLayer(small_model("mixtral-8x7b", 2), "h100-sxm:16", plan, 4096,
                         Workload::training, {.capacity_factor = capacity, .padded = true});
    };
    const PricedLayer whole = layer("ep=8,micro_batch=2");
    const PricedLayer halves = layer("ep=8,micro_batch=2,halves=batch");
    const double all = layer_work(whole.cost->forward).flops;
    EXPECT_NEAR(layer_work(halves.cost->forward).flops / all, 1, 1e-12) << capacity;
  }
}

TEST(Tiles, EndAPieceAfterTheSlowerOfProductAndReduction) {
  for (const char* text : {"tp=8", "tp=8,sequence_parallel=false"}) {
    const PricedLayer plain(small_model("gpt-3-6.7b", 2), "a100-80gb-sxm:8", text, 4096);
    const PricedLayer tiles(small_model("gpt-3-6.7b", 2), "a100-80gb-sxm:8",
                            std::string(text) + ",overlap.tensor_tiles=on", 4096);
    const BlockPass& p = plain.cost->forward;
    const BlockPass& t = tiles.cost->forward;
    EXPECT_LT(t.time, p.time) << text;
    EXPECT_LT(left_exposed(t), left_exposed(p)) << text;
    EXPECT_GT(left_exposed(t), Picoseconds(0)) << text;
    EXPECT_NEAR(layer_work(t).flops / layer_work(p).flops, 1, 1e-12) << text;
    // The products are not cut: nothing but contention is added to them.
    EXPECT_NEAR(
        (t.computing() - lost_to_others(t)).count() / (p.computing() - lost_to_others(p)).count(),
        1, 1e-6)
        << text;
  }
}

TEST(LateSums, RunBesideTheNextModule) {
  const auto layer = [](Residual residual, const char* on) {
    Model model = small_model("llama-3-8b", 2);
    for (Block& block : model.blocks) block.residual = residual;
    return PricedLayer(std::move(model), on, kFlat, 2048, Workload::forward);
  };
  for (const char* on : {"h100-sxm:8", "l40s:8"}) {
    const PricedLayer standard = layer(Residual::standard, on);
    const PricedLayer ladder = layer(Residual::ladder, on);
    const PricedLayer kraken = layer(Residual::kraken, on);
    const BlockPass& s = standard.cost->forward;
    const BlockPass& l = ladder.cost->forward;
    const BlockPass& k = kraken.cost->forward;
    // Ladder sends the same; Kraken sums up once a layer.
    EXPECT_NEAR(layer_work(l).sent / layer_work(s).sent, 1, 1e-12);
    EXPECT_NEAR(layer_work(k).sent / layer_work(s).sent, 0.5, 1e-12);
    EXPECT_LT(l.time, s.time) << on;
    EXPECT_LT(k.time, s.time) << on;
    EXPECT_GE(l.time, s.computing()) << on;
    EXPECT_GT(lost_to_others(l), Picoseconds(0)) << on;
  }
  // Of eight H100 the next module takes longer than most of a sum.
  const PricedLayer standard = layer(Residual::standard, "h100-sxm:8");
  const PricedLayer ladder = layer(Residual::ladder, "h100-sxm:8");
  EXPECT_LT(left_exposed(ladder.cost->forward).count(),
            0.5 * left_exposed(standard.cost->forward).count());
}

TEST(LateSums, AreBesideTheBackwardAsWell) {
  const auto layer = [](Residual residual) {
    Model model = small_model("llama-3-8b", 2);
    for (Block& block : model.blocks) block.residual = residual;
    return PricedLayer(std::move(model), "l40s:8", kFlat, 2048);
  };
  const PricedLayer standard = layer(Residual::standard);
  for (const Residual late : {Residual::ladder, Residual::kraken}) {
    const PricedLayer other = layer(late);
    EXPECT_LT(left_exposed(other.cost->backward), left_exposed(standard.cost->backward));
  }
}

}  // namespace
}  // namespace orrery
