#include "lower/expert_launches.h"

#include <algorithm>
#include <cmath>

namespace orrery {
namespace {

// Formats whose scales belong to blocks of 16 or 32 elements.
bool scales_blocks(NumberFormat format) {
  return format == NumberFormat::mxfp8 || format == NumberFormat::nvfp4;
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

bool reads_counts(const Block& block, const BlockSetting& setting) {
  const HostCosts& host = setting.costs.software.host;
  return host.reads_counts && host.launches != LaunchPath::graphs && setting.binding.ep > 1 &&
         has_experts(block);
}

int product_launches(const SoftwareProfile& software, double experts) {
  if (software.host.expert_launches == ExpertLaunches::together) return 1;
  return static_cast<int>(std::ceil(experts));
}

int cast_launches(const SoftwareProfile& software, NumberFormat format, double experts) {
  return scales_blocks(format) ? product_launches(software, experts) : 1;
}

}  // namespace orrery
