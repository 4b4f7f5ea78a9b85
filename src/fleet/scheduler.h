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
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace orrery {

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

}  // namespace orrery
