// Configurations of the oldest and newest release of each family (sources in
// testdata/hugging_face/README.md) give the parameter counts stated for the published weights.
#include "model/transformer/hugging_face.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "catalog/catalog.h"
#include "document/comma_separated.h"
#include "model/family.h"
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

// A row of testdata/hugging_face/published.csv: a count with its source, or no count and the key
// that the refusal names.
struct Published {
  std::string file, count, source;
  [[nodiscard]] bool refused() const { return count.empty(); }
  // Of a count of the published weights, what is not counted: an output's bias, a router's. Of a
  // rounded one, the rounding.
  [[nodiscard]] double tolerance() const { return source == "Hub" ? 1e-4 : 1e-2; }
};

std::vector<Published> published() {
  const std::string path =
      std::string(ORRERY_SOURCE_DIR) + "/src/model/testdata/hugging_face/published.csv";
  const auto text = read_file(path);
  const auto table = parse_comma_separated(text.value_or(""), path);
  std::vector<Published> out;
  if (!table) return out;
  for (const auto& record : table->records) {
    out.push_back({record.fields[0], record.fields[1], record.fields[2]});
  }
  return out;
}

std::string repository(const std::string& file) {
  const auto document = read_document(std::string(ORRERY_SOURCE_DIR) +
                                      "/src/model/testdata/hugging_face/" + file + ".json");
  const Value* path = document ? document->root.find("_name_or_path") : nullptr;
  return path != nullptr ? path->scalar_text() : file;
}

TEST(HuggingFaceConfig, CountsTheParametersOfThePublishedWeights) {
  std::set<std::string> families;
  int counted = 0;
  for (const Published& p : published()) {
    if (p.refused()) continue;
    const auto a = read_config(p.file);
    ASSERT_TRUE(a) << a.error().text();
    const auto model = build_model(*a);
    ASSERT_TRUE(model) << model.error().text();
    EXPECT_NEAR(parameters(*model) / std::stod(p.count), 1, p.tolerance())
        << p.file << ": " << std::fixed << parameters(*model);
    families.insert(a->family);
    ++counted;
  }
  EXPECT_GE(counted, 40);
  EXPECT_GE(families.size(), 30u);
}

TEST(HuggingFaceConfig, RefusalsNameTheKey) {
  int refused = 0;
  for (const Published& p : published()) {
    if (!p.refused()) continue;
    const auto a = read_config(p.file);
    ASSERT_FALSE(a) << p.file;
    EXPECT_EQ(a.error().code, ErrorCode::unsupported) << p.file;
    EXPECT_THAT(a.error().text(), HasSubstr(p.source)) << p.file;
    ++refused;
  }
  EXPECT_GE(refused, 8);
}

// The table of docs/hugging-face.md is made here.
TEST(HuggingFaceConfig, TheDocumentationSaysWhatIsRead) {
  std::string table;
  for (const Published& p : published()) {
    const auto a = read_config(p.file);
    if (p.refused()) {
      table += fmt::format("| `{}` | | refused for `{}` | | |\n", repository(p.file), p.source);
      continue;
    }
    ASSERT_TRUE(a) << p.file;
    const double count = parameters(build_model(*a).value_or(Model{}));
    const double stated = std::stod(p.count);
    table +=
        fmt::format("| `{}` | `{}` | {:.5g} B ({}) | {:.5g} B | {:+.2f} % |\n", repository(p.file),
                    a->family, stated / 1e9, p.source, count / 1e9, 100 * (count / stated - 1));
  }
  const auto page = read_file(std::string(ORRERY_SOURCE_DIR) + "/docs/hugging-face.md");
  ASSERT_TRUE(page);
  EXPECT_NE(page->find(table), std::string::npos)
      << "docs/hugging-face.md should have this table:\n"
      << table;
}

