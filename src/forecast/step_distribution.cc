#include "forecast/step_distribution.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "forecast/each_site.h"
#include "forecast/step_moments.h"
#include "forecast/time_law.h"
#include "parallel/random_draws.h"

namespace orrery {
namespace {

// Enough to compare p95 on the same random numbers.
constexpr std::int64_t kComparedSamples = 1000;
constexpr std::size_t kComparedReplicas = 8;
constexpr std::size_t kMostDropped = 2;
// Beside the purposes of step_samples.cc, whose highest is the last kind of communication.
constexpr std::uint64_t kPredictionError = 63;

Failure bad_step(std::string message, std::string_view key, std::string hint = "") {
  return bad_input(std::move(message), fmt::format("forecast.step.{}", key), std::move(hint));
}

Result<void> check(const StepQuestion& q, const VaryingStep& work, std::int64_t nodes) {
  const auto stages = static_cast<std::int64_t>(work.devices());
  for (const SlowNodes& slow : q.slow) {
    if (slow.stage < 0 || slow.stage >= stages) {
      return bad_step(fmt::format("there is no stage {}", slow.stage), "slow",
                      fmt::format("write a stage from 0 to {}", stages - 1));
    }
    if (slow.nodes < 1 || slow.nodes > nodes) {
      return bad_step(fmt::format("{} slow nodes", slow.nodes), "slow",
                      fmt::format("the cluster has {}", nodes));
    }
    if (!(slow.time >= 1 && slow.time <= 1000)) {
      return bad_step(fmt::format("a slow node that takes {} times as long", slow.time), "slow",
                      "write a factor between 1 and 1000");
    }
  }
  for (auto slow = q.slow.begin(); slow != q.slow.end(); ++slow) {
    if (std::any_of(q.slow.begin(), slow,
                    [&](const SlowNodes& other) { return other.stage == slow->stage; })) {
      return bad_step(fmt::format("stage {} is given twice", slow->stage), "slow",
                      "write one entry for each stage");
    }
  }
  if (!(q.slow_node >= 1 && q.slow_node <= 1000)) {
    return bad_step(fmt::format("a factor of {}", q.slow_node), "slow_node",
                    "write a factor between 1 and 1000");
  }
  if (q.exceeds && !(*q.exceeds > Seconds(0))) return bad_step("is not above 0", "exceeds");
  if (q.samples < 100 || q.samples > kMostSamples) {
    return bad_step(fmt::format("{} samples", q.samples), "samples",
                    fmt::format("write 100 to {}: quantiles of fewer mean little", kMostSamples));
  }
  return {};
}

// Of the replica that is slowest when `dropped` are left out.
std::vector<Seconds> times_of(const StepSamples& samples, std::size_t dropped = 0) {
  std::vector<Seconds> out;
  for (std::size_t i = dropped; i < samples.times_ps.size(); i += samples.kept) {
    out.push_back(Picoseconds(samples.times_ps[i]).seconds());
  }
  return out;
}

StepTimes step_times(std::vector<Seconds>& times) {
  std::ranges::sort(times);
  const auto at = [&](double p) { return quantile_of_sorted(times, p); };
  Seconds sum;
  for (const Seconds t : times) sum += t;
  return {at(0.05), at(0.5),   at(0.95),
          at(0.99), at(0.999), sum / static_cast<double>(times.size())};
}
StepTimes step_times(std::vector<Seconds>&& times) { return step_times(times); }

// The error of the prediction has two halves of a normal distribution, so that its interval is the
// stated one.
std::vector<Seconds> with_prediction_error(std::vector<Seconds> times, const Estimate& estimate,
                                           std::uint64_t seed) {
  const StepTimeInterval& interval = estimate.interval;
  const double edge = normal_quantile((1 + interval.level) / 2);
  const double below = std::log(interval.low / estimate.step_time) / -edge;
  const double above = std::log(interval.high / estimate.step_time) / edge;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const double z = normal_quantile(RandomDraws(seed, i).uniform(kPredictionError, 0));
    times[i] *= std::exp(z * (z < 0 ? below : above));
  }
  return times;
}

std::vector<TailShare> tail_of(const VaryingStep& work, const StepDraws& draws, Seconds p95,
                               std::int64_t samples, int threads, const Progressed& progressed) {
  std::vector<TailShare> out;
  for (std::size_t k = 0; k < kVaryingWork; ++k) {
    if (progressed) progressed(static_cast<double>(k) / kVaryingWork);
    double time = 0;
    for (std::size_t d = 0; d < work.devices(); ++d) time += work.parts(d)[k];
    if (time <= 0) continue;
    StepDraws other = draws;
    other.still[k] = true;
    const Seconds without =
        step_times(times_of(sample_steps(work, other, samples, threads))).p95.value;
    out.push_back({static_cast<VaryingWork>(k), 1 - without / p95});
  }
  std::ranges::stable_sort(out, std::ranges::greater{}, &TailShare::share_of_p95);
  return out;
}

std::vector<SlowStage> slow_stages_of(const VaryingStep& work, const StepDraws& draws, double time,
                                      Seconds p95, std::int64_t samples, int threads,
                                      const Progressed& progressed) {
  std::vector<SlowStage> out;
  if (time <= 1) return out;
  for (std::size_t stage = 0; stage < work.devices(); ++stage) {
    if (progressed) progressed(static_cast<double>(stage) / static_cast<double>(work.devices()));
    StepDraws other = draws;
    other.slow.push_back({.stage = static_cast<std::int64_t>(stage), .nodes = 1, .time = time});
    const Seconds with =
        step_times(times_of(sample_steps(work, other, samples, threads))).p95.value;
    out.push_back({static_cast<std::int64_t>(stage), with / p95});
  }
  return out;
}

std::vector<FewerReplicas> fewer_replicas(const VaryingStep& work, StepDraws draws,
                                          std::int64_t samples, int threads) {
  std::vector<FewerReplicas> out;
  draws.candidates = kComparedReplicas;
  const StepSamples simulated = sample_steps(work, draws, samples, threads);
  for (std::size_t dropped = 0; dropped <= std::min(simulated.kept - 1, kMostDropped); ++dropped) {
    const StepTimes times = step_times(times_of(simulated, dropped));
    out.push_back({static_cast<std::int64_t>(dropped), times.p50.value, times.p95.value});
  }
  if (out.size() == 1) out.clear();
  return out;
}

// Unscaled times of the step of a larger batch, by replicas that are not needed.
std::vector<CodedStep> coded_steps(const PredictedStep& step, StepDraws draws,
                                   const Catalog& catalog, std::int64_t samples, int threads) {
  std::vector<CodedStep> out;
  draws.candidates = kComparedReplicas;
  for (std::size_t tolerated = 1; tolerated <= kMostDropped; ++tolerated) {
    Scenario larger = step.priced->scenario;
    larger.plan = step.plan();
    larger.training.global_batch *= static_cast<std::int64_t>(tolerated) + 1;
    const auto predicted = predict(std::move(larger), catalog);
    if (!predicted) break;
    const StepSamples simulated = sample_steps(VaryingStep(*predicted), draws, samples, threads);
    if (simulated.kept <= tolerated) break;
    const StepTimes times = step_times(times_of(simulated, tolerated));
    out.push_back({static_cast<std::int64_t>(tolerated), times.p50.value, times.p95.value});
  }
  return out;
}

// What the samples are drawn from.
Result<StepDraws> draws_of(const VaryingStep& work, const StepQuestion& question,
                           const Catalog& catalog) {
  const std::int64_t nodes = std::max<std::int64_t>(1, nodes_of(work.step().cluster()));
  ORRERY_RETURN_IF_ERROR(check(question, work, nodes));
  ORRERY_TRY(Variability variability, variability_of(question, catalog));
  return StepDraws{
      .variability = std::move(variability), .slow = question.slow, .seed = question.seed};
}

struct UnscaledTimes {
  std::vector<Seconds> times;
  double scale = 1;
};
UnscaledTimes unscaled_times(const VaryingStep& work, const StepDraws& draws, Seconds predicted,
                             std::int64_t samples, int threads, const Progressed& progressed) {
  UnscaledTimes out{.times = times_of(sample_steps(work, draws, samples, threads, progressed))};
  StepDraws alike = draws;
  alike.slow.clear();
  const Seconds median =
      draws.slow.empty()
          ? step_times(std::vector(out.times)).p50.value
          : step_times(
                times_of(sample_steps(work, alike, std::min(samples, kComparedSamples), threads)))
                .p50.value;
  out.scale = predicted / median;
  return out;
}

std::vector<std::string> assumptions_of(const StepDistribution& d) {
  std::vector<std::string> out;
  out.push_back(
      fmt::format("spreads: {}, {}", d.variability.name, d.variability.provenance.source));
  out.push_back(
      fmt::format("products vary by {:.2g} % from one accelerator to another and by {:.2g} % from "
                  "pass to pass",
                  100 * d.variability.products.spatial, 100 * d.variability.products.temporal));
  out.push_back(fmt::format("communication varies by {:.2g} % within a node and by {:.2g} % beyond",
                            100 * d.variability.communication.within_node,
                            100 * d.variability.communication.between_nodes));
  out.push_back(
      fmt::format("the prediction is fitted to measured steps, which vary as well: it is taken as "
                  "the median of steps without slow nodes, and all times are scaled by {:.3g}",
                  d.scale));
  out.push_back("communication hidden behind computing stays hidden");
  return out;
}

}  // namespace

