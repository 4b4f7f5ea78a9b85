#include "estimate/generation.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "estimate/predicted_step.h"
#include "estimate/spec.h"
#include "model/diffusion/diffusion.h"
#include "plan/completed_plan.h"

namespace orrery {
namespace {

constexpr std::int64_t kMostImages = 1'000'000;
constexpr std::int64_t kMostSteps = 100'000;

struct RunPart {
  GenerationPart part;
  Estimate figures;
  Bytes weights;
};

// A forward of a batch, priced.
Result<RunPart> run(Scenario scenario, std::string role, std::int64_t batch, double times,
                    const Catalog& catalog) {
  scenario.training.workload = Workload::forward;
  scenario.training.global_batch = batch;
  ORRERY_TRY(const PredictedStep step, predict(std::move(scenario), catalog));
  RunPart out;
  out.figures = estimate(step);
  GenerationPart& part = out.part;
  part.role = std::move(role);
  part.model = step.model().name;
  part.times = times;
  part.batch = batch;
  part.once = out.figures.step_time;
  const Training& training = step.training();
  part.flops =
      static_cast<double>(batch) *
      model_flops_per_sequence(step.model(), static_cast<double>(training.sequence_length),
                               AttentionCount::causal, static_cast<double>(training.source_length),
                               Workload::forward);
  part.parameters = parameters(step.model());
  part.memory = out.figures.peak_memory;
  for (const StageReport& stage : out.figures.stages) {
    out.weights = std::max(out.weights, Bytes(static_cast<double>(stage.memory.parameters)));
  }
  if (const ImageModel* image = image_model_of(step.model()); image && !image->autoencoder) {
    // The output of the ranks that share an image, or its two evaluations.
    const CostContext& costs = step.priced->cache.context();
    const double images = static_cast<double>(batch) / static_cast<double>(step.plan().dp);
    const Bytes latent = tensor_element_size(training.precision) *
                         (std::max(1.0, images) * static_cast<double>(image->out_channels) *
                          latent_of(*image).positions());
    if (step.plan().cp > 1) {
      part.once += costs.communicate(CollectiveKind::all_gather, latent, step.costs.layout->cp);
    }
    if (step.plan().dp > 1) {
      part.once +=
          costs.communicate(CollectiveKind::all_gather, latent * 2, step.costs.layout->dense_shard);
    }
  }
  part.time = part.once * times;
  return out;
}

// A network that runs whole on one rank.
Scenario on_one_rank(const Scenario& scenario, Model model) {
  Scenario out = scenario;
  out.model = std::move(model);
  out.cluster.accelerators = 1;
  Plan plan;
  plan.attention = scenario.plan.attention;
  plan.zero = 0;
  out.plan = plan;
  out.training.sequence_length = 0;
  out.training.source_length = 0;
  return out;
}

// The encoder's output is what is asked for: no logits.
Model without_logits(Model model) {
  std::erase_if(model.head.operators, [](const Operator& op) {
    return op.op_class == OperatorClass::logits || op.op_class == OperatorClass::loss;
  });
  return model;
}

Result<void> judge(const GenerationQuestion& q, const Scenario& scenario, std::int64_t steps,
                   std::int64_t evaluations) {
  std::string all;
  const auto refuse = [&](std::string reason) { all += (all.empty() ? "" : "; ") + reason; };
  if (q.images < 1 || q.images > kMostImages) {
    refuse(fmt::format("{} images are outside 1 to {}", q.images, kMostImages));
  }
  if (steps < 1 || steps > kMostSteps) {
    refuse(fmt::format("{} steps are outside 1 to {}", steps, kMostSteps));
  }
  if (!(q.evaluated > 0 && q.evaluated <= 1)) {
    refuse(fmt::format("a share of {} of the steps is outside 0 to 1", q.evaluated));
  }
  const Plan& plan = scenario.plan;
  const std::int64_t ranks = plan.tp * plan.cp * plan.pp;
  const std::int64_t gpus = scenario.cluster.accelerators;
  if (all.empty() && ranks > 0 && gpus % ranks == 0) {
    const std::int64_t dp = plan.dp > 0 ? plan.dp : gpus / ranks;
    const std::int64_t batch = q.images * evaluations;
    if (batch % dp != 0) {
      refuse(
          fmt::format("dp {} does not divide the {} evaluations of a step ({} {}, {}): some "
                      "replicas would have "
                      "nothing to do; divide an image by cp or tp, or make more images",
                      dp, batch, q.images, q.images == 1 ? "image" : "images",
                      evaluations == 2 ? "with and without the prompt" : "no guidance to divide"));
    }
  }
  if (all.empty()) return {};
  return bad_input("the images cannot be made: " + all);
}

}  // namespace

Result<Generation> generation(const Scenario& asked, const GenerationQuestion& q,
                              const Catalog& catalog) {
  const ImageModel* image = image_model_of(asked.model);
  if (image == nullptr || image->autoencoder) {
    return bad_input("model '" + asked.model.name + "' is no denoiser of images", "",
                     "orrery catalog generation lists some");
  }
  const Sampling sampling = image->sampling.value_or(Sampling{});
  Generation out;
  out.model = asked.model.name;
  out.image = image->image;
  out.images = q.images;
  out.steps = q.steps > 0 ? q.steps : sampling.steps;
  out.guidance = q.guidance.value_or(sampling.guidance);
  const std::int64_t evaluations = out.guidance ? 2 : 1;
  ORRERY_RETURN_IF_ERROR(judge(q, asked, q.steps != 0 ? q.steps : out.steps, evaluations));
  if (!image->sampling) {
    out.assumed.push_back(fmt::format(
        "{} steps and a prompt encoded elsewhere: the model's description has no `sampling`",
        out.steps));
  }
  const std::int64_t batch = q.images * evaluations;
  std::vector<RunPart> runs;
  for (const std::string& name : sampling.text_encoders) {
    ORRERY_TRY(Model encoder, at("sampling.text_encoders", load_model(name, catalog)));
    Scenario scenario = on_one_rank(asked, without_logits(std::move(encoder)));
    scenario.training.sequence_length =
        std::min(usual_sequence_length(scenario.model), image->text.tokens);
    ORRERY_TRY(RunPart part, run(std::move(scenario), "text encoder", batch, 1, catalog));
    runs.push_back(std::move(part));
  }
  std::vector<Model> denoisers = {asked.model};
  for (const std::string& name : sampling.cascade) {
    ORRERY_TRY(Model next, at("sampling.cascade", load_model(name, catalog)));
    denoisers.push_back(std::move(next));
  }
  std::int64_t dp = 1;
  for (Model& model : denoisers) {
    Scenario scenario = asked;
    scenario.model = std::move(model);
    const std::int64_t ranks = asked.plan.tp * asked.plan.cp * asked.plan.pp;
    if (scenario.plan.micro_batch == 1 && ranks > 0) {  // all of a replica's evaluations at once
      const std::int64_t replicas = std::max<std::int64_t>(
          1, asked.plan.dp > 0 ? asked.plan.dp : asked.cluster.accelerators / ranks);
      scenario.plan.micro_batch = std::max<std::int64_t>(1, batch / replicas);
    }
    double steps = static_cast<double>(out.steps);
    if (const ImageModel* own = image_model_of(scenario.model);
        out.gpus > 0 && own && own->sampling) {
      steps = static_cast<double>(own->sampling->steps);  // of what follows in a cascade
    }
    ORRERY_TRY(RunPart part,
               run(std::move(scenario), "denoiser", batch, steps * q.evaluated, catalog));
    if (out.gpus == 0) {
      out.plan = part.figures.plan;
      out.software = part.figures.software;
      out.gpus = part.figures.gpus;
      out.memory_capacity = part.figures.memory_capacity;
      dp = part.figures.plan.dp;
    }
    runs.push_back(std::move(part));
  }
  if (!sampling.decoder.empty()) {
    ORRERY_TRY(const Model own, at("sampling.decoder", load_model(sampling.decoder, catalog)));
    ORRERY_TRY(Model decoder, at("sampling.decoder", with_image(own, image->image)));
    const std::int64_t replicas = std::max<std::int64_t>(1, dp / evaluations);
    const std::int64_t images = (q.images + replicas - 1) / replicas;
    ORRERY_TRY(RunPart part,
               run(on_one_rank(asked, std::move(decoder)), "decoder", images, 1, catalog));
    runs.push_back(std::move(part));
  }
  ByteCount weights = 0;
  for (const RunPart& r : runs) weights += static_cast<ByteCount>(r.weights.value());
  ByteCount beside = 0;
  for (RunPart& r : runs) {
    out.time += r.part.time;
    const ByteCount own = r.part.memory - static_cast<ByteCount>(r.weights.value());
    const ByteCount room = out.memory_capacity - weights;
    if (r.part.role == "decoder" && own > room && room > 0) {
      const ByteCount tiles = (own + room - 1) / room;
      r.part.memory -= own - own / tiles;
      beside = std::max(beside, own / tiles);
      out.assumed.push_back(fmt::format(
          "the decoder works through {} tiles of the image one after the other, for the whole does "
          "not fit; what tiles overlap is not counted",
          tiles));
    } else {
      beside = std::max(beside, own);
    }
    out.parts.push_back(std::move(r.part));
  }
  out.memory = weights + beside;
  out.verdict = out.memory <= out.memory_capacity ? Verdict::fits : Verdict::does_not_fit;
  return out;
}

}  // namespace orrery
