#include "search/search.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include "lower/optimal_recompute.h"
#include "outcome/invariant.h"
#include "parallel/parallel_for.h"
#include "plan/completed_plan.h"
#include "plan/plan_rules.h"
#include "schedule/schedule.h"
#include "search/candidate.h"

namespace orrery {
namespace {

constexpr std::size_t kBatch = 16;         // simulated together; fixed, so that counts are too
constexpr std::size_t kGroupsAtOnce = 64;  // priced between two reports of progress
constexpr double kParetoMemory = 0.99;
constexpr double kParetoReach = 2;
constexpr double kTooLong = std::numeric_limits<double>::infinity();  // to be simulated

class Search {
 public:
  Search(Scenario scenario, SearchSpace space, const SearchOptions& options, CostContext context)
      : context_(std::move(context)),
        priced_(
            std::make_shared<PricedScenario>(std::move(scenario), context_, BlockGraphs::dropped)),
        space_(std::move(space)),
        options_(options),
        threads_(threads_to_use(options.threads)) {}

  // `assumed`: what completed the training.
  Result<SearchResult> run(const std::vector<std::string>& assumed, const Uncertainty& errors) {
    // A third of a limited time is left for simulating what was priced.
    const auto begin = std::chrono::steady_clock::now();
    if (options_.deadline) until_ = begin + (*options_.deadline - begin) * 2 / 3;
    price();
    until_ = options_.deadline;
    if (result_.considered == 0 && !cut_short_)
      return fail(ErrorCode::bad_input, no_valid_plan(space_, scenario_), "search");
    std::sort(fitting_.begin(), fitting_.end(), by_bound);
    if (fitting_.empty() && too_long_ > 0 && !cut_short_) {
      return unsupported(
          "every plan that fits takes more than 2.5 hours a step, the longest that is searched",
          "search", "a smaller batch, shorter sequences or more accelerators");
    }
    if (options_.judge) {
      judge_all();
      if (!plans_.empty()) find_judged_runners_up();
      return finish(assumed, errors);
    }
    find_best();
    if (!plans_.empty() && !options_.best_alone) {
      find_runners_up();
      if (options_.all_axes) {
        improve();
        find_runners_up();
      }
      find_pareto();
    }
    return finish(assumed, errors);
  }

 private:
  struct Evaluated {
    double step_ps = 0;
    ByteCount peak = 0;
    bool roomy = false;  // fits even with the pessimistic allocator
  };

  bool stopped() {
    const auto& times = priced_->scenario.kernel_times;
    const bool now = (options_.interrupted != nullptr && options_.interrupted->load()) ||
                     (until_ && std::chrono::steady_clock::now() >= *until_) ||
                     (times != nullptr && !times->outcome());
    if (now) cut_short_ = true;
    return now;
  }
  void report(double fraction) {
    if (!options_.progress) return;
    fraction_ = fraction;
    std::string best;
    if (!plans_.empty()) {
      best = to_text(Picoseconds(evaluated_.at(plans_.front()).step_ps).seconds()) +
             " a step: " + to_text(plan(plans_.front()));
    }
    options_.progress(fraction, best);
  }
  [[nodiscard]] std::int64_t gpus() const { return scenario_.cluster.accelerators; }

  // ---- every candidate: memory and bound ----

  struct Priced {
    std::vector<Candidate> fitting;
    std::vector<Candidate> too_large;  // the three that look fastest
    std::optional<Candidate> least;    // the one that needs least memory
    std::int64_t considered = 0;
    std::int64_t rejected = 0;
    std::int64_t too_long = 0;
  };

  static void keep_fastest(std::vector<Candidate>& list, const Candidate& c) {
    list.insert(std::upper_bound(list.begin(), list.end(), c, by_bound), c);
    if (list.size() > 3) list.pop_back();
  }

  // Schedules that are worked out for the times of every plan take a hundred times as long as the
  // others and come last, so that a search that is stopped has seen the others.
  void price() {
    std::vector<bool> made;
    for (const std::string& name : space_.schedules) {
      const auto schedule = find_schedule(name);
      made.push_back(schedule && (*schedule)->made_for_times);
    }
    const bool some = std::ranges::find(made, true) != made.end();
    price([&](const Candidate& c) { return !made[c.schedule]; }, 0, some ? 0.1 : 0.8);
    if (some) price([&](const Candidate& c) { return made[c.schedule]; }, 0.1, 0.8);
  }