// Every entry of the table of model types is read by at least one configuration, or is one that
// others are like.
TEST(HuggingFaceConfig, EveryModelTypeHasAConfiguration) {
  std::set<std::string> read;
  for (const Published& p : published()) {
    const auto a = read_config(p.file);
    if (a) read.insert(Catalog::built_in().find("hugging-face", a->family)->name);
  }
  for (const std::string& name : Catalog::built_in().names("hugging-face")) {
    const auto entry = Catalog::built_in().find("hugging-face", name);
    ASSERT_TRUE(entry);
    if (entry->root.find("title") == nullptr) continue;
    const bool only_like = name == "glm";  // which glm4 is like
    EXPECT_EQ(read.contains(entry->name), !only_like) << name;
  }
}

// A model of the Hub that has an entry in the catalog is the same model there.
TEST(HuggingFaceConfig, TheCatalogAgreesWithTheConfigurationOfTheSameName) {
  int compared = 0;
  for (const Published& p : published()) {
    const auto a = read_config(p.file);
    const auto entry = Catalog::built_in().find("models", repository(p.file));
    if (!a || !entry) continue;
    const auto ours = read_model(*entry);
    ASSERT_TRUE(ours);
    const double count = parameters(build_model(*a).value_or(Model{}));
    EXPECT_NEAR(parameters(*ours) / count, 1, 1e-3) << repository(p.file);
    ++compared;
  }
  EXPECT_GE(compared, 10);
}

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
  const auto roberta = read_text(R"({"model_type": "roberta", "hidden_size": 768,
    "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072,
    "vocab_size": 30522, "hidden_act": "gelu"})");
  ASSERT_FALSE(roberta);
  EXPECT_EQ(roberta.error().code, ErrorCode::unsupported);
  EXPECT_THAT(roberta.error().text(),
              HasSubstr("model type 'roberta' is not known, and config of model type 'roberta' "
                        "lacks num_key_value_heads, rms_norm_eps"));
  EXPECT_THAT(roberta.error().hint, HasSubstr("orrery catalog hugging-face"));
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

TEST(HuggingFace, UnknownModelTypeIsRefusedForKeysThatLlamaHasNot) {
  const auto a = read_text(R"({"model_type": "zamba", "hidden_size": 4096, "use_cache": true,
    "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
    "intermediate_size": 14336, "vocab_size": 65536, "hidden_act": "silu", "rms_norm_eps": 1e-06,
    "num_experts": 16, "num_experts_per_tok": 2, "attn_layer_period": 8, "mamba_d_state": 16,
    "mamba_proj_bias": false, "rope_scaling": null, "expert_layer_period": 2})");
  ASSERT_FALSE(a);
  EXPECT_EQ(a.error().message,
            "model type 'zamba' is not known, and a decoder like Llama has no attn_layer_period, "
            "mamba_d_state, expert_layer_period");
}

constexpr std::string_view kSmall =
    R"("hidden_size": 64, "num_hidden_layers": 4, "num_attention_heads": 4,
    "num_key_value_heads": 2, "intermediate_size": 128, "vocab_size": 100, "rms_norm_eps": 1e-6)";

Result<Architecture> read_small(std::string_view rest) {
  return read_text("{" + std::string(kSmall) + ", " + std::string(rest) + "}");
}

TEST(HuggingFace, KeysOfAKnownTypeThatAreNotUnderstoodAreSaid) {
  const auto a = read_small(R"("model_type": "llama", "mixture_of_depths": 2, "off": false,
    "nothing": 0, "empty": [])");
  ASSERT_TRUE(a) << a.error().text();
  EXPECT_THAT(a->assumed, ElementsAre("keys of the configuration that were not understood: "
                                      "mixture_of_depths"));
  const auto nested = read_text(R"({"model_type": "mpt", "d_model": 64, "n_heads": 4, "n_layers": 2,
    "vocab_size": 100, "attn_config": {"alibi": true, "sparse": 3}})");
  ASSERT_TRUE(nested) << nested.error().text();
  EXPECT_THAT(nested->assumed, ElementsAre(HasSubstr("attn_config.sparse")));
}

TEST(HuggingFace, APartOfAModelSaysWhatIsLeftOut) {
  const auto a = read_config("llava-1.5-7b");
  ASSERT_TRUE(a);
  EXPECT_THAT(a->assumed, ElementsAre("the model is its decoder: vision_config is left out"));
  EXPECT_EQ(a->family, "llama");
  EXPECT_THAT(read_config("qwen2-vl-7b")->assumed, ElementsAre(HasSubstr("vision_config")));
  EXPECT_TRUE(read_config("llama-3.2-1b")->assumed.empty());
}

