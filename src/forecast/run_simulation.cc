#include "forecast/run_simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <utility>

#include "forecast/ettr.h"
#include "forecast/run_rhythm.h"
#include "forecast/share.h"
#include "outcome/invariant.h"
#include "parallel/random_draws.h"
#include "units/quantity_text.h"

namespace orrery {
namespace {

constexpr Seconds kYear{365.25 * 86400};
// 1 / kLeastEttr times that still fits into 64 bits of nanoseconds (292 years).
constexpr Seconds kLongestRun{10 * 365.25 * 86400};
constexpr std::size_t kMostStages = 20;
constexpr std::int64_t kMostRhythms = 100'000;
constexpr std::size_t kMostLevels = 4;

// What random numbers are drawn for.
enum Purpose : std::uint64_t {
  gap,
  lemon,
  replacement,
  taken,
  repair,
  planned,
  level,        // one a level
  stage = 16,   // two a stage
  lemons = 63,  // at the start
};
static_assert(level + kMostLevels <= stage && stage + 2 * kMostStages <= lemons);
static_assert(lemons < RandomDraws::kPurposes);

struct Prepared {
  const RunModel& model;
  std::vector<RunRhythm> rhythms;  // by how many replicas are missing
  TimeLaw gaps;                    // of mean 1 s
  double normal_rate;              // of a node that is no lemon, per second
  std::int64_t limit;              // of wall-clock time
  std::uint64_t failures;          // the most that a run may have
};

class Run {
 public:
  Run(const Prepared& prepared, std::uint64_t seed, std::uint64_t run, RunRecord* record)
      : p_(prepared),
        m_(prepared.model),
        r_(prepared.rhythms.data()),
        draws_(seed, run),
        record_(record),
        spares_(m_.spares.value_or(0)) {
    draw_lemons();
    next_failure();
  }

