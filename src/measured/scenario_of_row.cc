#include "measured/scenario_of_row.h"

#include <utility>

#include "measured/architecture_of_row.h"
#include "measured/cluster_of_row.h"
#include "measured/derived_cells.h"
#include "measured/modules_of_row.h"
#include "measured/plan_of_row.h"
#include "measured/run_convention.h"
#include "measured/software_of_row.h"
#include "model/transformer/transformer.h"

namespace orrery {
namespace {

// Why the whole row is no training step of the kind that is modelled; empty if it is one.
std::string not_a_step(const MeasuredRow& row, const RunConvention& convention) {
  if (row.phase == "layer") return "one transformer layer timed alone, not a training step";
  if (row.phase == "sft" || (row.phase == "lora" && !convention.packed)) {
    return "fine-tuning: how full its sequences are is not stated, and padding is not modelled";
  }
  if (!row.phase.empty() && row.phase != "pre-training" && row.phase != "lora") {
    return "phase '" + row.phase + "' is not modelled";
  }
  if (!row.status.empty() && row.status != "ok" && row.status != "oom") {
    return "the run failed: " + row.status;
  }
  // Without a step time the memory can still be compared.
  const bool vocabulary_assumed = row.missing == "vocab" && convention.vocab > 0;
  if (!row.missing.empty() && !vocabulary_assumed && row.missing != "step_time_s") {
    return "the source does not state: " + row.missing;
  }
  return "";
}

// What of the framework's memory the row itself states.
MemoryFacts memory_of_row(const MeasuredRow& row, MemoryFacts facts) {
  if (row.norm_kernel == "unfused") facts = with_unfused_norms(facts);
  if (row.cross_entropy == "fused") facts = with_fused_cross_entropy(facts);
  if (row.phase == "lora") facts = with_narrow_adapted_layers(facts);
  return facts;
}

// Gradients the row says nothing of have the width of the framework's, where its profile knows one.
std::string unstated_gradients(Training& training, const MemoryFacts& facts) {
  constexpr double kHalf = 2;
  if (facts.gradient_bytes == kHalf && training.gradients == NumberFormat::fp32) {
    training.gradients = NumberFormat::bf16;
  }
  return "gradients accumulated and reduced in " + std::string(name_of(training.gradients));
}

}  // namespace

Expressible<RowScenario> scenario_of_row(const MeasuredRow& stated, const Catalog& catalog,
                                         std::string_view software_of_others) {
  std::vector<std::string> derived;
  if (!stated.unread.empty()) {
    derived.push_back("of variant not read, for no column has that name: " + stated.unread);
  }
  const MeasuredRow row = with_derived_cells(stated, derived);
  const RunConvention convention = convention_of(row, software_of_others);
  if (std::string because = not_a_step(row, convention); !because.empty()) return skip(because);

  auto plan = plan_of_row(row, convention);
  if (!plan) return skip(plan.error().because);
  auto cluster = cluster_of_row(row, convention, catalog);
  if (!cluster) return skip(cluster.error().because);
  auto architecture = architecture_of_row(row, convention, catalog);
  if (!architecture) return skip(architecture.error().because);
  if (row.phase == "lora") {
    architecture->architecture.adapters =
        Adapters{convention.adapter_rank, AdaptedProducts::attention};
    architecture->assumed.push_back("adapters of rank " + std::to_string(convention.adapter_rank) +
                                    " on the products of attention; frozen weights and inputs of "
                                    "the gate kept in the format of the products");
  }
  auto model = build_model(architecture->architecture);
  if (!model) return skip_wrong("the model: " + model.error().text());

  // Some tables print an expert-tensor degree for dense models too; it divides nothing there.
  if (model->experts == 0) plan->plan.etp = 0;
  drop_absent_modules(plan->plan, *model, plan->assumed);

  auto software = software_of_row(row, convention, catalog);
  if (!software) return skip(software.error().because);
  blocking_transfers(plan->plan, software->software);
  if (!plan->gradients_stated) {
    plan->assumed.push_back(unstated_gradients(plan->training, software->software.memory));
  }
  software->software.memory = memory_of_row(row, software->software.memory);
  RowScenario out{{std::move(*model), std::move(cluster->cluster), plan->training, plan->plan,
                   std::move(software->software), true},
                  {}};
  for (auto* assumed :
       {&derived, &architecture->assumed, &cluster->assumed, &plan->assumed, &software->assumed}) {
    out.assumed.insert(out.assumed.end(), assumed->begin(), assumed->end());
  }
  return out;
}

}  // namespace orrery
