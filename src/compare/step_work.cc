#include "compare/step_work.h"

#include <algorithm>
#include <array>
#include <cmath>
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

EnumNames<StepWork> names_of(StepWork) {
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
  static constexpr std::array kWork = {
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
  static_assert(kWork.size() == enumerators<KernelClass>());
  const KernelClass c = class_of(line);
  const bool scores_of_attention =
      scores == AttentionScores::in_batched_products &&
      (c == KernelClass::softmax || (c == KernelClass::matrix_product && is_batched_product(line)));
  return scores_of_attention ? attention : kWork[static_cast<std::size_t>(c)];
}

StepWork work_of(Category category) {
  using enum StepWork;
  static constexpr std::array kWork = {
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
  static_assert(kWork.size() == enumerators<Category>());
  return kWork[static_cast<std::size_t>(category)];
}

bool has_no_launch(const ProfileLine& line) {
  return line.kernels.size() == 1 && line.kernels.begin()->first == line.name;
}

bool unlaunched_is_earlier(std::span<const RecordedTrace> run) {
  return std::ranges::all_of(run, [](const RecordedTrace& trace) {
    return unlaunched_is_earlier(trace, launch_links(trace));
  });
}

namespace {

LineKind kind_of(StepWork work) {
  if (work == StepWork::communication || work == StepWork::waiting) return LineKind::communication;
  if (work == StepWork::copies) return LineKind::copying;
  return work == StepWork::idle ? LineKind::host : LineKind::computing;
}

// Times by kind become lines; what is not there is left out. Only what owned time counts: of a
// prediction nothing else is known.
class WorkLines {
 public:
  void add(StepWork work, std::int64_t ns) { ns_[static_cast<std::size_t>(work)] += ns; }

  void write(StepProfile& profile) const {
    for (std::size_t i = 0; i < kStepWorks; ++i) {
      if (ns_[i] == 0) continue;
      const auto work = static_cast<StepWork>(i);
      ProfileLine line;
      line.name = to_text(work);
      line.kind = kind_of(work);
      line.times.calls = profile.steps;
      line.times.busy_ns = ns_[i];
      line.times.owned_ns = ns_[i];
      profile.lines.push_back(std::move(line));
    }
  }

 private:
  std::array<std::int64_t, kStepWorks> ns_{};
};

}  // namespace

StepProfile profile_by_work(const StepProfile& recorded, Unlaunched unlaunched) {
  WorkLines works;
  const AttentionScores scores = attention_scores(recorded);
  works.add(StepWork::idle, recorded.end_ns);
  for (const ProfileLine& line : recorded.lines) {
    const LineTimes& t = line.times;
    works.add(StepWork::idle, t.late_ns + t.latency_ns);
    if (unlaunched == Unlaunched::earlier && has_no_launch(line)) {
      works.add(StepWork::earlier, t.owned_ns);
      continue;
    }
    const std::int64_t waiting = line.kind == LineKind::communication
                                     ? std::clamp<std::int64_t>(t.waiting_ns, 0, t.owned_ns)
                                     : 0;
    works.add(StepWork::waiting, waiting);
    works.add(work_of(line, scores), t.owned_ns - waiting);
  }
  StepProfile out;
  out.steps = recorded.steps;
  out.step_ns = recorded.step_ns;
  out.waiting_known = recorded.waiting_known;
  works.write(out);
  return out;
}

StepProfile predicted_profile(const Breakdown& predicted) {
  WorkLines works;
  StepProfile out;
  out.steps = 1;
  out.waiting_known = true;
  for (std::size_t c = 0; c < kCategories; ++c) {
    const auto category = static_cast<Category>(c);
    const std::int64_t ns = std::llround(predicted[category].count() / 1000);
    works.add(work_of(category), ns);
    out.step_ns += ns;
  }
  works.write(out);
  return out;
}

void fold_untold_work(StepProfile& recorded, StepProfile& predicted) {
  const auto find = [](StepProfile& profile, StepWork work) {
    return std::ranges::find_if(
        profile.lines, [&](const ProfileLine& line) { return line.name == to_text(work); });
  };
  for (const StepWork work : {StepWork::normalization, StepWork::embedding}) {
    const auto here = find(recorded, work);
    const auto there = find(predicted, work);
    if ((here == recorded.lines.end()) == (there == predicted.lines.end())) continue;
    StepProfile& profile = here == recorded.lines.end() ? predicted : recorded;
    const auto told = here == recorded.lines.end() ? there : here;
    const auto others = find(profile, StepWork::others);
    if (others == profile.lines.end()) {
      told->name = to_text(StepWork::others);
      continue;
    }
    others->times.busy_ns += told->times.busy_ns;
    others->times.owned_ns += told->times.owned_ns;
    profile.lines.erase(told);
  }
}

}  // namespace orrery
