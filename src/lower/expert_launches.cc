#include "lower/expert_launches.h"

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

// With current scaling: one clears the greatest magnitude, one finds it, one makes the scale of it,
// one casts.
constexpr int kCurrentScaling = 4;

bool launches_each(const BlockSetting& setting) {
  return setting.costs.software.host.expert_launches == ExpertLaunches::each &&
         setting.plan.expert_products != ExpertProducts::scattered;
}

}  // namespace

OperatorWork routing_work(Phase phase, const SoftwareProfile& software) {
  const bool forward = phase == Phase::forward;
  const bool eager =
      software.router == Kernels::eager && software.host.launches != LaunchPath::compiled;
  if (eager) return forward ? OperatorWork{22, 18} : OperatorWork{16, 10};
  return forward ? OperatorWork{8, 6} : OperatorWork{8, 4};
}

int counting_kernels(ExpertDispatch dispatch, int ranks) {
  if (ranks <= 1) return 5;
  return dispatch == ExpertDispatch::deduplicated ? 6 : 15;
}

int counting_collectives(ExpertDispatch dispatch, int ranks) {
  return ranks <= 1 || dispatch == ExpertDispatch::deduplicated ? 0 : 2;
}

bool has_experts(const Block& block) {
  return std::ranges::any_of(block.operators, [](const Operator& op) {
    return op.kind == OperatorKind::grouped_gemm && op.parameter_axis == LogicalAxis::experts;
  });
}

bool has_tables(const Block& block) {
  return std::ranges::any_of(
      block.operators, [](const Operator& op) { return op.kind == OperatorKind::embedding_bag; });
}

bool sends_tokens(const Binding& binding) { return binding.ep * binding.etp > 1; }

bool reads_counts(const Block& block, const BlockSetting& setting) {
  const HostCosts& host = setting.costs.software.host;
  if (!host.reads_counts || host.launches == LaunchPath::graphs) return false;
  if (has_tables(block)) return true;
  return !setting.training.expert_load.padded &&
         (sends_tokens(setting.binding) || launches_each(setting)) && has_experts(block);
}

int product_launches(const BlockSetting& setting, double experts) {
  return launches_each(setting) ? static_cast<int>(std::ceil(experts)) : 1;
}

CastWork cast_work(const BlockSetting& setting, NumberFormat format, double experts) {
  const Fp8Scaling scaling = setting.costs.software.fp8_scaling;
  const bool fp8 = format == NumberFormat::fp8;
  if (fp8 && scaling == Fp8Scaling::delayed) return {};
  const int each = product_launches(setting, experts);
  if (fp8 && scaling == Fp8Scaling::current) return {2, kCurrentScaling * each};
  return {1, each};
}

}  // namespace orrery
