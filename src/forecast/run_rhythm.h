// The times of a run between two failures, in closed form: steps, the pauses for evaluation and the
// saves that follow some of them, in whole nanoseconds.
//
//   elapsed(a, b) = trained(b) - trained(a) + pauses after the steps a + 1 to b,
//   trained(n)    = sum over phases of (steps of the first n in the phase) x (step of the phase)
//
// A step takes the same time within a phase, so that the sums are piecewise linear; they are found
// from the last phase backwards, where a run spends most of its time. `slower` is the factor on
// every step of a run that goes on with fewer replicas.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "forecast/run_simulation.h"

namespace orrery {

// A moment that does not come.
inline constexpr std::int64_t kNeverNs = std::numeric_limits<std::int64_t>::max();

inline std::int64_t nanoseconds(Seconds s) {
  const double ns = s.value() * 1e9;
  return ns < 9e18 ? std::llround(ns) : kNeverNs;
}

struct RunRhythm {
  struct Level {
    std::int64_t every, blocked, durable, restore;
    double survives;
  };
  struct Phase {
    std::int64_t begin;   // steps that are done before it
    std::int64_t step;    // of one step
    std::int64_t before;  // time of the steps before it
  };

  explicit RunRhythm(const RunModel& m, double slower = 1)
      : steps(m.steps),
        evaluate_every(m.evaluate_every > 0 ? m.evaluate_every : kNeverNs),
        evaluation(m.evaluate_every > 0 ? nanoseconds(m.evaluation) : 0),
        phases{{0, nanoseconds(m.step * slower), 0}} {
    for (const LaterSteps& later : m.later) {
      const std::int64_t before = trained(later.after);
      phases.push_back({later.after, nanoseconds(later.step * slower), before});
    }
    for (const CheckpointLevel& l : m.checkpoints) {
      levels.push_back({l.every, nanoseconds(l.blocked), nanoseconds(l.durable),
                        nanoseconds(l.restore), l.survives});
    }
    pauses_at_once = static_cast<double>(evaluation);
    pauses_per_step = pauses_at_once / static_cast<double>(evaluate_every);
    for (const Level& l : levels) {
      pauses_at_once += static_cast<double>(l.blocked);
      pauses_per_step += static_cast<double>(l.blocked) / static_cast<double>(l.every);
    }
  }

  [[nodiscard]] const Phase& phase_of_step(std::int64_t number) const {
    std::size_t p = phases.size() - 1;
    while (phases[p].begin >= number && p > 0) --p;
    return phases[p];
  }
  // The step after so many.
  [[nodiscard]] std::int64_t step_after(std::int64_t done) const {
    return phase_of_step(done + 1).step;
  }
  [[nodiscard]] std::int64_t trained(std::int64_t to) const {
    const Phase& p = phase_of_step(to);
    return p.before + (to - p.begin) * p.step;
  }
  [[nodiscard]] std::int64_t trained(std::int64_t from, std::int64_t to) const {
    const Phase& last = phases.back();
    return from >= last.begin ? (to - from) * last.step : trained(to) - trained(from);
  }
  [[nodiscard]] std::int64_t evaluations(std::int64_t from, std::int64_t to) const {
    if (evaluation == 0) return 0;
    return evaluation * (to / evaluate_every - from / evaluate_every);
  }
  [[nodiscard]] std::int64_t saves(std::int64_t from, std::int64_t to) const {
    std::int64_t sum = 0;
    for (const Level& l : levels) sum += l.blocked * (to / l.every - from / l.every);
    return sum;
  }
  // From the restart at one step until all that follows another is done.
  [[nodiscard]] std::int64_t elapsed(std::int64_t from, std::int64_t to) const {
    return trained(from, to) + evaluations(from, to) + saves(from, to);
  }
  // The last step that is done, with all that follows it, that long after the restart.
  [[nodiscard]] std::int64_t done_after(std::int64_t from, std::int64_t time) const {
    const Phase* phase = &phase_of_step(from + 1);
    const Phase* last = &phases.back();
    for (; phase != last; ++phase) {
      const std::int64_t whole = elapsed(from, (phase + 1)->begin);
      if (whole > time) break;
      from = (phase + 1)->begin;
      time -= whole;
    }
    return done_within(*phase, from, phase == last ? steps : (phase + 1)->begin, time);
  }
  // When the checkpoint of a level after that step is of use.
  [[nodiscard]] std::int64_t durable_at(std::size_t of, std::int64_t from, std::int64_t at) const {
    std::int64_t start = trained(from, at) + evaluations(from, at) + saves(from, at - 1);
    for (std::size_t i = 0; i < of; ++i) {
      start += levels[i].blocked * (at % levels[i].every == 0 ? 1 : 0);
    }
    return start + levels[of].durable;
  }
  // The newest checkpoint of a level that is durable that long after the restart; `from` if none.
  [[nodiscard]] std::int64_t durable_after(std::size_t of, std::int64_t from, std::int64_t reached,
                                           std::int64_t time) const {
    const std::int64_t every = levels[of].every;
    for (std::int64_t at = reached - reached % every; at > from; at -= every) {
      if (durable_at(of, from, at) <= time) return at;
    }
    return from;
  }

  std::int64_t steps, evaluate_every, evaluation;
  std::vector<Phase> phases;
  std::vector<Level> levels;
  double pauses_per_step = 0;  // on average
  double pauses_at_once = 0;   // after one step, at most

 private:
  [[nodiscard]] std::int64_t done_within(const Phase& phase, std::int64_t from, std::int64_t end,
                                         std::int64_t time) const {
    std::int64_t low = from;
    std::int64_t high = std::min(end, from + time / phase.step);
    // Pauses are spread evenly up to one of each kind, which leaves few steps to search.
    const double per_step = static_cast<double>(phase.step) + pauses_per_step;
    const auto guess = [&](double at) {
      return from + static_cast<std::int64_t>(std::max(at, 0.0) / per_step);
    };
    low = std::clamp(guess(static_cast<double>(time) - pauses_at_once) - 1, from, high);
    high = std::min(high, guess(static_cast<double>(time) + pauses_at_once) + 1);
    while (low < high) {
      const std::int64_t middle = low + (high - low + 1) / 2;
      if (elapsed(from, middle) <= time) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low;
  }
};

}  // namespace orrery
