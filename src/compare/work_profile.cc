#include "compare/work_profile.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "compare/step_work.h"

namespace orrery {
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
    return std::find_if(profile.lines.begin(), profile.lines.end(),
                        [&](const ProfileLine& line) { return line.name == to_text(work); });
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
