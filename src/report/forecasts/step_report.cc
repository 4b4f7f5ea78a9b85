#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "document/results.h"
#include "report/drawing/table.h"
#include "report/forecasts/forecast_reports.h"

namespace orrery {
namespace {

struct StepDocument {
  const StepDistribution& distribution;
  const Subject& subject;
};

struct LongerStep {
  Seconds than;
  RunQuantile<double> share;
};

}  // namespace

std::string step_sentence(const StepDistribution& d) {
  return fmt::format(
      "half of the steps take {} or more, one of 20 takes {} or more, which is {:.1f} % longer; "
      "predicted without slow nodes: {}",
      to_text(d.times.p50.value), to_text(d.times.p95.value),
      100 * (d.times.p95.value / d.times.p50.value - 1), to_text(d.predicted));
}

std::string exceeds_sentence(const StepDistribution& d) {
  if (!d.exceeds) return "";
  return fmt::format("takes longer than {} with a probability of {} ({} to {})",
                     to_text(*d.exceeds), percent(d.exceeds_share.value),
                     percent(d.exceeds_share.low), percent(d.exceeds_share.high));
}

std::vector<std::string> sample_sentences(const StepDistribution& d) {
  std::vector<std::string> out = {
      fmt::format("{} samples: p50 lies between {} and {}, p95 between {} and {}, p99.9 between {} "
                  "and {}",
                  grouped(d.samples), to_text(d.times.p50.low), to_text(d.times.p50.high),
                  to_text(d.times.p95.low), to_text(d.times.p95.high), to_text(d.times.p99_9.low),
                  to_text(d.times.p99_9.high))};
  if (d.moments_p50 && d.moments_p95) {
    out.push_back(fmt::format("without samples, by moments and Clark's maximum: p50 {}, p95 {}",
                              to_text(*d.moments_p50), to_text(*d.moments_p95)));
  }
  out.push_back(fmt::format("{} of a stage {} in every layer, {} at the end of the step",
                            counted(d.lock_step, "accelerator"),
                            d.lock_step == 1 ? "meets" : "meet", counted(d.replicas, "replica")));
  return out;
}

Table quantile_table(const StepDistribution& d) {
  Table table(left("", 4), right("p5", 3), right("p50", 4), right("p95", 4), right("p99", 3),
              right("p99.9", 2), right("mean", 2), right("p95 / p50", 3));
  const auto add = [&](std::string_view name, const StepTimes& t) {
    table.row(name, to_text(t.p5.value), bold(to_text(t.p50.value)), bold(to_text(t.p95.value)),
              to_text(t.p99.value), to_text(t.p99_9.value), to_text(t.mean),
              fmt::format("{:.4f}", t.p95.value / t.p50.value));
  };
  add("what varies", d.times);
  add("and the prediction's own error", d.together);
  return table;
}

namespace {

std::string words_for(VaryingWork kind) {
  static constexpr std::array<const char*, kVaryingWork> kWords = {"products",
                                                                   "attention",
                                                                   "kernels bound by memory",
                                                                   "tensor-parallel communication",
                                                                   "context-parallel communication",
                                                                   "expert-parallel communication",
                                                                   "pipeline transfers",
                                                                   "data-parallel communication"};
  return kWords[static_cast<std::size_t>(kind)];
}

// Best and worst, and those between if they are few.
Table slow_table(const StepDistribution& d) {
  constexpr std::size_t kMostStages = 16;
  std::vector<SlowStage> stages = d.slow_stages;
  std::ranges::stable_sort(stages, {}, &SlowStage::over_p95);
  if (stages.size() > kMostStages) {
    stages.erase(stages.begin() + kMostStages / 2, stages.end() - kMostStages / 2);
  }
  Table table(left("stage", 3), right("p95", 3), right("longer by", 2));
  for (const SlowStage& s : stages) {
    table.row(std::to_string(s.stage), to_text(s.over_p95 * d.times.p95.value),
              fmt::format("{:.1f} %", 100 * (s.over_p95 - 1)));
  }
  return table;
}

}  // namespace

Table tail_table(const StepDistribution& d) {
  Table table(left("", 3), right("p95 falls by", 3), right("that is", 2), page_bars());
  double most = 1e-12;
  for (const TailShare& t : d.tail) most = std::max(most, t.share_of_p95);
  for (const TailShare& t : d.tail) {
    table.row(words_for(t.kind), fmt::format("{:.2f} %", 100 * t.share_of_p95),
              to_text(t.share_of_p95 * d.times.p95.value),
              bar_of({{std::max(t.share_of_p95, 0.0) / most, {}, "accent"}}));
  }
  return table;
}

// Over the step that waits for all replicas: "-0.38 %".
std::string change_of_p95(const StepDistribution& d, Seconds p95) {
  return fmt::format("{:+.2f} %", 100 * (p95 / d.fewer.front().p95 - 1));
}

Table replica_table(const StepDistribution& d) {
  Table table(left("waits for", 3), right("p50", 3), right("p95", 3), right("p95 changes by", 2));
  for (const FewerReplicas& f : d.fewer) {
    table.row(f.dropped == 0 ? "all replicas" : fmt::format("all but the slowest {}", f.dropped),
              to_text(f.p50), to_text(f.p95), change_of_p95(d, f.p95));
  }
  for (const CodedStep& c : d.coded) {
    table.row(fmt::format("gradient coding, without {}", c.tolerated), to_text(c.p50),
              to_text(c.p95), change_of_p95(d, c.p95));
  }
  return table;
}

template <>
inline constexpr auto kResults<RunQuantile<Seconds>> = table<RunQuantile<Seconds>>(
    "time quantile", "A quantile of the samples.",
    field<&RunQuantile<Seconds>::value>("of the samples"),
    field<&RunQuantile<Seconds>::low>("lower end of its 95 % interval"),
    field<&RunQuantile<Seconds>::high>("upper end of its 95 % interval"));

template <>
inline constexpr auto kResults<StepTimes> = table<StepTimes>(
    "step times", "Quantiles of the time of a step.",
    field<&StepTimes::p5>("5 % of the steps are shorter"), field<&StepTimes::p50>("the median"),
    field<&StepTimes::p95>("95 % of the steps are shorter"),
    field<&StepTimes::p99>("99 % of the steps are shorter"),
    field<&StepTimes::p99_9>("99.9 % of the steps are shorter"),
    field<&StepTimes::mean>("of the steps"));

template <>
inline constexpr auto kResults<LongerStep> = table<LongerStep>(
    "longer step", "How likely a step takes longer than was asked.",
    field<&LongerStep::than>("than_s", "the time that was asked for"),
    field("probability", "share of the samples", [](auto& s) { return s.share.value; }),
    field("low", "lower end of its 95 % interval", [](auto& s) { return s.share.low; }),
    field("high", "upper end of its 95 % interval", [](auto& s) { return s.share.high; }));

template <>
inline constexpr auto kResults<TailShare> =
    table<TailShare>("part of the tail", "A kind of work that takes the same time always.",
                     field<&TailShare::kind>("of work"),
                     field<&TailShare::share_of_p95>("by which p95 falls without its spread"));

template <>
inline constexpr auto kResults<SlowStage> =
    table<SlowStage>("slow stage", "One slow node in a stage.", field<&SlowStage::stage>("from 0"),
                     field<&SlowStage::over_p95>("p95 with it over p95 without"));

template <>
inline constexpr auto kResults<FewerReplicas> =
    table<FewerReplicas>("fewer replicas", "A step that does not wait for the slowest replicas.",
                         field<&FewerReplicas::dropped>("replicas that are not waited for"),
                         field<&FewerReplicas::p50>("p50_s", "the median"),
                         field<&FewerReplicas::p95>("p95_s", "95 % of the steps are shorter"));

template <>
inline constexpr auto kResults<CodedStep> = table<CodedStep>(
    "coded step", "A step with gradient coding, each replica with as many parts more of the batch.",
    field<&CodedStep::tolerated>("slow replicas whose gradients are not needed"),
    field<&CodedStep::p50>("p50_s", "the median"),
    field<&CodedStep::p95>("p95_s", "95 % of the steps are shorter"));

template <>
inline constexpr auto kResults<StepDistribution> = table<StepDistribution>(
    "step distribution", "The distribution of the time of a step.",
    field<&StepDistribution::predicted>("step_time_s", "as orrery estimate predicts it"),
    field<&StepDistribution::scale>(
        "by which all times are multiplied, so that the median without slow nodes is step_time_s"),
    field<&StepDistribution::times>("times_s", "of the samples"),
    field("cdf_s", "41 of them, shortest to longest: 2.5 % of the samples lie between two",
          [](auto& d) { return cdf_of(d.sampled); }),
    field("step_time_low_s", "lower end of the interval of the prediction",
          [](auto& d) { return d.interval.low; }),
    field("step_time_high_s", "upper end of the interval of the prediction",
          [](auto& d) { return d.interval.high; }),
    field<&StepDistribution::together>("times_with_prediction_error_s",
                                       "of the samples, each off as predictions are"),
    optional_field("longer", "with --exceeds",
                   [](auto& d) {
                     return d.exceeds ? std::optional(LongerStep{*d.exceeds, d.exceeds_share})
                                      : std::nullopt;
                   }),
    field<&StepDistribution::tail>("what makes it, most first"),
    field<&StepDistribution::slow_node>("time of the slow node over that of the others"),
    field<&StepDistribution::slow_stages>(
        "with one slow node, by stage; empty if slow nodes are stated"),
    field<&StepDistribution::fewer>("fewer_replicas", "empty if there is one replica"),
    field<&StepDistribution::coded>("gradient_coding", "empty where it cannot be predicted"),
    optional_field("moments_p50_s", "the median by moments and Clark's maximum, without samples",
                   [](auto& d) { return d.moments_p50; }),
    optional_field("moments_p95_s", "p95 in the same way", [](auto& d) { return d.moments_p95; }),
    field<&StepDistribution::accelerators>("gpus", "accelerators of the job"),
    field<&StepDistribution::lock_step>("accelerators of a stage that meet in every layer"),
    field<&StepDistribution::replicas>("that meet only at the end of a step"),
    field<&StepDistribution::samples>("drawn"),
    field<&StepDistribution::seed>("of the random numbers"),
    field("variability", "name in the catalog", [](auto& d) { return d.variability.name; }),
    field<&StepDistribution::assumed>("sentences"));

template <>
inline constexpr auto kResults<StepDocument> = table<StepDocument>(
    "forecast step document", "The distribution of the time of a step.", schema_version<1>(),
    field("model", "name of the model", [](auto& d) { return d.subject.model; }),
    field("cluster", "name of the cluster", [](auto& d) { return d.subject.cluster; }),
    fields_within([](auto& d) -> const StepDistribution& { return d.distribution; }));

Value step_distribution_json(const StepDistribution& distribution, const Subject& subject) {
  return answer(StepDocument{distribution, subject});
}
const Description& step_distribution_document() { return description_of<StepDocument>(); }

std::string step_distribution_text(const StepDistribution& d, const Subject& subject,
                                   const TextStyle& style) {
  std::string out = subject_heading(subject, style);
  out += paragraph(style, step_sentence(d));
  out += "\n" + quantile_table(d).text(style) + "\n";
  out += distribution_line(d.sampled, [](Seconds s) { return to_text(s); }, style);
  if (d.exceeds) out += paragraph(style, "→ " + exceeds_sentence(d));
  for (const std::string& one : sample_sentences(d)) out += paragraph(style, one);
  out +=
      section("What makes the tail", "p95 if it took the same time always", tail_table(d), style);
  out += section("Where a slow node hurts least",
                 fmt::format("a node whose kernels take {:g} times as long", d.slow_node),
                 slow_table(d), style);
  out += section("What spare replicas and gradient coding would save", "", replica_table(d), style);
  return out + assumed_text(d.assumed, style);
}

namespace {

Seconds quantile_at(std::span<const Seconds> times, double p) {
  const auto n = static_cast<double>(times.size());
  return times[static_cast<std::size_t>(std::clamp(std::floor(p * n), 0.0, n - 1))];
}

bool is_a_range(TimeRange range) { return range.high > range.low * (1 + 1e-9); }

// Shares of the times in equal bins of the range; Rice's rule, 2 n^(1/3), says how many where no
// number is given.
std::vector<double> histogram_of(std::span<const Seconds> times, TimeRange range,
                                 std::size_t bins = 0) {
  const auto n = static_cast<double>(times.size());
  if (bins == 0) bins = static_cast<std::size_t>(std::clamp(2 * std::cbrt(n), 8.0, 60.0));
  std::vector<double> out(bins);
  for (const Seconds t : times) {
    const double at = (t - range.low) / (range.high - range.low) * static_cast<double>(bins);
    if (!(at >= 0 && at <= static_cast<double>(bins))) continue;
    out[std::min(static_cast<std::size_t>(at), bins - 1)] += 1 / n;
  }
  return out;
}

}  // namespace

std::vector<Seconds> cdf_of(std::span<const Seconds> times) {
  std::vector<Seconds> out;
  if (times.empty()) return out;
  for (int i = 0; i <= 40; ++i) out.push_back(quantile_at(times, i / 40.0));
  return out;
}

TimeRange usual_range(std::span<const Seconds> times) {
  return {quantile_at(times, 0.001), quantile_at(times, 0.999)};
}

PlotLine histogram_line(std::span<const Seconds> times, TimeRange range, Seconds unit) {
  const std::vector<double> shares = histogram_of(times, range);
  const Seconds width = (range.high - range.low) / static_cast<double>(shares.size());
  PlotLine out;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    for (const std::size_t edge : {i, i + 1}) {
      out.emplace_back((range.low + static_cast<double>(edge) * width) / unit, 100 * shares[i]);
    }
  }
  return out;
}

