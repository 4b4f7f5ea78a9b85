#include "forecast/run_simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <limits>

#include "forecast/ettr.h"
#include "forecast/random_draws.h"
#include "outcome/invariant.h"
#include "parallel/parallel_for.h"
#include "units/quantity_text.h"

namespace orrery {
namespace {

constexpr double kSecond = 1e9;  // nanoseconds
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
constexpr Seconds kYear{365.25 * 86400};
// 1 / kLeastEttr times that still fits into 64 bits of nanoseconds (292 years).
constexpr Seconds kLongestRun{10 * 365.25 * 86400};
constexpr std::size_t kMostStages = 20;
constexpr std::size_t kMostLevels = 4;

// What random numbers are drawn for.
enum Purpose : std::uint64_t {
  gap,
  lemon,
  replacement,
  taken,
  repair,
  level,        // one a level
  stage = 16,   // two a stage
  lemons = 63,  // at the start
};
static_assert(level + kMostLevels <= stage && stage + 2 * kMostStages <= lemons);
static_assert(lemons < RandomDraws::kPurposes);

std::int64_t nanoseconds(Seconds s) {
  const double ns = s.value() * kSecond;
  return ns < 9e18 ? std::llround(ns) : kNever;
}

struct Level {
  std::int64_t every, blocked, durable, restore;
  double survives;
};

// The times of a run between two failures.
struct Rhythm {
  explicit Rhythm(const RunModel& m)
      : steps(m.steps),
        step(nanoseconds(m.step)),
        evaluate_every(m.evaluate_every > 0 ? m.evaluate_every : kNever),
        evaluation(m.evaluate_every > 0 ? nanoseconds(m.evaluation) : 0) {
    for (const CheckpointLevel& l : m.checkpoints) {
      levels.push_back({l.every, nanoseconds(l.blocked), nanoseconds(l.durable),
                        nanoseconds(l.restore), l.survives});
    }
  }

  [[nodiscard]] std::int64_t evaluations(std::int64_t from, std::int64_t to) const {
    return evaluation * (to / evaluate_every - from / evaluate_every);
  }
  [[nodiscard]] std::int64_t saves(std::int64_t from, std::int64_t to) const {
    std::int64_t sum = 0;
    for (const Level& l : levels) sum += l.blocked * (to / l.every - from / l.every);
    return sum;
  }
  // From the restart at one step until all that follows another is done.
  [[nodiscard]] std::int64_t elapsed(std::int64_t from, std::int64_t to) const {
    return (to - from) * step + evaluations(from, to) + saves(from, to);
  }
  // The last step that is done, with all that follows it, that long after the restart.
  [[nodiscard]] std::int64_t done_after(std::int64_t from, std::int64_t time) const {
    std::int64_t low = from;
    std::int64_t high = std::min(steps, from + time / step);
    // Pauses are spread evenly up to one of each kind, which leaves few steps to search.
    double per_step = static_cast<double>(step) +
                      static_cast<double>(evaluation) / static_cast<double>(evaluate_every);
    double slack = static_cast<double>(evaluation);
    for (const Level& l : levels) {
      per_step += static_cast<double>(l.blocked) / static_cast<double>(l.every);
      slack += static_cast<double>(l.blocked);
    }
    const auto guess = [&](double at) {
      return from + static_cast<std::int64_t>(std::max(at, 0.0) / per_step);
    };
    low = std::clamp(guess(static_cast<double>(time) - slack) - 1, from, high);
    high = std::min(high, guess(static_cast<double>(time) + slack) + 1);
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
  // The newest checkpoint of a level that is durable that long after the restart; `from` if none.
  [[nodiscard]] std::int64_t durable_after(std::size_t of, std::int64_t from, std::int64_t reached,
                                           std::int64_t time) const {
    const Level& l = levels[of];
    for (std::int64_t at = reached - reached % l.every; at > from; at -= l.every) {
      std::int64_t start = elapsed(from, at - 1) + step + evaluations(at - 1, at);
      for (std::size_t i = 0; i < of; ++i) {
        start += levels[i].blocked * (at % levels[i].every == 0 ? 1 : 0);
      }
      if (start + l.durable <= time) return at;
    }
    return from;
  }

  std::int64_t steps, step, evaluate_every, evaluation;
  std::vector<Level> levels;
};

struct Prepared {
  const RunModel& model;
  Rhythm rhythm;
  TimeLaw gaps;            // of mean 1 s
  double normal_rate;      // of a node that is no lemon, per second
  std::int64_t limit;      // of wall-clock time
  std::uint64_t failures;  // the most that a run may have
};

class Run {
 public:
  Run(const Prepared& prepared, std::uint64_t seed, std::uint64_t run, RunRecord* record)
      : p_(prepared), m_(prepared.model), r_(prepared.rhythm), draws_(seed, run), record_(record) {
    draw_lemons();
    spares_ = m_.spares.value_or(0);
    next_failure();
  }

