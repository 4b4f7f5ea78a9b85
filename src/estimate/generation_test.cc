// Images and videos: conservation, laws of guidance and caches, published shares, words of refusals.
#include "estimate/generation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "estimate/operator_shares.h"
#include "estimate/predicted_step.h"
#include "estimate/spec.h"
#include "model/diffusion/diffusion.h"

namespace orrery {
namespace {

using ::testing::HasSubstr;

const Catalog& catalog() { return Catalog::built_in(); }

Scenario image_scenario(const char* model, const char* cluster, const char* plan = "") {
  Spec spec;
  spec.scenario.model = *load_model(model, catalog());
  spec.scenario.cluster = *parse_cluster(cluster, catalog());
  spec.scenario.plan = *parse_plan(plan);
  spec.stated = stated_fields(plan);
  choose_software(spec, *load_software(catalog(), "diffusers-compiled"));
  return spec.scenario;
}

Generation made(const Scenario& asked, const GenerationQuestion& q = {}) {
  auto out = generation(asked, q, catalog());
  EXPECT_TRUE(out) << out.error().text();
  return *std::move(out);
}

std::string refused(const Scenario& asked, const GenerationQuestion& q = {}) {
  const auto out = generation(asked, q, catalog());
  return out ? "" : out.error().text();
}

const GenerationPart& denoiser(const Generation& g) {
  return *std::ranges::find(g.parts, "denoiser", &GenerationPart::role);
}

// ControlNet (arXiv 2302.05543): evaluated as often as the denoiser, on as many images, and about as
// large as its way down and middle.
TEST(Generation, ANetworkThatSteersRunsInEveryStep) {
  const Generation plain = made(image_scenario("stable-diffusion-1.5", "a100-80gb-sxm:1"));
  const Generation steered = made(image_scenario("sd-1.5-controlnet", "a100-80gb-sxm:1"));
  ASSERT_EQ(steered.parts.size(), plain.parts.size() + 1);
  const GenerationPart& control =
      *std::ranges::find(steered.parts, "control network", &GenerationPart::role);
  EXPECT_EQ(control.times, denoiser(steered).times);
  EXPECT_EQ(control.batch, denoiser(steered).batch);
  EXPECT_DOUBLE_EQ((steered.time - plain.time).value(), control.time.value());
  EXPECT_GT(control.flops.value(), 0.3 * denoiser(plain).flops.value());
  EXPECT_LT(control.flops.value(), 0.5 * denoiser(plain).flops.value());
  EXPECT_THAT(refused(image_scenario("sd-controlnet", "a100-80gb-sxm:1")),
              HasSubstr("is no denoiser"));
}

TEST(Generation, ANetworkThatSteersIsMadeForItsDenoiser) {
  const auto steered_by = [](const char* denoiser, const char* network) {
    Scenario asked = image_scenario(denoiser, "a100-80gb-sxm:1");
    ImageModel image = *image_model_of(asked.model);
    image.sampling->control = network;
    asked.model = *build_image_model(image);
    return refused(asked);
  };
  EXPECT_EQ(steered_by("stable-diffusion-1.x", "sd-controlnet"), "");
  EXPECT_EQ(steered_by("stable-diffusion-xl", "sd-controlnet"),
            "sampling.control: 'sd-controlnet' has the levels [320, 640, 1280, 1280] and text of "
            "width 768; the denoiser has the levels [320, 640, 1280] and text of width 2048 (a "
            "control network made for this denoiser)");
  EXPECT_THAT(steered_by("flux-dev", "sd-controlnet"), HasSubstr("the denoiser is none"));
  EXPECT_THAT(steered_by("stable-diffusion-1.x", "sd-control"),
              HasSubstr("no model 'sd-control' (a U-Net with `control: true`: orrery catalog "
                        "generation lists some)"));
}

TEST(Generation, IsTheSumOfItsParts) {
  const Generation g =
      made(image_scenario("stable-diffusion-xl", "a100-80gb-sxm:1"), {.steps = 30});
  ASSERT_EQ(g.parts.size(), 4u);  // two text encoders, U-Net, decoder
  Seconds sum;
  for (const GenerationPart& p : g.parts) {
    sum += p.time;
    EXPECT_DOUBLE_EQ(p.time.value(), p.times * p.once.value());
  }
  EXPECT_DOUBLE_EQ(g.time.value(), sum.value());
  EXPECT_EQ(denoiser(g).times, 30);
  EXPECT_EQ(denoiser(g).batch, 2);
  EXPECT_NEAR(denoiser(g).flops.value() / 1e9, 2 * 6761.2, 0.2);
}

TEST(Generation, StepsAndCachesScaleTheDenoiserAlone) {
  const Scenario asked = image_scenario("flux-dev", "h100-sxm:1");
  const Generation all = made(asked, {.steps = 28});
  const Generation half = made(asked, {.steps = 28, .evaluated = 0.5});
  EXPECT_DOUBLE_EQ(denoiser(half).time.value(), denoiser(all).time.value() / 2);
  EXPECT_DOUBLE_EQ((all.time - half.time).value(), denoiser(half).time.value());
}

// With the prompt on one GPU and without it on another: the step of one evaluation, and an exchange.
TEST(Generation, GuidanceParallelismDividesTheTwoEvaluations) {
  const Generation one = made(image_scenario("stable-diffusion-xl", "a100-80gb-sxm:1"));
  const Generation two = made(image_scenario("stable-diffusion-xl", "a100-80gb-sxm:2"));
  const Generation without =
      made(image_scenario("stable-diffusion-xl", "a100-80gb-sxm:1"), {.guidance = false});
  EXPECT_LT(two.time, one.time);
  EXPECT_GT(denoiser(two).once, denoiser(without).once);
  EXPECT_LT(denoiser(two).once, 1.02 * denoiser(without).once);
}

TEST(Generation, SequenceParallelismMakesAnImageFaster) {
  Seconds before = made(image_scenario("flux-dev", "h100-sxm:1")).time;
  for (const auto& [cluster, plan] : std::initializer_list<std::pair<const char*, const char*>>{
           {"h100-sxm:2", "cp=2,context_parallel=ulysses"},
           {"h100-sxm:4", "cp=4,context_parallel=ulysses"},
           {"h100-sxm:8", "cp=8,context_parallel=ulysses"}}) {
    const Seconds now = made(image_scenario("flux-dev", cluster, plan)).time;
    EXPECT_LT(now, before) << plan;
    EXPECT_GT(now, before / 2) << plan;
    before = now;
  }
}

TEST(Generation, SaysWhyNotAllAtOnce) {
  EXPECT_THAT(
      refused(image_scenario("flux-dev", "h100-sxm:2")),
      HasSubstr(
          "dp 2 does not divide the evaluations of a step, 1 (1 image, no guidance to "
          "divide): some replicas would have nothing to do; divide an image by cp or tp, as with "
          "--plan cp=2, or make more images"));
  EXPECT_THAT(refused(image_scenario("flux-dev", "h100-sxm:40")),
              HasSubstr("divide an image by cp or tp, or make more images"))
      << "4096 tokens are not 40 equal parts";
  EXPECT_THAT(refused(image_scenario("stable-diffusion-xl", "h100-sxm:4")),
              HasSubstr("use at most 2 replicas, or make more images"));
  EXPECT_THAT(
      refused(image_scenario("flux-dev", "h100-sxm:1"), {.images = 0, .steps = -1, .evaluated = 2}),
      HasSubstr("0 images are outside 1 to 1000000; -1 steps are outside 1 to 100000; a "
                "share of 2 of the steps is outside 0 to 1"));
  EXPECT_THAT(refused(image_scenario("llama-3-8b", "h100-sxm:1")),
              HasSubstr("model 'llama-3-8b' is no denoiser of images"));
  EXPECT_THAT(refused(image_scenario("stable-diffusion-xl", "h100-sxm:2", "cp=2")),
              HasSubstr("cp 2: a U-Net is not modelled in pieces"));
}

// Flux has no guidance to divide: all eight ranks share one image. Where data parallelism has work
// for every replica, it stays.
TEST(Generation, ChoosesADivisionWhereNoPlanIsStated) {
  const GenerationQuestion open = {.plan_stated = false};
  const Generation chosen = made(image_scenario("flux-dev", "h100-sxm:8"), open);
  EXPECT_EQ(chosen.plan.cp, 8);
  EXPECT_THAT(chosen.assumed.front(), HasSubstr("no plan was stated"));
  for (const char* plan : {"cp=8", "cp=8,context_parallel=all-to-all"}) {
    EXPECT_LE(chosen.time, made(image_scenario("flux-dev", "h100-sxm:8", plan)).time);
  }
  const Scenario two = image_scenario("stable-diffusion-xl", "a100-80gb-sxm:2");
  EXPECT_EQ(made(two, open).plan, made(two).plan);
  EXPECT_THAT(refused(image_scenario("stable-diffusion-xl", "h100-sxm:4"), open),
              HasSubstr("use at most 2 replicas, or make more images"));
}

// Each encoder sees its own prompt: 77 tokens of CLIP, 256 of T5; the denoiser all 333.
TEST(Generation, EncodersSeeTheirOwnPrompts) {
  const Generation g = made(image_scenario("sd3-medium", "h100-sxm:1"));
  const auto t5 = std::ranges::find(g.parts, "t5-xxl-encoder", &GenerationPart::model);
  ASSERT_NE(t5, g.parts.end());
  const Model encoder = *load_model("t5-xxl-encoder", catalog());
  EXPECT_NEAR(
      t5->flops / static_cast<double>(t5->batch) /
          model_flops_per_sequence(encoder, 256, AttentionCount::causal, 0, Workload::forward),
      1, 0.05);  // without logits
}

// Steps that wait for nothing of the others are no slower, and as fast as their ranks compute; a
// pipeline of layers then has no bubble. Keys and values of the whole image are kept for it.
TEST(Generation, DisplacedStepsWaitForNothing) {
  int shorter = 0;  // where attention does not hide the exchange anyway
  for (const char* plan : {"cp=4", "cp=4,context_parallel=ring", "pp=4"}) {
    SCOPED_TRACE(plan);
    const Scenario asked = image_scenario("flux-dev", "h100-sxm:4", plan);
    const Generation all = made(asked, {.steps = 20});
    const Generation displaced = made(asked, {.steps = 20, .displaced_after = 1});
    const Generation none = made(asked, {.steps = 20, .displaced_after = 20});
    EXPECT_LE(displaced.time, all.time);
    shorter += displaced.time < all.time ? 1 : 0;
    EXPECT_DOUBLE_EQ(none.time.value(), all.time.value());
    EXPECT_GT(denoiser(displaced).memory, denoiser(all).memory);
    const Generation one = made(image_scenario("flux-dev", "h100-sxm:1"), {.steps = 20});
    const double gain = denoiser(one).time / denoiser(displaced).time;
    EXPECT_GT(gain, 2.9);
    EXPECT_LT(gain, 4.1);
  }
  EXPECT_GE(shorter, 2);
  EXPECT_THAT(refused(image_scenario("flux-dev", "h100-sxm:1"), {.displaced_after = 1}),
              HasSubstr("displaced steps need ranks that wait for keys and values or for patches"));
}

// A strip of the image on each of the ranks: nearly as many times faster, and less memory.
TEST(Generation, StripsOfAnImageAreDecodedBesideEachOther) {
  const Scenario asked = image_scenario("flux-dev", "h100-sxm:4", "cp=4");
  const auto decoder = [](const Generation& g) { return g.parts.back(); };
  const GenerationPart whole = decoder(made(asked));
  const GenerationPart strip = decoder(made(asked, {.decoder_ranks = 4}));
  EXPECT_GT(whole.time / strip.time, 2.5);
  EXPECT_LT(whole.time / strip.time, 5);  // the attention in the middle is that of a strip
  EXPECT_LT(strip.memory, whole.memory);
  EXPECT_THAT(refused(asked, {.decoder_ranks = 3}),
              HasSubstr("3 ranks do not divide the height 1024 and the 4 GPUs that make an image"));
}

struct Shares {
  double convolution = 0, attention = 0, linear = 0;
};
Shares shares(const Scenario& asked) {
  Scenario forward = asked;
  forward.training.workload = Workload::forward;
  forward.training.global_batch = 2;
  forward.plan.micro_batch = 2;
  const auto step = predict(std::move(forward), catalog());
  EXPECT_TRUE(step) << step.error().text();
  Shares out;
  double all = 0;
  for (const OperatorShare& o : operator_shares(*step).operators) {
    all += o.time_share;
    if (o.category == Category::convolution) out.convolution += o.time_share;
    if (o.category == Category::attention_core) out.attention += o.time_share;
    if (o.category == Category::attention_projection || o.category == Category::feed_forward) {
      out.linear += o.time_share;
    }
  }
  EXPECT_NEAR(all, 1, 1e-9);
  return out;
}

// Videos attend for most of their time, so that another kernel than the one that runs misleads.
TEST(Generation, AttendsWithTheKernelThatItsSoftwareRuns) {
  const Generation usual = made(image_scenario("hunyuan-video", "h100-sxm:1"));
  EXPECT_EQ(usual.plan.attention, AttentionKernel::flash_2);
  EXPECT_THAT(usual.assumed,
              testing::AllOf(testing::Contains("attention flash-2 (default of diffusers-compiled)"),
                             testing::Not(testing::Contains(HasSubstr("zero")))));
  const Generation stated =
      made(image_scenario("hunyuan-video", "h100-sxm:1", "attention=flash-2"));
  EXPECT_EQ(usual.time, stated.time);
  EXPECT_THAT(stated.assumed, testing::Not(testing::Contains(HasSubstr("attention"))));
  const Generation library =
      made(image_scenario("hunyuan-video", "h100-sxm:1", "attention=library"));
  EXPECT_EQ(library.plan.attention, AttentionKernel::library);
  EXPECT_LT(library.time, 0.8 * usual.time);
}

// arXiv 2312.14385: without flash attention, attention takes the most time of Stable Diffusion on
// A100; with it, convolutions do (up to 44 % in the models of the paper).
TEST(Generation, ConvolutionsLeadOnceAttentionIsFused) {
  const Shares fused =
      shares(image_scenario("stable-diffusion-1.x", "a100-80gb-sxm:1", "attention=flash-2"));
  const Shares unfused =
      shares(image_scenario("stable-diffusion-1.x", "a100-80gb-sxm:1", "attention=unfused"));
  EXPECT_GT(fused.convolution, fused.attention);
  EXPECT_GT(fused.convolution, fused.linear);
  EXPECT_GT(fused.convolution, 0.35);
  EXPECT_GT(unfused.attention, unfused.convolution);
  EXPECT_LT(fused.attention, unfused.attention);
}

}  // namespace
}  // namespace orrery