TEST(HuggingFace, LayersOfHybridsAreThoseOfTheConfiguration) {
  const auto llama = read_config("llama-4-maverick");
  ASSERT_TRUE(llama);
  EXPECT_TRUE(llama->chunked_attention);
  EXPECT_EQ(llama->sliding_window, 8192);
  EXPECT_EQ(llama->global_attention_every, 4);
  EXPECT_EQ(feed_forward_of(*llama, 0), FeedForwardPart::dense);
  EXPECT_EQ(feed_forward_of(*llama, 1), FeedForwardPart::experts);
  const auto jamba = read_config("jamba-v0.1");
  ASSERT_TRUE(jamba);
  EXPECT_EQ(mixer_of(*jamba, 3), Mixer::state_space);
  EXPECT_EQ(mixer_of(*jamba, 4), Mixer::attention);
  EXPECT_EQ(mixer_of(*jamba, 12), Mixer::attention);
  EXPECT_EQ(feed_forward_of(*jamba, 1), FeedForwardPart::experts);
  const auto nemotron = read_config("nemotron-h-56b");
  ASSERT_TRUE(nemotron);  // M-M-M-M*-
  EXPECT_EQ(mixer_of(*nemotron, 0), Mixer::state_space);
  EXPECT_EQ(feed_forward_of(*nemotron, 0), FeedForwardPart::none);
  EXPECT_EQ(mixer_of(*nemotron, 1), Mixer::none);
  EXPECT_EQ(mixer_of(*nemotron, 7), Mixer::attention);
  const auto qwen = read_config("qwen3-next-80b-a3b");
  ASSERT_TRUE(qwen);
  EXPECT_EQ(qwen->mixers, (std::vector{Mixer::gated_delta, Mixer::gated_delta, Mixer::gated_delta,
                                       Mixer::attention}));
  EXPECT_TRUE(qwen->attention_gate);
  const auto exaone = read_config("exaone-4.0-32b");
  ASSERT_TRUE(exaone);
  EXPECT_EQ(exaone->global_attention_every, 4);
}

