#include "fleet/fleet_simulation.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <optional>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

#include "fleet/free_nodes.h"

namespace orrery {

std::size_t size_of(std::int64_t gpus) {
  return static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(gpus - 1)));
}

namespace {

constexpr std::int64_t kDayOfMs = 86'400'000;
constexpr std::int64_t kRuleMs = 1'800'000;  // 30 min, arXiv 2410.21680: half an hourly checkpoint
constexpr std::size_t kBackfillDepth = 500;  // Slurm, bf_max_job_test
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

// Beside those of the jobs, in job_mix.cc.
enum FleetDraw : std::uint64_t { failure_gap = 16, failed_node, node_leaves, repair_time };

std::int64_t ms_of(Seconds s) { return std::max<std::int64_t>(0, std::llround(s.value() * 1e3)); }

// Whose failure an attempt begins after: directly, or of a job that preempted this one.
struct Blame {
  enum Order { none, first, second } order = none;
  std::size_t size = 0;
};

struct LiveJob {
  std::int64_t gpus = 0;   // allocated: whole nodes, unless less than one
  std::int64_t nodes = 0;  // whole ones; 0: a part of one
  double estimate_ms = 0;  // of all its work
  std::int64_t done_ms = 0;
  std::int64_t start_ms = -1;  // of the attempt; -1: not running
  std::int64_t restart_ms = 0;
  double rank = 0;  // in the queue
  bool started = false;
  Blame blame;
  std::uint32_t attempt = 0;
  std::size_t place = 0;  // among the running jobs
  std::vector<std::int32_t> on;
};

struct Event {
  enum Kind { end, repair, failure, requeue, arrival, can_preempt } kind;
  std::int64_t ms;
  std::int64_t what;  // job or node
  std::uint32_t attempt = 0;
  // The earliest first; at one time ends, repairs, failures, arrivals.
  friend bool operator<(const Event& a, const Event& b) {
    return std::tie(b.ms, b.kind, b.what) < std::tie(a.ms, a.kind, a.what);
  }
};

class FleetRun {
 public:
  FleetRun(const FleetModel& model, std::span<const FleetJob> jobs, const RandomDraws& draws)
      : model_(model),
        jobs_(jobs),
        draws_(draws),
        rule_(kSchedulerRules[static_cast<std::size_t>(model.scheduler)]),
        free_(model.nodes, model.gpus_per_node),
        here_(static_cast<std::size_t>(model.nodes)),
        release_(static_cast<std::size_t>(model.nodes)),
        live_(jobs.size()),
        free_gpus_(model.nodes * model.gpus_per_node) {
    const double rate = static_cast<double>(model.nodes) * model.failure_rate.value();
    if (rate > 0) gaps_ = with_mean(model.gaps, Seconds(1 / rate));
    for (std::size_t s = 0; s < kJobSizes; ++s) {
      const auto stages = stages_at(model.restart, std::int64_t{1} << s);
      restart_ms_[s] = ms_of(mean_of(stages));
      for (const RestartStage& stage : stages) {
        if (stage.first_start) start_ms_[s] += ms_of(mean_of(stage.time) * stage.share);
      }
    }
  }

  Result<FleetOutcome> run() {
    const bool all = !(model_.days > 0);
    const std::int64_t horizon = static_cast<std::int64_t>((all ? kMostFleetDays : model_.days) *
                                                           static_cast<double>(kDayOfMs));
    if (!jobs_.empty()) events_.push({Event::arrival, jobs_[0].submit_ms, 0});
    next_failure();
    std::size_t left = jobs_.size();
    while (!events_.empty() && !(all && left == 0)) {
      const Event e = events_.top();
      if (e.ms >= horizon) break;
      events_.pop();
      pass_time(e.ms);
      switch (e.kind) {
        case Event::arrival:
          arrive(static_cast<std::size_t>(e.what));
          break;
        case Event::end:
          if (live_[static_cast<std::size_t>(e.what)].attempt == e.attempt) {
            finish(static_cast<std::size_t>(e.what));
            --left;
          }
          break;
        case Event::failure:
          fail_node(e.what);
          next_failure();
          break;
        case Event::requeue:
          enqueue(static_cast<std::size_t>(e.what));
          break;
        case Event::can_preempt:  // schedule() below looks
          break;
        case Event::repair:
          down_gpus_ -= model_.gpus_per_node;
          free_gpus_ += model_.gpus_per_node;
          free_.set(static_cast<std::int32_t>(e.what), model_.gpus_per_node);
          break;
      }
      if (events_.empty() || events_.top().ms > now_) schedule();
    }
    if (all && left > 0) {
      return bad_input("jobs that never end: failures come faster than checkpoints", "failures",
                       "write a shorter checkpoint interval, or --days");
    }
    if (!all) pass_time(horizon);
    // What still runs is cut here, and its work counts.
    for (const std::size_t j : running_) account(j, now_ - work_start(live_[j]));
    out_.wall_ms = now_;
    out_.waiting = static_cast<std::int64_t>(queue_.size());
    return std::move(out_);
  }