Fields<StepQuestion> fields_of(const StepQuestion*) {
  return Fields<StepQuestion>("distribution of a step")
      .optional<&StepQuestion::variability>("name in the catalog's variability, or a file")
      .optional<&StepQuestion::spread>("settings over it: products.spatial=0.03")
      .optional<&StepQuestion::slow>("nodes that are slower than the others")
      .optional<&StepQuestion::slow_node>(
          "time of the node whose best stage is looked for, over that of others")
      .optional<&StepQuestion::exceeds>("how likely a step takes longer")
      .optional<&StepQuestion::samples>("to draw")
      .optional<&StepQuestion::seed>("of the random numbers");
}

Result<Variability> variability_of(const StepQuestion& question, const Catalog& catalog) {
  ORRERY_TRY(Variability known,
             at("forecast.step.variability", load_variability(catalog, question.variability)));
  return at("forecast.step.spread", with_settings(std::move(known), question.spread));
}

Result<StepDistribution> step_distribution(const PredictedStep& step, const Estimate& estimate,
                                           const StepQuestion& question, const Catalog& catalog,
                                           int threads, const Progressed& progressed) {
  const VaryingStep work(step);
  ORRERY_TRY(const StepDraws draws, draws_of(work, question, catalog));
  StepDistribution out;
  out.variability = draws.variability;
  out.predicted = estimate.step_time;
  out.interval = estimate.interval;
  out.accelerators = step.cluster().accelerators;
  out.lock_step = work.lock_step();
  out.replicas = work.replicas();
  out.samples = question.samples;
  out.seed = question.seed;
  out.slow_node = question.slow_node;
  // In numbers of samples of two replicas each.
  const std::int64_t compared = std::min(question.samples, kComparedSamples);
  const double of_tail = kVaryingWork;
  const double of_stages = question.slow.empty() ? static_cast<double>(work.devices()) : 0;
  // Without coding, and with it for two and three times the batch.
  const double of_replicas = 6.0 * static_cast<double>(kComparedReplicas) / kCandidates;
  const double of_times = static_cast<double>(question.samples) / static_cast<double>(compared);
  const double all = of_times + of_tail + of_stages + of_replicas;
  auto [times, scale] = unscaled_times(work, draws, estimate.step_time, question.samples, threads,
                                       part_of_work(progressed, 0, of_times / all));
  out.scale = scale;
  const Seconds p95 = step_times({times.begin(), times.begin() + compared}).p95.value;
  for (Seconds& t : times) t *= out.scale;
  out.sampled_together = with_prediction_error(times, estimate, question.seed);
  out.together = step_times(out.sampled_together);
  if (question.exceeds) {
    out.exceeds = question.exceeds;
    const auto longer =
        std::ranges::count_if(times, [&](Seconds t) { return t > *question.exceeds; });
    out.exceeds_share = share_of(static_cast<std::size_t>(longer), times.size());
  }
  out.times = step_times(times);
  out.sampled = std::move(times);
  out.tail = tail_of(work, draws, p95, compared, threads,
                     part_of_work(progressed, of_times / all, (of_times + of_tail) / all));
  if (question.slow.empty()) {
    out.slow_stages =
        slow_stages_of(work, draws, question.slow_node, p95, compared, threads,
                       part_of_work(progressed, (of_times + of_tail) / all, 1 - of_replicas / all));
  }
  // More candidates take a replica a little longer, so that only the ratios are taken from them.
  out.fewer = fewer_replicas(work, draws, compared, threads);
  if (!out.fewer.empty()) {
    const FewerReplicas none = out.fewer.front();
    for (FewerReplicas& f : out.fewer) {
      f.p50 = f.p50 / none.p50 * out.times.p50.value;
      f.p95 = f.p95 / none.p95 * out.times.p95.value;
    }
    out.coded = coded_steps(step, draws, catalog, compared, threads);
    for (CodedStep& c : out.coded) {
      c.p50 = c.p50 / none.p50 * out.times.p50.value;
      c.p95 = c.p95 / none.p95 * out.times.p95.value;
    }
  }
  if (const auto moments = step_moments(work, draws)) {
    out.moments_p50 = moments->quantile(0.5) * out.scale;
    out.moments_p95 = moments->quantile(0.95) * out.scale;
  }
  out.assumed = step.defaults;
  std::ranges::move(assumptions_of(out), std::back_inserter(out.assumed));
  if (!step.costs.sites.empty() && step.costs.device_site.empty()) {
    out.assumed.push_back(
        "the replicas of every site vary as those of the slowest, which is an upper bound where "
        "the others have time to spare");
  }
  return out;
}

Result<StepTimes> sampled_step_times(const PredictedStep& step, Seconds predicted,
                                     const StepQuestion& question, const Catalog& catalog,
                                     int threads, const Progressed& progressed) {
  const VaryingStep work(step);
  ORRERY_TRY(const StepDraws draws, draws_of(work, question, catalog));
  auto [times, scale] =
      unscaled_times(work, draws, predicted, question.samples, threads, progressed);
  for (Seconds& t : times) t *= scale;
  return step_times(std::move(times));
}

}  // namespace orrery