// What the classes of transformers say of keys that are absent, or take no notice of.
TEST(HuggingFace, AbsentKeysHaveTheDefaultsOfTheirClass) {
  const auto exaone = read_small(R"("model_type": "exaone4", "max_position_embeddings": 65536)");
  ASSERT_TRUE(exaone) << exaone.error().text();
  EXPECT_EQ(exaone->sliding_window, 4096);
  EXPECT_EQ(exaone->global_attention_every, 4);
  const auto halves = read_small(R"("model_type": "exaone4", "max_position_embeddings": 65536,
    "sliding_window_pattern": 2)");
  ASSERT_TRUE(halves) << halves.error().text();
  EXPECT_EQ(halves->global_attention_every, 2);
  const auto whole = read_small(R"("model_type": "exaone4", "sliding_window": null)");
  ASSERT_TRUE(whole) << whole.error().text();
  EXPECT_EQ(whole->global_attention_every, 0);
  for (const char* granite4 : {"", R"(, "layer_types": ["linear_attention", "full_attention",
    "linear_attention", "full_attention"])"}) {
    const auto a = read_small(R"("model_type": "granitemoehybrid")" + std::string(granite4));
    ASSERT_TRUE(a) << a.error().text();
    EXPECT_EQ(mixer_of(*a, 0), Mixer::state_space);
  }
  const auto granite = read_text(R"({"model_type": "granitemoe", "hidden_size": 64,
    "num_hidden_layers": 4, "num_attention_heads": 16, "intermediate_size": 128,
    "vocab_size": 100, "attention_bias": true})");
  ASSERT_TRUE(granite) << granite.error().text();
  EXPECT_EQ(granite->attention, AttentionKind::mha);
  EXPECT_TRUE(granite->qkv_bias);
  const auto minimax = read_small(R"("model_type": "minimax_m2")");
  ASSERT_TRUE(minimax) << minimax.error().text();
  EXPECT_EQ(minimax->moe->num_experts, 256);
  EXPECT_EQ(minimax->moe->top_k, 8);
  EXPECT_TRUE(minimax->qk_norm);
  EXPECT_TRUE(read_small(R"("model_type": "exaone", "num_layers": 4)")->tie_embeddings);
  const auto gptj = read_config("gpt-j-6b");
  ASSERT_TRUE(gptj);
  EXPECT_FALSE(gptj->linear_bias);
  EXPECT_TRUE(gptj->feed_forward_bias);
  const auto qwen2 = read_small(R"("model_type": "qwen2_moe", "qkv_bias": false,
    "use_sliding_window": true, "sliding_window": 16, "max_window_layers": 2,
    "mlp_only_layers": [3])");
  ASSERT_TRUE(qwen2) << qwen2.error().text();
  EXPECT_FALSE(qwen2->qkv_bias);
  EXPECT_EQ(mixer_of(*qwen2, 0), Mixer::local_attention);
  EXPECT_EQ(mixer_of(*qwen2, 1), Mixer::attention);
  EXPECT_EQ(mixer_of(*qwen2, 2), Mixer::attention);
  EXPECT_EQ(feed_forward_of(*qwen2, 2), FeedForwardPart::experts);
  EXPECT_EQ(feed_forward_of(*qwen2, 3), FeedForwardPart::dense);
  const auto qwen3 = read_small(R"("model_type": "qwen3_moe", "num_local_experts": 4,
    "use_sliding_window": true, "sliding_window": 16)");
  ASSERT_TRUE(qwen3) << qwen3.error().text();
  EXPECT_EQ(qwen3->moe->num_experts, 4);
  EXPECT_EQ(qwen3->sliding_window, 16);
  EXPECT_EQ(qwen3->global_attention_every, 0);
  const auto biased = read_small(R"("model_type": "mistral", "attention_bias": true)");
  ASSERT_FALSE(biased);
  EXPECT_THAT(biased.error().text(),
              HasSubstr("attention_bias: a bias that the class of this model type does not have is "
                        "not modelled"));
}

// A part leaves out the sizes that are those of its class; of a class whose sizes are not known,
// none are taken.
TEST(HuggingFace, SizesLeftOutOfAPartAreThoseOfItsClass) {
  const auto sizes = [](const std::string& type) {
    const auto a = read_text(R"({"model_type": "llava", "text_config": {"model_type": ")" + type +
                             R"("}, "vision_config": {}})");
    if (!a) return a.error().text();
    return fmt::format("{} {} {} {}", a->num_layers, a->hidden, a->ffn_hidden, a->num_kv_heads);
  };
  EXPECT_EQ(sizes("mistral"), "32 4096 14336 8");
  EXPECT_EQ(sizes("qwen2_vl_text"), "80 8192 29568 8");
  EXPECT_EQ(sizes("qwen3_5_text"), "32 4096 12288 4");
  EXPECT_EQ(sizes("qwen3_5_moe_text"), "40 2048 512 2");
  EXPECT_EQ(sizes("llama4_text"), "48 5120 16384 8");
  EXPECT_THAT(sizes("granite"), HasSubstr("num_hidden_layers"));
}

TEST(HuggingFace, LayersThatAlternateUnevenlyAreAPattern) {
  const auto a = read_small(R"("model_type": "mistral", "sliding_window": 16, "layer_types":
    ["full_attention", "sliding_attention", "sliding_attention", "full_attention"])");
  ASSERT_TRUE(a) << a.error().text();
  EXPECT_EQ(a->mixers,
            (std::vector{Mixer::attention, Mixer::local_attention, Mixer::local_attention}));
  const auto experts = read_small(R"("model_type": "qwen3_moe", "num_experts": 4,
    "num_experts_per_tok": 2, "moe_intermediate_size": 32, "mlp_only_layers": [2])");
  ASSERT_TRUE(experts) << experts.error().text();
  EXPECT_EQ(feed_forward_of(*experts, 1), FeedForwardPart::experts);
  EXPECT_EQ(feed_forward_of(*experts, 2), FeedForwardPart::dense);
}