 private:
  SizeOutcome& size(const LiveJob& job) { return out_.sizes[size_of(job.gpus)]; }
  static std::int64_t work_start(const LiveJob& job) { return job.start_ms + job.restart_ms; }

  void pass_time(std::int64_t to) {
    out_.idle += free_gpus_ * (to - now_);
    out_.down += down_gpus_ * (to - now_);
    now_ = to;
  }

  void next_failure() {
    if (!gaps_) return;
    failure_ms_ += time_at(*gaps_, draws_.uniform(failure_gap, failures_)).value() * 1e3;
    if (!(failure_ms_ < kMostFleetDays * kDayOfMs)) return;
    // Lemon nodes are the first ones.
    const auto nodes = static_cast<double>(model_.nodes);
    const double lemons = std::round(model_.lemons.share * nodes);
    const double heavy = lemons * model_.lemons.factor;
    const double u = draws_.uniform(failed_node, failures_) * (heavy + nodes - lemons);
    const double node = u < heavy ? u / model_.lemons.factor : lemons + u - heavy;
    events_.push({Event::failure, static_cast<std::int64_t>(failure_ms_),
                  std::min(static_cast<std::int64_t>(node), model_.nodes - 1)});
    ++failures_;
  }

  // ---- estimates ----

  // When an attempt ends by what the scheduler knows now.
  double expected_end(LiveJob& job) const {
    const auto begin = static_cast<double>(work_start(job) - job.done_ms);
    while (begin + job.estimate_ms <= static_cast<double>(now_)) job.estimate_ms *= 2;
    return begin + job.estimate_ms;
  }
  // Of a queued job too.
  double rank_of(std::size_t j) {
    LiveJob& job = live_[j];
    const FleetJob& of = jobs_[j];
    double left = 0;
    if (job.start_ms >= 0) {
      left = expected_end(job) - static_cast<double>(now_);
    } else {
      while (job.estimate_ms <= static_cast<double>(job.done_ms)) job.estimate_ms *= 2;
      left = job.estimate_ms - static_cast<double>(job.done_ms);
    }
    return rule_.rank({static_cast<double>(of.submit_ms), static_cast<double>(of.priority),
                       job.estimate_ms, left});
  }

  // ---- the life of a job ----

  void arrive(std::size_t j) {
    const FleetJob& of = jobs_[j];
    LiveJob& job = live_[j];
    const std::int64_t g = model_.gpus_per_node;
    job.nodes = of.gpus < g ? 0 : (of.gpus + g - 1) / g;
    job.gpus = job.nodes == 0 ? of.gpus : job.nodes * g;
    job.estimate_ms = model_.estimates == Estimates::mean ? of.mean_ms : p95_ms(of);
    ++size(job).submitted;
    enqueue(j);
    if (j + 1 < jobs_.size()) {
      events_.push({Event::arrival, jobs_[j + 1].submit_ms, static_cast<std::int64_t>(j + 1)});
    }
  }

  void enqueue(std::size_t j) {
    live_[j].rank = rank_of(j);
    queue_.insert({live_[j].rank, j});
  }

  [[nodiscard]] bool fits(const LiveJob& job) const {
    return job.nodes > 0 ? free_.whole() >= job.nodes : free_.with_room(job.gpus) >= 0;
  }

  void start(std::size_t j) {
    LiveJob& job = live_[j];
    const std::int64_t g = model_.gpus_per_node;
    if (job.nodes == 0) job.on.push_back(free_.with_room(job.gpus));
    for (std::int64_t n = 0; n < std::max<std::int64_t>(1, job.nodes); ++n) {
      if (job.nodes > 0) job.on.push_back(free_.a_whole_one());
      const std::int32_t node = job.on.back();
      free_.set(node, free_.free_of(node) - (job.nodes > 0 ? g : job.gpus));
      here_[static_cast<std::size_t>(node)].push_back(j);
    }
    free_gpus_ -= job.gpus;
    job.restart_ms = (job.started ? restart_ms_ : start_ms_)[size_of(job.gpus)];
    job.start_ms = now_;
    if (!std::exchange(job.started, true)) {
      ++size(job).started;
      size(job).queue_s.push_back(static_cast<float>(now_ - jobs_[j].submit_ms) * 1e-3F);
    }
    job.place = running_.size();
    running_.push_back(j);
    events_.push({Event::end, work_start(job) + jobs_[j].work_ms - job.done_ms,
                  static_cast<std::int64_t>(j), job.attempt});
    if (rule_.preempts && job.nodes > 0) {
      events_.push(
          {Event::can_preempt, now_ + ms_of(model_.preempt_after), static_cast<std::int64_t>(j)});
    }
  }

