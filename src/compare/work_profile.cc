#include "compare/work_profile.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "compare/earlier_work.h"
#include "trace/kernel_class.h"

namespace orrery {
namespace {

enum class Work : std::uint8_t {
  products,
  attention,
  normalization,
  embedding,
  optimizer,
  others,
  recomputation,
  contention,
  communication,
  waiting,
  copies,
  earlier,
  idle,
};
struct WorkName {
  std::string_view name;
  LineKind kind;
};
constexpr std::array<WorkName, 13> kWorks = {{
    {"matrix products", LineKind::computing},
    {"attention", LineKind::computing},
    {"normalization", LineKind::computing},
    {"embedding", LineKind::computing},
    {"optimizer", LineKind::computing},
    {"elementwise and others", LineKind::computing},
    {"recomputation", LineKind::computing},
    {"contention", LineKind::computing},
    {"communication, exposed", LineKind::communication},
    {"waiting for other ranks, exposed", LineKind::communication},
    {"copies, exposed", LineKind::copying},
    {"launched before the recording", LineKind::computing},
    {"idle", LineKind::host},
}};

Work work_of(KernelClass c) {
  switch (c) {
    case KernelClass::matrix_product:
    case KernelClass::convolution:
      return Work::products;
    case KernelClass::attention:
    case KernelClass::softmax:
      return Work::attention;
    case KernelClass::normalization:
      return Work::normalization;
    case KernelClass::embedding:
      return Work::embedding;
    case KernelClass::optimizer:
      return Work::optimizer;
    case KernelClass::communication:
      return Work::communication;
    case KernelClass::copy:
      return Work::copies;
    case KernelClass::reduction:
    case KernelClass::elementwise:
    case KernelClass::other:
      return Work::others;
  }
  return Work::others;
}

Work work_of(Category c) {
  switch (c) {
    case Category::attention_projection:
    case Category::feed_forward:
    case Category::experts:
    case Category::logits:
      return Work::products;
    case Category::attention_core:
      return Work::attention;
    case Category::normalization:
      return Work::normalization;
    case Category::embedding:
      return Work::embedding;
    case Category::optimizer:
      return Work::optimizer;
    case Category::router:
    case Category::elementwise:
    case Category::loss:
      return Work::others;
    case Category::recompute:
      return Work::recomputation;
    case Category::contention:
      return Work::contention;
    case Category::exposed_tp:
    case Category::exposed_cp:
    case Category::exposed_ep:
    case Category::exposed_pp:
    case Category::exposed_dp:
      return Work::communication;
    case Category::bubble:
    case Category::host:
      return Work::idle;
  }
  return Work::idle;
}

KernelClass class_of(const ProfileLine& line) {
  // The kernel that takes most of it tells.
  const auto longest =
      std::max_element(line.kernels.begin(), line.kernels.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  const std::string_view kernel =
      longest == line.kernels.end() ? std::string_view() : std::string_view(longest->first);
  return kernel_class(kernel, line.name, line.context);
}

bool is_batched_product(const ProfileLine& line) {
  return line.name == "aten::bmm" || line.name == "aten::baddbmm" ||
         line.name.find("BmmBackward") != std::string::npos;
}

// Attention as products and softmaxes of their own: no fused kernel is there.
bool attends_unfused(const StepProfile& profile) {
  bool products = false;
  bool softmax = false;
  for (const ProfileLine& line : profile.lines) {
    if (line.kind != LineKind::computing) continue;
    const KernelClass c = class_of(line);
    if (c == KernelClass::attention) return false;
    softmax = softmax || c == KernelClass::softmax;
    products = products || (c == KernelClass::matrix_product && is_batched_product(line));
  }
  return products && softmax;
}

// Times by kind become lines; what is not there is left out. Only what owned time counts: of a
// prediction nothing else is known.
class WorkLines {
 public:
  void add(Work work, std::int64_t ns) { ns_[static_cast<std::size_t>(work)] += ns; }

  void write(StepProfile& profile) const {
    for (std::size_t i = 0; i < kWorks.size(); ++i) {
      if (ns_[i] == 0) continue;
      ProfileLine line;
      line.name = kWorks[i].name;
      line.kind = kWorks[i].kind;
      line.times.calls = profile.steps;
      line.times.busy_ns = ns_[i];
      line.times.owned_ns = ns_[i];
      profile.lines.push_back(std::move(line));
    }
  }

 private:
  std::array<std::int64_t, kWorks.size()> ns_{};
};

}  // namespace

StepProfile profile_by_work(const StepProfile& recorded, Unlaunched unlaunched) {
  WorkLines works;
  const bool unfused = attends_unfused(recorded);
  works.add(Work::idle, recorded.end_ns);
  for (const ProfileLine& line : recorded.lines) {
    const LineTimes& t = line.times;
    works.add(Work::idle, t.late_ns + t.latency_ns);
    if (unlaunched == Unlaunched::earlier && has_no_launch(line)) {
      works.add(Work::earlier, t.owned_ns);
      continue;
    }
    if (line.kind == LineKind::communication) {
      const std::int64_t waiting = std::clamp<std::int64_t>(t.waiting_ns, 0, t.owned_ns);
      works.add(Work::waiting, waiting);
      works.add(Work::communication, t.owned_ns - waiting);
    } else if (line.kind == LineKind::copying) {
      works.add(Work::copies, t.owned_ns);
    } else if (line.kind == LineKind::host) {
      works.add(Work::idle, t.owned_ns);
    } else {
      const KernelClass c = class_of(line);
      const bool scores = unfused && c == KernelClass::matrix_product && is_batched_product(line);
      works.add(scores ? Work::attention : work_of(c), t.owned_ns);
    }
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
  const auto find = [](StepProfile& profile, Work work) {
    return std::find_if(profile.lines.begin(), profile.lines.end(), [&](const ProfileLine& line) {
      return line.name == kWorks[static_cast<std::size_t>(work)].name;
    });
  };
  for (const Work work : {Work::normalization, Work::embedding}) {
    const auto here = find(recorded, work);
    const auto there = find(predicted, work);
    if ((here == recorded.lines.end()) == (there == predicted.lines.end())) continue;
    StepProfile& profile = here == recorded.lines.end() ? predicted : recorded;
    const auto told = here == recorded.lines.end() ? there : here;
    const auto others = find(profile, Work::others);
    if (others == profile.lines.end()) {
      told->name = kWorks[static_cast<std::size_t>(Work::others)].name;
      continue;
    }
    others->times.busy_ns += told->times.busy_ns;
    others->times.owned_ns += told->times.owned_ns;
    profile.lines.erase(told);
  }
}

}  // namespace orrery