  template <class Wanted>
  void price(Wanted wanted, double reported_from, double reported_to) {
    const std::vector<CandidateGroup> all = groups(space_, scenario_);
    for (std::size_t begin = 0; begin < all.size() && !stopped(); begin += kGroupsAtOnce) {
      const std::size_t end = std::min(all.size(), begin + kGroupsAtOnce);
      std::vector<Priced> priced(end - begin);
      parallel_for(priced.size(), threads_, [&](std::size_t g) {
        if (!stopped()) priced[g] = priced_group(all[begin + g], wanted);
      });
      for (const Priced& p : priced) {
        fitting_.insert(fitting_.end(), p.fitting.begin(), p.fitting.end());
        for (const Candidate& c : p.too_large) keep_fastest(too_large_, c);
        if (p.least && (!least_ || std::tuple(p.least->peak, p.least->bound_ps) <
                                       std::tuple(least_->peak, least_->bound_ps))) {
          least_ = p.least;
        }
        result_.considered += p.considered;
        result_.too_large += p.rejected;
        too_long_ += p.too_long;
      }
      report(reported_from + (reported_to - reported_from) * static_cast<double>(end) /
                                 static_cast<double>(all.size()));
    }
  }

  template <class Wanted>
  Priced priced_group(const CandidateGroup& group, Wanted wanted) {
    Priced out;
    for (Candidate c : members_and_divided(group, space_, scenario_)) {
      if (stopped()) break;
      if (!wanted(c)) continue;
      if (!is_valid(plan_of(c, space_, scenario_.plan, gpus()))) continue;
      const Plan plan = plan_for(c);
      if (c.sites != SiteWork::even && (divides_evenly(plan, scenario_) || !is_valid(plan)))
        continue;
      const StepCosts step = step_costs(priced_->cache, plan);
      c.bound_ps = lower_bound(step).count();
      measure(step, c);
      ++out.considered;
      if (c.room >= 0) {
        const bool exact = c.bound_ps <= kLongestExact.count();  // else its bound rejects it
        if (exact) out.fitting.push_back(c);
        out.too_long += exact ? 0 : 1;
        continue;
      }
      ++out.rejected;
      keep_fastest(out.too_large, c);
      if (!out.least || c.peak < out.least->peak) out.least = c;
    }
    return out;
  }

  // ---- simulation, in batches ----

  // Simulates those of the candidates that are not yet.
  void evaluate_all(const std::vector<std::size_t>& wanted) {
    std::vector<std::size_t> missing;
    std::ranges::copy_if(wanted, std::back_inserter(missing),
                         [&](std::size_t i) { return !evaluated_.contains(i); });
    std::vector<Evaluated> found(missing.size());
    parallel_for(missing.size(), threads_, [&](std::size_t k) {
      const Candidate& c = fitting_[missing[k]];
      const auto step = predicted(plan(missing[k]));
      found[k] = {step ? step->folded.time.count() : kTooLong, c.peak, c.least_room >= 0};
    });
    for (std::size_t k = 0; k < missing.size(); ++k) {
      ORRERY_INVARIANT(found[k].step_ps >= fitting_[missing[k]].bound_ps);
      evaluated_.emplace(missing[k], found[k]);
    }
  }

  // Nothing of a step that is longer than 2.5 hours, which would need a coarser tick than the other
  // candidates', or whose kernel times failed, which ends the search. A deadlock cannot happen with
  // a registered schedule that accepted the shape.
  std::optional<PredictedStep> predicted(const Plan& plan) {
    auto step = predict(priced_, plan, LongStep::refused);
    ORRERY_INVARIANT(step || step.error().code == ErrorCode::unsupported || scenario_.kernel_times);
    return step ? std::optional(*std::move(step)) : std::nullopt;
  }

  // Walks the candidates that `wanted` selects in order of their bound, a batch at a time, until
  // the bound reaches `limit()`; `seen` is told of each that was simulated.
  template <class Wanted, class Limit, class Seen>
  void walk(Wanted wanted, Limit limit, Seen seen) {
    std::size_t next = 0;
    // A search that was stopped while it priced still owes its best guesses.
    while (next < fitting_.size() && (!stopped() || evaluated_.empty())) {
      std::vector<std::size_t> batch;
      for (; next < fitting_.size() && batch.size() < kBatch; ++next) {
        if (fitting_[next].bound_ps > limit()) {
          next = fitting_.size();
          break;
        }
        if (wanted(next)) batch.push_back(next);
      }
      evaluate_all(batch);
      for (const std::size_t i : batch) seen(i);
      report(fraction_);
    }
  }

