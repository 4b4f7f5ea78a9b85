#include "report/fleet/fleet_report.h"

#include <fmt/format.h>

#include <cmath>

#include "document/results.h"
#include "report/drawing/table.h"

namespace orrery {
namespace {

// "42 s", "3.4 min", "5.2 h", "2.1 days".
std::string wait_words(double seconds) {
  if (seconds < 99.5) return fmt::format("{:.0f} s", seconds);
  if (seconds < 99.5 * 60) return fmt::format("{:.0f} min", seconds / 60);
  if (seconds < 71.5 * 3600) return fmt::format("{:.1f} h", seconds / 3600);
  return fmt::format("{:.1f} days", seconds / 86400);
}
std::string sizes_words(const FleetSize& s) {
  return s.least == s.most ? grouped(s.most)
                           : fmt::format("{} to {}", grouped(s.least), grouped(s.most));
}
double hours_of(std::int64_t gpu_ms) { return static_cast<double>(gpu_ms) / 3.6e6; }
std::string percent_or(const std::optional<double>& share, const char* none) {
  return share ? percent(*share) : none;
}

Table headline(const FleetForecast& f) {
  Table table(left("", 4), right("mean", 4), right("least", 3), right("most", 3),
              right("published", 2).shown_if(f.jobs.empty()));
  const auto add = [&](std::string_view name, const SeedSpread& s, const auto& words,
                       const std::string& published = "") {
    table.row(name, bold(words(s.mean)), words(s.least), words(s.most), published);
  };
  const auto hours = [](double h) { return compact(h) + " GPU-h"; };
  add("utilisation", f.utilisation, percent, percent_or(f.mix.utilisation, ""));
  add("goodput", f.goodput, percent);
  add("ETTR of jobs, queueing included", f.ettr, percent);
  add("time in the queue, mean", f.queue_s, wait_words);
  add("completion time, mean", f.completion_s, wait_words);
  add("lost to hardware a day, by the rule", f.lost_by_rule, hours);
  add("  by second-order preemptions", f.second_order_by_rule, percent,
      percent_or(f.mix.second_order, ""));
  add("lost to hardware a day, as it was", f.lost, hours);
  add("  by second-order preemptions", f.second_order, percent);
  return table;
}

Table size_table(const FleetForecast& f) {
  Table table(left("GPUs", 5), right("jobs", 4), right("GPU time", 4), right("queue", 3),
              right("p95", 2), right("completion", 2), right("ETTR", 4), right("failures", 3),
              right("preempted", 2), right("lost, GPU-h", 3), right("second", 1));
  for (const FleetSize& s : f.sizes) {
    const double first = hours_of(s.sum.rule_first);
    const double second = hours_of(s.sum.rule_second);
    table.row(sizes_words(s), grouped(s.sum.submitted), percent(s.gpu_time),
              wait_words(s.queue_p50.value()), wait_words(s.queue_p95.value()),
              wait_words(s.completion_p50.value()), s.sum.ended > 0 ? percent(s.ettr) : "",
              grouped(s.sum.failures), grouped(s.sum.preempted), compact(first + second),
              first + second > 0 ? percent(second / (first + second)) : "");
  }
  return table;
}

Table time_table(const FleetForecast& f) {
  Table table(left("", 3), right("GPU-hours", 2), right("share", 3), bars(0, 48));
  struct Part {
    const char* name;
    double share;
    std::uint8_t colour;
  };
  const auto parts = std::to_array<Part>({{"work", f.productive, 71},
                                          {"work that was lost", f.rework, 203},
                                          {"starts and restarts", f.restarting, 203},
                                          {"idle", f.idle, 246},
                                          {"nodes in repair", f.down, 203}});
  std::vector<Picoseconds> whole;
  for (const Part& p : parts) whole.push_back(round_to_picoseconds(Seconds(p.share)));
  const std::vector<int> tenths = tenths_of_percent(whole);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    table.row(parts[i].name, compact(parts[i].share * f.gpu_hours), percent_of_tenths(tenths[i]),
              bar_of({{parts[i].share, {.colour = parts[i].colour}}}));
  }
  return table;
}

Table end_table(const FleetForecast& f) {
  Table table(left("", 3), right("attempts", 3), right("published", 2).shown_if(f.jobs.empty()));
  for (const auto& end : names_of(JobEnd{})) {
    double published = 0;
    for (const EndShare& e : f.mix.ends) published += e.end == end.value ? e.share : 0;
    table.row(spaced(end.name),
              fmt::format("{:.2f} %", 100 * f.ends[static_cast<std::size_t>(end.value)]),
              fmt::format("{:.2f} %", 100 * published));
  }
  return table;
}

Table scheduler_table(const FleetForecast& f) {
  Table table(left("scheduler", 5), left("estimates", 5), right("utilisation", 2),
              right("queue", 3), right("completion", 4), right("over mean", 4), right("least", 2),
              right("most", 2), right("ended", 1));
  for (const SchedulerResult& r : f.comparison) {
    const bool p95 = r.estimates == Estimates::p95;
    const auto times = [&](double x) { return p95 ? fmt::format("{:.2f}", x) : ""; };
    table.row(r.scheduler, r.estimates, percent(r.utilisation.mean), wait_words(r.queue_s.mean),
              wait_words(r.completion_s.mean), bold(times(r.ratio.mean)), times(r.ratio.least),
              times(r.ratio.most), percent(r.ended.mean));
  }
  return table;
}

// Jobs that the end of the simulation cut off are in no mean of queues and completion times.
std::string unended_words(const FleetForecast& f, const TextStyle& style) {
  std::int64_t submitted = 0;
  std::int64_t started = 0;
  std::int64_t ended = 0;
  for (const FleetSize& s : f.sizes) {
    submitted += s.sum.submitted;
    started += s.sum.started;
    ended += s.sum.ended;
  }
  if (ended == submitted) return "";
  return paragraph(style,
                   "at the end, {} of {} jobs of all seeds had not started and {} had not "
                   "ended; queue and completion times leave them out",
                   grouped(submitted - started), grouped(submitted), grouped(submitted - ended));
}

}  // namespace

