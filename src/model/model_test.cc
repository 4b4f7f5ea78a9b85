// Shapes against closed forms: FLOPs and activation bytes of a GPT layer (arXiv 2205.05198), counts
// of latent attention and experts done by hand, division over ranks, and what is refused.
#include "model/model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "model/model_name.h"
#include "model/transformer/transformer.h"

namespace orrery {
namespace {

using testing::HasSubstr;

TEST(ModelName, OfAConfigIsThatOfItsFolder) {
  EXPECT_EQ(model_name_of_file("models/my-model.yaml"), "my-model");
  EXPECT_EQ(model_name_of_file("models/my-model/config.json"), "my-model");
  EXPECT_EQ(model_name_of_file("config.json"), "config");
  EXPECT_EQ(model_name_of_file("./config.json"),
            std::filesystem::current_path().filename().string());
}

Architecture gpt() {
  Architecture a;
  a.name = "gpt";
  a.num_layers = 1;
  a.hidden = 12288;
  a.ffn_hidden = 49152;
  a.ffn = FeedForwardKind::gelu;
  a.num_heads = 96;
  a.vocab = 51200;
  a.tie_embeddings = true;
  a.position_encoding = PositionEncoding::learned;
  a.max_position = 2048;
  a.norm = NormKind::layernorm;
  a.linear_bias = true;
  return a;
}

Architecture deepseek_v3() {
  Architecture a;
  a.num_layers = 61;
  a.hidden = 7168;
  a.ffn_hidden = 18432;
  a.num_heads = 128;
  a.latent_attention = LatentAttention{1536, 512, 128, 64, 128};
  a.vocab = 129280;
  a.moe = MixtureOfExperts{.num_experts = 256,
                           .top_k = 8,
                           .expert_ffn = 2048,
                           .num_shared_experts = 1,
                           .shared_ffn = 2048,
                           .first_dense_layers = 3};
  return a;
}

Model built(const Architecture& a) {
  auto model = build_model(a);
  EXPECT_TRUE(model) << model.error().text();
  return model.value_or(Model{});
}

const Operator& find(const Block& block, std::string_view name) {
  const auto found = std::find_if(block.operators.begin(), block.operators.end(),
                                  [name](const Operator& op) { return op.name == name; });
  EXPECT_NE(found, block.operators.end()) << name;
  return *found;
}

double layer_saved(const Model& model, const Binding& b) {
  double total = 0;
  for (const Operator& op : model.blocks[0].operators) {
    total += saved_bytes(op, b, NumberFormat::bf16).value();
  }
  return total;
}

double layer_flops(const Model& model, Phase phase, const Binding& b) {
  double total = 0;
  for (const Operator& op : model.blocks[0].operators) total += model_flops(op, phase, b).value();
  return total;
}

constexpr double kS = 2048, kB = 4, kH = 12288, kA = 96;

// Forward 24 b s h^2 + 4 b s^2 h; input gradient the same products and twice the attention; weight
// gradient 24 b s h^2 (arXiv 2205.05198 appendix A and 2401.10241 table 1).
TEST(Model, FlopsOfAGptLayerAreTheClosedForms) {
  const Model model = built(gpt());
  const Binding b{.micro_batch = kB, .sequence_length = kS};
  const double products = 24 * kB * kS * kH * kH;
  const double attention = 4 * kB * kS * kS * kH;
  EXPECT_DOUBLE_EQ(layer_flops(model, Phase::forward, b), products + attention);
  EXPECT_DOUBLE_EQ(layer_flops(model, Phase::input_gradient, b), products + 2 * attention);
  EXPECT_DOUBLE_EQ(layer_flops(model, Phase::weight_gradient, b), products);
}

// 72 B s L h^2 (1 + s / 6h + V / 12 h L): eq. 3 of arXiv 2104.04473.
TEST(Model, FlopsOfASequenceAreThoseOfTheMegatronPaper) {
  Architecture a = gpt();
  a.num_layers = 96;
  const double v = 51200, l = 96;
  EXPECT_NEAR(model_flops_per_sequence(built(a), kS, AttentionCount::full).value() /
                  (72 * kS * l * kH * kH * (1 + kS / (6 * kH) + v / (12 * kH * l))),
              1, 1e-12);
}

TEST(Model, CausalCountHalvesAttentionOnly) {
  Architecture a = gpt();
  const Model model = built(a);
  const double full = model_flops_per_sequence(model, kS, AttentionCount::full).value();
  const double causal = model_flops_per_sequence(model, kS, AttentionCount::causal).value();
  EXPECT_DOUBLE_EQ(full - causal, 0.5 * 12 * kS * kS * kH);
  a.kind = ModelKind::encoder;
  EXPECT_DOUBLE_EQ(model_flops_per_sequence(built(a), kS, AttentionCount::causal).value(), full);
}

TEST(Model, AForwardIsAThirdOfTheFlopsOfTraining) {
  for (const AttentionCount count : {AttentionCount::full, AttentionCount::causal}) {
    const Model model = built(gpt());
    EXPECT_DOUBLE_EQ(3 * model_flops_per_sequence(model, kS, count, 0, Workload::forward).value(),
                     model_flops_per_sequence(model, kS, count).value());
  }
}

TEST(Model, SlidingWindowBoundsTheKeysOfLocalLayersOnly) {
  Architecture a = gpt();
  a.num_layers = 6;
  a.sliding_window = 512;
  a.global_attention_every = 6;
  const Model model = built(a);
  ASSERT_EQ(model.blocks.size(), 2u);
  EXPECT_EQ(model.layers, (std::vector<std::uint16_t>{0, 0, 0, 0, 0, 1}));
  EXPECT_EQ(model.blocks[0].name, "local dense layer");
  const Binding b{.sequence_length = kS};
  EXPECT_DOUBLE_EQ(model_flops(find(model.blocks[0], "attention.core"), Phase::forward, b).value(),
                   4 * kS * 512 * kH);
  EXPECT_DOUBLE_EQ(model_flops(find(model.blocks[1], "attention.core"), Phase::forward, b).value(),
                   4 * kS * kS * kH);
  // A window wider than the sequence masks nothing.
  EXPECT_DOUBLE_EQ(
      model_flops(find(model.blocks[0], "attention.core"), Phase::forward, {.sequence_length = 256})
          .value(),
      4.0 * 256 * 256 * kH);
}

// Table 2 of arXiv 2205.05198 for sb h: without parallelism 34 + 5 a s / h, with tensor parallelism
// 10 + 24 / t + ..., with sequence parallelism all over t. Here without the two dropout masks of
// one byte, and with the log-sum-exp of a fused kernel (4 bytes a head and token) instead of
// scores.
TEST(Model, ActivationBytesOfAGptLayerAreThePublishedOnesWithoutDropoutAndScores) {
  const Model model = built(gpt());
  const double sbh = kS * kB * kH;
  const double log_sum_exp = 4 * kS * kB * kA;
  Binding b{.micro_batch = kB, .sequence_length = kS};
  EXPECT_DOUBLE_EQ(layer_saved(model, b), 32 * sbh + log_sum_exp);
  b.tp = 8;
  EXPECT_DOUBLE_EQ(layer_saved(model, b), (8 + 24.0 / 8) * sbh + log_sum_exp / 8);
  b.sequence_parallel = true;
  EXPECT_DOUBLE_EQ(layer_saved(model, b), 32 * sbh / 8 + log_sum_exp / 8);
  b.cp = 4;
  EXPECT_DOUBLE_EQ(layer_saved(model, b), (32 * sbh / 8 + log_sum_exp / 8) / 4);
}

// Gated, grouped: norms 4h, inputs of the products 4h, q and attention output 4h, k and v
// 4 h kv/a, gate and up 4f, input of down 2f.
TEST(Model, ActivationBytesOfALlamaLayer) {
  Architecture a;
  a.num_layers = 1;
  a.hidden = 4096;
  a.ffn_hidden = 14336;
  a.num_heads = 32;
  a.num_kv_heads = 8;
  a.vocab = 128256;
  const double tokens = 8192;
  EXPECT_DOUBLE_EQ(layer_saved(built(a), {.sequence_length = tokens}),
                   tokens * (12 * 4096.0 + 4 * 4096.0 / 4 + 6 * 14336.0 + 4 * 32));
}

TEST(Model, NarrowOperandsShrinkOnlyTheInputsOfProducts) {
  const Model model = built(gpt());
  const Binding b{.sequence_length = kS};
  const Operator& up = find(model.blocks[0], "feed_forward.up");
  EXPECT_DOUBLE_EQ(saved_bytes(up, b, NumberFormat::fp8).value(), kS * kH);
  EXPECT_DOUBLE_EQ(saved_bytes(up, b, NumberFormat::fp32).value(), 4 * kS * kH);
  const Operator& norm = find(model.blocks[0], "attention.norm");
  EXPECT_DOUBLE_EQ(saved_bytes(norm, b, NumberFormat::fp8).value(), 2 * kS * kH);
}

// DeepSeek-V3 by hand: 7168x1536 + 1536 + 1536x128x192 + 7168x576 + 512 + 512x128x256 +
// 128x128x7168.
TEST(Model, LatentAttentionAndExpertsByHand) {
  const Model model = built(deepseek_v3());
  ASSERT_EQ(model.blocks.size(), 2u);
  EXPECT_EQ(std::count(model.layers.begin(), model.layers.end(), 0), 3);
  double attention = 0;
  for (const Operator& op : model.blocks[0].operators) {
    if (op.name.starts_with("attention.") && op.name != "attention.norm")
      attention += op.parameters;
  }
  EXPECT_DOUBLE_EQ(attention, 187'107'328);
  const Block& layer = model.blocks[1];
  EXPECT_DOUBLE_EQ(find(layer, "experts.up").parameters, 256.0 * 7168 * 4096);
  EXPECT_DOUBLE_EQ(find(layer, "experts.down").parameters, 256.0 * 7168 * 2048);
  EXPECT_DOUBLE_EQ(find(layer, "shared_expert.up").parameters, 7168.0 * 4096);
  EXPECT_DOUBLE_EQ(find(layer, "router").parameters, 7168.0 * 256);
  const Binding b{.sequence_length = 4096};
  // Eight experts of three products a token.
  EXPECT_DOUBLE_EQ(model_flops(find(layer, "experts.up"), Phase::forward, b).value() +
                       model_flops(find(layer, "experts.down"), Phase::forward, b).value(),
                   2.0 * 4096 * 8 * 3 * 7168 * 2048);
  EXPECT_DOUBLE_EQ(model_flops(find(layer, "attention.core"), Phase::forward, b).value(),
                   2.0 * 4096 * 4096 * 128 * (192 + 128));
}

TEST(Model, ExpertsAreDividedByExpertAndExpertTensorDegree) {
  const Model model = built(deepseek_v3());
  const Operator& up = find(model.blocks[1], "experts.up");
  Binding b{.sequence_length = 4096, .tp = 4, .ep = 64, .etp = 2, .sequence_parallel = true};
  EXPECT_DOUBLE_EQ(parameters_on_rank(up, b), up.parameters / 128);
  EXPECT_DOUBLE_EQ(size(up.groups, b), 4);
  EXPECT_DOUBLE_EQ(size(up.m, b), 4096.0 * 8 * 2 / 4);
  b.expert_imbalance = 1.25;
  EXPECT_DOUBLE_EQ(size(up.m, b), 1.25 * 4096 * 8 * 2 / 4);
  b.sequence_parallel = false;  // every tensor-parallel rank then routes all tokens
  EXPECT_DOUBLE_EQ(size(up.m, b), 1.25 * 4096 * 8);
}

// Work of all ranks together is the work of one rank that does it alone.
TEST(Model, DivisionOverRanksConservesFlopsAndParameters) {
  Architecture a = gpt();
  a.num_kv_heads = 8;
  const Model model = built(a);
  const Binding alone{.micro_batch = 2, .sequence_length = kS};
  const Binding shared{
      .micro_batch = 2, .sequence_length = kS, .tp = 8, .cp = 4, .sequence_parallel = true};
  for (const Operator& op : model.blocks[0].operators) {
    for (const Phase phase : {Phase::forward, Phase::input_gradient, Phase::weight_gradient}) {
      EXPECT_DOUBLE_EQ(32 * model_flops(op, phase, shared).value(),
                       model_flops(op, phase, alone).value())
          << op.name;
    }
  }
  EXPECT_DOUBLE_EQ(8 * parameters_on_rank(find(model.blocks[0], "attention.qkv"), shared),
                   find(model.blocks[0], "attention.qkv").parameters);
}

TEST(Model, MultiTokenPredictionAddsWorkButNoPublishedParameters) {
  const Model without = built(deepseek_v3());
  Architecture a = deepseek_v3();
  a.num_multi_token_prediction = 1;
  const Model with = built(a);
  EXPECT_DOUBLE_EQ(parameters(with), parameters(without));
  double module = 0;
  for (const Operator& op : with.head.operators) module += op.auxiliary ? op.parameters : 0;
  // One expert layer (11.5 B less its share of tied matrices), projection and norms: the 14 B of
  // the published weights are this and copies of embedding and head.
  EXPECT_NEAR(module + 2 * 129280.0 * 7168, 13.5e9, 0.1e9);
  EXPECT_GT(model_flops_per_sequence(with, 4096, AttentionCount::full),
            model_flops_per_sequence(without, 4096, AttentionCount::full));
}

TEST(Model, ParallelBlockReducesOnce) {
  Architecture a = gpt();
  a.parallel_block = true;
  for (const int norms : {1, 2}) {
    a.parallel_norms = norms;
    const Model model = built(a);
    int rows = 0, columns = 0;
    for (const Operator& op : model.blocks[0].operators) {
      rows += op.boundary == Boundary::row;
      columns += op.boundary == Boundary::column;
    }
    EXPECT_EQ(rows, 1);
    EXPECT_EQ(columns, norms);
  }
}

TEST(Model, EncoderDecoderCrossesToTheSource) {
  Architecture a = gpt();
  a.kind = ModelKind::encoder_decoder;
  a.num_encoder_layers = 3;
  a.num_layers = 2;
  a.position_encoding = PositionEncoding::relative_bias;
  const Model model = built(a);
  EXPECT_EQ(model.layers.size(), 5u);
  ASSERT_EQ(model.blocks.size(), 3u);
  EXPECT_EQ(model.blocks[0].name, "encoder dense layer");
  EXPECT_EQ(model.blocks[1].name, "last encoder dense layer");
  const Binding b{.sequence_length = 100, .source_length = 700};
  EXPECT_DOUBLE_EQ(model_flops(find(model.blocks[0], "attention.core"), Phase::forward, b).value(),
                   4.0 * 700 * 700 * kH);
  const Block& decoder = model.blocks[2];
  EXPECT_DOUBLE_EQ(model_flops(find(decoder, "cross_attention.core"), Phase::forward, b).value(),
                   4.0 * 100 * 700 * kH);
  EXPECT_DOUBLE_EQ(
      model_flops(find(decoder, "cross_attention.key_value"), Phase::forward, b).value(),
      2.0 * 700 * kH * 2 * kH);
  EXPECT_FALSE(find(model.blocks[0], "attention.core").attention.causal);
}

TEST(Model, AbsurdArchitecturesAreRefusedWithAllReasons) {
  Architecture a = gpt();
  a.num_layers = 100'000;
  a.hidden = 10'000'000;
  a.num_heads = 12;
  a.num_kv_heads = 5;
  a.vocab = 0;
  a.moe = MixtureOfExperts{.num_experts = 4, .top_k = 8, .expert_ffn = -1};
  const auto model = build_model(a);
  ASSERT_FALSE(model);
  const std::string text = model.error().text();
  EXPECT_THAT(text, HasSubstr("num_layers 100000 is outside 1 to 10000"));
  EXPECT_THAT(text, HasSubstr("hidden 10000000 is outside 1 to 1000000"));
  EXPECT_THAT(text, HasSubstr("num_kv_heads 5 and num_heads 12: key-value heads must divide"));
  EXPECT_THAT(text, HasSubstr("vocab 0 is outside"));
  EXPECT_THAT(text, HasSubstr("moe.top_k 8 is outside 1 to 4"));
  EXPECT_THAT(text, HasSubstr("moe.expert_ffn -1 is outside"));
}

TEST(Model, ContradictionsAreRefused) {
  const auto refusal = [](void (*change)(Architecture&)) {
    Architecture a = gpt();
    change(a);
    const auto model = build_model(a);
    return model ? std::string("accepted") : model.error().text();
  };
  EXPECT_THAT(refusal([](Architecture& a) { a.attention = AttentionKind::mla; }),
              HasSubstr("attention mla and latent_attention go together"));
  EXPECT_THAT(refusal([](Architecture& a) {
                a.attention = AttentionKind::mha;
                a.num_kv_heads = 8;
              }),
              HasSubstr("attention mha has as many of both; use gqa"));
  EXPECT_THAT(refusal([](Architecture& a) { a.global_attention_every = 4; }),
              HasSubstr("without sliding_window"));
  EXPECT_THAT(refusal([](Architecture& a) { a.max_position = 0; }),
              HasSubstr("max_position 0 is outside"));
  EXPECT_THAT(refusal([](Architecture& a) { a.kind = ModelKind::vision_encoder; }),
              HasSubstr("needs vision.patch"));
  EXPECT_THAT(refusal([](Architecture& a) { a.num_encoder_layers = 2; }),
              HasSubstr("num_encoder_layers 2 is outside 0 to 0"));
}

// Sums of a block's operators of one kind.
double products(const Block& block, OperatorKind kind, const Binding& b) {
  double sum = 0;
  for (const Operator& op : block.operators) {
    if (op.kind == kind) sum += model_flops(op, Phase::forward, b).value();
  }
  return sum;
}

Architecture mamba_2() {  // Mamba-Codestral-7B, one layer
  Architecture a;
  a.num_layers = 1;
  a.hidden = 4096;
  a.vocab = 1000;
  a.mixers = {Mixer::state_space};
  a.feed_forwards = {FeedForwardPart::none};
  a.state_space = StateSpace{.inner = 8192, .state = 128, .heads = 128, .groups = 8};
  return a;
}

// arXiv 2405.21060 s.6: scores of each group, states and output of each head.
TEST(StateSpaceLayer, HasTheFlopsOfItsChunks) {
  const Model model = built(mamba_2());
  ASSERT_EQ(model.blocks.size(), 1u);
  EXPECT_EQ(model.blocks[0].name, "state-space layer");
  const double tokens = 4096;
  const Binding b{.sequence_length = tokens};
  const double q = 256, n = 128, p = 64, heads = 128, groups = 8;
  const double chunks = tokens * (2 * groups * q * n + 2 * heads * n * p + 2 * heads * p * (q + n));
  EXPECT_DOUBLE_EQ(products(model.blocks[0], OperatorKind::batched_gemm, b), chunks);
  const double in = 2 * 8192 + 2 * 8 * 128 + 128;
  EXPECT_DOUBLE_EQ(products(model.blocks[0], OperatorKind::gemm, b),
                   2 * tokens * 4096 * (in + 8192));
  // Backward: both factors of each product.
  for (const Operator& op : model.blocks[0].operators) {
    if (op.kind != OperatorKind::batched_gemm) continue;
    EXPECT_EQ(model_flops(op, Phase::input_gradient, b), 2 * model_flops(op, Phase::forward, b));
    EXPECT_EQ(model_flops(op, Phase::weight_gradient, b), Flops(0));
  }
}

// Twice the sequence is twice the work, of attention four times.
TEST(StateSpaceLayer, GrowsWithTheSequence) {
  const Model state = built(mamba_2());
  const auto flops = [](const Model& model, double tokens) {
    return model_flops_per_sequence(model, tokens, AttentionCount::full).value();
  };
  EXPECT_DOUBLE_EQ(flops(state, 8192), 2 * flops(state, 4096));
  EXPECT_GT(flops(built(gpt()), 8192), 2.05 * flops(built(gpt()), 4096));
}

TEST(StateSpaceLayer, IsDividedWithItsHeads) {
  const Model model = built(mamba_2());
  const Binding whole{.sequence_length = 4096};
  const Binding half{.sequence_length = 4096, .tp = 2, .sequence_parallel = true};
  for (const Operator& op : model.blocks[0].operators) {
    const Flops all = model_flops(op, Phase::forward, whole);
    EXPECT_EQ(model_flops(op, Phase::forward, half), 0.5 * all) << op.name;
    const bool everywhere = op.name == "state_space.norm";
    EXPECT_DOUBLE_EQ(parameters_on_rank(op, half),
                     parameters_on_rank(op, whole) / (everywhere ? 1 : 2))
        << op.name;
  }
}

// Qwen3-Next: 2048 wide, 16 key heads and 32 value heads of 128, chunks of 64.
TEST(GatedDeltaLayer, HasTheFlopsOfItsChunksAndTheParametersOfItsMatrices) {
  Architecture a;
  a.num_layers = 1;
  a.hidden = 2048;
  a.ffn_hidden = 1;
  a.num_heads = 16;
  a.vocab = 1000;
  a.mixers = {Mixer::gated_delta};
  a.feed_forwards = {FeedForwardPart::none};
  a.gated_delta = GatedDelta{.key_heads = 16, .key_dim = 128, .value_heads = 32, .value_dim = 128};
  const Model model = built(a);
  const double tokens = 4096, heads = 32, k = 128, v = 128, q = 64;
  const double chunks =
      tokens * heads *
      (4 * q * k + 2.0 / 3 * q * q + 2 * q * (k + v) + 4 * k * v + 2 * v * (k + q));
  EXPECT_NEAR(
      products(model.blocks[0], OperatorKind::batched_gemm, Binding{.sequence_length = tokens}),
      chunks, 1e-9 * chunks);
  double parameters = 0;
  for (const Operator& op : model.blocks[0].operators) parameters += op.parameters;
  const double key = 2048, value = 4096;
  EXPECT_EQ(parameters, 2048 * (2 * key + 2 * value + 64) + 4 * (2 * key + value) + 2 * 32 + 128 +
                            value * 2048 + 2048);
}

// Of arXiv 2412.09764 s.2: n^2 values, addressed by pairs of n keys of half the query's width.
TEST(MemoryLayer, HasTheFlopsOfItsKeysAndTheParametersOfItsValues) {
  Architecture a;
  a.num_layers = 1;
  a.hidden = 2048;
  a.ffn_hidden = 1;
  a.num_heads = 16;
  a.vocab = 1000;
  a.mixers = {Mixer::none};
  a.feed_forwards = {FeedForwardPart::memory};
  a.memory = ProductKeyMemory{
      .keys = 1024, .heads = 4, .key_dim = 512, .top_k = 32, .value_dim = 1024, .shared_by = 4};
  const Model model = built(a);
  const double tokens = 4096;
  double parameters = 0;
  double values = 0;
  for (const Operator& op : model.blocks[0].operators) {
    parameters += op.parameters;
    if (op.name == "memory.values") values = op.parameters;
  }
  EXPECT_EQ(values, 1024.0 * 1024 * 1024 / 4);
  EXPECT_EQ(parameters - values, 2048 + 4 * 512 * 2048 + 4 * 1024 * 512 + 2 * 2048 * 1024.0);
  const double per_token = 2.0 * (4 * 512 * 2048 + 4 * 2 * 1024 * 256 + 2 * 2048 * 1024);
  EXPECT_DOUBLE_EQ(
      products(model.blocks[0], OperatorKind::gemm, Binding{.sequence_length = tokens}),
      tokens * per_token);
  // 4 x 32 rows are read for each token and one is written; of two ranks each holds half a row.
  const Operator& look_up = find(model.blocks[0], "memory.values");
  EXPECT_EQ(look_up.forward_passes, 129);
  EXPECT_EQ(parameters_on_rank(look_up, Binding{.tp = 2}), values / 2);
}

// A sequence of four chunks is four sequences.
TEST(ChunkedAttention, CountsTheTokensOfTheChunk) {
  Architecture a = gpt();
  a.sliding_window = 1024;
  a.chunked_attention = true;
  Architecture whole = gpt();
  for (const AttentionCount count : {AttentionCount::full, AttentionCount::causal}) {
    EXPECT_DOUBLE_EQ(model_flops_per_sequence(built(a), 4096, count).value(),
                     4 * model_flops_per_sequence(built(whole), 1024, count).value());
  }
}

TEST(Model, LayersThatMakeNoSenseAreRefused) {
  const auto problem = [](auto change) {
    Architecture a = mamba_2();
    change(a);
    const auto model = build_model(a);
    return model ? std::string("accepted") : model.error().text();
  };
  EXPECT_EQ(problem([](Architecture&) {}), "accepted");
  EXPECT_THAT(problem([](Architecture& a) { a.state_space.reset(); }),
              HasSubstr("state_space and a state-space among the mixers go together"));
  EXPECT_THAT(problem([](Architecture& a) { a.gated_delta = GatedDelta{1, 1, 1, 1}; }),
              HasSubstr("gated_delta and a gated-delta among the mixers go together"));
  EXPECT_THAT(problem([](Architecture& a) { a.gated_delta = GatedDelta{2, 1, 3, 1}; }),
              HasSubstr("value_heads 3 must be a multiple of key_heads 2"));
  EXPECT_THAT(problem([](Architecture& a) { a.state_space->heads = 100; }),
              HasSubstr("state_space.heads 100 must divide inner 8192"));
  EXPECT_THAT(problem([](Architecture& a) { a.state_space->heads = 0; }),
              HasSubstr("state_space.step_rank 0 is outside"));
  EXPECT_THAT(problem([](Architecture& a) { a.mixers.push_back(Mixer::none); }),
              HasSubstr("a layer whose mixer and feed-forward are none does nothing"));
  EXPECT_THAT(problem([](Architecture& a) { a.mixers.push_back(Mixer::local_attention); }),
              HasSubstr("local-attention among the mixers needs sliding_window"));
  EXPECT_THAT(problem([](Architecture& a) { a.feed_forwards = {FeedForwardPart::experts}; }),
              HasSubstr("experts among the feed_forwards need moe"));
  EXPECT_THAT(problem([](Architecture& a) { a.feed_forwards = {FeedForwardPart::memory}; }),
              HasSubstr("memory and a memory among the feed_forwards go together"));
  EXPECT_THAT(problem([](Architecture& a) {
                a.feed_forwards = {FeedForwardPart::memory};
                a.memory = ProductKeyMemory{.keys = 8, .key_dim = 64, .top_k = 9, .value_dim = 8};
              }),
              HasSubstr("memory.top_k 9 is outside"));
  EXPECT_THAT(problem([](Architecture& a) { a.chunked_attention = true; }),
              HasSubstr("chunked_attention needs sliding_window"));
  EXPECT_THAT(problem([](Architecture& a) { a.parallel_block = true; }),
              HasSubstr("parallel_block with mixers or feed_forwards is not modelled"));
  EXPECT_THAT(problem([](Architecture& a) {
                a.kind = ModelKind::encoder_decoder;
                a.num_encoder_layers = 1;
              }),
              HasSubstr("mixers and feed_forwards in an encoder-decoder are not modelled"));
  EXPECT_THAT(problem([](Architecture& a) { a.mixers.resize(20'000, Mixer::state_space); }),
              HasSubstr("mixers and feed_forwards are at most 10000"));
}

}  // namespace
}  // namespace orrery
