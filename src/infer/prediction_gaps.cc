#include "infer/prediction_gaps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "compare/step_work.h"
#include "plan/software.h"
#include "units/quantity_text.h"

namespace orrery {
namespace {

constexpr std::size_t kMostCauses = 3;
constexpr double kLeastGapShare = 0.1;  // of all differences

// Of idle time, from a comparison. Of forward passes alone no launching is predicted.
ComparedIdleTime idle_time_of(const InferredComparison& c) {
  const ComparedPart& host = c.parts[static_cast<std::size_t>(StepPart::host)];
  ComparedIdleTime idle{.recorded = c.step_idle,
                        .predicted = host.predicted,
                        .recorded_step = c.recorded_step,
                        .launches = c.step_launches,
                        .launching = std::nullopt};
  if (c.spec.backward) {
    idle.launching = {c.spec.software.empty() ? SoftwareProfile().name : c.spec.software,
                      c.launching};
  }
  return idle;
}

std::string why_work(std::span<const RecordedTrace> run, const InferredComparison& c,
                     StepPart part) {
  constexpr std::size_t kNamed = 3;
  constexpr double kLeastWork = 0.05;
  constexpr double kMuch = 0.5;  // of the difference
  constexpr std::size_t kLongestDetail = 48;
  const ComparedPart& compared = c.parts[static_cast<std::size_t>(part)];
  std::string longest;
  std::size_t named = 0;
  Seconds of_others;
  for (const RecordedPartWork& work : c.work) {
    if (work.part != part) continue;
    if (!work.of_model) of_others += work.time;
    if (!(work.time > kLeastWork * compared.recorded) || named == kNamed) continue;
    ++named;
    std::string detail = work.detail.substr(0, kLongestDetail);
    if (detail.size() < work.detail.size()) detail += "...";
    longest += fmt::format("{}{}{}{} {} in {:.0f}", longest.empty() ? "" : "; ", work.name,
                           detail.empty() ? "" : " ", detail, to_text(work.time), work.calls);
  }
  const bool slow = compared.predicted > compared.recorded;
  std::string out;
  if (part == StepPart::recomputation) {
    out = "what a recording computes again is among its other parts";
  } else if (!(compared.predicted > Seconds(0))) {
    out = "the model of a step has no such work";
  } else if (!slow && of_others > kMuch * (compared.recorded - compared.predicted)) {
    out = fmt::format("{} is work of shapes that the inferred model does not have",
                      to_text(of_others));
  } else if (!slow && part == StepPart::communication && run.size() == 1 && c.estimate.gpus > 1) {
    out = "one rank is recorded, so that what it waited for others is in it";
  } else {
    out = slow ? "predicted too slow" : "predicted too fast";
  }
  if (!longest.empty()) out += fmt::format("; recorded, kernels of a step: {}", longest);
  return out + ".";
}

}  // namespace

std::vector<PredictionGap> prediction_gaps(std::span<const RecordedTrace> run,
                                           const InferredComparison& comparison) {
  std::vector<PredictionGap> out;
  if (!comparison.is_predicted) return out;
  double all = 0;
  for (std::size_t p = 0; p < kStepParts; ++p) {
    const ComparedPart& part = comparison.parts[p];
    const Seconds difference = part.predicted - part.recorded;
    all += std::abs(difference.value());
    out.push_back({static_cast<StepPart>(p), difference, ""});
  }
  const auto size = [](const PredictionGap& c) { return std::abs(c.difference.value()); };
  std::ranges::stable_sort(out, [&](const auto& a, const auto& b) { return size(a) > size(b); });
  std::erase_if(out,
                [&](const auto& c) { return !(size(c) > 0) || size(c) < kLeastGapShare * all; });
  if (out.size() > kMostCauses) out.resize(kMostCauses);
  // Of forward passes alone neither is compared, but a reader sees both in the recorded step.
  if (!comparison.spec.backward) {
    const Seconds least = kLeastGapShare * comparison.recorded_step;
    for (const auto& [part, time] : {std::pair(StepPart::host, comparison.step_idle),
                                     std::pair(StepPart::waiting, comparison.step_waiting)}) {
      if (time > least) out.push_back({part, Seconds(0) - time, "", false});
    }
  }
  for (PredictionGap& cause : out) {
    cause.why = cause.part == StepPart::host      ? why_idle(run, idle_time_of(comparison))
                : cause.part == StepPart::waiting ? why_waiting(run)
                                                  : why_work(run, comparison, cause.part);
  }
  return out;
}

std::vector<std::string> idle_and_waiting_notes(const Difference& by_work,
                                                std::span<const RecordedTrace> run,
                                                ComparedIdleTime idle,
                                                const ProfileOptions& steps) {
  double all = 0;
  for (const DifferenceRow& row : by_work.rows) all += std::abs(row.difference().value());
  std::vector<std::string> out;
  for (const DifferenceRow& row : by_work.rows) {
    const Seconds change = row.difference();
    if (!(std::abs(change.value()) > 0) || std::abs(change.value()) < kLeastGapShare * all)
      continue;
    const std::string& what = row.first.empty() ? by_work.second.lines[row.second.front()].name
                                                : by_work.first.lines[row.first.front()].name;
    const bool less = change < Seconds(0);
    const std::string by =
        fmt::format("{} {} predicted: ", to_text(less ? Seconds(0) - change : change),
                    less ? "more than" : "less than");
    if (what == to_text(StepWork::idle)) {
      idle.recorded = row.contribution_first;
      idle.predicted = row.contribution_second;
      out.push_back("Idle, " + by + why_idle(run, idle, steps));
    } else if (what == to_text(StepWork::waiting)) {
      out.push_back("Waiting for ranks, " + by + why_waiting(run, steps));
    }
  }
  return out;
}

}  // namespace orrery