  // The time of an attempt until now, of which `kept` was work that stays done.
  void account(std::size_t j, std::int64_t kept) {
    LiveJob& job = live_[j];
    SizeOutcome& s = size(job);
    const std::int64_t restart = std::min(job.restart_ms, now_ - job.start_ms) * job.gpus;
    kept = std::max<std::int64_t>(0, kept);
    s.restart += restart;
    s.productive += kept * job.gpus;
    s.rework += (now_ - job.start_ms - kept) * job.gpus - restart;
    blamed(job.blame, restart);
  }
  void blamed(const Blame& blame, std::int64_t lost) {
    if (blame.order == Blame::first) out_.sizes[blame.size].lost_first += lost;
    if (blame.order == Blame::second) out_.sizes[blame.size].lost_second += lost;
  }

  void release(std::size_t j) {
    LiveJob& job = live_[j];
    for (const std::int32_t node : job.on) {
      std::erase(here_[static_cast<std::size_t>(node)], j);
      free_.set(node, free_.free_of(node) + (job.nodes > 0 ? model_.gpus_per_node : job.gpus));
    }
    free_gpus_ += job.gpus;
    job.on.clear();
    job.start_ms = -1;
    ++job.attempt;
    live_[running_.back()].place = job.place;
    running_[job.place] = running_.back();
    running_.pop_back();
  }

  void finish(std::size_t j) {
    LiveJob& job = live_[j];
    account(j, now_ - work_start(job));
    SizeOutcome& s = size(job);
    ++s.ended;
    const auto gpus = static_cast<double>(job.gpus);
    s.ended_wall += gpus * static_cast<double>(now_ - jobs_[j].submit_ms);
    s.ended_work += gpus * static_cast<double>(jobs_[j].work_ms);
    s.completion_s.push_back(static_cast<float>(now_ - jobs_[j].submit_ms) * 1e-3F);
    ++out_.ends[static_cast<std::size_t>(jobs_[j].end)];
    release(j);
    job.on.shrink_to_fit();
  }

  // Back to the queue, with the work up to the last checkpoint.
  void interrupt(std::size_t j, JobEnd why, Blame blame) {
    LiveJob& job = live_[j];
    const std::int64_t every = std::max<std::int64_t>(1, ms_of(model_.checkpoint));
    const std::int64_t worked = std::max<std::int64_t>(0, now_ - work_start(job));
    const std::int64_t kept = worked / every * every;
    account(j, kept);
    job.blame = blame;
    blamed(blame, (worked - kept) * job.gpus);
    const std::int64_t by_rule = std::min(now_ - job.start_ms, kRuleMs) * job.gpus;
    if (blame.order == Blame::first) out_.sizes[blame.size].rule_first += by_rule;
    if (blame.order == Blame::second) out_.sizes[blame.size].rule_second += by_rule;
    ++out_.ends[static_cast<std::size_t>(why)];
    job.done_ms += kept;
    release(j);
    if (why == JobEnd::preempted) {
      enqueue(j);
    } else {
      events_.push(
          {Event::requeue, now_ + ms_of(model_.requeue_after), static_cast<std::int64_t>(j)});
    }
  }

  void fail_node(std::int64_t n) {
    const auto node = static_cast<std::int32_t>(n);
    if (free_.free_of(node) < 0) return;  // in repair
    while (!here_[static_cast<std::size_t>(n)].empty()) {
      const std::size_t j = here_[static_cast<std::size_t>(n)].back();
      ++size(live_[j]).failures;
      interrupt(j, JobEnd::requeued, {Blame::first, size_of(live_[j].gpus)});
    }
    if (!(draws_.uniform(node_leaves, failures_) < model_.node_share)) return;
    free_.set(node, -1);
    free_gpus_ -= model_.gpus_per_node;
    down_gpus_ += model_.gpus_per_node;
    const Seconds repair = time_at(model_.repair, draws_.uniform(repair_time, failures_));
    if (repair < Seconds(kMostFleetDays * 86400)) {
      events_.push({Event::repair, now_ + ms_of(repair), n});
    }
  }

  // ---- the queue ----

  void schedule() {
    for (auto it = queue_.begin(); it != queue_.end();) {
      const std::size_t j = it->second;
      if (!fits(live_[j]) && !(rule_.preempts && preempt_for(j))) break;
      it = queue_.erase(it);
      start(j);
    }
    if (queue_.size() > 1) backfill();
  }

