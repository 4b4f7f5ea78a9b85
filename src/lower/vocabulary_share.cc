#include "lower/vocabulary_share.h"

#include "lower/model_costs.h"
#include "lower/price.h"

namespace orrery {
namespace {

// `numerator / denominator` of every part, in whole ticks.
Breakdown part(const CostContext& context, const Breakdown& whole, int numerator, int denominator) {
  Breakdown out;
  for (std::size_t i = 0; i < kCategories; ++i) {
    out.time[i] = context.rounded_down(whole.time[i].count() * numerator / denominator);
  }
  return out;
}

}  // namespace

VocabularyShare vocabulary_share(const ModelCosts& costs, const CostContext& context,
                                 const RankLayout& layout, int devices, int barriers,
                                 Bytes boundary, double tokens) {
  VocabularyShare out;
  const BlockCost& head = costs.head;
  const BlockCost& embedding = costs.embedding;
  out.output_layer = part(context, head.forward.breakdown, 1, devices);
  if (barriers == 1) {
    // The product of the softmax with the weights, as large as the one that made the logits; the
    // input gradient is then no part of the T pass, which has the weight gradient, if any.
    out.output_layer += part(context, head.forward.breakdown, 1, devices);
    Breakdown after = head.backward.breakdown;
    const bool frozen = head.trained.dense == 0;
    if (frozen) after[Category::logits] = Picoseconds(0);
    out.output_layer_gradient = part(context, after, 1, frozen ? devices : 2 * devices);
  } else {
    out.output_layer_gradient = part(context, head.backward.breakdown, 1, devices);
  }
  out.input_layer = part(context, embedding.forward.breakdown, 1, devices);
  out.input_layer_gradient = part(context, embedding.backward.breakdown, 1, devices);
  out.times.output_layer = out.output_layer.total();
  out.times.output_layer_gradient = out.output_layer_gradient.total();
  out.times.input_layer = out.input_layer.total();
  out.times.input_layer_gradient = out.input_layer_gradient.total();
  const auto communicate = [&](OperationParts& parts, CollectiveKind kind, Bytes bytes) {
    parts = {{.what = Communication{
                  .collective = kind, .group = index(StepGroup::stages), .payload = bytes}}};
    return price(parts, layout.groups, context);
  };
  const Bytes statistics(8 * tokens);
  PipelineTraffic& t = out.traffic;
  out.times.broadcast = communicate(t.broadcast, CollectiveKind::broadcast, boundary);
  out.times.first_barrier = communicate(t.first_barrier, CollectiveKind::all_reduce,
                                        barriers == 1 ? statistics + boundary : statistics);
  out.times.second_barrier = communicate(t.second_barrier, CollectiveKind::all_reduce, boundary);
  out.times.input_reduction = communicate(t.input_reduction, CollectiveKind::all_reduce, boundary);
  out.trained = (head.trained + embedding.trained) / devices;
  out.frozen = (head.frozen + embedding.frozen) / devices;
  out.saved = (head.memory.saved + embedding.memory.saved) / devices;
  return out;
}

}  // namespace orrery
