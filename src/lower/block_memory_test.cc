// Activations of one block against published formulas, and bounds of its backward.
#include "lower/block_memory.h"

#include <gtest/gtest.h>

#include <vector>

#include "catalog/catalog.h"
#include "model/transformer/transformer.h"
#include "plan/software.h"

namespace orrery {
namespace {

MemoryFacts facts_of(const char* software) {
  return load_software(Catalog::built_in(), software)->memory;
}

// A GPT layer: h wide, 4 h inside, learned positions, biases.
Model gpt(std::int64_t hidden, std::int64_t heads) {
  Architecture a;
  a.num_layers = 2;
  a.hidden = hidden;
  a.ffn_hidden = 4 * hidden;
  a.ffn = FeedForwardKind::gelu;
  a.num_heads = heads;
  a.vocab = 51200;
  a.position_encoding = PositionEncoding::learned;
  a.max_position = 2048;
  a.norm = NormKind::layernorm;
  a.linear_bias = true;
  return *build_model(completed(a));
}

Binding bound(double micro_batch, double length, int tp, bool sequence_parallel) {
  Binding b;
  b.micro_batch = micro_batch;
  b.sequence_length = length;
  b.tp = tp;
  b.sequence_parallel = sequence_parallel;
  return b;
}

class Layer {
 public:
  Layer(const Binding& binding, MemoryFacts facts,
        AttentionKernel attention = AttentionKernel::unfused)
      : binding_(binding), facts_(facts), attention_(attention) {}
  [[nodiscard]] BlockMemory memory(const Block& block, Recompute recompute,
                                   const std::vector<RecomputeModule>& modules = {}) const {
    return block_memory(block,
                        {.binding = binding_,
                         .hidden = kHidden,
                         .attention = attention_,
                         .facts = facts_,
                         .modules = RecomputeModuleSet(modules)},
                        recompute);
  }
  static constexpr double kHidden = 4096;