  [[nodiscard]] bool faster(std::size_t a, std::size_t b) const {
    const Evaluated& x = evaluated_.at(a);
    const Evaluated& y = evaluated_.at(b);
    return std::tuple(x.step_ps, x.peak, a) < std::tuple(y.step_ps, y.peak, b);
  }

  // By what the plans are judged by, if they are.
  [[nodiscard]] bool better(std::size_t a, std::size_t b) const {
    const bool differ = !values_.empty() && values_.at(a) != values_.at(b);
    return differ ? values_.at(a) < values_.at(b) : faster(a, b);
  }

  // Plans of the same time and memory, and of the same value if they are judged: of these one is
  // among the best, and the others are counted.
  [[nodiscard]] bool equal(std::size_t a, std::size_t b) const {
    const Evaluated& x = evaluated_.at(a);
    const Evaluated& y = evaluated_.at(b);
    return x.step_ps == y.step_ps && x.peak == y.peak &&
           (values_.empty() || values_.at(a) == values_.at(b));
  }
  [[nodiscard]] std::int64_t equals_of(std::size_t i) const {
    return std::ranges::count_if(evaluated_, [&](const auto& e) {
      return e.first != i && (values_.empty() || values_.contains(e.first)) && equal(e.first, i);
    });
  }
  [[nodiscard]] std::size_t top() const {
    return static_cast<std::size_t>(std::max(1, options_.top));
  }
  void keep_best() {
    std::ranges::sort(plans_, [&](std::size_t a, std::size_t b) { return better(a, b); });
    const auto equals =
        std::ranges::unique(plans_, [&](std::size_t a, std::size_t b) { return equal(a, b); });
    plans_.erase(equals.begin(), equals.end());
    plans_.resize(std::min(plans_.size(), top()));
  }

  void find_best() {
    const auto limit = [&] {
      return plans_.size() < top() ? kTooLong : evaluated_.at(plans_.back()).step_ps;
    };
    walk([](std::size_t) { return true; }, limit,
         [&](std::size_t i) {
           if (evaluated_.at(i).step_ps > limit() || evaluated_.at(i).step_ps == kTooLong) return;
           plans_.push_back(i);
           keep_best();
         });
    report(0.9);
  }

  // Of the candidates that `wanted` selects and `best`, an earlier one.
  template <class Wanted>
  std::optional<std::size_t> fastest(Wanted wanted, std::optional<std::size_t> best) {
    const auto limit = [&] { return best ? evaluated_.at(*best).step_ps : kTooLong; };
    walk(wanted, limit, [&](std::size_t i) {
      if (evaluated_.at(i).step_ps != kTooLong && (!best || faster(i, *best))) best = i;
    });
    return best;
  }

  void find_runners_up() {
    const std::vector<Other> before = std::exchange(others_, {});
    const Plan winner = plan(plans_.front());
    for (const PlanAxis& axis : plan_axes(space_)) {
      const std::string value = axis.value(winner);
      std::optional<std::size_t> best;
      const auto consider = [&](std::size_t i) {
        if (axis.value(plan(i)) != value && (!best || faster(i, *best))) best = i;
      };
      for (const Other& o : before) consider(o.index);
      for (std::size_t k = 0; k < improved_.size(); ++k) consider(fitting_.size() + k);
      best = fastest([&](std::size_t i) { return axis.value(plan(i)) != value; }, best);
      if (best) others_.push_back({axis.name, value, axis.value(plan(*best)), *best});
    }
    find_best_that_fits();
    report(0.95);
  }

  // Beside a winner that is tight in memory: the best plan that fits even with the pessimistic
  // allocator.
  void find_best_that_fits() {
    surely_fitting_.reset();
    if (evaluated_.at(plans_.front()).roomy) return;
    std::optional<std::size_t>& best = surely_fitting_;
    for (const auto& [i, e] : evaluated_) {
      if (e.roomy && e.step_ps != kTooLong && (!best || faster(i, *best))) best = i;
    }
    best = fastest([&](std::size_t i) { return fitting_[i].least_room >= 0; }, best);
  }

  // ---- plans by what somebody else makes of them ----

