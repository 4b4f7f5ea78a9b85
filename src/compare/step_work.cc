#include "compare/step_work.h"

#include <algorithm>
#include <array>
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
  if (line.kind == LineKind::communication) return StepWork::communication;
  if (line.kind == LineKind::copying) return StepWork::copies;
  if (line.kind == LineKind::host) return StepWork::idle;
  using enum StepWork;
  static constexpr std::array<StepWork, kKernelClasses> kWork = {
      products,       // matrix_product
      attention,      // attention
      convolutions,   // convolution
      normalization,  // normalization
      others,         // softmax
      embedding,      // embedding
      optimizer,      // optimizer
      others,         // reduction
      others,         // elementwise
      communication,  // communication
      copies,         // copy
      others,         // kernels of eager operators and of compilers too: "triton__0d1d"
  };
  const KernelClass c = class_of(line);
  const bool scores_of_attention =
      scores == AttentionScores::in_batched_products &&
      (c == KernelClass::softmax || (c == KernelClass::matrix_product && is_batched_product(line)));
  return scores_of_attention ? attention : kWork[static_cast<std::size_t>(c)];
}

StepWork work_of(Category category) {
  using enum StepWork;
  static constexpr std::array<StepWork, kCategories> kWork = {
      products,       // attention_projection
      attention,      // attention_core
      products,       // feed_forward
      products,       // experts
      others,         // router
      normalization,  // normalization
      others,         // elementwise
      embedding,      // embedding
      products,       // logits
      others,         // loss
      products,       // convolution
      contention,     // contention
      recomputation,  // recompute
      optimizer,      // optimizer
      communication,  // exposed_tp
      communication,  // exposed_cp
      communication,  // exposed_ep
      communication,  // exposed_pp
      communication,  // exposed_dp
      idle,           // bubble
      idle,           // host
  };
  return kWork[static_cast<std::size_t>(category)];
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