TEST(HuggingFace, LayersThatCannotBeAreRefused) {
  const auto letters = read_small(R"("model_type": "nemotron_h", "hybrid_override_pattern":
    "M-M-M-")");
  ASSERT_FALSE(letters);
  EXPECT_THAT(letters.error().text(),
              HasSubstr("hybrid_override_pattern: 6 layers, but the model has 4"));
  const auto few = read_small(R"("model_type": "llama", "layer_types": ["full_attention"])");
  ASSERT_FALSE(few);
  EXPECT_EQ(few.error().text(),
            "config.json: line 2, layer_types: 1 layers, but the model has 4 "
            "(one for each layer)");
  const auto word = read_small(R"("model_type": "llama", "layer_types":
    ["full_attention", "full_attention", "hyena", "full_attention"])");
  ASSERT_FALSE(word);
  EXPECT_THAT(word.error().text(), HasSubstr("layer_types: layer type 'hyena' is not modelled"));
  const auto index = read_small(R"("model_type": "bamba", "attn_layer_indices": [7])");
  ASSERT_FALSE(index);
  EXPECT_THAT(index.error().text(), HasSubstr("attn_layer_indices: '7' is not a layer (0 to 3)"));
  const auto zero = read_text(R"({"model_type": "vit", "hidden_size": 64, "num_hidden_layers": 1,
    "num_attention_heads": 1, "intermediate_size": 64, "patch_size": 0})");
  ASSERT_FALSE(zero);
  EXPECT_THAT(zero.error().text(), HasSubstr("patch_size: number 0 is out of range"));
  const auto large = read_text(R"({"model_type": "mpt", "d_model": 1000000000, "n_heads": 4,
    "n_layers": 2, "vocab_size": 100})");
  ASSERT_FALSE(large);
  EXPECT_THAT(large.error().text(), HasSubstr("'expansion_ratio * d_model' is out of range"));
}

TEST(HuggingFace, AllLayersOfNemotronHAreNamed) {
  const auto without = read_small(R"("model_type": "nemotron_h")");
  ASSERT_FALSE(without);
  EXPECT_THAT(without.error().text(), HasSubstr("lacks hybrid_override_pattern"));
  for (const char* pattern : {"null", R"("")", R"("M-")", R"("M-M-M")", R"(["mamba"])"}) {
    EXPECT_THAT(read_small(R"("model_type": "nemotron_h", "hybrid_override_pattern": )" +
                           std::string(pattern))
                    .error()
                    .text(),
                HasSubstr("hybrid_override_pattern: "))
        << pattern;
  }
  const auto letters = read_small(R"("model_type": "nemotron_h", "hybrid_override_pattern":
    "M-*-")");
  ASSERT_TRUE(letters) << letters.error().text();
  for (const char* key : {"layers_block_type", "layer_types"}) {
    for (const char* list : {R"(["mamba", "mlp", "attention", "mlp"])",
                             R"(["linear_attention", "mlp", "full_attention", "mlp"])"}) {
      const auto words =
          read_small(fmt::format(R"("model_type": "nemotron_h", "{}": {})", key, list));
      ASSERT_TRUE(words) << words.error().text();
      EXPECT_EQ(words->mixers, letters->mixers);
      EXPECT_EQ(words->feed_forwards, letters->feed_forwards);
    }
  }
}

TEST(HuggingFace, ALayerThatNeverComesIsRefused) {
  const auto refusal = [](std::string_view rest) {
    const auto a = read_small(R"("model_type": "jamba", )" + std::string(rest));
    return a ? "" : a.error().text();
  };
  EXPECT_THAT(refusal(R"("attn_layer_offset": 8)"),
              HasSubstr("attn_layer_offset: number 8 is out of range: no layer is so (0 to 7)"));
  EXPECT_THAT(refusal(R"("expert_layer_offset": 2)"), HasSubstr("expert_layer_offset: number 2"));
  EXPECT_THAT(
      refusal(R"("attn_layer_period": 0)"),
      HasSubstr("attn_layer_period: number 0 is out of range: no layer is so (at least 1)"));
}

