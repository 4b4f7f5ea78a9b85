#include "document/results.h"
#include "report/fleet/fleet_report.h"

namespace orrery {
namespace {

constexpr double kMsOfGpuHour = 3.6e6;
double gpu_hours_of(std::int64_t gpu_ms) { return static_cast<double>(gpu_ms) / kMsOfGpuHour; }

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
    field<&FleetSize::gpu_time>("gpu_time", "share of the GPU time that is allocated"),
    field<&FleetSize::queue_p50>("queue_p50_s", "from submission to the first start, median"),
    field<&FleetSize::queue_p95>("queue_p95_s", "95 % of the jobs start sooner"),
    field<&FleetSize::completion_p50>("completion_p50_s", "from submission to the end, median"),
    field<&FleetSize::completion_mean>("completion_mean_s", "of the jobs that ended"),
    field<&FleetSize::ettr>("ettr", "work over time since submission, of the jobs that ended"),
    field<&FleetSize::sum, &SizeOutcome::failures>("failures", "attempts that the hardware killed"),
    field<&FleetSize::sum, &SizeOutcome::preempted>("preempted", "attempts"),
    field<&FleetSize::sum, &SizeOutcome::second_order>(
        "second_order_preemptions", "by its jobs, to start again after a failure"),
    field("productive_gpu_hours", "work", [](auto& s) { return gpu_hours_of(s.sum.productive); }),
    field("rework_gpu_hours", "work since the last checkpoint that was lost",
          [](auto& s) { return gpu_hours_of(s.sum.rework); }),
    field("restart_gpu_hours", "starts and restarts",
          [](auto& s) { return gpu_hours_of(s.sum.restart); }),
    field("lost_by_rule_gpu_hours", "to failures of its jobs: min(run time, 30 min) x GPUs",
          [](auto& s) { return gpu_hours_of(s.sum.rule_first); }),
    field("lost_second_order_by_rule_gpu_hours", "the same of the jobs that these preempted",
          [](auto& s) { return gpu_hours_of(s.sum.rule_second); }),
    field("lost_gpu_hours", "to failures of its jobs: rework and restarts",
          [](auto& s) { return gpu_hours_of(s.sum.lost_first); }),
    field("lost_second_order_gpu_hours", "the same of the jobs that these preempted",
          [](auto& s) { return gpu_hours_of(s.sum.lost_second); }));

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
