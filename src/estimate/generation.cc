#include "estimate/generation.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include "cluster/accelerator_noun.h"
#include "cost/collective/group_shape.h"
#include "estimate/assumptions.h"
#include "estimate/predicted_step.h"
#include "estimate/spec.h"
#include "model/diffusion/diffusion.h"
#include "outcome/printable.h"
#include "plan/completed_plan.h"
#include "plan/plan_rules.h"
#include "plan/plan_settings.h"

namespace orrery {
namespace {

constexpr std::int64_t kMostImages = 1'000'000;
constexpr std::int64_t kMostSteps = 100'000;

struct RunPart {
  GenerationPart part;
  Estimate figures;
  Bytes weights;
};

// A forward of a batch, priced; `images` are made of it.
Result<RunPart> run(Scenario scenario, std::string role, std::int64_t batch, std::int64_t images,
                    double times, const Catalog& catalog) {
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
  if (const ImageModel* image = image_model_of(step.model());
      image && !image->autoencoder && !steers(*image)) {
    // The output of the ranks that share an image, or its two evaluations.
    const CostContext& costs = step.priced->cache.context();
    const double of_replica = static_cast<double>(batch) / static_cast<double>(step.plan().dp);
    const Bytes latent = tensor_element_size(training.precision) *
                         (std::max(1.0, of_replica) * static_cast<double>(image->out_channels) *
                          latent_of(*image).positions());
    if (step.plan().cp > 1) {
      part.once += costs.communicate(CollectiveKind::all_gather, latent, step.costs.layout->cp);
    }
    if (step.plan().dp > images) {
      part.once +=
          costs.communicate(CollectiveKind::all_gather, latent * 2, step.costs.layout->dense_shard);
    }
  }
  part.time = part.once * times;
  return out;
}

// A network that runs whole on one rank, on a batch at once.
Scenario on_one_rank(const Scenario& scenario, Model model, std::int64_t batch) {
  Scenario out = scenario;
  out.model = std::move(model);
  out.cluster.accelerators = 1;
  Plan plan;
  plan.attention = scenario.plan.attention;
  plan.zero = 0;
  plan.micro_batch = batch;
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

// The steps of the denoiser after the first ones, displaced; `once` becomes their mean.
Result<void> displace(RunPart& run, const Model& model, const Training& training,
                      std::int64_t first) {
  const Plan& plan = run.figures.plan;
  const bool exchanges = plan.context_parallel == ContextParallel::all_to_all;
  if (plan.pp == 1 && (plan.cp == 1 || exchanges)) {
    return bad_input("displaced steps need ranks that wait for keys and values or for patches",
                     "displaced steps",
                     "a plan with pp, or with cp and context_parallel all-gather or ring");
  }
  const auto of = [&](Category c) { return run.figures.breakdown[c].seconds(); };
  const Seconds sent = of(Category::exposed_cp) + of(Category::exposed_pp);
  GenerationPart& part = run.part;
  const Seconds displaced = std::max(part.once - sent - of(Category::bubble), sent);
  const double whole = std::min(part.times, static_cast<double>(first));
  part.time = part.once * whole + displaced * (part.times - whole);
  part.once = part.time / part.times;
  // Keys and values of all tokens, of the layers of a stage.
  const double layers = static_cast<double>(model.layers.size()) / static_cast<double>(plan.pp);
  const double tokens = static_cast<double>(usual_sequence_length(model)) +
                        static_cast<double>(model.published.source_length);
  const double evaluations = static_cast<double>(part.batch) / static_cast<double>(plan.dp);
  part.memory += static_cast<ByteCount>(tensor_element_size(training.precision).value() * 2 *
                                        tokens * model.width * layers * evaluations);
  return {};
}

// What to do about more replicas than evaluations: `batch` of them, and a completed plan.
std::string without_idle_replicas(const Scenario& asked, const CompletedPlan& completed,
                                  std::int64_t batch) {
  const std::int64_t busy = std::gcd(completed.plan.dp, batch);
  if (image_model_of(asked.model)->unet) {
    return fmt::format("use at most {} {}, or make more images", busy,
                       busy == 1 ? "replica" : "replicas");
  }
  Plan divided = completed.plan;
  divided.cp *= divided.dp / busy;
  divided.dp = busy;
  Training training = completed.training;
  training.global_batch = batch;
  const bool valid = plan_problems(asked.model, asked.cluster, training, divided).empty();
  return fmt::format("divide an image by cp or tp{}, or make more images",
                     valid ? fmt::format(", as with --plan cp={}", divided.cp) : "");
}

// A plan with dp 0: the degrees do not divide the GPUs.
Result<void> judge(const Scenario& asked, const CompletedPlan& completed,
                   const GenerationQuestion& q, std::int64_t steps, std::int64_t evaluations) {
  const std::int64_t dp = completed.plan.dp;
  std::string all;
  const auto refuse = [&](const std::string& reason) { all += (all.empty() ? "" : "; ") + reason; };
  if (q.images < 1 || q.images > kMostImages) {
    refuse(fmt::format("{} images are outside 1 to {}", q.images, kMostImages));
  }
  if (steps < 1 || steps > kMostSteps) {
    refuse(fmt::format("{} steps are outside 1 to {}", steps, kMostSteps));
  }
  if (!(q.evaluated > 0 && q.evaluated <= 1)) {
    refuse(fmt::format("a share of {} of the steps is outside 0 to 1", q.evaluated));
  }
  if (all.empty() && dp > 0) {
    const std::int64_t batch = q.images * evaluations;
    if (batch % dp != 0) {
      refuse(
          fmt::format("dp {} does not divide the evaluations of a step, {} ({} {}, {}): some "
                      "replicas would have nothing to do; {}",
                      dp, batch, q.images, q.images == 1 ? "image" : "images",
                      evaluations == 2 ? "with and without the prompt" : "no guidance to divide",
                      without_idle_replicas(asked, completed, batch)));
    }
  }
  if (all.empty()) return {};
  return bad_input("the images cannot be made: " + all);
}

// What a network that steers must share with its denoiser, whose skips and middle it adds to.
struct SteeredFigure {
  std::string of_network, of_denoiser;  // in words
};

std::vector<SteeredFigure> steered_figures(const ImageModel& network, const ImageModel& denoiser) {
  const auto both = [&](const auto& words) {
    return SteeredFigure{words(network), words(denoiser)};
  };
  return {both([](const ImageModel& m) {
            return fmt::format("the levels [{}]", fmt::join(m.unet->channels, ", "));
          }),
          both([](const ImageModel& m) {
            return fmt::format("residual_blocks {}", m.unet->residual_blocks);
          }),
          both([](const ImageModel& m) { return fmt::format("in_channels {}", m.in_channels); }),
          both([](const ImageModel& m) { return fmt::format("latent_scale {}", m.latent_scale); }),
          both([](const ImageModel& m) { return fmt::format("text of width {}", m.text.width); })};
}

// Errors: a name that is none of a model, a model that does not steer this denoiser.
Result<Model> control_network(const std::string& name, const ImageModel& denoiser,
                              const Catalog& catalog) {
  const std::string where = "sampling.control";
  auto own = load_model(name, catalog);
  if (!own) {
    if (own.error().code != ErrorCode::not_found) return fail(at(where, own.error()));
    return fail(ErrorCode::not_found, fmt::format("no model '{}'", printable(name)), where,
                "a U-Net with `control: true`: orrery catalog generation lists some");
  }
  const ImageModel* network = image_model_of(*own);
  if (network == nullptr || !steers(*network)) {
    return bad_input(fmt::format("'{}' does not steer a denoiser", printable(name)), where,
                     "a U-Net with `control: true`");
  }
  if (!denoiser.unet) {
    return bad_input(fmt::format("'{}' steers a U-Net; the denoiser is none", printable(name)),
                     where, "leave it out");
  }
  std::string has;
  std::string wanted;
  for (const SteeredFigure& f : steered_figures(*network, denoiser)) {
    if (f.of_network == f.of_denoiser) continue;
    has += (has.empty() ? "" : " and ") + f.of_network;
    wanted += (wanted.empty() ? "" : " and ") + f.of_denoiser;
  }
  if (has.empty()) return *std::move(own);
  return bad_input(fmt::format("'{}' has {}; the denoiser has {}", printable(name), has, wanted),
                   where, "a control network made for this denoiser");
}

// The fastest of the ways to divide the evaluations of a step by dp, and each of them by cp, among
// those that fit if any does; nothing where no way is possible. Equals: the first.
std::optional<Generation> fastest_division(const Scenario& asked, GenerationQuestion q,
                                           std::int64_t evaluations, const Catalog& catalog) {
  q.plan_stated = true;
  std::optional<Generation> best;
  int ways = 0;
  const std::int64_t ranks = asked.cluster.accelerators;
  for (std::int64_t dp = std::min(ranks, evaluations); dp >= 1; --dp) {
    if (evaluations % dp != 0 || ranks % dp != 0) continue;
    for (const ContextParallel exchange :
         {asked.plan.context_parallel, ContextParallel::all_to_all}) {
      // Ranks that share nothing exchange nothing.
      if (dp == ranks && exchange != asked.plan.context_parallel) continue;
      Scenario scenario = asked;
      scenario.plan.dp = dp;
      scenario.plan.cp = ranks / dp;
      scenario.plan.context_parallel = exchange;
      auto made = generation(scenario, q, catalog);
      if (!made) continue;
      ++ways;
      const auto order = [](const Generation& g) {
        return std::pair(g.verdict == Verdict::does_not_fit, g.time);
      };
      if (!best || order(*made) < order(*best)) best = *std::move(made);
    }
  }
  if (best) {
    best->assumed.insert(
        best->assumed.begin(),
        fmt::format("plan {}: no plan was stated; this is the fastest of {} that divide the "
                    "evaluations of a step by dp, and each of them by cp",
                    plan_settings(best->plan), ways));
  }
  return best;
}

}  // namespace

Result<Generation> generation(const Scenario& asked, const GenerationQuestion& q,
                              const Catalog& catalog) {
  const ImageModel* image = image_model_of(asked.model);
  if (image == nullptr || image->autoencoder || steers(*image)) {
    return bad_input("model '" + asked.model.name + "' is no denoiser of images", "",
                     "orrery catalog generation lists some");
  }
  Sampling sampling = image->sampling.value_or(Sampling{});
  // A distilled model is told the guidance and evaluated once.
  if (!image->sampling && image->transformer) {
    sampling.guidance = !image->transformer->guidance_embedding;
  }
  Generation out;
  out.model = asked.model.name;
  out.accelerator = accelerator_noun(asked.cluster);
  out.image = image->image;
  out.images = q.images;
  out.steps = q.steps > 0 ? q.steps : sampling.steps;
  out.guidance = q.guidance.value_or(sampling.guidance);
  const std::int64_t evaluations = out.guidance ? 2 : 1;
  const CompletedPlan completed =
      completed_plan(asked.model, asked.cluster, asked.training, asked.plan);
  const std::int64_t replicas = completed.plan.dp;
  if (!q.plan_stated && q.images >= 1 && q.images <= kMostImages && replicas > 0 &&
      q.images * evaluations % replicas != 0) {
    auto best = fastest_division(asked, q, q.images * evaluations, catalog);
    if (best) return *std::move(best);
  }
  ORRERY_RETURN_IF_ERROR(
      judge(asked, completed, q, q.steps != 0 ? q.steps : out.steps, evaluations));
  if (!image->sampling) {
    out.assumed.push_back(fmt::format(
        "{} steps {} guidance, a prompt encoded elsewhere and no decoder: the model's description "
        "has no `sampling`",
        out.steps, out.guidance ? "with" : "without"));
  }
  const std::int64_t batch = q.images * evaluations;
  const std::int64_t dp = std::max<std::int64_t>(1, replicas);
  const std::int64_t gpus_of_replica = std::max<std::int64_t>(1, asked.cluster.accelerators / dp);
  std::vector<RunPart> runs;
  for (const std::string& name : sampling.text_encoders) {
    ORRERY_TRY(Model encoder, at("sampling.text_encoders", load_model(name, catalog)));
    const std::int64_t prompts = std::max<std::int64_t>(1, batch / dp);
    Scenario scenario = on_one_rank(asked, without_logits(std::move(encoder)), prompts);
    scenario.training.sequence_length =
        std::min(usual_sequence_length(scenario.model),
                 sampling.prompt_tokens > 0 ? sampling.prompt_tokens : image->text.tokens);
    ORRERY_TRY(RunPart part,
               run(std::move(scenario), "text encoder", prompts, prompts, 1, catalog));
    runs.push_back(std::move(part));
  }
  {
    Scenario scenario = asked;
    // All of a replica's evaluations at once, but one after the other through a pipeline.
    if (!q.micro_batch_stated && scenario.plan.pp == 1) {
      scenario.plan.micro_batch = std::max<std::int64_t>(1, batch / dp);
    }
    ORRERY_TRY(RunPart part, run(std::move(scenario), "denoiser", batch, q.images,
                                 static_cast<double>(out.steps) * q.evaluated, catalog));
    out.plan = part.figures.plan;
    out.software = part.figures.software;
    out.gpus = part.figures.gpus;
    out.memory_capacity = part.figures.memory_capacity;
    if (q.displaced_after) {
      ORRERY_RETURN_IF_ERROR(displace(part, asked.model, asked.training, *q.displaced_after));
    }
    std::ranges::move(chosen_by_software(asked, out.plan, Workload::forward),
                      std::back_inserter(out.assumed));
    runs.push_back(std::move(part));
  }
  if (!sampling.control.empty()) {
    ORRERY_TRY(const Model own, control_network(sampling.control, *image, catalog));
    Scenario scenario = asked;
    ORRERY_TRY(scenario.model, at("sampling.control", with_image(own, image->image)));
    scenario.plan.micro_batch = runs.back().figures.plan.micro_batch;
    ORRERY_TRY(RunPart part, run(std::move(scenario), "control network", batch, q.images,
                                 runs.back().part.times, catalog));
    runs.push_back(std::move(part));
  }
  if (!sampling.decoder.empty()) {
    ORRERY_TRY(const Model own, at("sampling.decoder", load_model(sampling.decoder, catalog)));
    const ImageModel* decodes = image_model_of(own);
    if (decodes == nullptr || !decodes->autoencoder ||
        decodes->autoencoder->half != AutoencoderHalf::decoder ||
        decodes->in_channels != image->out_channels) {
      return bad_input(fmt::format("'{}' is not a decoder of latents with {} channels",
                                   sampling.decoder, image->out_channels),
                       "sampling.decoder", "orrery catalog generation lists decoders");
    }
    ImageSize strip = image->image;
    if (q.decoder_ranks > 1) {
      if (strip.height % q.decoder_ranks != 0 || gpus_of_replica % q.decoder_ranks != 0) {
        return bad_input(
            fmt::format("{} ranks do not divide the height {} and the {} GPUs that make an image",
                        q.decoder_ranks, strip.height, gpus_of_replica),
            "decoder ranks", "a number that divides both");
      }
      strip.height /= q.decoder_ranks;
    }
    ORRERY_TRY(Model decoder, at("sampling.decoder", with_image(own, strip)));
    const std::int64_t images = (q.images - 1) / std::min(dp, q.images) + 1;
    ORRERY_TRY(RunPart part, run(on_one_rank(asked, std::move(decoder), images), "decoder", images,
                                 images, 1, catalog));
    if (q.decoder_ranks > 1) {
      ORRERY_TRY(const CostContext costs, cost_context(asked.cluster, catalog, asked.software));
      std::vector<std::int64_t> domain;
      for (const FabricLevel& level : asked.cluster.levels) domain.push_back(level.accelerators);
      const double pixels = 3.0 * static_cast<double>(images * image->image.height) *
                            static_cast<double>(image->image.width * image->image.frames);
      part.part.once += costs.communicate(
          CollectiveKind::all_gather, tensor_element_size(asked.training.precision) * pixels,
          group_shape(static_cast<int>(q.decoder_ranks), 1, domain));
      part.part.time = part.part.once;
    }
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