TEST(HuggingFace, LayersInAMapAreRefused) {
  const auto types = read_small(R"("model_type": "llama", "layer_types": {"a": 1})");
  ASSERT_FALSE(types);
  EXPECT_THAT(types.error().text(),
              HasSubstr("layer_types: a map does not say what the layers are"));
  for (const char* value : {R"({"0": 1})", "3", R"("0")"}) {
    EXPECT_THAT(read_small(R"("model_type": "bamba", "attn_layer_indices": )" + std::string(value))
                    .error()
                    .text(),
                HasSubstr("attn_layer_indices: is not a list of layers"))
        << value;
  }
}

// deepseek_v2 and deepseek_v3 differ in the defaults of their classes.
TEST(HuggingFace, DeepSeekHasTheDefaultsOfItsClass) {
  const auto v3 = read_small(R"("model_type": "deepseek_v3")");
  ASSERT_TRUE(v3) << v3.error().text();
  ASSERT_TRUE(v3->moe && v3->latent_attention);
  EXPECT_EQ(v3->moe->num_experts, 256);
  EXPECT_EQ(v3->moe->top_k, 8);
  EXPECT_EQ(v3->moe->expert_ffn, 2048);
  EXPECT_EQ(v3->moe->shared_ffn, 2048);
  EXPECT_EQ(v3->moe->first_dense_layers, 3);
  EXPECT_EQ(v3->moe->num_groups, 8);
  EXPECT_EQ(v3->latent_attention->q_lora_rank, 1536);
  EXPECT_EQ(v3->latent_attention->kv_lora_rank, 512);
  const auto v2 = read_small(R"("model_type": "deepseek_v2", "num_experts_per_tok": 6)");
  ASSERT_TRUE(v2) << v2.error().text();
  EXPECT_EQ(v2->moe->num_experts, 64);
  EXPECT_EQ(v2->moe->num_shared_experts, 2);
  EXPECT_EQ(v2->moe->first_dense_layers, 0);
  EXPECT_THAT(read_small(R"("model_type": "deepseek_v2")").error().text(),
              HasSubstr("lacks num_experts_per_tok"));
  const auto glm = read_small(R"("model_type": "glm_moe_dsa")");
  ASSERT_TRUE(glm) << glm.error().text();
  EXPECT_EQ(glm->latent_attention->q_lora_rank, 2048);
  EXPECT_EQ(glm->latent_attention->v_head_dim, 256);
  const auto dense = read_small(R"("model_type": "deepseek_v3", "n_routed_experts": null,
    "q_lora_rank": null)");
  ASSERT_TRUE(dense) << dense.error().text();
  EXPECT_FALSE(dense->moe);
  EXPECT_EQ(dense->latent_attention->q_lora_rank, 0);
}

TEST(HuggingFace, Olmo3AttendsToAllInEveryFourthLayer) {
  const auto a = read_small(R"("model_type": "olmo3", "max_position_embeddings": 65536)");
  ASSERT_TRUE(a) << a.error().text();
  EXPECT_EQ(a->sliding_window, 4096);
  EXPECT_EQ(a->global_attention_every, 4);
  const auto own = read_small(R"("model_type": "olmo3", "sliding_window": 16, "layer_types":
    ["full_attention", "full_attention", "full_attention", "sliding_attention"])");
  ASSERT_TRUE(own) << own.error().text();
  EXPECT_EQ(mixer_of(*own, 0), Mixer::attention);
  EXPECT_EQ(mixer_of(*own, 3), Mixer::local_attention);
  EXPECT_EQ(read_small(R"("model_type": "olmo2")")->sliding_window, 0);
}

double count(const Result<Architecture>& a) {
  EXPECT_TRUE(a) << a.error().text();
  return a ? parameters(*build_model(*a)) : 0;
}