  // Makes room for a job of whole nodes among the jobs of higher rank that have run long enough:
  // those of the highest rank first, of these the latest. Nothing is preempted if that is not
  // enough.
  bool preempt_for(std::size_t j) {
    const std::int64_t needed = live_[j].nodes - free_.whole();
    if (live_[j].nodes == 0) return false;
    const std::int64_t protect = ms_of(model_.preempt_after);
    victims_.clear();
    std::int64_t gained = 0;
    for (const std::size_t r : running_) {
      const LiveJob& job = live_[r];
      if (job.nodes == 0 || now_ - job.start_ms < protect) continue;
      const double rank = rank_of(r);
      if (!(rank > live_[j].rank)) continue;
      victims_.push_back({-rank, -job.start_ms, r});
      gained += job.nodes;
    }
    if (gained < needed) return false;
    std::ranges::sort(victims_);
    const bool after_failure = live_[j].blame.order == Blame::first;
    const std::size_t of = size_of(live_[j].gpus);
    for (const auto& [rank, begin, r] : victims_) {
      if (free_.whole() >= live_[j].nodes) break;
      ++size(live_[r]).preempted;
      if (after_failure) ++out_.sizes[of].second_order;
      interrupt(r, JobEnd::preempted, {after_failure ? Blame::second : Blame::none, of});
    }
    return true;
  }

  // Jobs behind the first that cannot start, where they do not take nodes that are reserved for it.
  void backfill() {
    const LiveJob& head = live_[queue_.begin()->second];
    const std::int64_t needed = std::max<std::int64_t>(1, head.nodes);
    if (free_gpus_ == 0) return;
    auto [reserved, extra] = reservation(needed);
    std::size_t looked = 0;
    for (auto it = std::next(queue_.begin()); it != queue_.end() && looked < kBackfillDepth;
         ++looked) {
      const std::size_t j = it->second;
      LiveJob& job = live_[j];
      if (fits(job)) {
        // A part of a node that is shared already costs no whole one.
        const bool shares =
            job.nodes == 0 && free_.free_of(free_.with_room(job.gpus)) < model_.gpus_per_node;
        const std::int64_t takes = shares ? 0 : std::max<std::int64_t>(1, job.nodes);
        const auto restart = (job.started ? restart_ms_ : start_ms_)[size_of(job.gpus)];
        const double end = static_cast<double>(now_ + restart - job.done_ms) + job.estimate_ms;
        if (end <= reserved || takes <= extra) {
          if (end > reserved) extra -= takes;
          it = queue_.erase(it);
          start(j);
          continue;
        }
      }
      ++it;
    }
  }

  // When that many whole nodes are free by the estimates, and how many more are free then.
  std::pair<double, std::int64_t> reservation(std::int64_t needed) {
    ends_.clear();
    shared_.clear();
    for (const std::size_t r : running_) {
      LiveJob& job = live_[r];
      const double end = expected_end(job);
      if (job.nodes > 0) {
        ends_.emplace_back(end, job.nodes);
      } else {
        double& of_node = release_[static_cast<std::size_t>(job.on.front())];
        if (of_node == 0) shared_.push_back(job.on.front());
        of_node = std::max(of_node, end);
      }
    }
    for (const std::int32_t node : shared_) {
      ends_.emplace_back(std::exchange(release_[static_cast<std::size_t>(node)], 0), 1);
    }
    std::ranges::sort(ends_);
    std::int64_t whole = free_.whole();
    if (whole >= needed) return {static_cast<double>(now_), whole - needed};
    for (const auto& [end, nodes] : ends_) {
      whole += nodes;
      if (whole >= needed) return {end, whole - needed};
    }
    return {static_cast<double>(kNever), 0};  // not before a repair
  }

  const FleetModel& model_;
  std::span<const FleetJob> jobs_;
  const RandomDraws& draws_;
  const SchedulerRule& rule_;
  std::optional<TimeLaw> gaps_;
  std::array<std::int64_t, kJobSizes> restart_ms_{};
  std::array<std::int64_t, kJobSizes> start_ms_{};  // of a first start

  std::int64_t now_ = 0;
  std::priority_queue<Event> events_;
  double failure_ms_ = 0;
  std::uint64_t failures_ = 0;
  FreeNodes free_;
  std::vector<std::vector<std::size_t>> here_;  // jobs of a node
  std::vector<double> release_;                 // scratch: when a shared node is free
  std::vector<LiveJob> live_;
  std::vector<std::size_t> running_;
  std::set<std::pair<double, std::size_t>> queue_;
  std::int64_t free_gpus_;
  std::int64_t down_gpus_ = 0;
  std::vector<std::tuple<double, std::int64_t, std::size_t>> victims_;
  std::vector<std::pair<double, std::int64_t>> ends_;
  std::vector<std::int32_t> shared_;
  FleetOutcome out_;
};

}  // namespace

Result<FleetOutcome> simulate_fleet(const FleetModel& model, std::span<const FleetJob> jobs,
                                    const RandomDraws& draws) {
  return FleetRun(model, jobs, draws).run();
}

}  // namespace orrery
