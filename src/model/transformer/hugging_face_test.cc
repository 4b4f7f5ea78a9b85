// Configurations of the oldest and newest release of each family (sources in
// testdata/hugging_face/README.md) give the parameter counts stated for the published weights.
#include "model/transformer/hugging_face.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/model.h"
#include "model/transformer/transformer.h"

namespace orrery {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result<Architecture> read_config(const std::string& name) {
  auto document = read_document(std::string(ORRERY_SOURCE_DIR) +
                                "/src/model/testdata/hugging_face/" + name + ".json");
  if (!document) return fail(document.error());
  return read_hugging_face_config(*document);
}

Result<Architecture> read_text(std::string_view text) {
  auto document = parse_json(text, "config.json");
  if (!document) return fail(document.error());
  return read_architecture(*document);
}

struct Published {
  const char* file;
  double parameters;        // elements in the published weights
  double tolerance = 1e-4;  // an output bias (Phi) and such are not counted; else of the rounding
};

class HuggingFaceConfig : public testing::TestWithParam<Published> {};

TEST_P(HuggingFaceConfig, CountsTheParametersOfThePublishedWeights) {
  const auto a = read_config(GetParam().file);
  ASSERT_TRUE(a) << a.error().text();
  const auto model = build_model(*a);
  ASSERT_TRUE(model) << model.error().text();
  EXPECT_NEAR(parameters(*model) / GetParam().parameters, 1, GetParam().tolerance)
      << std::fixed << parameters(*model);
}

INSTANTIATE_TEST_SUITE_P(
    Families, HuggingFaceConfig,
    testing::Values(
        Published{"llama-7b", 6'738'415'616}, Published{"llama-3.2-1b", 1'235'814'400},
        Published{"llama-3.3-70b", 70'553'706'496}, Published{"mistral-7b-v0.1", 7'241'732'096},
        Published{"mistral-small-24b-2501", 23'572'403'200},
        Published{"mixtral-8x7b-v0.1", 46'702'792'704},
        Published{"mixtral-8x22b-instruct-v0.1", 140'630'071'296},
        Published{"qwen1.5-0.5b", 463'987'712}, Published{"qwen2.5-72b", 72'706'203'648},
        Published{"qwen1.5-moe-a2.7b", 14'315'784'192}, Published{"qwen2-57b-a14b", 57.4e9, 0.001},
        Published{"qwen3-0.6b", 596'049'920}, Published{"qwen3-4b-instruct-2507", 4'022'468'096},
        Published{"qwen3-30b-a3b", 30'532'122'624},
        Published{"qwen3-coder-480b-a35b", 480'154'875'392}, Published{"gemma-2-9b", 9'241'705'984},
        Published{"gemma-2-2b", 2'614'341'888},
        // without the image tower
        Published{"gemma-3-27b", 27.0e9, 0.002}, Published{"gemma-3-4b", 3.88e9, 0.001},
        Published{"gemma-3-270m", 268'098'176}, Published{"deepseek-v2-lite", 15'706'484'224},
        Published{"deepseek-v2.5-1210", 235'741'434'880}, Published{"deepseek-v3", 671'026'419'200},
        Published{"deepseek-v3.1", 671'026'419'200}, Published{"gpt2", 124'439'808},
        Published{"gpt2-xl", 1'557'611'200}, Published{"gpt-neox-20b", 20'554'567'680},
        Published{"pythia-12b", 11'846'072'320}, Published{"opt-125m", 125'239'296},
        Published{"opt-66b", 66e9, 0.008}, Published{"bloom-560m", 559'214'592},
        Published{"bloomz", 176'247'271'424}, Published{"falcon-rw-1b", 1'311'625'216},
        Published{"falcon-7b", 6'921'720'704}, Published{"falcon-40b-refinedweb", 41'303'293'952},
        Published{"falcon-11b", 11.1e9, 0.005}, Published{"phi-1", 1'418'270'720},
        Published{"phi-2", 2'779'683'840}, Published{"phi-3-mini-4k", 3'821'079'552},
        Published{"phi-4-mini", 3'836'021'760}),
    [](const testing::TestParamInfo<Published>& test) {
      std::string name = test.param.file;
      for (char& c : name) {
        if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
      }
      return name;
    });

TEST(HuggingFace, ReadsWhatIsNoParameter) {
  const auto mistral = read_config("mistral-7b-v0.1");
  ASSERT_TRUE(mistral);
  EXPECT_EQ(mistral->name, "Mistral-7B-v0.1");
  EXPECT_EQ(mistral->sliding_window, 4096);
  EXPECT_EQ(read_config("mistral-small-24b-2501")->sliding_window, 0);
  const auto gemma = read_config("gemma-3-270m");
  ASSERT_TRUE(gemma);
  EXPECT_EQ(gemma->sliding_window, 512);
  EXPECT_EQ(gemma->global_attention_every, 6);
  EXPECT_EQ(gemma->attention, AttentionKind::mqa);
  EXPECT_EQ(read_config("gemma-3-27b")->global_attention_every, 6);
  const auto deepseek = read_config("deepseek-v3");
  ASSERT_TRUE(deepseek);
  EXPECT_EQ(deepseek->num_multi_token_prediction, 1);
  EXPECT_EQ(deepseek->moe->first_dense_layers, 3);
  EXPECT_EQ(deepseek->attention, AttentionKind::mla);
  EXPECT_EQ(read_config("phi-4-mini")->sliding_window, 0);
  EXPECT_EQ(read_config("falcon-11b")->parallel_norms, 1);
  EXPECT_EQ(read_config("falcon-rw-1b")->position_encoding, PositionEncoding::alibi);
}

TEST(HuggingFace, UnknownModelTypeNamesTheKeysThatAreMissing) {
  const auto bert = read_text(R"({"model_type": "bert", "hidden_size": 768,
    "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072,
    "vocab_size": 30522, "hidden_act": "gelu"})");
  ASSERT_FALSE(bert);
  EXPECT_EQ(bert.error().code, ErrorCode::unsupported);
  EXPECT_THAT(bert.error().text(),
              HasSubstr("model type 'bert' is not known, and config of model type 'bert' lacks "
                        "num_key_value_heads, rms_norm_eps"));
  EXPECT_THAT(bert.error().hint, HasSubstr("llama"));
}

TEST(HuggingFace, UnknownModelTypeWithTheKeysOfLlamaIsReadAndSaysSo) {
  const auto a = read_text(R"({"architectures": ["PhimoeForCausalLM"], "model_type": "phimoe",
    "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
    "num_key_value_heads": 8, "intermediate_size": 6400, "vocab_size": 32064,
    "hidden_act": "silu", "rms_norm_eps": 1e-05, "num_local_experts": 16,
    "num_experts_per_tok": 2})");
  ASSERT_TRUE(a) << a.error().text();
  EXPECT_THAT(a->assumed, ElementsAre(HasSubstr("'phimoe' is not known")));
  const auto model = build_model(*a);
  ASSERT_TRUE(model);
  EXPECT_NEAR(parameters(*model), 41.873e9, 0.01e9);
}

// A Mamba layer in two of three layers: half of the parameters of a Llama with these keys.
TEST(HuggingFace, UnknownModelTypeIsRefusedForKeysThatLlamaHasNot) {
  const auto a = read_text(R"({"model_type": "jamba", "hidden_size": 4096, "use_cache": true,
    "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
    "intermediate_size": 14336, "vocab_size": 65536, "hidden_act": "silu", "rms_norm_eps": 1e-06,
    "num_experts": 16, "num_experts_per_tok": 2, "attn_layer_period": 8, "mamba_d_state": 16,
    "mamba_proj_bias": false, "rope_scaling": null, "expert_layer_period": 2})");
  ASSERT_FALSE(a);
  EXPECT_EQ(a.error().message,
            "model type 'jamba' is not known, and a decoder like Llama has no attn_layer_period, "
            "mamba_d_state, expert_layer_period");
}

TEST(HuggingFace, KnownFamilyNamesAllMissingKeys) {
  const auto a = read_text(R"({"model_type": "llama", "hidden_size": 4096})");
  ASSERT_FALSE(a);
  EXPECT_EQ(a.error().text(),
            "config.json: line 1: config of model type 'llama' lacks num_hidden_layers, "
            "intermediate_size, num_attention_heads, vocab_size");
}

TEST(HuggingFace, WrongTypesAndRangesNameTheKeyAndTheLine) {
  const auto text = read_text(
      "{\"model_type\": \"gpt2\",\n\"n_layer\": \"twelve\", \"n_embd\": 1,"
      "\"n_head\": 1, \"vocab_size\": 5}");
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().text(), "config.json: line 2, n_layer: 'twelve' is not a whole number");
  const auto negative = read_text(R"({"model_type": "gpt2", "n_layer": -1, "n_embd": 1,
    "n_head": 1, "vocab_size": 5})");
  ASSERT_FALSE(negative);
  EXPECT_THAT(negative.error().text(), HasSubstr("n_layer: number -1 is out of range (0 to"));
}

TEST(HuggingFace, VariantsThatAreNotModelledAreRefused) {
  const auto narrow = read_text(R"({"model_type": "opt", "num_hidden_layers": 24,
    "hidden_size": 1024, "num_attention_heads": 16, "ffn_dim": 4096, "vocab_size": 50272,
    "word_embed_proj_dim": 512})");
  ASSERT_FALSE(narrow);
  EXPECT_THAT(narrow.error().text(), HasSubstr("word_embed_proj_dim: an embedding narrower"));
  const auto activation = read_text(R"({"model_type": "llama", "num_hidden_layers": 2,
    "hidden_size": 64, "num_attention_heads": 4, "intermediate_size": 128, "vocab_size": 100,
    "hidden_act": "tanh"})");
  ASSERT_FALSE(activation);
  EXPECT_THAT(activation.error().text(), HasSubstr("activation 'tanh' is not modelled"));
}

TEST(HuggingFace, IsToldFromTheProductsOwnFormByContent) {
  const auto own = read_text(R"({"num_layers": 2, "hidden": 64, "ffn_hidden": 256, "num_heads": 4,
    "vocab": 1000})");
  ASSERT_TRUE(own) << own.error().text();
  EXPECT_EQ(own->head_dim, 16);
  EXPECT_EQ(own->attention, AttentionKind::mha);
}

}  // namespace
}  // namespace orrery