// What a key adds to the parameters of four layers 64 wide, with 4 heads of 16 and 2 of keys.
TEST(HuggingFace, BiasesAreThoseOfTheKeys) {
  const auto added = [](const char* type, std::string_view with, std::string_view without) {
    const std::string head = fmt::format(R"("model_type": "{}", )", type);
    return (count(read_small(head + std::string(with))) -
            count(read_small(head + std::string(without)))) /
           4;
  };
  constexpr const char* kOn = R"("attention_bias": true)";
  constexpr const char* kOff = R"("attention_bias": false)";
  constexpr double kQueryKeyValue = 64 + 2 * 32;
  EXPECT_EQ(added("llama", kOn, kOff), kQueryKeyValue + 64);
  EXPECT_EQ(added("gpt_oss", kOn, kOff), (64 + 2 * 32) * 4 + 64);  // heads of 64
  EXPECT_EQ(added("qwen3", kOn, kOff), (64 + 2 * 32) * 8 + 64);    // heads of 128
  EXPECT_EQ(added("glm", kOn, kOff), (64 + 2 * 32) * 8);
  EXPECT_EQ(added("qwen2", kOn, kOff), 0);
  EXPECT_EQ(added("stablelm", R"("use_qkv_bias": true)", R"("use_qkv_bias": false)"),
            kQueryKeyValue);
  EXPECT_EQ(added("llama", R"("mlp_bias": true)", R"("mlp_bias": false)"), 2 * 128 + 64);
  // Of latent attention those that lead to the ranks, and the output.
  EXPECT_EQ(added("deepseek_v3", kOn, kOff), 1536 + 512 + 64 + 64);
  // True in the class: absent is true.
  EXPECT_EQ(added("gpt_neox", R"("a": null)", kOff), 3 * 64 + 64);
  EXPECT_EQ(added("gpt_neox", kOn, R"("a": null)"), 0);
  EXPECT_EQ(added("vit", R"("a": null)", R"("qkv_bias": false)"), 3 * 64);
}

TEST(HuggingFace, APatchThatDoesNotDivideTheImageLeavesItsRest) {
  const auto a = read_text(R"({"model_type": "vit", "hidden_size": 64, "num_hidden_layers": 1,
    "num_attention_heads": 1, "intermediate_size": 64, "image_size": 384, "patch_size": 14})");
  ASSERT_TRUE(a) << a.error().text();
  EXPECT_EQ(a->vision->tokens, 27 * 27);
  EXPECT_EQ(a->max_position, 27 * 27 + 1);
}

TEST(HuggingFace, StepRanksAreRoundedUp) {
  const auto jamba = read_text(R"({"model_type": "jamba", "hidden_size": 100,
    "num_hidden_layers": 8, "num_attention_heads": 4, "intermediate_size": 64, "vocab_size": 9})");
  ASSERT_TRUE(jamba) << jamba.error().text();
  EXPECT_EQ(jamba->state_space->step_rank, 7);
  for (const int hidden : {96, 97, 112}) {
    const auto mamba = read_text(fmt::format(
        R"({{"model_type": "mamba", "hidden_size": {}, "num_hidden_layers": 2, "vocab_size": 9}})",
        hidden));
    ASSERT_TRUE(mamba) << mamba.error().text();
    EXPECT_EQ(mamba->state_space->step_rank, hidden == 96 ? 6 : 7);
  }
}

TEST(HuggingFace, QwenLeadingLayersWithoutTheWindow) {
  const auto a = read_small(R"("model_type": "qwen2", "use_sliding_window": true,
    "sliding_window": 16, "max_window_layers": 3)");
  ASSERT_TRUE(a) << a.error().text();
  EXPECT_EQ(mixer_of(*a, 2), Mixer::attention);
  EXPECT_EQ(mixer_of(*a, 3), Mixer::local_attention);
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
  // One that only other rules depend on.
  const auto truth = read_text(R"({"model_type": "mpt", "n_layers": 2, "d_model": 64,
    "n_heads": 4, "vocab_size": 100, "no_bias": true, "attn_config": {"alibi": "yes"}})");
  ASSERT_FALSE(truth);
  EXPECT_THAT(truth.error().text(),
              HasSubstr("attn_config.alibi: 'yes' is not a truth value (true or false)"));
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
