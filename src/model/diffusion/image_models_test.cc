// Parameters and FLOPs of image and video models against what their authors, and an independent
// count of the same structures, state.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <set>

#include "catalog/catalog.h"
#include "model/diffusion/diffusion.h"
#include "model/family.h"

namespace orrery {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Model model(const std::string& name) {
  const auto entry = Catalog::built_in().find("generation", name);
  EXPECT_TRUE(entry) << entry.error().text();
  auto out = read_model(*entry);
  EXPECT_TRUE(out) << out.error().text();
  return *std::move(out);
}

Model at_size(const Model& model, const ImageSize& size) {
  auto out = with_image(model, size);
  EXPECT_TRUE(out) << out.error().text();
  return *std::move(out);
}

Binding whole(const Model& m) {
  return {.sequence_length = static_cast<double>(m.published.sequence_length),
          .source_length = static_cast<double>(m.published.source_length)};
}

// GFLOP of one evaluation of one image, forward.
struct Gflops {
  double convolution = 0, linear = 0, self_attention = 0, cross_attention = 0, conditions = 0;
  [[nodiscard]] double all() const {
    return convolution + linear + self_attention + cross_attention + conditions;
  }
};

template <class Visit>
void visit_operators(const Model& m, Visit visit) {
  for (const Operator& op : m.embedding.operators) visit(op);
  for (const std::uint16_t layer : m.layers) {
    for (const Operator& op : m.blocks[layer].operators) visit(op);
  }
  for (const Operator& op : m.head.operators) visit(op);
}

Gflops gflops(const Model& m) {
  Gflops out;
  const Binding b = whole(m);
  visit_operators(m, [&](const Operator& op) {
    if (!op.counts_in_model_flops) return;
    const double flops = model_flops(op, Phase::forward, b).value() / 1e9;
    switch (op.op_class) {
      case OperatorClass::convolution:
        out.convolution += flops;
        break;
      case OperatorClass::attention_core:
        (op.attention.cross ? out.cross_attention : out.self_attention) += flops;
        break;
      case OperatorClass::embedding:
        out.conditions += flops;
        break;
      default:
        out.linear += flops;
    }
  });
  return out;
}

// Stable Diffusion 1, 2.1 and XL: as counted from the published configurations (see their catalog
// entries). The others: counts of checkpoints from memory, which could not be looked up.
TEST(ImageModels, HaveTheKnownParametersToTheUnit) {
  for (const auto& [name, count] : std::initializer_list<std::pair<const char*, double>>{
           {"stable-diffusion-1.x", 859'520'964},
           {"stable-diffusion-2.1", 865'910'724},
           {"stable-diffusion-xl", 2'567'463'684},
           {"stable-video-diffusion", 1'524'623'082},
           {"dit-xl-2", 675'129'632},
           {"flux-dev", 11'901'408'320},
           {"hunyuan-video", 12'821'012'544},
           {"sd3-medium", 2'028'328'000},
           {"wan-2.1-t2v-14b", 14'288'491'584},
           {"wan-2.1-t2v-1.3b", 1'418'996'800},
           {"sd-controlnet", 361'279'120},
           {"clip-vit-l-text", 123'060'480}}) {
    EXPECT_EQ(parameters(model(name)), count) << name;
  }
  EXPECT_EQ(parameters(model("sd-vae-encoder")) + parameters(model("sd-vae-decoder")), 83'653'863);
}

// Published sizes with two or three digits.
TEST(ImageModels, HaveThePublishedSizes) {
  for (const std::string& name : Catalog::built_in().names("generation")) {
    const Model m = model(name);
    const ImageModel* image = image_model_of(m);
    if (image == nullptr || image->published_parameters == 0) continue;
    const bool recalled = name == "muse-3b" || name == "phenaki";
    EXPECT_NEAR(parameters(m) / image->published_parameters, 1, recalled ? 0.15 : 0.02) << name;
  }
}

// arXiv 2112.10752 and the configurations of the releases, walked by hand with 2 FLOPs a
// multiply-add: GFLOP of a step, and shares in percent.
TEST(ImageModels, UNetsHaveTheFlopsAndSharesOfTheirStructure) {
  struct Row {
    const char* name;
    std::int64_t side;
    double gflops, convolution, linear, self_attention, cross_attention;
  };
  for (const Row& row : {Row{"stable-diffusion-1.x", 256, 180.1, 61.6, 33.6, 4.3, 0.5},
                         {"stable-diffusion-1.x", 512, 803.3, 55.3, 29.0, 15.2, 0.4},
                         {"stable-diffusion-1.x", 1024, 4674.0, 38.0, 19.8, 41.9, 0.3},
                         {"stable-diffusion-2.1", 768, 2149.1, 43.8, 27.0, 28.9, 0.4},
                         {"stable-diffusion-xl", 1024, 6761.2, 24.0, 64.4, 11.1, 0.5}}) {
    SCOPED_TRACE(row.name + std::to_string(row.side));
    const Gflops g = gflops(at_size(model(row.name), {row.side, row.side, 1}));
    EXPECT_NEAR(g.all(), row.gflops, 0.06);
    EXPECT_NEAR(100 * g.convolution / g.all(), row.convolution, 0.06);
    EXPECT_NEAR(100 * g.linear / g.all(), row.linear, 0.06);
    EXPECT_NEAR(100 * g.self_attention / g.all(), row.self_attention, 0.06);
    EXPECT_NEAR(100 * g.cross_attention / g.all(), row.cross_attention, 0.06);
  }
}

// arXiv 2212.09748 table 1, which counts a multiply-add as one.
TEST(ImageModels, DiTHasThePublishedFlops) {
  for (const auto& [name, count] : std::initializer_list<std::pair<const char*, double>>{
           {"dit-s-2", 6.06}, {"dit-b-2", 23.01}, {"dit-l-2", 80.71}, {"dit-xl-2", 118.64}}) {
    EXPECT_NEAR(gflops(model(name)).all() / 2 / count, 1, 0.001) << name;
  }
}

TEST(ImageModels, SequenceLengthFallsAndRisesAlongAUNet) {
  const Model m = model("stable-diffusion-1.x");
  std::vector<double> seen;
  visit_operators(m, [&](const Operator& op) {
    if (op.kind == OperatorKind::attention && !op.attention.cross) {
      seen.push_back(whole_length(op.n, whole(m)));
    }
  });
  EXPECT_THAT(seen, ElementsAre(4096, 4096, 1024, 1024, 256, 256, 64, 256, 256, 256, 1024, 1024,
                                1024, 4096, 4096, 4096));
}

// arXiv 2408.06072: 49 frames of 720x480. Full attention is about half of the work: per block
// 4 s^2 h against 24 s h^2.
TEST(ImageModels, VideosHaveThePublishedTokens) {
  const Model cog = model("cogvideox-5b");
  EXPECT_EQ(cog.published.sequence_length + cog.published.source_length, 17776);
  const Gflops g = gflops(cog);
  EXPECT_NEAR(g.self_attention, 42 * 4 * 17776.0 * 17776 * 3072 / 1e9, 1);
  EXPECT_NEAR(g.linear, 42 * 24 * 17776.0 * 3072 * 3072 / 1e9, 50);
  // arXiv 2412.03603: 129 frames of 1280x720 are 33 x 45 x 80 tokens.
  EXPECT_EQ(model("hunyuan-video").published.sequence_length, 118'800);
}

// FLOPs of temporal attention against spatial: frames over positions of a frame.
TEST(ImageModels, TemporalAttentionSeesFramesAndSpatialAttentionPositions) {
  const Model m = model("stable-video-diffusion");
  double spatial = 0;
  double temporal = 0;
  const Block& first = m.blocks[m.layers[0]];
  for (const Operator& op : first.operators) {
    if (op.kind != OperatorKind::attention || op.attention.cross) continue;
    const double flops = model_flops(op, Phase::forward, whole(m)).value();
    (op.name == "temporal.core" ? temporal : spatial) += flops;
  }
  EXPECT_DOUBLE_EQ(temporal / spatial, 14.0 / (72 * 128));
  EXPECT_DOUBLE_EQ(spatial, 4.0 * 14 * (72.0 * 128) * (72 * 128) * 320);
}

// Work grows with the tokens, attention with their square.
TEST(ImageModels, AttentionGrowsWithTheFourthPowerOfTheSide) {
  const Model m = model("dit-xl-2");
  const Gflops small = gflops(m);
  const Gflops large = gflops(at_size(m, {512, 512, 1}));
  EXPECT_DOUBLE_EQ(large.self_attention / small.self_attention, 16);
  EXPECT_DOUBLE_EQ(large.linear / small.linear, 4);
  EXPECT_DOUBLE_EQ(parameters(at_size(m, {512, 512, 1})), parameters(m));
}

TEST(ImageModels, AreWrittenAsTheyAreRead) {
  for (const std::string& name : Catalog::built_in().names("generation")) {
    const Model m = model(name);
    const auto again = read_model(Document{"again", m.family->write(m)});
    ASSERT_TRUE(again) << name << ": " << again.error().text();
    EXPECT_EQ(parameters(*again), parameters(m)) << name;
    EXPECT_EQ(again->published.sequence_length, m.published.sequence_length) << name;
  }
}

std::string refused(const ImageModel& image) {
  const auto out = build_image_model(image);
  return out ? "" : out.error().message;
}

TEST(ImageModels, SaysEveryReasonAtOnce) {
  const ImageModel flux = *image_model_of(model("flux-dev"));
  ImageModel image = flux;
  image.image = {1000, 1030, 2};
  EXPECT_EQ(refused(image),
            "model 'flux-dev' cannot be built: image.height 1000 is not a multiple of 16 pixels; "
            "write 1008; image.width 1030 is not a multiple of 16 pixels; write 1024");
  image = *image_model_of(model("hunyuan-video"));
  image.image.frames = 130;
  image.transformer->heads = 7;
  EXPECT_EQ(refused(image),
            "model 'hunyuan-video' cannot be built: transformer.heads 7 does not divide hidden "
            "3072; image.frames 130 is not one more than a multiple of 4; write 129");
  image = *image_model_of(model("stable-diffusion-1.x"));
  image.unet->depth = {1, 1};
  image.text = {};
  EXPECT_THAT(refused(image), HasSubstr("unet.depth lists 2 resolutions, unet.channels 4; "
                                        "unet.depth has transformer blocks, which attend to text"));
  image.unet.reset();
  EXPECT_THAT(refused(image), HasSubstr("state one of unet, transformer and autoencoder"));
}

TEST(ImageModels, DivideHeadsAndTokensOfTransformersOnly) {
  const Model flux = model("flux-dev");
  const Division usual{.sequence_length = 4096};
  EXPECT_THAT(flux.family->division_problems(flux, usual), ElementsAre());
  Division d = usual;
  d.tp = 5;
  d.sequence_length = 4097;
  EXPECT_THAT(
      flux.family->division_problems(flux, d),
      ElementsAre(HasSubstr("not that of an image of 1024x1024, 4096; state the image's size"),
                  "tp 5 does not divide 24 attention heads",
                  "tp 5 does not divide the feed-forward width 12288"));
  // Heads are exchanged among those ranks of cp that the plan says.
  d = usual;
  d.cp = 32;
  d.head_ranks = 16;
  EXPECT_THAT(
      flux.family->division_problems(flux, d),
      ElementsAre("ulysses divides whole heads over tp 1 x ulysses 16 = 16 ranks: 24 "
                  "attention heads are not a multiple; use context_parallel=ring,ulysses=8"));
  d.head_ranks = 32;
  EXPECT_THAT(flux.family->division_problems(flux, d),
              ElementsAre("context_parallel=all-to-all divides whole heads over tp 1 x cp 32 = 32 "
                          "ranks: 24 attention heads are not a multiple; use "
                          "context_parallel=ring,ulysses=8"));
  d.head_ranks = 8;
  EXPECT_THAT(flux.family->division_problems(flux, d), ElementsAre());
  const Model unet = model("stable-diffusion-1.x");
  d = usual;
  d.tp = 2;
  EXPECT_THAT(unet.family->division_problems(unet, d),
              ElementsAre(HasSubstr("tp 2: a U-Net is not modelled in pieces; use replicas (dp)")));
}

Document config(const std::string& text) { return *parse_json(text, "config.json"); }

TEST(DiffusersConfig, GivesTheModelsOfTheCatalog) {
  const auto unet = read_model(config(R"({"_class_name": "UNet2DConditionModel",
      "attention_head_dim": 8, "block_out_channels": [320, 640, 1280, 1280],
      "cross_attention_dim": 768, "in_channels": 4, "layers_per_block": 2, "out_channels": 4,
      "sample_size": 64, "down_block_types": ["CrossAttnDownBlock2D", "CrossAttnDownBlock2D",
      "CrossAttnDownBlock2D", "DownBlock2D"]})"));
  ASSERT_TRUE(unet) << unet.error().text();
  EXPECT_EQ(parameters(*unet), 859'520'964);
  EXPECT_NEAR(gflops(*unet).all(), 803.3, 0.05);
  const auto sdxl = read_model(config(R"({"_class_name": "UNet2DConditionModel",
      "attention_head_dim": [5, 10, 20], "block_out_channels": [320, 640, 1280],
      "cross_attention_dim": 2048, "layers_per_block": 2, "sample_size": 128,
      "transformer_layers_per_block": [1, 2, 10], "use_linear_projection": true,
      "addition_embed_type": "text_time", "projection_class_embeddings_input_dim": 2816,
      "down_block_types": ["DownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D"]})"));
  ASSERT_TRUE(sdxl) << sdxl.error().text();
  EXPECT_EQ(parameters(*sdxl), 2'567'463'684);
  const auto flux = read_model(config(R"({"_class_name": "FluxTransformer2DModel",
      "attention_head_dim": 128, "guidance_embeds": true, "in_channels": 64,
      "joint_attention_dim": 4096, "num_attention_heads": 24, "num_layers": 19,
      "num_single_layers": 38, "patch_size": 1, "pooled_projection_dim": 768})"));
  ASSERT_TRUE(flux) << flux.error().text();
  EXPECT_EQ(parameters(*flux), 11'901'408'320);
  const auto video = read_model(config(R"({"_class_name": "HunyuanVideoTransformer3DModel",
      "attention_head_dim": 128, "num_attention_heads": 24, "num_layers": 20,
      "num_single_layers": 40, "qk_norm": "rms_norm"})"));
  ASSERT_TRUE(video) << video.error().text();
  EXPECT_EQ(parameters(*video), 12'821'012'544);
  const auto cog = read_model(config(R"({"_class_name": "CogVideoXTransformer3DModel",
      "attention_head_dim": 64, "num_attention_heads": 48, "num_layers": 42,
      "use_rotary_positional_embeddings": true})"));
  ASSERT_TRUE(cog) << cog.error().text();
  EXPECT_EQ(parameters(*cog), parameters(model("cogvideox-5b")));
  const auto wan = read_model(config(R"({"_class_name": "WanTransformer3DModel",
      "attention_head_dim": 128, "cross_attn_norm": true, "ffn_dim": 13824, "image_dim": null,
      "num_attention_heads": 40, "num_layers": 40, "patch_size": [1, 2, 2],
      "qk_norm": "rms_norm_across_heads", "text_dim": 4096})"));
  ASSERT_TRUE(wan) << wan.error().text();
  EXPECT_EQ(parameters(*wan), 14'288'491'584);
  EXPECT_NEAR(gflops(*wan).all() / gflops(model("wan-2.1-t2v-14b")).all(), 1, 1e-12);
  const auto decoder = read_model(config(R"({"_class_name": "AutoencoderKL",
      "block_out_channels": [128, 256, 512, 512], "layers_per_block": 2, "latent_channels": 4,
      "sample_size": 512})"));
  ASSERT_TRUE(decoder) << decoder.error().text();
  EXPECT_EQ(parameters(*decoder), parameters(model("sd-vae-decoder")));
}

TEST(DiffusersConfig, SaysWhatIsMissingOrNotModelled) {
  const auto message = [](const std::string& text) {
    const auto out = read_model(config(text));
    return out ? "" : out.error().text();
  };
  EXPECT_THAT(message(R"({"_class_name": "SD3Transformer2DModel", "num_layers": 24})"),
              testing::AllOf(HasSubstr("num_attention_heads"), HasSubstr("attention_head_dim"),
                             HasSubstr("joint_attention_dim"), HasSubstr("pooled_projection_dim")));
  EXPECT_THAT(message(R"({"_class_name": "LTXVideoTransformer3DModel"})"),
              HasSubstr("class 'LTXVideoTransformer3DModel' of diffusers is not known"));
  const auto wan = [&](const std::string& further) {
    return message(R"({"_class_name": "WanTransformer3DModel", "num_attention_heads": 40,
        "attention_head_dim": 128, "ffn_dim": 13824, "num_layers": 40, )" +
                   further + "}");
  };
  EXPECT_THAT(
      wan(R"("patch_size": [1, 2, 4])"),
      HasSubstr(
          "patch_size.1: a patch that is not square is not modelled (write frames, height and "
          "width: [1, 2, 2])"));
  EXPECT_THAT(wan(R"("image_dim": 1280)"), HasSubstr("image_dim is not modelled"));
  EXPECT_THAT(wan(R"("in_channels": 48, "out_channels": 48)"), HasSubstr("latents of 48 channels"));
  EXPECT_THAT(wan(R"("cross_attn_norm": false)"), HasSubstr("without a norm is not modelled"));
  EXPECT_THAT(wan(R"("qk_norm": "layer_norm")"),
              HasSubstr("qk_norm 'layer_norm' is not modelled (write rms_norm_across_heads)"));
  EXPECT_THAT(message(R"({"_class_name": "UNet2DConditionModel", "block_out_channels": [320],
      "down_block_types": ["AttnDownBlock2D"]})"),
              HasSubstr("block AttnDownBlock2D is not modelled"));
}

constexpr const char* kTransformerClasses[] = {
    "FluxTransformer2DModel",      "SD3Transformer2DModel",          "DiTTransformer2DModel",
    "CogVideoXTransformer3DModel", "HunyuanVideoTransformer3DModel", "WanTransformer3DModel"};
// A class with the keys that any of them needs, but for those that `further` states.
Result<Model> transformer(const std::string& name, const std::string& further = "") {
  std::string keys = further;
  for (const auto& [key, value] :
       std::initializer_list<std::pair<std::string, const char*>>{{"num_attention_heads", "24"},
                                                                  {"attention_head_dim", "64"},
                                                                  {"num_layers", "4"},
                                                                  {"num_single_layers", "4"},
                                                                  {"num_embeds_ada_norm", "1000"},
                                                                  {"joint_attention_dim", "4096"},
                                                                  {"pooled_projection_dim", "768"},
                                                                  {"ffn_dim", "4096"}}) {
    if (further.find('"' + key + '"') != std::string::npos) continue;
    keys += (keys.empty() ? "\"" : ", \"") + key + "\": " + value;
  }
  return read_model(config(R"({"_class_name": ")" + name + R"(", )" + keys + "}"));
}
std::string refusal(const std::string& name, const std::string& further) {
  const auto out = transformer(name, further);
  return out ? "predicted" : out.error().text();
}

TEST(DiffusersConfig, AssumesOneThingOfEveryClassThatSaysTooLittle) {
  const auto assumed = [](const std::string& name) {
    const auto out = transformer(name);
    return out ? out->assumed : std::vector<std::string>{out.error().text()};
  };
  EXPECT_THAT(assumed("FluxTransformer2DModel"),
              ElementsAre("a prompt of 512 tokens and an image of 1024x1024, as the model's page"));
  EXPECT_THAT(
      assumed("SD3Transformer2DModel"),
      ElementsAre("a prompt of 77 tokens of CLIP and 256 of T5, as the pipeline encodes it"));
  EXPECT_THAT(assumed("DiTTransformer2DModel"),
              ElementsAre("time step and label are embedded once; diffusers stores a copy of their "
                          "weights in each layer"));
  EXPECT_THAT(assumed("CogVideoXTransformer3DModel"), ElementsAre());
  EXPECT_THAT(
      assumed("HunyuanVideoTransformer3DModel"),
      ElementsAre("a prompt of 256 tokens and 129 frames of 1280x720, as the model's page"));
  EXPECT_THAT(assumed("WanTransformer3DModel"),
              ElementsAre("a prompt of 512 tokens and 81 frames of 1280x720, as the model's page"));
}

TEST(DiffusersConfig, TakesNoNameButThatOfAClass) {
  for (const char* name : {"flux", "Flux", "fluxtransformer2dmodel"}) {
    EXPECT_THAT(refusal(name, ""),
                HasSubstr("class '" + std::string(name) + "' of diffusers is not known"));
  }
  EXPECT_THAT(refusal("fluxtransformer2dmodel", ""),
              HasSubstr("did you mean 'FluxTransformer2DModel'?"));
  for (const char* name : {"wan", "hunyuan-video", "transformer"}) {
    EXPECT_THAT(refusal(name, ""), HasSubstr("of diffusers is not known"));
  }
}

TEST(DiffusersConfig, RefusesNormsOfQueriesAndKeysByTheirValue) {
  for (const char* name : kTransformerClasses) {
    for (const char* value : {"\"weird\"", "-1", "false", "true", "2"}) {
      std::string text = value;
      std::erase(text, '"');
      EXPECT_THAT(refusal(name, std::string(R"("qk_norm": )") + value),
                  HasSubstr("qk_norm '" + text + "' is not modelled (write "))
          << name;
    }
    EXPECT_THAT(refusal(name, R"("qk_norm": [])"), HasSubstr("qk_norm that is a list is not"));
    EXPECT_THAT(refusal(name, R"("qk_norm": {})"), HasSubstr("qk_norm that is a map is not"));
    EXPECT_EQ(refusal(name, R"("qk_norm": null)"), "predicted") << name;
  }
}

TEST(DiffusersConfig, RefusesKeysOfAnotherKind) {
  const std::string wan = "WanTransformer3DModel";
  for (const char* value : {"0", "-1", "\"text\"", "[]", "48"}) {
    EXPECT_THAT(refusal(wan, std::string(R"("cross_attn_norm": )") + value),
                HasSubstr("cross_attn_norm: "))
        << value;
  }
  EXPECT_THAT(refusal(wan, R"("cross_attn_norm": "text")"),
              HasSubstr("'text' is not a truth value (true or false)"));
  for (const char* value :
       {"[1, 2, 2, 2]", "[1, 2]", "[]", "[1, null, 2]", "\"text\"", "1.5", "2", "true", "{}"}) {
    EXPECT_THAT(refusal(wan, std::string(R"("patch_size": )") + value),
                HasSubstr("patch_size: a patch_size that is not a list of three numbers is not "
                          "modelled (write frames, height and width: [1, 2, 2])"))
        << value;
  }
  EXPECT_THAT(refusal(wan, R"("patch_size": [1, "two", 2])"), HasSubstr("'two' is not a whole"));
  for (const char* value : {"\"text\"", "\"1\"", "true", "2"}) {
    std::string text = value;
    std::erase(text, '"');
    EXPECT_THAT(refusal("FluxTransformer2DModel", std::string(R"("patch_size": )") + value),
                HasSubstr("patch_size '" + text + "' is not modelled (write 1)"));
  }
}

TEST(DiffusersConfig, TakesNullForAbsent) {
  for (const char* name : kTransformerClasses) {
    EXPECT_THAT(refusal(name, R"("num_attention_heads": null)"),
                HasSubstr("' lacks num_attention_heads"));
    const auto absent = transformer(name);
    const auto null = transformer(
        name, R"("guidance_embeds": null, "cross_attn_norm": null, "patch_size": null)");
    ASSERT_TRUE(absent) << absent.error().text();
    ASSERT_TRUE(null) << null.error().text();
    EXPECT_EQ(parameters(*null), parameters(*absent)) << name;
  }
  EXPECT_THAT(refusal("DiTTransformer2DModel", R"("num_embeds_ada_norm": null)"),
              HasSubstr("' lacks num_embeds_ada_norm"));
}

}  // namespace
}  // namespace orrery
