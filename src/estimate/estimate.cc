#include "estimate/estimate.h"

#include <fmt/core.h>

#include <algorithm>

#include "estimate/assumptions.h"
#include "estimate/predicted_step.h"
#include "lower/stage_memory.h"
#include "timeline/attribution.h"

namespace orrery {
namespace {

std::string in_words(Category c) {
  if (is_exposed_communication(c))
    return std::string(to_text(c)) + " communication that nothing hides";
  if (c == Category::bubble) return "the pipeline bubble";
  if (c == Category::contention) return "computing slowed by communication beside it";
  std::string out(to_text(c));
  std::replace(out.begin(), out.end(), '_', ' ');
  return out;
}

// The largest useful part and the largest loss.
std::string bottleneck(const Breakdown& breakdown) {
  const auto largest = [&](auto wanted) {
    Category best = Category::host;
    for (std::size_t i = 0; i < kCategories; ++i) {
      const auto c = static_cast<Category>(i);
      if (wanted(c) && breakdown[c] > breakdown[best]) best = c;
    }
    return best;
  };
  const double total = breakdown.total().count();
  const Category work =
      largest([](Category c) { return is_compute(c) && c != Category::contention; });
  const Category loss =
      largest([](Category c) { return !is_compute(c) || c == Category::contention; });
  return fmt::format(
      "the largest part of the step is {}, {:.1f} %; the largest loss is {}, {:.1f} %",
      in_words(work), 100 * breakdown[work].count() / total, in_words(loss),
      100 * breakdown[loss].count() / total);
}

Verdict verdict(const MemoryRoom& room) {
  if (room.left() < 0) return Verdict::does_not_fit;
  return room.least < 0 ? Verdict::tight : Verdict::fits;
}

}  // namespace

FlopsPerSecond peak_of(const Cluster& cluster, NumberFormat precision) {
  FlopsPerSecond sum;
  for (std::size_t site = 0; site < site_count(cluster); ++site) {
    sum += *at_site(cluster, site).accelerator.peak(precision) *
           static_cast<double>(accelerators_of(cluster, site));
  }
  return sum;
}

Estimate estimate(const PredictedStep& predicted) {
  const CostCache& cache = predicted.priced->cache;
  const Cluster& cluster = predicted.cluster();
  const StepCosts& step = predicted.costs;
  const Plan& plan = step.plan;
  const auto& [lowered, timeline, window, time] = predicted.folded;

  Estimate out;
  out.training = predicted.training();
  out.plan = plan;
  out.software = cache.context().software.name;
  out.gpus = static_cast<int>(cluster.accelerators);
  out.microbatches = step.shape.microbatches;
  double recomputed = 0;
  Picoseconds latest;
  ByteCount least_room = 0;
  for (int device = 0; device < step.shape.devices; ++device) {
    StageReport stage;
    for (int c = 0; c < step.chunks_held(); ++c) {
      const VirtualStage& chunk = step.chunk(device, c);
      stage.layers.push_back(static_cast<int>(chunk.layers));
      stage.forward += chunk.totals.forward;
      stage.backward += chunk.totals.backward;
      recomputed += chunk.totals.recomputed.value() / step.schedule->routes;
    }
    stage.busy = (stage.forward + stage.backward) * step.passes_a_chunk();
    const StepWindow& w = window[static_cast<std::size_t>(device)];
    if (step.schedule->pairs_passes) {  // what both passes of a pair hide counts once
      const Breakdown parts = attribute(lowered.graph, timeline, static_cast<std::uint32_t>(device),
                                        lowered.blocks, w.from, w.until);
      stage.busy = parts.total() - parts[Category::bubble] - parts[Category::exposed_pp] -
                   parts[Category::exposed_dp] - parts[Category::optimizer];
    }
    stage.end = timeline.end(lowered.gradients_ready[static_cast<std::size_t>(device)]);
    const MemoryRoom room = memory_room(step, device);
    stage.memory = room.memory;
    stage.memory.moment = moment_in_words(step, device, stage.memory);
    stage.memory.rank_class = rank_class_in_words(step, device);
    stage.memory_capacity = room.capacity;
    if (!step.device_site.empty()) {
      stage.site = name_of(cluster, step.device_site[static_cast<std::size_t>(device)]);
    }
    // The stage that ends last; of steps without a flush the one that is occupied longest.
    const Picoseconds end = plan.overlap.optimizer ? w.until - w.from : stage.end;
    if (end > latest) {
      latest = end;
      out.critical_stage = device;
    }
    out.verdict = std::max(out.verdict, verdict(room));
    // The fullest stage; where accelerators differ in memory, the one with the least room.
    if (device == 0 || room.left() < out.memory_capacity - out.peak_memory) {
      out.peak_memory = stage.memory.peak;
      out.memory_capacity = stage.memory_capacity;
      out.peak_memory_stage = device;
    }
    if (device == 0 || room.least < least_room) {
      least_room = room.least;
      out.pessimistic_memory = room.pessimistic;
    }
    out.stages.push_back(std::move(stage));
  }
  const StepWindow& critical_window = window[static_cast<std::size_t>(out.critical_stage)];
  out.breakdown = attribute(lowered.graph, timeline, static_cast<std::uint32_t>(out.critical_stage),
                            lowered.blocks, critical_window.from, critical_window.until);
  out.step_time = time.seconds();

  const double sequences = static_cast<double>(out.training.global_batch);
  const Flops model_work = sequences * model_flops_of_a_sequence(predicted, AttentionCount::full);
  const double mean_microbatches =
      sequences / static_cast<double>(plan.dp) / static_cast<double>(step.micro_batch);
  const double ranks_per_stage = static_cast<double>(plan.tp * plan.cp * plan.dp);
  const Flops hardware_work = model_work + Flops(recomputed * ranks_per_stage * mean_microbatches);
  const FlopsPerSecond peak = peak_of(cluster, out.training.precision);
  out.achieved_per_gpu = model_work / out.step_time / out.gpus;
  out.mfu = (model_work / out.step_time) / peak;
  out.causal_mfu =
      (sequences * model_flops_of_a_sequence(predicted, AttentionCount::causal) / out.step_time) /
      peak;
  out.hfu = (hardware_work / out.step_time) / peak;
  const double in_use = cache.documents(plan) == nullptr ? 1 : cache.documents(plan)->efficiency();
  out.tokens_per_second = in_use * sequences * static_cast<double>(out.training.sequence_length) /
                          out.step_time.value();
  out.bottleneck = bottleneck(out.breakdown);
  const auto busiest = std::ranges::max_element(out.stages, {}, &StageReport::busy);
  const StageReport& critical = out.stages[static_cast<std::size_t>(out.critical_stage)];
  if (busiest->busy.count() > 1.1 * critical.busy.count()) {
    out.bottleneck +=
        fmt::format("; stage {} is the slowest and makes it wait: busy {:.0f} % against {:.0f} %",
                    busiest - out.stages.begin(), 100 * busiest->busy.seconds() / out.step_time,
                    100 * critical.busy.seconds() / out.step_time);
  }
  return out;
}

bool differs_by_causality(const Estimate& e) {
  constexpr double kMuch = 0.05;
  return e.mfu - e.causal_mfu > kMuch;
}

Estimate estimate(const PredictedStep& step, const Uncertainty& errors) {
  Estimate out = estimate(step);
  const StepShares shares = shares_of(out.breakdown);
  out.interval = interval(errors, out.step_time, shares, step.model(), step.cluster(), out.training,
                          out.software);
  // Where sites differ: what the errors of all their accelerators allow, in the words of the site
  // that allows most.
  for (std::size_t site = 1; site < site_count(step.cluster()); ++site) {
    StepTimeInterval other = interval(errors, out.step_time, shares, step.model(),
                                      at_site(step.cluster(), site), out.training, out.software);
    const StepTimeInterval first = out.interval;
    if (other.high / other.low > first.high / first.low) out.interval = std::move(other);
    out.interval.low = std::min(first.low, out.interval.low);
    out.interval.high = std::max(first.high, out.interval.high);
    out.interval.extrapolates = out.interval.extrapolates || first.extrapolates;
  }
  out.assumed = assumptions(step);
  return out;
}

}  // namespace orrery
