// Experts that read what the layer before has made: the order of a pass, and what it hides.
#include "lower/shortcut_turns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "lower/block_cost.h"
#include "lower/random_plan.h"

namespace orrery {
namespace {

Model with(Residual residual, const char* name = "deepseek-v2-lite") {
  Architecture a = *read_architecture(*Catalog::built_in().find("models", name));
  a.num_layers = 2;
  a.moe->first_dense_layers = 0;
  a.residual = residual;
  return *build_model(a);
}

std::size_t place_of(const Block& block, std::string_view name) {
  return static_cast<std::size_t>(std::ranges::find(block.operators, name, &Operator::name) -
                                  block.operators.begin());
}

TEST(ShortcutTurns, EveryOperatorComputesOnceBehindWhatItNeeds) {
  const Model model = with(Residual::shortcut);
  const Block& block = model.blocks[0];
  ASSERT_GT(expert_places(block), 4U);
  for (const PassOrder order : {PassOrder::forward, PassOrder::backward}) {
    for (std::size_t place = 0; place < expert_places(block); ++place) {
      const std::vector<Turn> turns = shortcut_turns(block, order, place);
      std::vector<std::size_t> at(block.operators.size(), turns.size());
      std::size_t exchanges = 0;
      for (std::size_t i = 0; i < turns.size(); ++i) {
        if (turns[i].portion == Portion::exchange) {
          ++exchanges;
          continue;
        }
        EXPECT_EQ(at[turns[i].index], turns.size()) << block.operators[turns[i].index].name;
        at[turns[i].index] = i;
      }
      EXPECT_EQ(exchanges, 1U);
      EXPECT_EQ(std::ranges::count(at, turns.size()), 0);
      const auto behind = [&](std::string_view later, std::string_view earlier) {
        const std::size_t a = at[place_of(block, order == PassOrder::forward ? earlier : later)];
        const std::size_t b = at[place_of(block, order == PassOrder::forward ? later : earlier)];
        EXPECT_LT(a, b) << later << " behind " << earlier;
      };
      behind("experts.up", "router");
      behind("experts.combine", "experts.down");
      behind("shared_expert.up", "attention.residual");
      behind("shared_expert.sum", "experts.combine");
      behind("shared_expert.sum", "shared_expert.down");
      behind("feed_forward.residual", "shared_expert.sum");
    }
  }
}

TEST(ShortcutTurns, OtherLayersHaveOneOrder) {
  EXPECT_EQ(expert_places(with(Residual::standard).blocks[0]), 1U);
  EXPECT_EQ(expert_places(with(Residual::shortcut).embedding), 1U);
}

// One layer of experts under a plan.
struct ShortcutLayer {
  ShortcutLayer(Model m, const char* on, const std::string& text)
      : model(std::move(m)), cluster(*parse_cluster(on, Catalog::built_in())) {
    training.sequence_length = 4096;
    training.global_batch = 4 * std::int64_t{cluster.accelerators};
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

double sent(const BlockPass& pass) {
  double out = 0;
  for (std::size_t i = 0; i < pass.graph.size(); ++i) {
    for (const OperationPart& part : pass.graph.operation(NodeIndex(i)).parts) {
      if (const auto* c = std::get_if<Communication>(&part.what)) out += c->payload.value();
    }
  }
  return out;
}

// The same operators in either order: the shortcut's own norm is not among them.
TEST(ShortcutTurns, HideExchangesAndSendTheSame) {
  const auto layer = [](Residual residual, const char* on, const std::string& plan) {
    Model model = with(Residual::standard);
    for (Block& block : model.blocks) block.residual = residual;
    return ShortcutLayer(std::move(model), on, plan);
  };
  for (const char* plan : {"ep=16", "ep=16,recompute=full", "ep=16,tp=2",
                           "ep=16,recompute=selective,recompute_modules=moe"}) {
    for (const char* on : {"h100-sxm:16", "a100-80gb-sxm:16"}) {
      const ShortcutLayer standard = layer(Residual::standard, on, plan);
      const ShortcutLayer shortcut = layer(Residual::shortcut, on, plan);
      for (const auto pass : {&BlockCost::forward, &BlockCost::backward}) {
        const BlockPass& plain = standard.cost->*pass;
        const BlockPass& hidden = shortcut.cost->*pass;
        EXPECT_NEAR(sent(hidden) / sent(plain), 1, 1e-12) << plan;
        EXPECT_LT(hidden.breakdown[Category::exposed_ep], plain.breakdown[Category::exposed_ep])
            << plan << " on " << on;
        EXPECT_GT(hidden.breakdown[Category::contention], Picoseconds(0)) << plan;
        EXPECT_LT(hidden.time, plain.time) << plan << " on " << on;
        EXPECT_GE(hidden.time, plain.computing() - plain.breakdown[Category::contention])
            << plan << " on " << on;
      }
    }
  }
}

TEST(ShortcutTurns, HideNothingWhereNothingTravels) {
  Model model = with(Residual::standard);
  const ShortcutLayer standard(model, "h100-sxm:8", "ep=1");
  for (Block& block : model.blocks) block.residual = Residual::shortcut;
  const ShortcutLayer shortcut(model, "h100-sxm:8", "ep=1");
  EXPECT_EQ(standard.cost->forward.time, shortcut.cost->forward.time);
  EXPECT_EQ(standard.cost->backward.time, shortcut.cost->backward.time);
}

// What attention has made and what it has not are normed and kept apart.
TEST(ShortcutTurns, AddANormAndKeepASecondInput) {
  const Model standard = with(Residual::standard);
  const Model shortcut = with(Residual::shortcut);
  const double width = standard.width;
  EXPECT_EQ(parameters(shortcut) - parameters(standard), 2 * width);  // of two layers
  const ShortcutLayer plain(standard, "h100-sxm:8", "ep=8");
  const ShortcutLayer other(shortcut, "h100-sxm:8", "ep=8");
  const double tokens = 4096;
  EXPECT_NEAR((other.cost->memory.saved - plain.cost->memory.saved).value(), 2 * 2 * width * tokens,
              1e-3 * width * tokens);
}

// Experts in every second layer, of four.
Model alternating(ShortcutSource source) {
  Architecture a = *read_architecture(*Catalog::built_in().find("models", "deepseek-v2-lite"));
  a.num_layers = 4;
  a.moe->first_dense_layers = 0;
  a.moe->layer_interval = 2;
  a.residual = Residual::shortcut;
  a.moe->shortcut_source = source;
  return *build_model(a);
}

// The feed-forward part between what experts read and their layer moves, and nothing else changes.
TEST(ShortcutTurns, ReadingTheAttentionBeforeMovesAFeedForwardPart) {
  const Model late = alternating(ShortcutSource::layer);
  const Model early = alternating(ShortcutSource::attention);
  EXPECT_EQ(early.layers, late.layers);
  EXPECT_EQ(parameters(early), parameters(late));
  EXPECT_EQ(model_flops_per_sequence(early, 4096, AttentionCount::full),
            model_flops_per_sequence(late, 4096, AttentionCount::full));
  const auto names = [](const Model& model, std::size_t first) {
    std::vector<std::string> out;
    for (std::size_t l = first; l < first + 2; ++l) {
      for (const Operator& op : model.blocks[model.layers[l]].operators) {
        out.emplace_back(op.name);
      }
    }
    return out;
  };
  EXPECT_EQ(names(early, 0), names(late, 0));
  EXPECT_EQ(names(early, 2), names(late, 2));
  const Block& attention = early.blocks[early.layers[0]];
  const Block& experts = early.blocks[early.layers[1]];
  EXPECT_EQ(attention.operators.back().name, "attention.residual");
  EXPECT_EQ(experts.operators.front().name, "feed_forward.norm");
  EXPECT_GT(expert_places(experts), expert_places(late.blocks[late.layers[1]]));
  // Tokens leave before it.
  const std::vector<Turn> turns = shortcut_turns(experts, PassOrder::forward, 0);
  const auto turn_of = [&](std::string_view name) {
    return std::ranges::find(turns, place_of(experts, name), &Turn::index) - turns.begin();
  };
  EXPECT_LT(turn_of("experts.dispatch"), turn_of("feed_forward.up"));
  EXPECT_LT(turn_of("feed_forward.down"), turn_of("attention.query"));
}

TEST(ShortcutTurns, ReadingTheAttentionBeforeHidesMore) {
  int shorter = 0;
  for (const char* on : {"h100-sxm:16", "a100-80gb-sxm:16"}) {
    for (const char* plan : {"ep=16", "ep=16,recompute=full"}) {
      ShortcutLayer late(alternating(ShortcutSource::layer), on, plan);
      ShortcutLayer early(alternating(ShortcutSource::attention), on, plan);
      const auto of_both = [&](ShortcutLayer& layer, auto figure) {
        const ModelCosts& costs = layer.cache->costs(layer.plan, layer.plan.recompute);
        return figure(costs.blocks[0]) + figure(costs.blocks[1]);
      };
      const auto compare = [&](auto pass) {
        const auto time = [&](const BlockCost& cost) { return (cost.*pass).time; };
        const auto exposed = [&](const BlockCost& cost) {
          return (cost.*pass).breakdown[Category::exposed_ep];
        };
        ASSERT_EQ(late.model.blocks.size(), 2U);
        if (of_both(late, exposed) == Picoseconds(0)) return;  // all is hidden already
        EXPECT_LE(of_both(early, exposed), of_both(late, exposed)) << plan << " on " << on;
        EXPECT_LE(of_both(early, time), of_both(late, time)) << plan << " on " << on;
        if (of_both(early, time) < of_both(late, time)) ++shorter;
      };
      compare(&BlockCost::forward);
      compare(&BlockCost::backward);
    }
  }
  EXPECT_GE(shorter, 3);
}

// Both layers are one block in the place of the first, whose operators are those of both.
TEST(ShortcutTurns, ReadingTheInputBeforeComputesTwoLayersTogether) {
  const Model late = alternating(ShortcutSource::layer);
  const Model input = alternating(ShortcutSource::input);
  EXPECT_EQ(input.layers.size(), late.layers.size());
  EXPECT_EQ(parameters(input), parameters(late));
  EXPECT_EQ(model_flops_per_sequence(input, 4096, AttentionCount::full),
            model_flops_per_sequence(late, 4096, AttentionCount::full));
  std::vector<std::string> separate;
  for (std::size_t l = 0; l < 2; ++l) {
    for (const Operator& op : late.blocks[late.layers[l]].operators) separate.emplace_back(op.name);
  }
  std::vector<std::string> together;
  const Block& both = input.blocks[input.layers[0]];
  for (const Operator& op : both.operators) together.emplace_back(op.name);
  EXPECT_EQ(together, separate);
  EXPECT_TRUE(input.blocks[input.layers[1]].operators.empty());
  // Tokens leave before any of it.
  const std::vector<Turn> turns = shortcut_turns(both, PassOrder::forward, 0);
  EXPECT_EQ(both.operators[turns.front().index].name, "experts.norm");
  const auto turn_of = [&](std::string_view name) {
    return std::ranges::find(turns, place_of(both, name), &Turn::index) - turns.begin();
  };
  EXPECT_LT(turn_of("experts.dispatch"), turn_of("attention.query"));
}

// More runs beside the exchange. Where all of it is hidden already, what runs beside it is slowed.
TEST(ShortcutTurns, ReadingTheInputBeforeHidesMore) {
  for (const char* on : {"h100-sxm:16", "a100-80gb-sxm:16"}) {
    const auto time = [&](ShortcutSource source) {
      ShortcutLayer layer(alternating(source), on, "ep=16");
      double sum = 0;
      const ModelCosts& costs = layer.cache->costs(layer.plan, layer.plan.recompute);
      for (const std::uint16_t l : layer.model.layers) {
        sum += (costs.blocks[l].forward.time + costs.blocks[l].backward.time).count();
      }
      return sum;
    };
    EXPECT_LT(time(ShortcutSource::input), 1.005 * time(ShortcutSource::attention)) << on;
    EXPECT_LT(time(ShortcutSource::input), time(ShortcutSource::layer)) << on;
  }
}

TEST(ShortcutTurns, ReadingTheAttentionBeforeNeedsADenseLayer) {
  Architecture a = *read_architecture(*Catalog::built_in().find("models", "deepseek-v2-lite"));
  a.residual = Residual::shortcut;
  a.moe->shortcut_source = ShortcutSource::attention;
  EXPECT_EQ(build_model(a).error().text(),
            "model 'deepseek-v2-lite' cannot be built: moe.shortcut_source attention needs "
            "layer_interval above 1: a dense layer before must hide the exchange; with experts in "
            "every layer write shortcut_source layer");
  a.residual = Residual::standard;
  a.moe->layer_interval = 2;
  EXPECT_EQ(build_model(a).error().text(),
            "model 'deepseek-v2-lite' cannot be built: moe.shortcut_source attention needs "
            "residual shortcut");
}

// Both layers of a pair have the mixer of the first.
TEST(ShortcutTurns, ReadingTheInputNeedsTheSameAttentionInAPair) {
  Architecture a = *read_architecture(*Catalog::built_in().find("models", "mixtral-8x7b"));
  a.num_layers = 4;
  a.residual = Residual::shortcut;
  a.moe->num_shared_experts = 1;
  a.moe->shared_ffn = a.moe->expert_ffn;
  a.moe->layer_interval = 2;
  a.moe->shortcut_source = ShortcutSource::input;
  a.sliding_window = 1024;
  EXPECT_TRUE(build_model(a));
  a.global_attention_every = 2;
  EXPECT_EQ(build_model(a).error().text(),
            "model 'mixtral-8x7b' cannot be built: moe.shortcut_source input needs the same "
            "attention in both layers of a pair: leave out global_attention_every");
  // Each layer has its own where experts read what attention has made.
  a.moe->shortcut_source = ShortcutSource::attention;
  EXPECT_TRUE(build_model(a));
}

TEST(ShortcutTurns, NeedASharedExpert) {
  Architecture a = *read_architecture(*Catalog::built_in().find("models", "mixtral-8x7b"));
  a.residual = Residual::shortcut;
  const auto built = build_model(a);
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().text(),
            "model 'mixtral-8x7b' cannot be built: residual shortcut needs moe with shared_ffn "
            "above 0: a shared expert reads what attention has made of the input that the others "
            "read");
}

}  // namespace
}  // namespace orrery
