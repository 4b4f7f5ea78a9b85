// Each rule of division refuses with its sentence, and only where it is broken.
#include "model/transformer/division_rules.h"

#include <gtest/gtest.h>

#include "model/transformer/transformer.h"

namespace orrery {
namespace {

Architecture dense() {
  Architecture a;
  a.name = "dense";
  a.num_layers = 2;
  a.hidden = 1024;
  a.ffn_hidden = 4096;
  a.num_heads = 24;
  a.num_kv_heads = 6;
  a.head_dim = 64;
  a.vocab = 1000;
  return completed(a);
}

Architecture mixture() {
  Architecture a = dense();
  a.name = "mixture";
  a.moe = MixtureOfExperts{.num_experts = 8, .top_k = 2, .expert_ffn = 1024};
  return a;
}

Architecture hybrid() {
  Architecture a = dense();
  a.mixers = {Mixer::attention, Mixer::state_space, Mixer::gated_delta};
  a.state_space = StateSpace{.inner = 1024, .state = 16, .heads = 16, .groups = 2};
  a.gated_delta = GatedDelta{.key_heads = 4, .key_dim = 64, .value_heads = 8, .value_dim = 64};
  return a;
}

Architecture remembering() {
  Architecture a = dense();
  a.feed_forwards = {FeedForwardPart::dense, FeedForwardPart::memory};
  a.memory = ProductKeyMemory{.keys = 64, .key_dim = 64, .top_k = 8, .value_dim = 1001};
  return a;
}

struct Refused {
  const char* rule;
  Architecture architecture;
  Division division;
  const char* sentence;
};

TEST(TransformerDivision, EachRuleHasItsOwnSentence) {
  Architecture wide = dense();
  wide.ffn_hidden = 4095;
  Architecture all_heads = dense();
  all_heads.num_kv_heads = all_heads.num_heads;
  Architecture channels = hybrid();
  channels.state_space = StateSpace{.inner = 1001, .state = 16, .step_rank = 8};
  Architecture chunked = dense();
  chunked.sliding_window = 1024;
  chunked.chunked_attention = true;
  Architecture keys = hybrid();
  keys.state_space->groups = 8;
  const std::vector<Refused> cases = {
      {"attention heads", dense(), {.tp = 16}, "tp 16 does not divide 24 attention heads"},
      {"key-value heads",
       dense(),
       {.tp = 4},
       "tp 4 and 6 key-value heads: neither divides the other, so that heads would be split"},
      {"feed-forward width", wide, {.tp = 2}, "tp 2 does not divide the feed-forward width 4095"},
      {"exchanged heads",
       dense(),
       {.cp = 4, .head_ranks = 4, .sequence_length = 4096},
       "context_parallel=all-to-all divides whole heads over tp 1 x cp 4 = 4 ranks: 24 attention "
       "heads and 6 key-value heads are not both a multiple; use context_parallel=ring,ulysses=2"},
      {"exchanged heads",
       dense(),
       {.tp = 6, .cp = 4, .head_ranks = 2, .sequence_length = 4096},
       "ulysses divides whole heads over tp 6 x ulysses 2 = 12 ranks: 24 attention heads and 6 "
       "key-value heads are not both a multiple; use ring or all-gather"},
      {"exchanged heads",
       all_heads,
       {.cp = 16, .head_ranks = 16, .sequence_length = 4096},
       "context_parallel=all-to-all divides whole heads over tp 1 x cp 16 = 16 ranks: 24 attention "
       "heads are not a multiple; use context_parallel=ring,ulysses=8"},
      {"memory values",
       remembering(),
       {.tp = 2},
       "tp 2 does not divide the values of a memory, 1001 elements each"},
      {"state heads", hybrid(), {.tp = 4}, "tp 4 does not divide 16 state-space heads in 2 groups"},
      {"state heads", channels, {.tp = 2}, "tp 2 does not divide 1001 state-space channels"},
      {"state heads", keys, {.tp = 8}, "tp 8 does not divide 4 key heads of the gated delta rule"},
      {"state heads",
       hybrid(),
       {.cp = 3, .head_ranks = 3, .sequence_length = 6144},
       "tp 1 x 3 ranks that exchange heads does not divide 16 state-space heads in 2 groups; "
       "context_parallel=all-gather hands states on instead"},
      {"attention chunks",
       chunked,
       {.cp = 2, .sequence_length = 4096},
       "cp 2: attention in chunks of 1024 tokens is not modelled in pieces of a sequence of 4096; "
       "use cp 1"},
      {"attention chunks",
       chunked,
       {.sequence_length = 1536},
       "a sequence of 1536 tokens is not a multiple of the attention's chunk of 1024"},
      {"sequence",
       dense(),
       {.tp = 2, .sequence_parallel = true, .sequence_length = 4095},
       "cp 1 and sequence parallelism over tp 2 do not divide the sequence of 4095 tokens"},
      {"sequence",
       dense(),
       {.cp = 2, .sequence_length = 4098},
       "cp 2 cuts a sequence into 4 pieces to balance causal attention; 4098 tokens are not a "
       "multiple"},
      {"experts", dense(), {.ep = 2}, "ep 2 needs experts; dense has none"},
      {"experts", mixture(), {.ep = 3}, "ep 3 does not divide 8 experts"},
      {"expert width", mixture(), {.etp = 3}, "etp 3 does not divide the expert width 1024"}};
  for (const TransformerDivisionRule& rule : transformer_division_rules()) {
    int broken = 0;
    for (const Refused& c : cases) {
      const auto reason = rule.broken(c.architecture, c.division);
      if (c.rule != rule.name) continue;
      ++broken;
      ASSERT_TRUE(reason) << rule.name;
      EXPECT_EQ(*reason, c.sentence);
    }
    EXPECT_GT(broken, 0) << rule.name;
    EXPECT_FALSE(rule.broken(dense(), {.sequence_length = 4096})) << rule.name;
    EXPECT_FALSE(rule.broken(mixture(), {.tp = 2, .ep = 8, .etp = 2, .sequence_length = 4096}))
        << rule.name;
  }
}

TEST(TransformerDivision, AModelIsJudgedByAllRulesAtOnce) {
  const Model model = *build_model(dense());
  EXPECT_EQ(model.family->division_problems(
                model, {.tp = 5, .ep = 2, .sequence_parallel = true, .sequence_length = 4096}),
            (std::vector<std::string>{
                "tp 5 does not divide 24 attention heads",
                ("tp 5 and 6 key-value heads: neither divides the other, so that heads would be "
                 "split"),
                "tp 5 does not divide the feed-forward width 4096",
                "cp 1 and sequence parallelism over tp 5 do not divide the sequence of 4096 tokens",
                "ep 2 needs experts; dense has none"}));
}

TEST(TransformerDivision, FewerHeadsThanRanksAreCopied) {
  const Model model = *build_model(dense());
  EXPECT_FALSE(with_copied_heads(model, {.tp = 6}));
  EXPECT_EQ(copied_heads(model, 6), "");
  const auto copied = with_copied_heads(model, {.tp = 12});
  ASSERT_TRUE(copied);
  EXPECT_EQ(architecture_of(*copied)->num_kv_heads, 12);
  EXPECT_GT(parameters(*copied), parameters(model));
  EXPECT_EQ(copied_heads(model, 12),
            "each of 6 key-value heads is held by 2 tensor-parallel ranks");
}

}  // namespace
}  // namespace orrery
