// A shared cluster, simulated from event to event: jobs arrive, start on all their nodes at once
// (gang scheduling), end, are killed by failures of nodes or preempted, and go back to the queue.
//
// Jobs of less than a node share nodes (the fullest with room); larger ones take whole nodes, and
// all GPUs of these are theirs. An attempt begins with a restart, then works; work is kept in steps
// of the checkpoint interval. Failures strike all nodes as one renewal process; a failed node kills
// what runs on it and is out for its repair. Failure k comes at the same time and strikes the same
// node whatever the scheduler (common random numbers). A killed job is in the queue again after
// `requeue_after`, when others may have taken its nodes.
//
//   nodes x GPUs x time = productive + rework + restart + idle + down       exactly, in GPU x ms
//
// Goodput lost to hardware (arXiv 2410.21680, section III) by the published rule:
//
// min(run time of the attempt, 30 min) x GPUs, of each job that a failure kills (first order), and
//   of each that the requeued job preempts to start again (second order);
//
// and as it was: work since the last checkpoint and the restart of those attempts. Both are counted
// in the size of the job that failed. Left out: topology, quotas, saves that stop a job, drains
// after a job, failures of racks. The cluster begins empty.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "fleet/job_mix.h"
#include "forecast/failure_rates.h"
#include "forecast/restart_times.h"

namespace orrery {

// In which order queued jobs start. Each scheduler ranks the jobs, the lowest rank first, and says
// whether a job that cannot start may preempt jobs of higher rank; of equal ranks the older job is
// first.
//
//   fifo      0                                          no preemption
//   priority  -priority                                  preempts (as Slurm does)
//   shortest  estimate of the work that is left          no preemption (SJF)
//   srtf      the same                                   preempts (shortest remaining time first)
//   deadline  submission + 2 x estimate of all its work  no preemption: shortest first, with age
//
// With all of them the first job that cannot start gets a reservation at the time at which, by the
// estimates, enough nodes are free; jobs behind it may only start if they end by then or take none
// of these nodes (EASY backfilling: Lifka 1995). Parts of nodes that are shared already are free to
// all. A job that outlives its estimate is taken to need twice as long (Tsafrir, Etsion and
// Feitelson 2007, correction of predictions).
enum class Scheduler { fifo, priority, shortest, srtf, deadline };
inline constexpr std::size_t kSchedulers = 5;

// What the scheduler is told of a run time: its mean, or the time of which 95 % take less.
enum class Estimates { mean, p95 };

struct RankedJob {
  double submit_ms = 0;
  double priority = 0;
  double estimate_ms = 0;  // of all its work
  double left_ms = 0;      // of it
};

struct SchedulerRule {
  double (*rank)(const RankedJob&);
  bool preempts;
};

inline constexpr std::array<SchedulerRule, kSchedulers> kSchedulerRules = {{
    {[](const RankedJob&) { return 0.0; }, false},
    {[](const RankedJob& j) { return -j.priority; }, true},
    {[](const RankedJob& j) { return j.left_ms; }, false},
    {[](const RankedJob& j) { return j.left_ms; }, true},
    {[](const RankedJob& j) { return j.submit_ms + 2 * j.estimate_ms; }, false},
}};

struct FleetModel {
  std::int64_t nodes = 0;
  std::int64_t gpus_per_node = 8;
  double days = 0;                             // 0: until all jobs have ended
  Hertz failure_rate = {};                     // of a node
  TimeLaw gaps{.law = TimeForm::exponential};  // the form alone
  LemonNodes lemons = {};
  double node_share = 1;  // of failures that take the node out
  TimeLaw repair = {};
  RestartTimes restart = {};
  Seconds checkpoint = {};
  Seconds preempt_after = {};
  Seconds requeue_after = {};
  Scheduler scheduler = Scheduler::priority;
  Estimates estimates = Estimates::mean;
};

// Sizes 1, 2, 3 to 4, 5 to 8, ..., by powers of two.
inline constexpr std::size_t kJobSizes = 26;
std::size_t size_of(std::int64_t gpus);

struct SizeOutcome {
  std::int64_t submitted = 0, started = 0, ended = 0;
  std::int64_t failures = 0;      // attempts that the hardware killed
  std::int64_t preempted = 0;     // attempts
  std::int64_t second_order = 0;  // preemptions by its jobs after failures
  std::int64_t productive = 0;    // GPU x ms, here and below
  std::int64_t rework = 0;        // work lost
  std::int64_t restart = 0;
  std::int64_t rule_first = 0, rule_second = 0;  // goodput lost by the published rule
  std::int64_t lost_first = 0, lost_second = 0;  // and as it was
  double ended_wall = 0;                         // of jobs that ended, from submission
  double ended_work = 0;
  std::vector<float> queue_s;       // from submission to the first start
  std::vector<float> completion_s;  // from submission to the end
};

struct FleetOutcome {
  std::array<SizeOutcome, kJobSizes> sizes;
  std::array<std::int64_t, kJobEnds> ends{};  // attempts
  std::int64_t wall_ms = 0;
  std::int64_t idle = 0;  // GPU x ms
  std::int64_t down = 0;
  std::int64_t waiting = 0;  // jobs in the queue at the end
};

inline constexpr double kLeastFleetDays = 1.0 / 1440;  // a minute
inline constexpr double kMostFleetDays = 3650;

// Jobs are sorted by submission, have their work, and fit into the cluster. Errors: jobs that never
// end, where no days are given.
Result<FleetOutcome> simulate_fleet(const FleetModel& model, std::span<const FleetJob> jobs,
                                    const RandomDraws& draws);

}  // namespace orrery