  // Empty if the run does not end.
  std::optional<RunOutcome> outcome() {
    restart(true);
    next_planned();
    while (goes_on()) {
      const std::int64_t stop = next_stop();
      const std::int64_t left = r_->elapsed(at_, stop);
      const bool fails = left > failure_ - now_;
      train(fails ? failure_ - now_ : left);
      if (fails) {
        fail_once();
        restart(false);
      } else if (stop == r_->steps) {
        out_.productive_ns = p_.rhythms.front().trained(r_->steps);
        out_.wall_ns = now_;
        return out_;
      } else if (planned_ <= now_) {
        stop_as_planned();
      } else {
        take_repaired();
      }
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

  // The step at whose end the run stops as planned or goes on with more replicas; the last one
  // where neither comes before.
  [[nodiscard]] std::int64_t next_stop() const {
    std::int64_t moment = planned_;
    if (missing_ > 0) moment = std::min(moment, repairs_.front().end);
    if (moment == kNeverNs) return r_->steps;
    const std::int64_t time = std::max<std::int64_t>(moment - now_, 0);
    const std::int64_t done = r_->done_after(at_, time);
    return done < r_->steps && r_->elapsed(at_, done) < time ? done + 1 : done;
  }

  // Trains from at_ for a time that no stop divides, and notes what is saved.
  void train(std::int64_t time) {
    std::int64_t reached = r_->done_after(at_, time);
    std::int64_t rest = time - r_->elapsed(at_, reached);
    book(Badput::custom_badput_events, r_->evaluations(at_, reached));
    book(Badput::unproductive_checkpoint_save_time, r_->saves(at_, reached));
    if (reached < r_->steps && rest >= r_->step_after(reached)) {  // within the pauses after a step
      rest -= r_->step_after(reached);
      ++reached;
      const std::int64_t evaluating = std::min(rest, r_->evaluations(reached - 1, reached));
      book(Badput::custom_badput_events, evaluating);
      book(Badput::unproductive_checkpoint_save_time, rest - evaluating);
      rest = 0;
    }
    book(Badput::wasted_progress_from_disruption, rest);
    if (missing_ > 0) {
      book(Badput::fewer_replicas,
           r_->trained(at_, reached) - p_.rhythms.front().trained(at_, reached));
    }
    for (std::size_t l = 0; l < r_->levels.size(); ++l) {
      if (under_way_[l].durable <= now_ + time) safe_[l] = std::exchange(under_way_[l], {}).step;
      const std::int64_t saved = r_->durable_after(l, at_, reached, time);
      if (saved > at_) safe_[l] = saved;
      if (!m_.elastic) continue;
      const std::int64_t newest = reached - reached % r_->levels[l].every;
      if (newest > std::max(at_, saved)) {
        under_way_[l] = {newest, now_ + r_->durable_at(l, at_, newest)};
      }
    }
    at_ = reached;
    now_ += time;
  }

  // The run saves its state to the storage, is down, and starts again.
  void stop_as_planned() {
    const auto stop = static_cast<std::uint64_t>(out_.planned++);
    const Seconds down = time_at(m_.planned->time, draws_.uniform(planned, stop));
    if (spend(Badput::unproductive_checkpoint_save_time, r_->levels.back().durable)) {
      safe_.fill(0);  // copies in memory do not outlive the program
      under_way_.fill({});
      safe_[r_->levels.size() - 1] = at_;
      restore_ = r_->levels.back().restore;
      if (spend(Badput::planned_interruptions, nanoseconds(down))) {
        restart(true);
        next_planned();
        return;
      }
    }
    fail_once();
    restart(false);
    next_planned();
  }

  void next_planned() {
    if (m_.planned) planned_ = now_ + std::min(nanoseconds(m_.planned->every), kNeverNs - now_);
  }

  // A failure at this moment: what survives it, which node leaves, when the next one comes.
  void fail_once() {
    const std::uint64_t failure = failures_++;
    ++out_.interruptions;
    std::int64_t kept = 0;
    restore_ = 0;
    under_way_.fill({});
    for (std::size_t l = 0; l < r_->levels.size(); ++l) {
      if (draws_.uniform(level + l, failure) >= r_->levels[l].survives) {
        safe_[l] = 0;
      } else if (safe_[l] > kept) {
        kept = safe_[l];
        restore_ = r_->levels[l].restore;
      }
    }
    book(Badput::wasted_progress_from_disruption, p_.rhythms.front().trained(kept, at_));
    at_ = kept;
    const double whole_racks = m_.racks.share;
    const double share = whole_racks + m_.node_share;
    const double drawn = share < 1 || whole_racks > 0 ? draws_.uniform(taken, failure) : 0;
    if (drawn < share) take_nodes(failure, drawn < whole_racks ? m_.racks.nodes : 1);
    next_failure();
  }

  void take_nodes(std::uint64_t failure, std::int64_t nodes) {
    if (m_.lemons.share > 0) {
      const auto bad = static_cast<double>(lemons_) * m_.lemons.factor;
      const double all = static_cast<double>(m_.nodes - lemons_) + bad;
      if (draws_.uniform(lemon, failure) * all < bad) --lemons_;
      if (draws_.uniform(replacement, failure) < m_.lemons.share && lemons_ < m_.nodes) ++lemons_;
    }
    if (!m_.spares) return;
    spares_ -= nodes;
    repairs_.push_back({after(time_at(m_.repair, draws_.uniform(repair, failure))), nodes});
    std::ranges::push_heap(repairs_, std::greater{}, &Repair::end);
  }

  // What is repaired by now is a spare again.
  void take_repaired() {
    while (!repairs_.empty() && repairs_.front().end <= now_) {
      std::ranges::pop_heap(repairs_, std::greater{}, &Repair::end);
      spares_ += repairs_.back().nodes;
      repairs_.pop_back();
    }
    missing_ = spares_ < 0 ? m_.replicas_lost(-spares_) : 0;
    r_ = &p_.rhythms[std::min(static_cast<std::size_t>(missing_), p_.rhythms.size() - 1)];
  }

  // Until the job has the nodes that it needs. False if a failure came first.
  bool wait_for_nodes() {
    if (!m_.spares) return true;
    take_repaired();
    while (static_cast<std::size_t>(missing_) >= p_.rhythms.size()) {
      if (!spend(Badput::infrastructure_recovery_from_disruption, repairs_.front().end - now_)) {
        return false;
      }
      take_repaired();
    }
    return true;
  }

  bool stages_done(bool first) {
    if (!wait_for_nodes()) return false;
    const std::uint64_t start = failures_ + static_cast<std::uint64_t>(out_.planned);
    for (std::size_t s = 0; s < m_.restart.size(); ++s) {
      const RestartStage& one = m_.restart[s];
      if (first && !one.first_start) continue;
      if (one.share < 1 && draws_.uniform(stage + 2 * s, start) >= one.share) continue;
      const Seconds time = time_at(one.time, draws_.uniform(stage + 2 * s + 1, start));
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
    return ns < kNeverNs - now_ ? now_ + ns : kNeverNs;
  }

  const Prepared& p_;
  const RunModel& m_;
  const RunRhythm* r_;  // with the replicas that there are
  RandomDraws draws_;
  RunRecord* record_;
  RunOutcome out_;
  std::int64_t now_ = 0;
  std::int64_t at_ = 0;              // steps that are done
  std::int64_t failure_ = 0;         // when the next one comes
  std::int64_t planned_ = kNeverNs;  // when the run is to be stopped
  std::int64_t restore_ = 0;         // of the checkpoint to continue from
  std::uint64_t failures_ = 0;
  std::array<std::int64_t, kMostLevels> safe_{};  // newest durable step of each level
  struct Save {
    std::int64_t step = 0;
    std::int64_t durable = kNeverNs;
  };
  std::array<Save, kMostLevels> under_way_{};  // begun before the speed changed
  std::int64_t lemons_ = 0;
  struct Repair {
    std::int64_t end;
    std::int64_t nodes;
  };
  std::int64_t spares_;          // below 0: nodes that the job lacks
  std::int64_t missing_ = 0;     // replicas that the job lacks
  std::vector<Repair> repairs_;  // a heap by their ends
};

Seconds mean_step(const RunModel& m) { return training_time(m) / static_cast<double>(m.steps); }

// Without the stops that are planned.
Seconds time_of_steps_and_pauses(const RunModel& m) {
  const auto steps = static_cast<double>(m.steps);
  Seconds time = training_time(m);
  if (m.evaluate_every > 0) time += steps / static_cast<double>(m.evaluate_every) * m.evaluation;
  for (const CheckpointLevel& l : m.checkpoints) {
    time += steps / static_cast<double>(l.every) * l.blocked;
  }
  return time;
}

double planned_stops(const RunModel& m) {
  return m.planned ? time_of_steps_and_pauses(m) / m.planned->every : 0;
}

Seconds time_without_failures(const RunModel& m) {
  const Seconds time = time_of_steps_and_pauses(m);
  if (!m.planned) return time;
  const CheckpointLevel& last = m.checkpoints.back();
  return time + planned_stops(m) *
                    (last.durable + mean_of(m.planned->time) + mean_of(m.restart) + last.restore);
}

Result<void> check_levels(const RunModel& m) {
  const auto bad = [](std::string message, std::string hint) {
    return bad_input(std::move(message), "checkpoint", std::move(hint));
  };
  if (m.checkpoints.size() > kMostLevels) return bad("more than 4 kinds of checkpoint", "");
  for (const CheckpointLevel& l : m.checkpoints) {
    if (l.every < 1) return bad("an interval below a step", "save every step or less often");
    ORRERY_RETURN_IF_ERROR(check_share(l.survives, "checkpoint", "probability"));
    if (l.blocked < Seconds(0) || l.durable < l.blocked || l.restore < Seconds(0)) {
      return bad("negative times, or a checkpoint that is durable before it is written", "");
    }
    const Seconds between = static_cast<double>(l.every) * shortest_step(m) + l.blocked;
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
                            static_cast<double>(level.every) * mean_step(m), level.blocked};
  // Saves alone may take most of a short run, which ends all the same.
  const double without_failures = job.interval / (job.interval + job.save);
  if (!(job.failures > Hertz(0)) || exact_ettr(job) >= kLeastEttr * without_failures) return {};
  const auto largest = largest_interval(job, kLeastEttr);
  const Seconds shown = rounded_down(largest.value_or(Seconds(0)), mean_step(m));
  return bad_input(
      fmt::format("the run would never end: a failure every {}, {} of training between "
                  "checkpoints, {} to restart",
                  to_text(1 / job.failures), to_text(job.interval), to_text(job.restart)),
      "failures",
      shown >= mean_step(m)
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

// What a failure takes out, and how the run goes on without it.
Result<void> check_losses(const RunModel& m) {
  ORRERY_RETURN_IF_ERROR(check_share(m.node_share, "failures", "probability"));
  if (m.spares && (*m.spares < 0 || *m.spares > kMostSpares)) {
    return bad_input(fmt::format("{} spares", *m.spares), "spares",
                     fmt::format("write 0 to {}", kMostSpares));
  }
  ORRERY_RETURN_IF_ERROR(check(m.racks));
  if (m.racks.share > 0 && m.racks.nodes > m.nodes) {
    return bad_input(fmt::format("racks of {} nodes, and a job of {}", m.racks.nodes, m.nodes),
                     "racks.nodes");
  }
  if (m.elastic) {
    if (!m.spares) {
      return bad_input("without a number of spares there is always another node", "elastic",
                       "write spares as well: 0 or more");
    }
    const std::int64_t fewer = m.elastic->replicas - m.elastic->least;
    const double share =
        static_cast<double>(m.elastic->least) / static_cast<double>(m.elastic->replicas);
    if (m.elastic->least < 1 || !(share >= kLeastReplicas && share <= 1)) {
      return bad_input(fmt::format("a run that goes on with {} of {} replicas", m.elastic->least,
                                   m.elastic->replicas),
                       "elastic", fmt::format("write a share of {} to 1", kLeastReplicas));
    }
    if (fewer * static_cast<std::int64_t>(m.later.size() + 1) > kMostRhythms) {
      return bad_input(fmt::format("a run with up to {} replicas fewer", fewer), "elastic.least",
                       "write a larger share, or fewer phases");
    }
  }
  if (!m.planned) return {};
  if (m.checkpoints.empty()) return bad_input("stops without a checkpoint", "planned");
  if (!(m.planned->every > Seconds(0))) {
    return bad_input("an interval that is not above 0", "planned.every", "write 27 h");
  }
  return at("planned.time", check(m.planned->time));
}

}  // namespace

Seconds training_time(const RunModel& m) {
  Seconds time;
  std::int64_t begin = 0;
  Seconds step = m.step;
  for (const LaterSteps& later : m.later) {
    time += static_cast<double>(later.after - begin) * step;
    begin = later.after;
    step = later.step;
  }
  return time + static_cast<double>(m.steps - begin) * step;
}

Seconds shortest_step(const RunModel& m) {
  Seconds step = m.step;
  for (const LaterSteps& later : m.later) step = std::min(step, later.step);
  return step;
}

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
  if (m.steps < 1) return bad_input("a run without steps", "steps", "write 1 or more");
  for (std::int64_t begin = 0; const LaterSteps& later : m.later) {
    if (later.after <= begin || later.after >= m.steps) {
      return bad_input("phases that do not follow each other within the run", "phases");
    }
    begin = later.after;
  }
  if (!(shortest_step(m) >= Seconds(1e-6))) return bad_input("a step below 1 us", "step");
  if (m.nodes < 1) return bad_input("a job without nodes", "nodes");
  if (!(m.failure_rate >= Hertz(0))) return bad_input("a negative failure rate", "failures");
  if (m.evaluate_every < 0 || m.evaluation < Seconds(0)) {
    return bad_input("a negative interval or time", "evaluation");
  }
  ORRERY_RETURN_IF_ERROR(check_losses(m));
  if (m.restart.size() > kMostStages)
    return bad_input("more than 20 stages of a restart", "restart");
  ORRERY_RETURN_IF_ERROR(check(m.lemons));
  ORRERY_RETURN_IF_ERROR(at("failures.gaps", check_form(m.gaps)));
  for (const RestartStage& one : m.restart) ORRERY_RETURN_IF_ERROR(check(one));
  if (m.spares) ORRERY_RETURN_IF_ERROR(check(m.repair));
  ORRERY_RETURN_IF_ERROR(check_levels(m));
  const Seconds healthy = time_without_failures(m);
  if (!(healthy <= kLongestRun)) {
    return bad_input(
        fmt::format("without a failure the run would take {:.0f} years", healthy / kYear), "steps",
        "at most 10: more accelerators, or fewer tokens");
  }
  return check_end(m);
}

Result<std::vector<RunOutcome>> simulate_runs(const RunModel& model, std::int64_t runs,
                                              std::uint64_t seed, int threads,
                                              const Progressed& progressed, RunRecord* record) {
  ORRERY_RETURN_IF_ERROR(check(model));
  ORRERY_INVARIANT(record == nullptr || runs == 1);
  const Seconds healthy = time_without_failures(model);
  const Hertz failures = static_cast<double>(model.nodes) * model.failure_rate;
  if (const double stops = planned_stops(model) * static_cast<double>(runs);
      stops > kMostFailures) {
    return bad_input(fmt::format("{:.1e} planned interruptions to simulate", stops),
                     "forecast.planned.every", "write a longer time, or a smaller --runs");
  }
  const double expected = (healthy * failures).value() * static_cast<double>(runs);
  if (expected > kMostFailures) {
    return bad_input(fmt::format("{:.1e} failures to simulate", expected), "forecast.runs",
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
  std::vector<RunRhythm> rhythms{RunRhythm(model)};
  for (std::int64_t left = model.elastic ? model.elastic->replicas - 1 : 0;
       model.elastic && left >= model.elastic->least; --left) {
    rhythms.emplace_back(model,
                         static_cast<double>(model.elastic->replicas) / static_cast<double>(left));
  }
  const Prepared prepared{
      model,
      std::move(rhythms),
      with_mean(model.gaps, Seconds(1)),
      model.failure_rate.value() / (1 + model.lemons.share * (model.lemons.factor - 1)),
      std::min(nanoseconds(limit), kNeverNs / 2),
      most};
  std::vector<RunOutcome> out(static_cast<std::size_t>(runs));
  constexpr std::size_t kBlock = 16;
  std::atomic<bool> all_end{true};
  const auto simulate_block = [&](std::size_t block) {
    for (std::size_t i = block * kBlock; i < std::min(out.size(), (block + 1) * kBlock); ++i) {
      if (!all_end) return;
      if (auto outcome =
              Run(prepared, seed, record != nullptr ? record->run : i, record).outcome()) {
        out[i] = *outcome;
      } else {
        all_end = false;
      }
    }
  };
  parallel_for((out.size() + kBlock - 1) / kBlock, threads_to_use(threads), simulate_block,
               progressed);
  if (!all_end) {
    return bad_input("a run of " + std::to_string(runs) + " does not end", "failures",
                     "it fails faster than it restarts, or waits for spares for ever");
  }
  return out;
}

}  // namespace orrery
