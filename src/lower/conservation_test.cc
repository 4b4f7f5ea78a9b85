// Nothing is lost and nothing appears from nowhere, over a thousand random plans of the whole space:
// what a step computes is what the model asks for, what its ranks hold covers the model as often as
// is stated, and what leaves the accelerators comes back.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <variant>

#include "lower/host_offload.h"
#include "lower/random_plan.h"
#include "lower/step_graph.h"
#include "outcome/sanitizers.h"

namespace orrery {
namespace {

struct Moved {
  std::map<std::string, double> bytes;  // by the name of the node, of copies
  double product_flops = 0;             // of products, of all devices of one pipeline
};

Moved moved(const Graph& graph) {
  Moved out;
  for (std::size_t i = 0; i < graph.size(); ++i) {
    const NodeIndex n(i);
    for (const OperationPart& part : graph.operation(n).parts) {
      if (const auto* copy = std::get_if<HostCopy>(&part.what)) {
        out.bytes[std::string(graph.name(n))] += copy->bytes.value();
      }
      const auto* kernel = std::get_if<Kernel>(&part.what);
      if (kernel == nullptr || !std::holds_alternative<GemmShape>(kernel->shape)) continue;
      out.product_flops += kernel->flops.value() / kernel->pieces;
    }
  }
  return out;
}

bool same(double a, double b) {
  return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b));
}

// Forward and backward of the model's products with weights, of one sequence.
double product_flops(const Model& model, const Training& training) {
  Binding one;
  one.sequence_length = static_cast<double>(training.sequence_length);
  one.source_length = static_cast<double>(training.source_length);
  double sum = 0;
  const auto add = [&](const Block& block) {
    for (const Operator& op : block.operators) {
      if (!is_product(op)) continue;
      for (const Phase phase : {Phase::forward, Phase::input_gradient, Phase::weight_gradient}) {
        if (phase != Phase::forward && !passes_of(training.workload).backward) continue;
        sum += model_flops(op, phase, one).value();
      }
    }
  };
  for (const auto layer : model.layers) add(model.blocks[layer]);
  add(model.embedding);
  add(model.head);
  return sum;
}

// Products of dense models, nothing of which is computed twice: each is divided over tensor- and
// context-parallel ranks, and exists once. Pairs of passes are one node, without their products.
bool computes_products_once(const RandomCase& c) {
  const Schedule& schedule = **find_schedule(c.plan.schedule);
  return c.model.experts == 0 && c.plan.recompute == Recompute::none &&
         c.model.family->copies(c.model, c.plan.tp).empty() && !schedule.splits_vocabulary &&
         !schedule.pairs_passes;
}

void expect_flops(const RandomCase& c, const Moved& of) {
  const double ranks = static_cast<double>(c.plan.tp * c.plan.cp * c.plan.dp);
  EXPECT_PRED2(same, of.product_flops * ranks,
               product_flops(c.model, c.training) * static_cast<double>(c.training.global_batch));
}

// States of the optimizer over all ranks, in parameters.
void expect_states(const RandomCase& c, const StepCosts& step) {
  double held = 0;
  for (int d = 0; d < step.shape.devices; ++d) held += owned(step, step.held(d).trained);
  held *= static_cast<double>(c.plan.tp * c.plan.cp * c.plan.dp);
  // A schedule of two directions holds all stages twice.
  double expected = 0;
  const double experts = expert_parameters(c.model);
  const auto copies = [&](const GroupShape& shard, const GroupShape& outer) {
    return static_cast<double>(c.plan.zero == 0 ? shard.size * outer.size : outer.size) *
           step.schedule->routes;
  };
  expected += (trained_parameters(c.model) - experts) *
              copies(step.layout->dense_shard, step.layout->dense_outer);
  expected += experts * copies(step.layout->expert_shard, step.layout->expert_outer);
  // Norms, routers and the positions of a sequence exist once a tensor-parallel rank.
  const bool ends_twice = c.model.ties_ends && c.plan.pp > 1;
  if (c.plan.tp == 1 && !ends_twice) {
    EXPECT_PRED2(same, held, expected);
  } else {
    EXPECT_GE(held, expected * (1 - 1e-9));
    EXPECT_LE(held, expected * static_cast<double>(2 * c.plan.tp));
  }
}

void expect_copies(const RandomCase& c, const StepCosts& step, Moved& of) {
  const Plan& plan = c.plan;
  EXPECT_PRED2(same, of.bytes["send activations to the host"],
               c.training.workload == Workload::forward
                   ? of.bytes["send activations to the host"]
                   : of.bytes["fetch activations from the host"]);
  EXPECT_PRED2(same, of.bytes["fetch optimizer states"], of.bytes["send optimizer states"]);
  EXPECT_PRED2(same, of.bytes["read optimizer states"], of.bytes["write optimizer states"]);
  EXPECT_PRED2(same, of.bytes["read activations from storage"],
               of.bytes["write activations to storage"]);
  // The last stage's copy of a tied embedding is reduced with the first, not with its replicas.
  if (plan.offload_optimizer == Offload::none || (c.model.ties_ends && plan.pp > 1)) return;
  double all = 0;
  for (int d = 0; d < step.shape.devices; ++d) all += owned(step, step.held(d).trained);
  const double outside = all * plan.offload_share;
  const double fetched =
      plan.update_stride > 0 ? outside / static_cast<double>(plan.update_stride) : 0;
  const auto near = [](double a, double b) { return std::abs(a - b) <= 1e-6 * std::max(1.0, b); };
  EXPECT_PRED2(near, of.bytes["update on the host"], (outside - fetched) * step.optimizer_bytes);
  EXPECT_PRED2(near, of.bytes["fetch optimizer states"],
               fetched * optimizer_state(c.training).value());
  // Every gradient that a host updates with has left, at least once.
  EXPECT_GE(of.bytes["send gradients to the host"], outside * step.gradient_bytes * (1 - 1e-6));
}

TEST(Conservation, OfWorkStatesAndCopiesOnAThousandPlans) {
  std::mt19937 random(20261126);
  int plans = 0;
  int products = 0;
  int outside = 0;
  while (plans < (kSanitized ? 100 : 1000)) {
    const auto drawn = random_case(random);
    if (!drawn) continue;
    ++plans;
    SCOPED_TRACE(to_text(drawn->plan) + " of " + drawn->model.name);
    CostCache cache(drawn->model, drawn->training,
                    *cost_context(drawn->cluster, Catalog::built_in(), drawn->software));
    const StepCosts step = step_costs(cache, drawn->plan);
    const auto expanded = step_graph(step, Folding::expanded);
    ASSERT_TRUE(expanded) << expanded.error().text();
    Moved of = moved(expanded->graph);
    if (computes_products_once(*drawn)) {
      expect_flops(*drawn, of);
      ++products;
    }
    if (step.passes.backward) expect_states(*drawn, step);
    expect_copies(*drawn, step, of);
    if (drawn->plan.offload_optimizer != Offload::none) ++outside;
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(products, plans / 10);
  EXPECT_GT(outside, plans / 20);
}

}  // namespace
}  // namespace orrery