 private:
  Binding binding_;
  MemoryFacts facts_;
  AttentionKernel attention_;
};

constexpr double kHeads = 32;
constexpr double kLength = 2048;
constexpr double kBatch = 2;
constexpr double kSbh = kLength * kBatch * Layer::kHidden;
constexpr double kScores = kHeads * kLength * kLength * kBatch;

// arXiv 2205.05198 Table 2: with dropout and unfused attention a layer keeps s b h (34 + 5 a s /
// h), with tensor parallelism s b h (10 + 24 / t + 5 a s / (h t)), with sequence parallelism s b h
// / t (34 + 5 a s / h). The log-sum-exp of a fused kernel, 4 bytes a query and head, is ours.
TEST(BlockMemory, KeepsWhatKorthikantiCounts) {
  const Model model = gpt(4096, 32);
  const double statistics = 4 * kHeads * kLength * kBatch;
  for (const int t : {1, 8}) {
    const double plain = Layer(bound(kBatch, kLength, t, false), facts_of("megatron-lm-2022"))
                             .memory(model.blocks[0], Recompute::none)
                             .saved.value();
    EXPECT_NEAR(plain, kSbh * (10.0 + 24.0 / t) + (5 * kScores + statistics) / t, 1e-6 * plain);
  }
  const double sequence = Layer(bound(kBatch, kLength, 8, true), facts_of("megatron-lm-2022"))
                              .memory(model.blocks[0], Recompute::none)
                              .saved.value();
  EXPECT_NEAR(sequence, (34 * kSbh + 5 * kScores + statistics) / 8, 1e-6 * sequence);
}

TEST(BlockMemory, SelectiveRecomputationDropsTheCoreAndFullKeepsTheInput) {
  const Model model = gpt(4096, 32);
  const Layer layer(bound(kBatch, kLength, 1, false), facts_of("megatron-lm-2022"));
  EXPECT_NEAR(layer.memory(model.blocks[0], Recompute::selective).saved.value(), 34 * kSbh, 1);
  const BlockMemory full = layer.memory(model.blocks[0], Recompute::full);
  EXPECT_DOUBLE_EQ(full.saved.value(), 2 * kSbh);
  // The block is there again in whole when its backward begins, with the gradient of its output.
  EXPECT_GE(full.working, layer.memory(model.blocks[0], Recompute::none).saved + Bytes(2 * kSbh));
}

// Unfused norms and activations would keep much; what stays is the input, queries, values,
// attention's output and its 4 bytes a query and head, the kept products' results: of gelu's block
// (query, key, value, projection, up, down) the even ones, key, projection and down, run again.
TEST(BlockMemory, AlternateKeepsAttentionAndEverySecondProduct) {
  const Model model = gpt(4096, 32);
  const Layer layer(bound(kBatch, kLength, 1, false), facts_of("torchtitan"),
                    AttentionKernel::flash_2);
  const BlockMemory some = layer.memory(model.blocks[0], Recompute::alternate);
  const double statistics = 4 * kHeads * kLength * kBatch;
  EXPECT_NEAR(some.saved.value(), 2 * kSbh * (1 + 2 + 1 + 4) + statistics, 1);
  EXPECT_LE(some.saved, layer.memory(model.blocks[0], Recompute::none).saved);
  EXPECT_GE(some.saved, layer.memory(model.blocks[0], Recompute::full).saved);
}

// s b h (34 + ...) of Korthikanti holds 2 for the norms' outputs twice and 8 for gelu's.
TEST(BlockMemory, ResultsOfNormsAndActivationsMadeAgainAreNotKept) {
  const Model model = gpt(4096, 32);
  const Layer layer(bound(kBatch, kLength, 1, false), facts_of("megatron-core-0.12"),
                    AttentionKernel::flash_2);
  const auto saved = [&](const std::vector<RecomputeModule>& modules) {
    return layer.memory(model.blocks[0], Recompute::selective, modules).saved.value();
  };
  const double all = layer.memory(model.blocks[0], Recompute::none).saved.value();
  EXPECT_NEAR(all - saved({RecomputeModule::layernorm}), (2 + 2) * kSbh, 1);
  EXPECT_NEAR(all - saved({RecomputeModule::layernorm, RecomputeModule::mlp_act}),
              (2 + 2 + 8) * kSbh, 1);
  // Of the feed-forward part, 2 + 8 + 8, its input stays; both branches' norms give theirs up too.
  EXPECT_NEAR(all - saved({RecomputeModule::mlp}), (8 + 8) * kSbh, 1);
  EXPECT_NEAR(all - saved({RecomputeModule::mlp, RecomputeModule::layernorm}),
              (8 + 8 + 2 + 2) * kSbh, 1);
}

// Of a token 2 h bytes a copy for each of its experts, which exist while weights get their gradients.
TEST(BlockMemory, ScatteredProductsKeepNoCopiesOfTokens) {
  const Model model =
      *build_model(*read_architecture(*Catalog::built_in().find("models", "mixtral-8x7b")));
  const Binding binding = bound(kBatch, kLength, 1, false);
  const MemoryFacts facts = facts_of("megatron-core-0.12");
  const auto memory = [&](ExpertProducts products) {
    return block_memory(
        model.blocks[0],
        {.binding = binding, .hidden = Layer::kHidden, .expert_products = products, .facts = facts},
        Recompute::none);
  };
  const BlockMemory grouped = memory(ExpertProducts::grouped);
  const BlockMemory scattered = memory(ExpertProducts::scattered);
  EXPECT_NEAR((grouped.saved - scattered.saved).value(), 2 * 2 * kSbh, 1);
  EXPECT_LE(scattered.working, grouped.working + Bytes(2 * 2 * kSbh));
  EXPECT_LT(scattered.saved + scattered.working, grouped.saved + grouped.working);
}

Model deepseek_v3() {
  return *build_model(*read_architecture(*Catalog::built_in().find("models", "deepseek-v3")));
}

TEST(BlockMemory, LatentAttentionMakesQueriesKeysAndValuesAgain) {
  const Model model = deepseek_v3();
  const Layer layer(bound(1, 4096, 1, false), facts_of("megatron-core-0.12"),
                    AttentionKernel::library);
  const BlockMemory kept = layer.memory(model.blocks[0], Recompute::none);
  const BlockMemory again =
      layer.memory(model.blocks[0], Recompute::selective, {RecomputeModule::mla_up_proj});
  // 128 heads of 192 queries, 192 keys and 128 values; the normed latents of 1536 and 512.
  EXPECT_DOUBLE_EQ((kept.saved - again.saved).value(),
                   2.0 * 4096 * (128 * (192 + 192 + 128) + 1536 + 512));
  EXPECT_LE(again.saved + again.working, kept.saved + kept.working);
}

// An expert layer of DeepSeek-V3 on one rank: 8 routed rows of 7168, gate and up of 2048 each, what
// the activation made of them; 2048 of the shared expert likewise; 256 scores in fp32.
TEST(BlockMemory, AnExpertLayerMadeAgainKeepsItsInput) {
  const Model model = deepseek_v3();
  const Layer layer(bound(1, 4096, 1, false), facts_of("megatron-core-0.12"),
                    AttentionKernel::library);
  const auto less = [&](const std::vector<RecomputeModule>& modules) {
    const Block& block = model.blocks[1];
    return (layer.memory(block, Recompute::none).saved -
            layer.memory(block, Recompute::selective, modules).saved)
        .value();
  };
  const double tokens = 4096;
  EXPECT_DOUBLE_EQ(less({RecomputeModule::moe_act}), 2 * tokens * 8 * 2048);
  EXPECT_DOUBLE_EQ(less({RecomputeModule::shared_experts}), 2 * tokens * 3 * 2048);
  EXPECT_DOUBLE_EQ(less({RecomputeModule::moe}),
                   tokens * (2 * 8 * (7168 + 3 * 2048) + 2 * 3 * 2048 + 4 * 256));
}

// Whatever modules are named beside, naming one more keeps no more; a whole block made again keeps
// least.
TEST(BlockMemory, MoreModulesNeverKeepMore) {
  std::vector<RecomputeModule> all;
  for (const auto& name : names_of(RecomputeModule{})) all.push_back(name.value);
  const Model gpt_model = gpt(4096, 32);
  const Model deepseek = deepseek_v3();
  const Model gemma =
      *build_model(*read_architecture(*Catalog::built_in().find("models", "gemma-2-9b")));
  for (const Model* model : {&gpt_model, &deepseek, &gemma}) {
    for (const char* software : {"megatron-core-0.12", "torchtitan", "aleph-alpha"}) {
      const Layer layer(bound(1, kLength, 4, true), facts_of(software), AttentionKernel::unfused);
      for (const Block& block : model->blocks) {
        const Bytes full = block_memory(block,
                                        {.binding = bound(1, kLength, 4, true),
                                         .hidden = model->width,
                                         .facts = facts_of(software)},
                                        Recompute::full)
                               .saved;
        const BlockMemory none = layer.memory(block, Recompute::none);
        for (unsigned bits = 1; bits < 1U << all.size(); ++bits) {
          std::vector<RecomputeModule> some;
          for (std::size_t i = 0; i < all.size(); ++i) {
            if ((bits >> i & 1U) != 0) some.push_back(all[i]);
          }
          const BlockMemory m = layer.memory(block, Recompute::selective, some);
          ASSERT_LE(m.saved, none.saved);
          ASSERT_GE(m.saved * (1 + 1e-12), full) << to_text(some);
          ASSERT_LE(m.saved + m.working, (none.saved + none.working) * (1 + 1e-12))
              << to_text(some);
          for (const RecomputeModule one : all) {
            std::vector<RecomputeModule> more = some;
            more.push_back(one);
            ASSERT_LE(layer.memory(block, Recompute::selective, more).saved, m.saved * (1 + 1e-12))
                << to_text(more);
          }
        }
      }
    }
  }
}

TEST(BlockMemory, ComputingMoreAgainNeverNeedsMoreInAll) {
  const Model model = gpt(4096, 32);
  for (const AttentionKernel kernel : {AttentionKernel::unfused, AttentionKernel::flash_2}) {
    for (const MemoryFacts& facts :
         {facts_of("megatron-core-0.12"), facts_of("torchtitan"), facts_of("aleph-alpha")}) {
      const Layer layer(bound(1, kLength, 4, true), facts, kernel);
      const BlockMemory none = layer.memory(model.blocks[0], Recompute::none);
      const BlockMemory selective = layer.memory(model.blocks[0], Recompute::selective);
      const BlockMemory full = layer.memory(model.blocks[0], Recompute::full);
      EXPECT_LE(selective.saved, none.saved);
      EXPECT_LE(full.saved, selective.saved);
      EXPECT_LE(selective.saved + selective.working, none.saved + none.working);
      EXPECT_LE(full.saved + full.working, none.saved + none.working + full.saved);
    }
  }
}

// 2 + 4 + 2 bytes of every logit beside the norm and the hidden states; cut over tp or whole.
TEST(BlockMemory, TheHeadHoldsItsLogitsAsTheFrameworkMakesThem) {
  const Model model = gpt(4096, 32);
  const double logits = kLength * kBatch * 51200;
  const auto held = [&](const MemoryFacts& facts, int tp) {
    const BlockMemory m =
        Layer(bound(kBatch, kLength, tp, false), facts).memory(model.head, Recompute::none);
    return (m.saved + m.working).value();
  };
  EXPECT_NEAR(held(facts_of("megatron-core-0.12"), 1), 8 * logits + 4 * kSbh, 1);
  EXPECT_NEAR(held(facts_of("megatron-core-0.12"), 4), 8 * logits / 4 + 4 * kSbh, 1);
  EXPECT_NEAR(held(facts_of("aleph-alpha"), 4), 20 * logits + 4 * kSbh, 1);
  EXPECT_LT(held(with_fused_cross_entropy(facts_of("megatron-core-0.12")), 1),
            held(facts_of("megatron-core-0.12"), 1));
}

TEST(BlockMemory, FrameworkFactsAddWhatTheySay) {
  const Model model =
      *build_model(*read_architecture(*Catalog::built_in().find("models", "llama-3-8b")));
  const Binding binding = bound(1, kLength, 4, true);
  const double rows = kLength;
  const double inner = 14336.0 / 4;
  const auto saved = [&](const MemoryFacts& facts) {
    return Layer(binding, facts, AttentionKernel::flash_2)
        .memory(model.blocks[0], Recompute::none)
        .saved.value();
  };
  const MemoryFacts base = facts_of("megatron-core-0.12");
  MemoryFacts facts = base;
  facts.gate = Gate::apart;
  EXPECT_DOUBLE_EQ(saved(facts) - saved(base), 2 * rows * inner);
  facts = base;
  facts.keeps_gathered_input = true;  // of the two column products, whole instead of a quarter
  EXPECT_DOUBLE_EQ(saved(facts) - saved(base), 2 * 2 * rows * 4096 * 3 / 4);
  EXPECT_DOUBLE_EQ(saved(with_unfused_norms(base)) - saved(base), 2 * 8 * rows * 4096 / 4);
  EXPECT_EQ(Layer(binding, facts_of("megatron-lm-2022"))
                .memory(model.blocks[0], Recompute::none)
                .other_placeholders,
            Bytes(0));
  EXPECT_DOUBLE_EQ(
      Layer(binding, base).memory(model.blocks[0], Recompute::none).other_placeholders.value(),
      2 * 3 * 4096.0 * 14336 / 4);
}

// Kept of a token: the inputs of norm and projection (2h each), the projection's result, what the
// scan returns for its gate, and the output product's input.
TEST(BlockMemory, AStateSpaceLayerKeepsNoStates) {
  Architecture a;
  a.num_layers = 1;
  a.hidden = 4096;
  a.vocab = 1000;
  a.mixers = {Mixer::state_space};
  a.feed_forwards = {FeedForwardPart::none};
  a.state_space = StateSpace{.inner = 8192, .state = 128, .heads = 128, .groups = 8};
  const Model model = *build_model(a);
  const double in = 2 * 8192 + 2 * 8 * 128 + 128;
  for (const double length : {4096.0, 65536.0}) {
    const Layer layer(bound(1, length, 1, false), MemoryFacts{}, AttentionKernel::flash_2);
    const BlockMemory memory = layer.memory(model.blocks[0], Recompute::none);
    EXPECT_DOUBLE_EQ(memory.saved.value(), 2 * length * (4096 + 4096 + in + 8192 + 8192));
    EXPECT_GT(memory.working, Bytes(2 * length * in));
  }
}

}  // namespace
}  // namespace orrery
