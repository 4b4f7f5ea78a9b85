// The derivation of every figure of an estimate.
#include <fmt/core.h>

#include "estimate/estimate.h"
#include "estimate/predicted_step.h"
#include "estimate/strategy_derivations.h"

namespace orrery {
namespace {

std::string recomputation(const Plan& plan) {
  std::string out = "recompute=" + std::string(to_text(plan.recompute));
  if (!plan.recompute_modules.empty()) {
    out += ", recompute_modules=" + to_text(plan.recompute_modules);
  }
  return out;
}

}  // namespace

std::vector<Derivation> explain(const PredictedStep& step, const Estimate& e) {
  const Plan& p = e.plan;
  const Accelerator& a = step.cluster().accelerator;
  const bool alike = step.cluster().further_sites.empty();
  const double sequences = static_cast<double>(e.training.global_batch);
  const auto length = static_cast<double>(e.training.sequence_length);
  const Flops per_sequence = model_flops_of_a_sequence(step, AttentionCount::full);
  const Flops total = per_sequence * sequences;
  const FlopsPerSecond peak = peak_of(step.cluster(), e.training.precision) / e.gpus;
  const StageReport& critical = e.stages[static_cast<std::size_t>(e.critical_stage)];
  const StageReport& fullest = e.stages[static_cast<std::size_t>(e.peak_memory_stage)];
  std::vector<Derivation> out;
  const DocumentRows* documents = step.costs.cache->documents(step.plan());
  const std::string within = "attention within each document (sum of squares), padding excluded";

  out.push_back(
      {"step_time_s",
       "makespan of the simulated step = sum of the breakdown of the stage that ends last",
       fmt::format("{} microbatches on {} stages x {} chunks; stage {}: busy {}, the rest "
                   "waits or communicates",
                   e.microbatches, p.pp, p.chunks, e.critical_stage,
                   to_text(critical.busy.seconds())),
       to_text(e.step_time),
       "schedule " + p.schedule +
           "; as-soon-as-possible execution of the graph "
           "(docs/simulation.md)"});
  for (std::size_t i = 0; i < kCategories; ++i) {
    const auto c = static_cast<Category>(i);
    if (e.breakdown[c] <= Picoseconds(0)) continue;
    std::string formula = "time of these operators on the critical stage, all microbatches";
    std::string source = "catalog/kernels, docs/models/kernels.md";
    if (is_exposed_communication(c)) {
      formula = "time in which the stage computes nothing and this axis communicates";
      source = "catalog/collectives, docs/models/collectives.md";
    } else if (c == Category::bubble) {
      formula = "time in which the stage waits for computing on other stages";
      source = "simulated order of " + p.schedule;
    } else if (c == Category::contention) {
      formula =
          "min(computing (1/r - 1), communicating (1 - r)), r = 1 - share of compute units "
          "that a collective takes";
      source = "interference in catalog/collectives";
    } else if (c == Category::recompute) {
      formula = "forward of what is computed again, once a microbatch";
      source = "arXiv 2205.05198 s.5; " + recomputation(p);
    } else if (c == Category::optimizer) {
      formula =
          "bytes of gradients, master weights and moments / memory bandwidth + all-reduce of "
          "the gradient norm";
      source = "arXiv 1910.02054 s.3.1; zero=" + std::to_string(p.zero);
    }
    out.push_back({"breakdown_s." + std::string(to_text(c)), std::move(formula),
                   fmt::format("{:.2f} % of the step",
                               100 * e.breakdown[c].count() / e.breakdown.total().count()),
                   to_text(e.breakdown[c].seconds()), std::move(source)});
  }
  out.push_back({"model_flops",
                 std::string(step.costs.passes.backward ? "forward and backward (3x; frozen 2x)"
                                                        : "forward") +
                     " of every matrix product and " +
                     (documents == nullptr ? "full attention" : within) +
                     ", logits included, embedding look-up and recomputation excluded",
                 fmt::format("{} per sequence of {:.0f} tokens x {:.0f} sequences",
                             to_text(per_sequence), length, sequences),
                 to_text(total), "operators of " + step.model().name});
  out.push_back({"tflops_per_gpu", "model FLOPs / (step time x GPUs)",
                 fmt::format("{} / ({} x {})", to_text(total), to_text(e.step_time), e.gpus),
                 to_text(e.achieved_per_gpu), "definition"});
  out.push_back({"mfu", "model FLOPs / (step time x GPUs x peak)",
                 fmt::format("{} / ({} x {} x {})", to_text(total), to_text(e.step_time), e.gpus,
                             to_text(peak)),
                 fmt::format("{:.2f} %", 100 * e.mfu),
                 "dense " + std::string(to_text(e.training.precision)) + " peak of " + a.name +
                     ": " + a.provenance.source + (alike ? "" : "; mean over all sites")});
  if (differs_by_causality(e)) {
    const Flops computed = sequences * model_flops_of_a_sequence(step, AttentionCount::causal);
    out.push_back(
        {"causal_mfu", "mfu x computed FLOPs / model FLOPs",
         fmt::format("{:.2f} % x {} / {}", 100 * e.mfu, to_text(computed), to_text(total)),
         fmt::format("{:.2f} %", 100 * e.causal_mfu),
         "a causal query sees half of the keys in the mean, or those of its window"});
  }
  out.push_back(
      {"hfu",
       "(model FLOPs + recomputed FLOPs) / (step time x GPUs x peak); all pairs of tokens "
       "count, of which causal kernels compute half",
       recomputation(p), fmt::format("{:.2f} %", 100 * e.hfu), "arXiv 2205.05198 s.6.3"});
  out.push_back({"tokens_per_s", "sequences x tokens / step time",
                 fmt::format("{:.0f} x {:.0f} / {}", sequences,
                             length * (documents == nullptr ? 1 : documents->efficiency()),
                             to_text(e.step_time)),
                 fmt::format("{:.0f}", e.tokens_per_second), "definition"});
  for (Derivation& d : strategy_derivations(step)) out.push_back(std::move(d));
  const MemoryReport& m = fullest.memory;
  const auto size = [](ByteCount b) { return to_text(Bytes(static_cast<double>(b))); };
  out.push_back(
      {"peak_memory_bytes",
       "parameters + gradients + optimizer states + activations + transient + buffers + "
       "fragmentation, of the fullest stage",
       fmt::format("{} + {} + {} + {} + {} + {} + {} on stage {}", size(m.parameters),
                   size(m.gradients), size(m.optimizer_states), size(m.activations),
                   size(m.transient), size(m.buffers), size(m.fragmentation), e.peak_memory_stage),
       size(m.peak),
       "arXiv 1910.02054 s.3, 2205.05198 s.4; zero=" + std::to_string(p.zero) + "; " + m.moment});
  return out;
}

}  // namespace orrery
