#include "estimate/operator_shares.h"

#include <algorithm>
#include <map>
#include <utility>

namespace orrery {
namespace {

using Key = std::pair<std::string, Category>;

class SharesOfStep {
 public:
  explicit SharesOfStep(const PredictedStep& step)
      : step_(step),
        passes_(passes_of(step.training().workload)),
        whole_(binding(step.model(), step.training(), step.costs.priced_plan())) {
    whole_.tp = whole_.cp = whole_.ep = whole_.etp = 1;
    whole_.expert_imbalance = kept_tokens(step.model(), step.training(), step.costs.priced_plan());
  }

  OperatorShares read() {
    const Model& model = step_.model();
    struct Layers {
      const BlockCost* cost = nullptr;
      std::int64_t count = 0;
    };
    std::map<std::pair<std::size_t, std::uint16_t>, Layers> layers;  // by site and block
    for (const VirtualStage& stage : step_.costs.stages) {
      const ModelCosts& costs = *step_.costs.at(stage).kept;
      if (stage.embedding) add(model.embedding, costs.embedding, 1);
      if (stage.head) add(model.head, costs.head, 1);
      for (std::size_t l = 0; l < stage.layers; ++l) {
        const std::uint16_t block = model.layers[stage.first_layer + l];
        Layers& alike = layers[{stage.site, block}];
        alike = {&costs.blocks[block], alike.count + 1};
      }
    }
    for (const auto& [layer, alike] : layers) {
      add(model.blocks[layer.second], *alike.cost, alike.count);
    }
    OperatorShares out;
    Seconds all;
    for (const auto& [key, share] : found_) all += share.time;
    for (auto& [key, share] : found_) {
      if (share.time == Seconds(0)) continue;  // the host's work, which takes no time of the device
      share.time_share = all > Seconds(0) ? share.time / all : 0;
      const double flops = flops_.contains(key.first) ? flops_.at(key.first) : 0;
      share.flops_share = all_flops_ > 0 ? flops / all_flops_ : 0;
      out.operators.push_back(share);
    }
    std::ranges::stable_sort(out.operators, std::greater<>(), &OperatorShare::time);
    for (std::size_t l = 0; l < model.layers.size(); ++l) {
      const Block& block = model.blocks[model.layers[l]];
      for (const Operator& op : block.operators) {
        if (op.kind == OperatorKind::attention) out.attention.push_back(attention(l, block, op));
      }
    }
    return out;
  }

 private:
  void add(const Block& block, const BlockCost& cost, std::int64_t times) {
    if (times == 0) return;
    add(cost.forward, times);
    if (passes_.backward) add(cost.backward, times);
    for (const Operator& op : block.operators) {
      if (!op.counts_in_model_flops) continue;
      double flops = model_flops(op, Phase::forward, whole_).value();
      if (passes_.backward) {
        flops += model_flops(op, Phase::input_gradient, whole_).value() +
                 model_flops(op, Phase::weight_gradient, whole_).value();
      }
      flops_[std::string(op.name)] += flops * static_cast<double>(times);
      all_flops_ += flops * static_cast<double>(times);
    }
  }
  void add(const BlockPass& pass, std::int64_t times) {
    const Graph& graph = pass.graph;
    for (std::uint32_t i = 0; i < graph.size(); ++i) {
      const NodeIndex node(i);
      const auto category = static_cast<Category>(graph.category(node));
      if (graph.kind(node) != NodeKind::kernel || !is_compute(category)) continue;
      OperatorShare& share = found_[Key(graph.name(node), category)];
      share.name = graph.name(node);
      share.category = category;
      share.count += times;
      share.time += graph.duration(node).seconds() * static_cast<double>(times);
    }
  }
  [[nodiscard]] LayerAttention attention(std::size_t layer, const Block& block,
                                         const Operator& op) const {
    double queries = whole_length(op.m, whole_);
    double keys = whole_length(op.n, whole_);
    const double window = op.attention.window;
    if (window > 0) keys = std::min(keys, window);
    if (op.attention.chunked) queries = std::min(queries, window);
    return {layer, block.name, std::string(op.name), queries, keys};
  }

  const PredictedStep& step_;
  Passes passes_;
  Binding whole_;
  std::map<Key, OperatorShare> found_;
  std::map<std::string, double> flops_;
  double all_flops_ = 0;
};

}  // namespace

OperatorShares operator_shares(const PredictedStep& step) { return SharesOfStep(step).read(); }

}  // namespace orrery
