// What a cluster yields: the simulation of fleet_simulation.h over several seeds, and schedulers
// against each other on the same jobs and failures.
//
//   utilisation  allocated GPU time / GPU time of the cluster
//   goodput      productive GPU time / GPU time of the cluster
//   ETTR         work / (end - submission), both times GPUs and summed over the jobs that ended
//
// A specification of a fleet, which options of the command line add to:
//
//   mix: meta-rsc-1            # orrery catalog job-mixes: its jobs, or only its rules
//   jobs: jobs.csv             # in place of drawn ones
//   nodes: 2048
//   days: 30
//   scheduler: priority
//   repair: {law: log_normal, median: 32 h, spread: 1}
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "fleet/fleet_simulation.h"
#include "parallel/parallel_for.h"

namespace orrery {

struct FleetQuestion {
  std::string mix = "meta-rsc-1";
  std::string jobs = {};  // a CSV file; empty: drawn
  std::optional<std::int64_t> nodes = {};
  std::optional<std::int64_t> gpus_per_node = {};
  std::optional<double> days = {};  // without: 30, or until all jobs of a list have ended
  Scheduler scheduler = Scheduler::priority;
  Estimates estimates = Estimates::mean;
  std::string failures = {};  // of the catalog; empty: those of the mix
  std::string restart = {};
  std::optional<Seconds> checkpoint = {};
  std::optional<Seconds> preempt_after = {};
  std::optional<RunTimeUncertainty> uncertainty = {};
  std::optional<TimeLaw> repair = {};
  std::int64_t seeds = 5;
  std::uint64_t seed = 1;
  bool operator==(const FleetQuestion&) const = default;
};
Fields<FleetQuestion> fields_of(const FleetQuestion*);

inline constexpr std::int64_t kMostSeeds = 100;

// Over the seeds.
struct SeedSpread {
  double mean = 0, least = 0, most = 0;
};

// Jobs of one size; counts are of all seeds together.
struct FleetSize {
  std::int64_t least = 0, most = 0;  // GPUs
  SizeOutcome sum;
  double gpu_time = 0;  // share of what is allocated
  Seconds queue_p50, queue_p95, completion_p50, completion_mean;
  double ettr = 0;
};

struct SchedulerResult {
  Scheduler scheduler{};
  Estimates estimates{};
  SeedSpread utilisation;
  SeedSpread queue_s;       // mean of the jobs that started
  SeedSpread completion_s;  // mean of the jobs that ended
  SeedSpread ratio;         // of the latter to that with mean estimates
  SeedSpread ended;         // share of the jobs
};

struct FleetForecast {
  JobMix mix;        // with what the question says otherwise
  std::string jobs;  // the list; empty: drawn
  double days = 0;   // mean of the seeds
  Scheduler scheduler{};
  Estimates estimates{};
  FailureRates failures;
  std::string restart;
  std::int64_t seeds = 0;
  std::uint64_t seed = 0;
  double jobs_of_a_seed = 0;
  std::vector<FleetSize> sizes;  // that have jobs
  // Shares of the GPU time of the cluster, which add up to 1.
  double productive = 0, rework = 0, restarting = 0, idle = 0, down = 0;
  double gpu_hours = 0;                 // of the cluster, of all seeds
  std::array<double, kJobEnds> ends{};  // shares of the attempts
  SeedSpread utilisation, goodput, ettr, queue_s, completion_s;
  SeedSpread lost_by_rule, lost;                  // GPU-hours a day, both orders
  SeedSpread second_order_by_rule, second_order;  // shares of these
  std::vector<SchedulerResult> comparison;        // where it is asked for
  std::vector<std::string> assumed;
};

struct FleetRunOptions {
  bool compare = false;
  int threads = 0;
  Progressed progress = {};
  const std::atomic<bool>* interrupted = nullptr;  // no further simulation begins
};

// Errors: unknown names; what is impossible in question, mix or list; jobs larger than the cluster;
// too much to simulate; an interruption.
Result<FleetForecast> forecast_fleet(const FleetQuestion& question, const Catalog& catalog,
                                     const FleetRunOptions& options);

}  // namespace orrery