PlotLine cdf_line(std::span<const Seconds> times, TimeRange range, Seconds unit) {
  constexpr int kPoints = 160;
  PlotLine out;
  for (int i = 0; i <= kPoints; ++i) {
    const Seconds t = range.low + (range.high - range.low) * (i / double{kPoints});
    const auto below = std::ranges::upper_bound(times, t) - times.begin();
    out.emplace_back(t / unit,
                     100 * static_cast<double>(below) / static_cast<double>(times.size()));
  }
  return out;
}

std::string distribution_line(std::span<const Seconds> times, std::string (*words)(Seconds),
                              const TextStyle& style) {
  const TimeRange range = usual_range(times);
  if (!is_a_range(range)) return "";
  const std::string low = words(range.low);
  const std::string high = words(range.high);
  const int room = longest_line(style) - 4 - display_width(low) - display_width(high);
  if (room < 10) return "";
  constexpr int kLongest = 40;
  const std::vector<double> shares =
      histogram_of(times, range, static_cast<std::size_t>(std::min(room, kLongest)));
  return "  " + painted(low, {.dim = true}, style) + " " + sparkline(shares, kLongest) + " " +
         painted(high, {.dim = true}, style) + "\n\n";
}

std::string subject_heading(const Subject& subject, const TextStyle& style) {
  return title_line(model_in_words(subject) + " on " + subject.cluster, style);
}

std::string assumed_text(const std::vector<std::string>& sentences, const TextStyle& style) {
  return heading("Assumed", "", style) + paragraph(style, joined(sentences, " · "));
}

}  // namespace orrery