std::string fleet_text(const FleetForecast& f, const TextStyle& style) {
  const std::int64_t jobs = std::llround(f.jobs_of_a_seed);
  std::string out = title_line(f.jobs.empty() ? f.mix.name : f.jobs, style);
  out += paragraph(style, "{} of {} GPUs, {:.3g} days, {} · scheduler {}, {} estimates · {}",
                   counted(f.mix.nodes, "node"), f.mix.gpus_per_node, f.days, counted(jobs, "job"),
                   to_text(f.scheduler), to_text(f.estimates), counted(f.seeds, "seed"));
  out += "\n" + headline(f).text(style) + unended_words(f, style);
  out += section("By size", "of all seeds; medians, and lost to hardware by the rule",
                 size_table(f), style);
  out += section("Where the GPU time goes", "of all seeds", time_table(f), style);
  out += section("How attempts end", "", end_table(f), style);
  out += section("Schedulers",
                 "the same jobs and failures; over mean: completion time, p95 over mean estimates",
                 scheduler_table(f), style);
  out += heading("Assumed", "", style);
  return out + paragraph(style, joined(f.assumed, " · "));
}

namespace {

using EndShares = ByName<JobEnd, kJobEnds, double>;

EndShares published_ends(const FleetForecast& f) {
  EndShares out{std::vector<double>(kJobEnds)};
  for (const EndShare& e : f.mix.ends) out.values[static_cast<std::size_t>(e.end)] += e.share;
  return out;
}

}  // namespace

template <>
inline constexpr auto kResults<SeedSpread> = table<SeedSpread>(
    "range", "A figure over the seeds.", field<&SeedSpread::mean>("of the seeds"),
    field<&SeedSpread::least>("of the seeds"), field<&SeedSpread::most>("of the seeds"));

template <>
inline constexpr auto kResults<FleetSize> = table<FleetSize>(
    "size", "Jobs of one size; counts are of all seeds together.",
    field<&FleetSize::least>("least_gpus", "of a job"),
    field<&FleetSize::most>("most_gpus", "of a job"),
    field<&FleetSize::sum, &SizeOutcome::submitted>("jobs", "submitted"),
    field<&FleetSize::sum, &SizeOutcome::started>("started", "of these"),
    field<&FleetSize::sum, &SizeOutcome::ended>("ended", "of these"),
    field<&FleetSize::gpu_time>("share of the GPU time that is allocated"),
    field<&FleetSize::queue_p50>("queue_p50_s", "from submission to the first start, median"),
    field<&FleetSize::queue_p95>("queue_p95_s", "95 % of the jobs start sooner"),
    field<&FleetSize::completion_p50>("completion_p50_s", "from submission to the end, median"),
    field<&FleetSize::completion_mean>("completion_mean_s", "of the jobs that ended"),
    field<&FleetSize::ettr>("work over time since submission, of the jobs that ended"),
    field<&FleetSize::sum, &SizeOutcome::failures>("failures", "attempts that the hardware killed"),
    field<&FleetSize::sum, &SizeOutcome::preempted>("preempted", "attempts"),
    field<&FleetSize::sum, &SizeOutcome::second_order>(
        "second_order_preemptions", "by its jobs, to start again after a failure"),
    field("productive_gpu_hours", "work", [](auto& s) { return hours_of(s.sum.productive); }),
    field("rework_gpu_hours", "work since the last checkpoint that was lost",
          [](auto& s) { return hours_of(s.sum.rework); }),
    field("restart_gpu_hours", "starts and restarts",
          [](auto& s) { return hours_of(s.sum.restart); }),
    field("lost_by_rule_gpu_hours", "to failures of its jobs: min(run time, 30 min) x GPUs",
          [](auto& s) { return hours_of(s.sum.rule_first); }),
    field("lost_second_order_by_rule_gpu_hours", "the same of the jobs that these preempted",
          [](auto& s) { return hours_of(s.sum.rule_second); }),
    field("lost_gpu_hours", "to failures of its jobs: rework and restarts",
          [](auto& s) { return hours_of(s.sum.lost_first); }),
    field("lost_second_order_gpu_hours", "the same of the jobs that these preempted",
          [](auto& s) { return hours_of(s.sum.lost_second); }));