  void judge_all() {
    constexpr std::size_t kJudged = 64;  // between two reports of progress
    Judged& judged = result_.judged.emplace();
    const double priced = fraction_;
    for (std::size_t begin = 0; begin < fitting_.size() && !stopped(); begin += kJudged) {
      struct Answer {
        Evaluated evaluated;
        Result<std::optional<double>> value = std::optional<double>();
      };
      std::vector<Answer> answers(std::min(kJudged, fitting_.size() - begin));
      parallel_for(answers.size(), threads_, [&](std::size_t k) {
        const Candidate& c = fitting_[begin + k];
        const auto step = predicted(plan(begin + k));
        answers[k].evaluated = {step ? step->folded.time.count() : kTooLong, c.peak,
                                c.least_room >= 0};
        if (step) answers[k].value = options_.judge(estimate(*step));
      });
      for (std::size_t k = 0; k < answers.size(); ++k) {
        const std::size_t i = begin + k;
        evaluated_.emplace(i, answers[k].evaluated);
        if (answers[k].evaluated.step_ps == kTooLong) continue;
        ++judged.plans;
        if (!answers[k].value) {
          if (++judged.failed == 1) judged.failure = answers[k].value.error().text();
        } else if (!*answers[k].value) {
          ++judged.not_allowed;
        } else {
          values_.emplace(i, **answers[k].value);
        }
      }
      report(priced + (0.95 - priced) * static_cast<double>(begin + answers.size()) /
                          static_cast<double>(fitting_.size()));
    }
    for (const auto& [i, value] : values_) plans_.push_back(i);
    keep_best();
    for (const std::size_t i : plans_) judged.values.push_back(values_.at(i));
  }

  void find_judged_runners_up() {
    const Plan winner = plan(plans_.front());
    for (const PlanAxis& axis : plan_axes(space_)) {
      const std::string value = axis.value(winner);
      std::optional<std::size_t> best;
      for (const auto& [i, judged] : values_) {
        if (axis.value(plan(i)) != value && (!best || better(i, *best))) best = i;
      }
      if (best) others_.push_back({axis.name, value, axis.value(plan(*best)), *best});
    }
    report(1);
  }

  // ---- the axes outside the space ----

  // From the best plans and the best with another value on each axis, one for each choice of
  // degrees and microbatch: the fastest neighbour, as long as it is faster.
  void improve() {
    std::vector<std::size_t> starts = plans_;
    for (const Other& o : others_) starts.push_back(o.index);
    if (surely_fitting_) starts.push_back(*surely_fitting_);
    const auto degrees = [&](std::size_t i) {
      const Plan p = plan(i);
      return std::tuple(p.tp, p.cp, p.pp, p.ep, p.micro_batch, p.site_micro_batch);
    };
    std::sort(starts.begin(), starts.end(), [&](std::size_t a, std::size_t b) {
      return degrees(a) != degrees(b) ? degrees(a) < degrees(b) : faster(a, b);
    });
    const auto repeated = std::ranges::unique(starts, {}, degrees);
    starts.erase(repeated.begin(), repeated.end());
    for (std::size_t k = 0; k < starts.size() && !stopped(); ++k) {
      Plan at = plan(starts[k]);
      Evaluated best = evaluated_.at(starts[k]);
      while (const auto next = best_neighbour(at, best)) std::tie(at, best) = *next;
      report(0.95 + 0.05 * static_cast<double>(k + 1) / static_cast<double>(starts.size()));
      const bool known = std::ranges::find(improved_, at) != improved_.end();
      if (known || at == plan(starts[k])) continue;
      const std::size_t i = fitting_.size() + improved_.size();
      improved_.push_back(at);
      evaluated_.emplace(i, best);
      plans_.push_back(i);
    }
    keep_best();
  }

  std::optional<std::pair<Plan, Evaluated>> best_neighbour(const Plan& plan, const Evaluated& now) {
    std::vector<Plan> all = neighbours(plan, scenario_, space_);
    std::vector<std::optional<Evaluated>> found(all.size());
    parallel_for(all.size(), threads_, [&](std::size_t k) {
      if (stopped() || !is_valid(all[k])) return;
      all[k] = concrete(all[k]);
      const StepCosts costs = step_costs(priced_->cache, all[k]);
      Candidate c;
      if (lower_bound(costs).count() >= now.step_ps) return;
      measure(costs, c);
      if (c.room < 0) return;
      const auto step = predicted(all[k]);
      found[k] = {step ? step->folded.time.count() : kTooLong, c.peak, c.least_room >= 0};
    });
    std::optional<std::pair<Plan, Evaluated>> best;
    for (std::size_t k = 0; k < all.size(); ++k) {
      if (!found[k]) continue;
      ++result_.improved;
      if (found[k]->step_ps < (best ? best->second.step_ps : now.step_ps)) {
        best = {all[k], *found[k]};
      }
    }
    return best;
  }

