#include "compare/step_work.h"

#include <algorithm>
#include <string>

#include "trace/kernel_class.h"
#include "trace/launch_links.h"

namespace orrery {
namespace {

KernelClass class_of(const ProfileLine& line) {
  const auto longest = std::ranges::max_element(
      line.kernels, [](const auto& a, const auto& b) { return a.second < b.second; });
  const std::string_view kernel =
      longest == line.kernels.end() ? std::string_view(line.name) : longest->first;
  return kernel_class(kernel, line.name, line.context);
}

bool is_batched_product(const ProfileLine& line) {
  return line.name == "aten::bmm" || line.name == "aten::baddbmm" ||
         line.name.find("BmmBackward") != std::string::npos;
}

}  // namespace

std::span<const EnumName<StepWork>> names_of(StepWork) {
  using enum StepWork;
  static constexpr auto kNames = std::to_array<EnumName<StepWork>>({
      {products, "matrix products"},
      {attention, "attention"},
      {normalization, "normalization"},
      {embedding, "embedding"},
      {optimizer, "optimizer"},
      {others, "elementwise and others"},
      {convolutions, "convolutions"},
      {recomputation, "recomputation"},
      {contention, "contention"},
      {communication, "communication, exposed"},
      {waiting, "waiting for other ranks, exposed"},
      {copies, "copies, exposed"},
      {earlier, "launched before the recording"},
      {idle, "idle"},
  });
  return kNames;
}

AttentionScores attention_scores(const StepProfile& recorded) {
  bool products = false;
  bool softmax = false;
  for (const ProfileLine& line : recorded.lines) {
    if (line.kind != LineKind::computing) continue;
    const KernelClass c = class_of(line);
    if (c == KernelClass::attention) return AttentionScores::in_kernels_of_attention;
    softmax = softmax || c == KernelClass::softmax;
    products = products || (c == KernelClass::matrix_product && is_batched_product(line));
  }
  return products && softmax ? AttentionScores::in_batched_products
                             : AttentionScores::in_kernels_of_attention;
}

StepWork work_of(const ProfileLine& line, AttentionScores scores) {
  switch (line.kind) {
    case LineKind::communication:
      return StepWork::communication;
    case LineKind::copying:
      return StepWork::copies;
    case LineKind::host:
      return StepWork::idle;
    case LineKind::computing:
      break;
  }
  const bool in_products = scores == AttentionScores::in_batched_products;
  switch (class_of(line)) {
    case KernelClass::matrix_product:
      return in_products && is_batched_product(line) ? StepWork::attention : StepWork::products;
    case KernelClass::attention:
      return StepWork::attention;
    case KernelClass::softmax:
      return in_products ? StepWork::attention : StepWork::others;
    case KernelClass::convolution:
      return StepWork::convolutions;
    case KernelClass::normalization:
      return StepWork::normalization;
    case KernelClass::embedding:
      return StepWork::embedding;
    case KernelClass::optimizer:
      return StepWork::optimizer;
    case KernelClass::communication:
      return StepWork::communication;
    case KernelClass::copy:
      return StepWork::copies;
    case KernelClass::reduction:
    case KernelClass::elementwise:
    case KernelClass::other:
      // Kernels of eager operators and of compilers too: "triton__0d1d", "CatArrayBatchedCopy".
      return StepWork::others;
  }
  return StepWork::others;
}

StepWork work_of(Category category) {
  switch (category) {
    case Category::attention_projection:
    case Category::feed_forward:
    case Category::experts:
    case Category::logits:
    case Category::convolution:
      return StepWork::products;
    case Category::attention_core:
      return StepWork::attention;
    case Category::normalization:
      return StepWork::normalization;
    case Category::embedding:
      return StepWork::embedding;
    case Category::optimizer:
      return StepWork::optimizer;
    case Category::router:
    case Category::elementwise:
    case Category::loss:
      return StepWork::others;
    case Category::recompute:
      return StepWork::recomputation;
    case Category::contention:
      return StepWork::contention;
    case Category::exposed_tp:
    case Category::exposed_cp:
    case Category::exposed_ep:
    case Category::exposed_pp:
    case Category::exposed_dp:
      return StepWork::communication;
    case Category::bubble:
    case Category::host:
      return StepWork::idle;
  }
  return StepWork::idle;
}

bool has_no_launch(const ProfileLine& line) {
  return line.kernels.size() == 1 && line.kernels.begin()->first == line.name;
}

bool unlaunched_is_earlier(std::span<const RecordedTrace> run) {
  return std::all_of(run.begin(), run.end(), [](const RecordedTrace& trace) {
    return unlaunched_is_earlier(trace, launch_links(trace));
  });
}

}  // namespace orrery