  // Empty if the run does not end.
  std::optional<RunOutcome> outcome() {
    restart(true);
    while (goes_on()) {
      const std::int64_t left = r_.elapsed(at_, r_.steps);
      if (left <= failure_ - now_) {
        book(Badput::custom_badput_events, r_.evaluations(at_, r_.steps));
        book(Badput::unproductive_checkpoint_save_time, r_.saves(at_, r_.steps));
        out_.productive_ns = r_.steps * r_.step;
        out_.wall_ns = now_ + left;
        return out_;
      }
      train(failure_ - now_);
      now_ = failure_;
      fail_once();
      restart(false);
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] bool goes_on() const { return now_ <= p_.limit && failures_ <= p_.failures; }

  void book(Badput category, std::int64_t ns) {
    out_.badput_ns[static_cast<std::size_t>(category)] += ns;
    if (record_ != nullptr) record_->lost.push_back({now_, ns, category, out_.interruptions});
  }

  // Spends time that a failure may cut short.
  bool spend(Badput category, std::int64_t ns) {
    const bool whole = ns <= failure_ - now_;
    const std::int64_t spent = whole ? ns : failure_ - now_;
    book(category, spent);
    now_ += spent;
    return whole;
  }

  // Trains from at_ until a failure, and notes what is saved.
  void train(std::int64_t time) {
    std::int64_t reached = r_.done_after(at_, time);
    std::int64_t rest = time - r_.elapsed(at_, reached);
    book(Badput::custom_badput_events, r_.evaluations(at_, reached));
    book(Badput::unproductive_checkpoint_save_time, r_.saves(at_, reached));
    if (rest >= r_.step) {  // within the pauses after a step
      ++reached;
      rest -= r_.step;
      const std::int64_t evaluating = std::min(rest, r_.evaluations(reached - 1, reached));
      book(Badput::custom_badput_events, evaluating);
      book(Badput::unproductive_checkpoint_save_time, rest - evaluating);
      rest = 0;
    }
    book(Badput::wasted_progress_from_disruption, rest);
    for (std::size_t l = 0; l < r_.levels.size(); ++l) {
      const std::int64_t saved = r_.durable_after(l, at_, reached, time);
      if (saved > at_) safe_[l] = saved;
    }
    at_ = reached;
  }

  // A failure at this moment: what survives it, which node leaves, when the next one comes.
  void fail_once() {
    const std::uint64_t failure = failures_++;
    ++out_.interruptions;
    std::int64_t kept = 0;
    restore_ = 0;
    for (std::size_t l = 0; l < r_.levels.size(); ++l) {
      if (draws_.uniform(level + l, failure) >= r_.levels[l].survives) {
        safe_[l] = 0;
      } else if (safe_[l] > kept) {
        kept = safe_[l];
        restore_ = r_.levels[l].restore;
      }
    }
    book(Badput::wasted_progress_from_disruption, (at_ - kept) * r_.step);
    at_ = kept;
    if (m_.node_share >= 1 || draws_.uniform(taken, failure) < m_.node_share) {
      take_node(failure);
    }
    next_failure();
  }

  void take_node(std::uint64_t failure) {
    if (m_.lemons.share > 0) {
      const auto bad = static_cast<double>(lemons_) * m_.lemons.factor;
      const double all = static_cast<double>(m_.nodes - lemons_) + bad;
      if (draws_.uniform(lemon, failure) * all < bad) --lemons_;
      if (draws_.uniform(replacement, failure) < m_.lemons.share && lemons_ < m_.nodes) ++lemons_;
    }
    if (!m_.spares) return;
    --spares_;
    repairs_.push_back(after(time_at(m_.repair, draws_.uniform(repair, failure))));
    std::ranges::push_heap(repairs_, std::greater{});
  }

  // Until the job has all of its nodes. False if a failure came first.
  bool wait_for_nodes() {
    while (!repairs_.empty() && (repairs_.front() <= now_ || spares_ < 0)) {
      if (repairs_.front() > now_ &&
          !spend(Badput::infrastructure_recovery_from_disruption, repairs_.front() - now_)) {
        return false;
      }
      std::ranges::pop_heap(repairs_, std::greater{});
      repairs_.pop_back();
      ++spares_;
    }
    return true;
  }

  bool stages_done(bool first) {
    if (!wait_for_nodes()) return false;
    for (std::size_t s = 0; s < m_.restart.size(); ++s) {
      const RestartStage& one = m_.restart[s];
      if (first && !one.first_start) continue;
      if (one.share < 1 && draws_.uniform(stage + 2 * s, failures_) >= one.share) continue;
      const Seconds time = time_at(one.time, draws_.uniform(stage + 2 * s + 1, failures_));
      if (!spend(one.badput, nanoseconds(time))) return false;
    }
    return spend(Badput::unproductive_checkpoint_restore_time, restore_);
  }

  void restart(bool first) {
    while (!stages_done(first) && goes_on()) {
      fail_once();
      first = false;
    }
  }

  void draw_lemons() {
    if (!(m_.lemons.share > 0)) return;
    // Gaps between lemons in a row of nodes are geometric.
    const double log_good = std::log1p(-std::min(m_.lemons.share, 1 - 1e-12));
    double node = 0;
    for (std::uint64_t i = 0;; ++i) {
      node += 1 + std::floor(std::log(1 - draws_.uniform(Purpose::lemons, i)) / log_good);
      if (node > static_cast<double>(m_.nodes)) break;
      ++lemons_;
    }
  }

  void next_failure() {
    const double rate = p_.normal_rate * (static_cast<double>(m_.nodes - lemons_) +
                                          static_cast<double>(lemons_) * m_.lemons.factor);
    failure_ = after(time_at(p_.gaps, draws_.uniform(gap, failures_)) / rate);
  }

  [[nodiscard]] std::int64_t after(Seconds time) const {
    const std::int64_t ns = nanoseconds(time);
    return ns < kNever - now_ ? now_ + ns : kNever;
  }

  const Prepared& p_;
  const RunModel& m_;
  const Rhythm& r_;
  RandomDraws draws_;
  RunRecord* record_;
  RunOutcome out_;
  std::int64_t now_ = 0;
  std::int64_t at_ = 0;       // steps that are done
  std::int64_t failure_ = 0;  // when the next one comes
  std::int64_t restore_ = 0;  // of the checkpoint to continue from
  std::uint64_t failures_ = 0;
  std::array<std::int64_t, kMostLevels> safe_{};  // newest durable step of each level
  std::int64_t lemons_ = 0;
  std::int64_t spares_ = 0;            // below 0: nodes that the job lacks
  std::vector<std::int64_t> repairs_;  // their ends, a heap
};

Seconds time_without_failures(const RunModel& m) {
  const auto steps = static_cast<double>(m.steps);
  Seconds time = steps * m.step;
  if (m.evaluate_every > 0) time += steps / static_cast<double>(m.evaluate_every) * m.evaluation;
  for (const CheckpointLevel& l : m.checkpoints) {
    time += steps / static_cast<double>(l.every) * l.blocked;
  }
  return time;
}

Result<void> check_levels(const RunModel& m) {
  const auto bad = [](std::string message, std::string hint) {
    return fail(ErrorCode::bad_input, std::move(message), "checkpoint", std::move(hint));
  };
  if (m.checkpoints.size() > kMostLevels) return bad("more than 4 kinds of checkpoint", "");
  for (const CheckpointLevel& l : m.checkpoints) {
    if (l.every < 1) return bad("an interval below a step", "save every step or less often");
    if (!(l.survives >= 0 && l.survives <= 1)) {
      return bad(fmt::format("a probability of {}", l.survives), "write one between 0 and 1");
    }
    if (l.blocked < Seconds(0) || l.durable < l.blocked || l.restore < Seconds(0)) {
      return bad("negative times, or a checkpoint that is durable before it is written", "");
    }
    const Seconds between = static_cast<double>(l.every) * m.step + l.blocked;
    const bool only_one = l.every > m.steps / 2;
    if (l.durable > between && !only_one) {
      return bad(fmt::format("a checkpoint takes {} to become durable, and the next one comes "
                             "after {}",
                             to_text(l.durable), to_text(between)),
                 "save less often, or with more bandwidth");
    }
  }
  return {};
}

// As a text shows it, not above what it is: three figures and whole steps.
Seconds rounded_down(Seconds interval, Seconds step) {
  Seconds out = std::floor(interval / step) * step;
  for (auto shown = parse_seconds(to_text(out)); shown && *shown > interval && out >= step;
       shown = parse_seconds(to_text(out))) {
    out = std::floor(0.999 * (out / step)) * step;
  }
  return out;
}

// A level of checkpoints, with the failures from which the run goes on there.
Result<void> check_end(const RunModel& m, const CheckpointLevel& level, double share) {
  const CheckpointedJob job{share * (static_cast<double>(m.nodes) * m.failure_rate),
                            mean_of(m.restart) + level.restore,
                            static_cast<double>(level.every) * m.step, level.blocked};
  if (!(job.failures > Hertz(0)) || exact_ettr(job) >= kLeastEttr) return {};
  const auto largest = largest_interval(job, kLeastEttr);
  const Seconds shown = rounded_down(largest.value_or(Seconds(0)), m.step);
  return fail(ErrorCode::bad_input,
              fmt::format("the run would never end: a failure every {}, {} of training between "
                          "checkpoints, {} to restart",
                          to_text(1 / job.failures), to_text(job.interval), to_text(job.restart)),
              "failures",
              shown >= m.step
                  ? fmt::format("write at most {} between checkpoints", to_text(shown))
                  : "no interval of checkpoints lets it: failures or restarts must become "
                    "fewer or shorter");
}

Result<void> check_end(const RunModel& m) {
  if (m.checkpoints.empty()) return check_end(m, {.every = m.steps}, 1);
  const std::vector<double> shares = shares_of_failures(m.checkpoints);
  for (auto level = m.checkpoints.begin(); level != m.checkpoints.end(); ++level) {
    const double share = shares[static_cast<std::size_t>(level - m.checkpoints.begin())];
    // What survives more may be saved more often too.
    const auto newest =
        std::ranges::min_element(level, m.checkpoints.end(), {}, &CheckpointLevel::every);
    ORRERY_RETURN_IF_ERROR(check_end(m, *newest, share));
  }
  return {};
}

}  // namespace

std::vector<double> shares_of_failures(const std::vector<CheckpointLevel>& levels) {
  std::vector<double> out;
  double left = 1;
  for (const CheckpointLevel& level : levels) {
    out.push_back(left * level.survives);
    left -= out.back();
  }
  if (!out.empty()) out.back() += left;
  return out;
}

Result<void> check(const RunModel& m) {
  const auto bad = [](std::string message, std::string where, std::string hint = "") {
    return fail(ErrorCode::bad_input, std::move(message), std::move(where), std::move(hint));
  };
  if (m.steps < 1) return bad("a run without steps", "steps", "write 1 or more");
  if (!(m.step >= Seconds(1e-6))) return bad("a step below 1 us", "step");
  if (m.nodes < 1) return bad("a job without nodes", "nodes");
  if (!(m.failure_rate >= Hertz(0))) return bad("a negative failure rate", "failures");
  if (m.evaluate_every < 0 || m.evaluation < Seconds(0)) {
    return bad("a negative interval or time", "evaluation");
  }
  if (!(m.node_share >= 0 && m.node_share <= 1)) {
    return bad(fmt::format("a probability of {}", m.node_share), "failures",
               "write one between 0 and 1");
  }
  if (m.spares && (*m.spares < 0 || *m.spares > kMostSpares)) {
    return bad(fmt::format("{} spares", *m.spares), "spares",
               fmt::format("write 0 to {}", kMostSpares));
  }
  if (m.restart.size() > kMostStages) return bad("more than 20 stages of a restart", "restart");
  ORRERY_RETURN_IF_ERROR(check(m.lemons));
  if (auto gaps = check_form(m.gaps); !gaps) return fail(at("failures.gaps", gaps.error()));
  for (const RestartStage& one : m.restart) ORRERY_RETURN_IF_ERROR(check(one));
  if (m.spares) ORRERY_RETURN_IF_ERROR(check(m.repair));
  ORRERY_RETURN_IF_ERROR(check_levels(m));
  const Seconds healthy = time_without_failures(m);
  if (!(healthy <= kLongestRun)) {
    return bad(fmt::format("without a failure the run would take {:.0f} years", healthy / kYear),
               "steps", "at most 10: more accelerators, or fewer tokens");
  }
  return check_end(m);
}

Result<std::vector<RunOutcome>> simulate_runs(const RunModel& model, std::int64_t runs,
                                              std::uint64_t seed, int threads, RunRecord* record) {
  ORRERY_RETURN_IF_ERROR(check(model));
  ORRERY_INVARIANT(record == nullptr || runs == 1);
  const Seconds healthy = time_without_failures(model);
  const Hertz failures = static_cast<double>(model.nodes) * model.failure_rate;
  const double expected = (healthy * failures).value() * static_cast<double>(runs);
  if (expected > kMostFailures) {
    return fail(ErrorCode::bad_input, fmt::format("{:.1e} failures to simulate", expected),
                "forecast.runs",
                fmt::format("{:.0e} at most: write a smaller --runs", kMostFailures));
  }
  // Beyond what chance alone makes of a run that is expected to end: a time, and the failures that
  // are expected within it, with a million for laws that begin with a cluster.
  Seconds pause;
  for (const CheckpointLevel& l : model.checkpoints) pause = std::max(pause, l.restore);
  const Seconds limit =
      2 * healthy / kLeastEttr + 1000 * (1 / failures + mean_of(model.restart) + pause);
  const auto most =
      failures > Hertz(0) ? static_cast<std::uint64_t>(1e6 + (limit * failures).value()) : 0;
  const Prepared prepared{
      model,
      Rhythm(model),
      with_mean(model.gaps, Seconds(1)),
      model.failure_rate.value() / (1 + model.lemons.share * (model.lemons.factor - 1)),
      std::min(nanoseconds(limit), kNever / 2),
      most};
  std::vector<RunOutcome> out(static_cast<std::size_t>(runs));
  constexpr std::size_t kBlock = 16;
  std::atomic<bool> all_end{true};
  parallel_for((out.size() + kBlock - 1) / kBlock, threads_to_use(threads), [&](std::size_t block) {
    for (std::size_t i = block * kBlock; i < std::min(out.size(), (block + 1) * kBlock); ++i) {
      if (!all_end) return;
      if (auto outcome =
              Run(prepared, seed, record != nullptr ? record->run : i, record).outcome()) {
        out[i] = *outcome;
      } else {
        all_end = false;
      }
    }
  });
  if (!all_end) {
    return fail(ErrorCode::bad_input, "a run of " + std::to_string(runs) + " does not end",
                "failures", "it fails faster than it restarts, or waits for spares for ever");
  }
  return out;
}

}  // namespace orrery