  void find_pareto() {
    const double reach = kParetoReach * evaluated_.at(plans_.front()).step_ps;
    // A candidate is skipped if a simulated plan is both faster than its bound and smaller.
    std::map<double, ByteCount> smallest;  // step time -> least memory up to that time
    const auto note = [&](std::size_t i) {
      const Evaluated& e = evaluated_.at(i);
      auto it = smallest.upper_bound(e.step_ps);
      if (it != smallest.begin() && std::prev(it)->second <= e.peak) return;
      while (it != smallest.end() && it->second >= e.peak) it = smallest.erase(it);
      smallest[e.step_ps] = e.peak;
    };
    for (const auto& [i, e] : evaluated_) note(i);
    walk(
        [&](std::size_t i) {
          const auto it = smallest.upper_bound(fitting_[i].bound_ps);
          return it == smallest.begin() ||
                 static_cast<double>(fitting_[i].peak) <
                     kParetoMemory * static_cast<double>(std::prev(it)->second);
        },
        [&] { return reach; }, note);
    std::vector<std::size_t> all;
    for (const auto& [i, e] : evaluated_) {
      if (e.step_ps <= reach) all.push_back(i);
    }
    std::sort(all.begin(), all.end(), [&](std::size_t a, std::size_t b) { return faster(a, b); });
    for (const std::size_t i : all) {
      if (pareto_.empty() ||
          static_cast<double>(evaluated_.at(i).peak) <
              kParetoMemory * static_cast<double>(evaluated_.at(pareto_.back()).peak)) {
        pareto_.push_back(i);
      }
    }
    report(1);
  }

  [[nodiscard]] bool is_valid(const Plan& plan) const {
    return plan_problems(scenario_.model, scenario_.cluster, scenario_.training, plan).empty();
  }
  // By its index: those that fit, then those that were improved.
  [[nodiscard]] Plan plan(std::size_t i) const {
    if (i >= fitting_.size()) return improved_[i - fitting_.size()];
    return plan_for(fitting_[i]);
  }
  // With what recompute=optimal stands for.
  [[nodiscard]] Plan concrete(const Plan& plan) const {
    return plan.recompute == Recompute::optimal ? optimal_recompute(priced_->cache, plan).plan
                                                : plan;
  }
  [[nodiscard]] Plan plan_for(const Candidate& c) const {
    return divided_among_sites(c.sites, plan_of(c, space_, scenario_.plan, gpus()), space_,
                               priced_->cache);
  }

  [[nodiscard]] NearMiss near_miss(const Candidate& c) const {
    return {plan_for(c), Picoseconds(c.bound_ps).seconds(), c.peak, -c.room,
            static_cast<int>(c.stage)};
  }

  Result<SearchResult> finish(const std::vector<std::string>& assumed, const Uncertainty& errors) {
    // The best step may be expanded, and does not keep the prices of the others.
    auto own = std::make_shared<PricedScenario>(scenario_, context_);
    for (const std::size_t i : plans_) {
      ORRERY_TRY(PredictedStep step, predict(result_.winner ? priced_ : own, plan(i)));
      // What the search chose is no assumption: only what nobody stated beside it.
      step.defaults = assumed;
      std::ranges::move(
          completed_plan(scenario_.model, scenario_.cluster, scenario_.training, step.plan())
              .assumed,
          std::back_inserter(step.defaults));
      result_.plans.push_back(estimate(step, errors));
      result_.equal_plans.push_back(equals_of(i));
      if (!result_.winner) result_.winner = std::make_shared<PredictedStep>(std::move(step));
    }
    for (const std::size_t i : pareto_) {
      ORRERY_TRY(const PredictedStep step, predict(priced_, plan(i)));
      result_.pareto.push_back(estimate(step));
    }
    for (const Other& o : others_) {
      ORRERY_TRY(const PredictedStep step, predict(priced_, plan(o.index)));
      result_.runners_up.push_back({o.axis, o.winner, o.other, estimate(step)});
    }
    if (surely_fitting_) {
      ORRERY_TRY(const PredictedStep step, predict(priced_, plan(*surely_fitting_)));
      result_.surely_fitting = estimate(step);
    }
    for (const Candidate& c : too_large_) {
      if (plans_.empty() || c.bound_ps < evaluated_.at(plans_.front()).step_ps) {
        result_.near_misses.push_back(near_miss(c));
      }
    }
    if (fitting_.empty() && least_) result_.least_memory.push_back(near_miss(*least_));
    result_.evaluated = static_cast<std::int64_t>(evaluated_.size() - improved_.size());
    result_.bounded = static_cast<std::int64_t>(fitting_.size()) + too_long_ - result_.evaluated;
    result_.not_searched = axes_not_searched(space_, scenario_, options_.all_axes);
    result_.never_tried = never_tried(space_, scenario_);
    result_.schedules = space_.schedules;
    result_.schedules_line = schedules_line(space_, scenario_);
    result_.interrupted = cut_short_;
    return std::move(result_);
  }

