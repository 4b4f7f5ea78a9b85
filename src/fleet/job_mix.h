// The jobs of a shared cluster: as published shares (sizes, how long they take, how they end, and
// the rules of its scheduler), a fact of catalog/job-mixes, or as a list.
//
// A job of a class has a mean run time, drawn from the class's law, and takes
//
//   time = mean x exp(s z - s^2 / 2),   p95 = mean x exp(1.645 s - s^2 / 2),
//
// z standard normal, s uniform between the ends of `uncertainty`: what an operator could know of a
// job before it runs is the mean, or the whole law. Jobs arrive independently of each other. Left
// out: the hours of the day, users and their quotas, arrays of jobs that arrive together.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "catalog/catalog.h"
#include "document/provenance.h"
#include "forecast/time_law.h"
#include "parallel/random_draws.h"

namespace orrery {

// How an attempt ends. The first four are the job's own affair and are drawn; the others follow
// from the cluster.
enum class JobEnd { completed, failed, cancelled, out_of_memory, timeout, preempted, requeued };
inline constexpr std::size_t kJobEnds = 7;
inline constexpr std::size_t kOwnEnds = 4;

struct JobClass {
  std::int64_t gpus = 0;
  double share = 0;  // of the jobs
  TimeLaw duration;  // of the mean run time
  std::int64_t priority = 0;
  bool operator==(const JobClass&) const = default;
};
Fields<JobClass> fields_of(const JobClass*);

struct RunTimeUncertainty {
  double least = 0;  // standard deviation of the logarithm of the run time
  double most = 0;
  bool operator==(const RunTimeUncertainty&) const = default;
};
Fields<RunTimeUncertainty> fields_of(const RunTimeUncertainty*);

struct EndShare {
  JobEnd end = JobEnd::completed;
  double share = 0;  // of the attempts
  bool operator==(const EndShare&) const = default;
};
Fields<EndShare> fields_of(const EndShare*);

struct JobMix {
  std::string name;
  std::string title;
  std::int64_t nodes = 0;
  std::int64_t gpus_per_node = 8;
  double jobs_a_day = 0;  // on that many nodes
  std::vector<JobClass> classes;
  std::vector<EndShare> ends;  // as published; those of the job's own are drawn in their ratio
  RunTimeUncertainty uncertainty;
  Seconds preempt_after;               // an attempt is safe before
  Seconds requeue_after;               // a failure, until the job is queued again
  Seconds lifetime;                    // of the work of a job
  Seconds checkpoint;                  // work between two
  std::string failures;                // of the catalog
  std::string restart;                 // of the catalog
  TimeLaw repair;                      // of a node that failed
  std::optional<double> utilisation;   // published
  std::optional<double> second_order;  // published share of the goodput lost to hardware
  Provenance provenance;
  bool operator==(const JobMix&) const = default;
};
Fields<JobMix> fields_of(const JobMix*);

inline constexpr std::int64_t kMostNodes = 100'000;
inline constexpr std::int64_t kMostGpusOfNode = 256;
inline constexpr double kMostUncertainty = 1.5;  // p95 / mean is largest at s = 1.645

// Errors: shares that do not add up to 1, sizes, times and counts that cannot be.
Result<void> check(const JobMix& mix);
// From the catalog. Errors: unknown name; an entry that breaks check().
Result<JobMix> load_job_mix(const Catalog& catalog, std::string_view name);

// A job that is submitted to a cluster, drawn from a mix or read from a list. Times are whole
// milliseconds.
struct FleetJob {
  std::int64_t submit_ms = 0;
  std::int64_t gpus = 0;
  double mean_ms = 0;  // run time
  double spread = 0;   // standard deviation of its logarithm
  std::int64_t priority = 0;
  JobEnd end = JobEnd::completed;  // of its own, or timeout
  std::int64_t work_ms = 0;        // it takes; 0: not drawn yet
};

struct JobList {
  std::string name;
  std::vector<FleetJob> jobs;  // by submission
};

inline constexpr std::int64_t kMostJobs = 2'000'000;  // of a simulation

// Run time of which 95 % take less.
double p95_ms(const FleetJob& job);

// The jobs of that many days on that many nodes: as many a day for each node as in the mix. Classes
// that are larger than the cluster are left out.
std::vector<FleetJob> jobs_of(const JobMix& mix, std::int64_t nodes, double days,
                              const RandomDraws& draws);
// The same jobs with the times drawn that they take.
std::vector<FleetJob> with_run_times(std::vector<FleetJob> jobs, const RandomDraws& draws);

// A list is CSV with the columns submit (since the start), gpus, duration and, where they are
// known, priority and p95; times in seconds. A job takes its duration; with p95 (at least the
// duration), duration is the mean of a log-normal law with that p95, and the time is drawn from it.
// Errors: missing columns; impossible rows, by their line; no jobs at all.
Result<JobList> parse_job_list(std::string_view text, std::string name);
// Of a file, or "-".
Result<JobList> read_job_list(const std::string& path);

}  // namespace orrery
