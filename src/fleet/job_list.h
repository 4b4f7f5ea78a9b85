// The jobs that are submitted to a cluster: drawn from a mix, or read from
//
// CSV columns submit, gpus, duration and, if there are, priority and p95; times in seconds, submit
//        since the start
//
// A job of a list takes its duration; with p95 (at least the duration), duration is the mean of a
// log-normal law with that p95, and the time is drawn from it. Times are whole milliseconds.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fleet/job_mix.h"
#include "parallel/random_draws.h"

namespace orrery {

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

// Errors: missing columns; impossible rows, by their line; no jobs at all.
Result<JobList> parse_job_list(std::string_view text, std::string name);
// Of a file, or "-".
Result<JobList> read_job_list(const std::string& path);

}  // namespace orrery