  struct Other {
    std::string axis, winner, other;
    std::size_t index = 0;
  };

  const CostContext context_;
  std::shared_ptr<PricedScenario> priced_;
  const Scenario& scenario_ = priced_->scenario;
  SearchSpace space_;
  const SearchOptions& options_;
  int threads_;
  SearchResult result_;
  double fraction_ = 0;  // last reported
  std::optional<std::chrono::steady_clock::time_point> until_;
  std::atomic<bool> cut_short_ = false;
  std::vector<Candidate> fitting_;
  std::vector<Candidate> too_large_;
  std::optional<Candidate> least_;
  std::int64_t too_long_ = 0;
  std::map<std::size_t, Evaluated> evaluated_;  // by the index that plan() takes
  std::map<std::size_t, double> values_;        // of those that were judged and are allowed
  std::vector<Plan> improved_;                  // on axes outside the space
  std::vector<std::size_t> plans_, pareto_;
  std::vector<Other> others_;
  std::optional<std::size_t> surely_fitting_;
};

}  // namespace

Result<SearchResult> search(const Scenario& scenario, const SearchSpace& stated,
                            const SearchOptions& options, const Catalog& catalog) {
  if (std::string text = format_problem(scenario.cluster, scenario.training.precision);
      !text.empty()) {
    return fail(ErrorCode::bad_input, std::move(text), "precision");
  }
  Scenario filled = scenario;
  std::erase(filled.plan_by_software, "zero");  // the search states it
  filled.plan = starting_plan(scenario, stated);
  // The model's own batch, whatever the replicas, unless no degrees divide it.
  Plan sizing = scenario.plan;
  if (sizing.dp == 0 && scenario.model.published.global_batch_tokens > 0) sizing.dp = 1;
  CompletedPlan sized;
  SearchSpace space;
  const auto size = [&] {
    sized = completed_plan(scenario.model, scenario.cluster, scenario.training, sizing);
    filled.training = sized.training;
    space = default_space(filled, stated);
  };
  size();
  if (sizing.dp != scenario.plan.dp && groups(space, filled).empty()) {
    sizing.dp = scenario.plan.dp;
    size();
  }
  if (const auto problems = module_problems(filled, space); !problems.empty()) {
    return fail(ErrorCode::bad_input, problems.front(), "plan");
  }
  ORRERY_INVARIANT(!options.best_alone || (!options.all_axes && !options.judge));
  if (options.judge && options.all_axes) {
    return unsupported("plans that a function judges are those of the space", "all_axes",
                       "leave it out");
  }
  ORRERY_TRY(CostContext context, cost_context(scenario.cluster, catalog, scenario.software));
  ORRERY_TRY(const Uncertainty errors, load_uncertainty(catalog));
  // What completed the training, which no plan changes any more.
  std::erase_if(sized.assumed, [](const std::string& line) {
    return !line.starts_with("sequence length") && !line.starts_with("global batch");
  });
  std::ranges::move(own_entries(catalog), std::back_inserter(sized.assumed));
  auto found = Search(std::move(filled), std::move(space), options, std::move(context))
                   .run(sized.assumed, errors);
  if (scenario.kernel_times != nullptr) ORRERY_RETURN_IF_ERROR(scenario.kernel_times->outcome());
  return found;
}

}  // namespace orrery
