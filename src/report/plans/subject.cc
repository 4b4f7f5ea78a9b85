#include "report/plans/subject.h"

#include "model/transformer/transformer.h"
#include "plan/completed_plan.h"
#include "report/drawing/figures.h"

namespace orrery {

ModelSize size_of(const Model& model, const Training& training) {
  const auto length = static_cast<double>(
      training.sequence_length > 0 ? training.sequence_length : usual_sequence_length(model));
  const Flops of_sequence =
      model_flops_per_sequence(model, length, AttentionCount::full,
                               static_cast<double>(training.source_length), training.workload);
  return {parameters(model), active_parameters(model), of_sequence.value() / length,
          model.tables > 0 ? "sample" : "token"};
}

std::string model_in_words(const Subject& subject) {
  if (!subject.adapters) return subject.model;
  return subject.model + " with adapters of rank " + std::to_string(subject.adapters->rank) +
         " on " +
         (subject.adapters->products == AdaptedProducts::all ? "all products" : "attention");
}

std::string in_words(const ModelSize& size) {
  std::string out = billions(size.parameters) + " parameters";
  if (size.active_parameters < size.parameters) {
    out += ", " + billions(size.active_parameters) + " active";
  }
  return out + " · " + flops_text(size.flops_per_token) + " a " + size.unit;
}

Subject subject_of(const Scenario& scenario) {
  const std::string count = std::to_string(scenario.cluster.accelerators);
  const std::string& name = scenario.cluster.name;
  const Architecture* transformer = architecture_of(scenario.model);
  return {.model = scenario.model.name,
          .cluster = name.ends_with(":" + count) ? name : name + ":" + count,
          .adapters = transformer != nullptr ? transformer->adapters : std::nullopt,
          .size = size_of(scenario.model, scenario.training)};
}

}  // namespace orrery