template <>
inline constexpr auto kResults<SchedulerResult> = table<SchedulerResult>(
    "scheduler", "A scheduler on the same jobs and failures.",
    field<&SchedulerResult::scheduler>("name"),
    field<&SchedulerResult::estimates>("what it is told of run times"),
    field<&SchedulerResult::utilisation>("allocated share of the GPU time"),
    field<&SchedulerResult::queue_s>("mean from submission to the first start"),
    field<&SchedulerResult::completion_s>("mean from submission to the end"),
    field<&SchedulerResult::ratio>("completion_ratio",
                                   "of that to the same with mean estimates, seed by seed"),
    field<&SchedulerResult::ended>("share of the jobs that ended"));

template <>
inline constexpr auto kResults<FleetForecast> = table<FleetForecast>(
    "fleet document", "What a shared cluster yields.", schema_version<1>(),
    field("mix", "name in the catalog", [](auto& f) { return f.mix.name; }),
    field<&FleetForecast::jobs>("list", "file of the jobs; empty: drawn from the mix"),
    field<&FleetForecast::mix, &JobMix::nodes>("nodes", "of the cluster"),
    field<&FleetForecast::mix, &JobMix::gpus_per_node>("gpus_per_node", "of the cluster"),
    field<&FleetForecast::days>("simulated, mean of the seeds"),
    field<&FleetForecast::seeds>("simulations"),
    field<&FleetForecast::seed>("of the random numbers"),
    field<&FleetForecast::scheduler>("which order jobs start in"),
    field<&FleetForecast::estimates>("what it is told of run times"),
    field("failures", "name of the failure rates; empty: none",
          [](auto& f) { return f.failures.name; }),
    field<&FleetForecast::restart>("name of the restart times"),
    field("checkpoint_s", "work between two", [](auto& f) { return f.mix.checkpoint; }),
    field<&FleetForecast::jobs_of_a_seed>("jobs", "submitted, mean of the seeds"),
    field<&FleetForecast::utilisation>("allocated share of the GPU time"),
    field("published_utilisation", "null: none", [](auto& f) { return f.mix.utilisation; }),
    field<&FleetForecast::goodput>("productive share of the GPU time"),
    field<&FleetForecast::ettr>("work over time since submission, of the jobs that ended"),
    field<&FleetForecast::queue_s>("mean from submission to the first start"),
    field<&FleetForecast::completion_s>("mean from submission to the end"),
    field<&FleetForecast::lost_by_rule>(
        "lost_by_rule_gpu_hours_a_day",
        "goodput lost to hardware: min(run time, 30 min) x GPUs, of killed and preempted jobs"),
    field<&FleetForecast::second_order_by_rule>("of it lost by preemptions of requeued jobs"),
    field<&FleetForecast::lost>("lost_gpu_hours_a_day", "rework and restarts of the same attempts"),
    field<&FleetForecast::second_order>("of it lost by preemptions of requeued jobs"),
    field("published_second_order", "by the rule; null: none",
          [](auto& f) { return f.mix.second_order; }),
    field<&FleetForecast::gpu_hours>("of the cluster, of all seeds"),
    field<&FleetForecast::productive>("share of the GPU time: work"),
    field<&FleetForecast::rework>("share: work that was lost"),
    field<&FleetForecast::restarting>("restart_share", "share: starts and restarts"),
    field<&FleetForecast::idle>("share: free"),
    field<&FleetForecast::down>("share: nodes in repair"),
    field("ends", "how attempts end, shares",
          [](auto& f) { return EndShares{std::vector<double>(f.ends.begin(), f.ends.end())}; }),
    field("published_ends", "of the mix", [](auto& f) { return published_ends(f); }),
    field<&FleetForecast::sizes>("by size of job"),
    field<&FleetForecast::comparison>("with --compare"),
    field<&FleetForecast::assumed>("sentences"));

Value fleet_json(const FleetForecast& forecast) { return answer(forecast); }
const Description& fleet_document() { return description_of<FleetForecast>(); }

}  // namespace orrery
