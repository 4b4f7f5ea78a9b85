#include "estimate/assumptions.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "estimate/strategy_derivations.h"
#include "lower/model_costs.h"
#include "lower/unaligned_products.h"
#include "model/diffusion/diffusion.h"
#include "model/family.h"

namespace orrery {
namespace {

// What attention computes of rows that are made of documents; empty if they are not.
std::string documents_note(const PredictedStep& step) {
  const DocumentRows* rows = step.costs.cache->documents(step.plan());
  if (rows == nullptr) return "";
  const AttentionCore attention = widest_attention(step.model());
  return fmt::format(
      "documents ({}): {:.3g} in a row, {:.1f} % of its positions; attention computes {:.3g} % of "
      "a causal row's pairs, the rank that the others wait for {:.2f} times the mean; MFU, HFU and "
      "tokens/s count tokens of documents, and pairs within one",
      to_text(step.training().documents.packing), rows->documents_per_row(),
      100 * rows->efficiency(), 100 * rows->computed_pairs(attention),
      rows->unevenness(attention, step.costs.cache->rows(step.costs.priced_plan())));
}

// What becomes of tokens that experts have no room for; empty if there are none.
std::string dropped_note(const PredictedStep& step) {
  const double dropped = 1 - kept_tokens(step.model(), step.training(), step.costs.priced_plan());
  if (!(dropped > 0)) return "";
  return fmt::format(
      "{:.3g} % of the tokens that are sent to experts are dropped there: they leave as they came; "
      "tokens/s counts them, MFU, HFU and the FLOP/s do not count what experts would compute of "
      "them",
      100 * dropped);
}

}  // namespace

std::vector<std::string> chosen_by_software(const Scenario& scenario, const Plan& plan,
                                            Workload workload) {
  std::vector<std::string> out;
  for_each_field_by_software([&]<class T>(const FieldBySoftware<T>& field) {
    const T& usual = scenario.software.*field.usual;
    if (usual == Plan{}.*field.chosen || plan.*field.chosen != usual ||
        (field.of_backward && workload == Workload::forward))
      return;
    if (std::ranges::find(scenario.plan_by_software, field.name) ==
        scenario.plan_by_software.end()) {
      return;
    }
    out.push_back(fmt::format("{} {} (default of {})", field.name,
                              Codec<T>::write(usual).scalar_text(), scenario.software.name));
  });
  return out;
}

std::vector<std::string> assumptions(const PredictedStep& step) {
  const Scenario& scenario = step.priced->scenario;
  const CostContext& context = step.priced->cache.context();
  const Plan& plan = step.plan();
  std::vector<std::string> out = step.defaults;
  const auto add = [&](const std::vector<std::string>& more) {
    out.insert(out.end(), more.begin(), more.end());
  };
  if (!scenario.software_stated) out.push_back(software_assumption(scenario.software));
  add(chosen_by_software(scenario, plan, scenario.training.workload));
  if (plan.pp > 1 && plan.zero > scenario.software.pipeline_zero) {
    out.push_back(fmt::format("{} has no ZeRO {} beside a pipeline: priced as if it had",
                              scenario.software.name, plan.zero));
  }
  if (const std::string lacking = lacking_schedule(scenario.software, plan); !lacking.empty()) {
    out.push_back(lacking + ": predicted as if it had");
  }
  if (plan.gradients_in_place && plan.zero >= 3 && context.software.memory.parameters_are_master) {
    out.push_back(
        fmt::format("gradients_in_place saves no memory of the accelerators: with zero 3 {} keeps "
                    "fp32 weights alone, whose place gradients cannot take",
                    context.software.name));
  }
  CostCache& cache = step.priced->cache;
  const Model& on_ranks = cache.model_on_ranks(plan);
  add(on_ranks.assumed);
  if (const ImageModel* image = image_model_of(scenario.model);
      image != nullptr && steers(*image)) {
    out.push_back(
        "the denoiser that it steers is not run: the step is that of the control network alone");
  }
  add(scenario.cluster.assumed);
  const auto add_once = [&](std::string line) {
    if (std::ranges::find(out, line) == out.end()) out.push_back(std::move(line));
  };
  for (std::size_t site = 0; site < cache.sites(); ++site) {
    const KernelParameters& kernels = cache.at_site(site).context().kernels.parameters();
    for (const KernelAssumption& a : kernels.assumed) {
      if (a.concerns(scenario.training.precision, plan.attention)) add_once(a.text);
    }
  }
  add(context.assumed);
  for (std::size_t site = 0; site < cache.sites(); ++site) {
    const Plan& own = step.costs.sites.empty() ? plan : step.costs.sites[site].plan;
    std::string padded = unaligned_products(on_ranks, binding(on_ranks, scenario.training, own),
                                            scenario.training.precision,
                                            cache.at_site(site).context().kernels.parameters());
    if (!padded.empty()) add_once(std::move(padded));
  }
  if (!step.costs.sites.empty() && step.costs.device_site.empty()) {
    for (std::size_t site = 0; site < cache.sites(); ++site) {
      if (&cache.at_site(site) != step.costs.cache) continue;
      add_once(
          fmt::format("all replicas take the time of those in {}, the slowest site, for whose "
                      "gradients they wait",
                      name_of(scenario.cluster, site)));
    }
  }
  for (std::string note : {documents_note(step), dropped_note(step), learning_note(plan)}) {
    if (!note.empty()) out.push_back(std::move(note));
  }
  return out;
}

}  // namespace orrery
