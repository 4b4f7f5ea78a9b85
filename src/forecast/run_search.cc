#include "forecast/run_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <tuple>
#include <utility>

#include "forecast/each_site.h"

namespace orrery {
namespace {

constexpr std::int64_t kSearchedRuns = 1000;
constexpr int kMostPlans = 256;  // of a size that may be sampled
constexpr std::size_t kMostSizes = 64;
constexpr Seconds kUsualRun{30.0 * 86400};
constexpr double kShareOfSearch = 2.0 / 3;  // of the time of a size

using Moment = std::chrono::steady_clock::time_point;

class RunSearch {
 public:
  RunSearch(const Scenario& scenario, const RunSearchQuestion& question,
            const SearchOptions& options, const Catalog& catalog)
      : scenario_(scenario), question_(question), options_(options), catalog_(catalog) {}

  Result<RunSearchResult> run(std::vector<std::int64_t> sizes) {
    out_.objective = question_.objective;
    out_.length_given = has_length(question_.run);
    std::optional<Error> first;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      SearchedSize size{.accelerators = sizes[i]};
      if (stopped(options_.deadline)) {
        out_.interrupted = true;
        size.no_run = "not reached";
      } else if (auto done = search_size(size, i, sizes.size()); !done) {
        if (!first) first = done.error();
        size.no_run = done.error().message;
      }
      out_.sizes.push_back(std::move(size));
    }
    if (out_.runs.empty() && first) return fail(*std::move(first));
    if (out_.fastest && out_.fastest->plan.step_time > *shortest_) out_.fastest.reset();
    return std::move(out_);
  }

 private:
  struct Sampled {
    Estimate plan;
    StepTimes step;
  };
  static bool shorter(const Sampled& a, const Sampled& b) {
    return std::tuple(a.step.p95.value, a.plan.step_time) <
           std::tuple(b.step.p95.value, b.plan.step_time);
  }

  [[nodiscard]] bool better(const RankedRun& a, const RankedRun& b) const {
    const double left = figure(question_.objective, a);
    const double right = figure(question_.objective, b);
    return question_.objective == RunObjective::goodput ? left > right : left < right;
  }

  [[nodiscard]] bool stopped(std::optional<Moment> until) const {
    return (options_.interrupted != nullptr && options_.interrupted->load()) ||
           (until && std::chrono::steady_clock::now() >= *until);
  }

  // The moment at which this share of the time that is left has passed.
  [[nodiscard]] std::optional<Moment> after(double share) const {
    if (!options_.deadline) return std::nullopt;
    const Moment now = std::chrono::steady_clock::now();
    return now + std::chrono::duration_cast<Moment::duration>((*options_.deadline - now) * share);
  }

  void report(double fraction, const std::string& text) const {
    if (options_.progress) options_.progress(fraction, text);
  }

  Result<void> search_size(SearchedSize& size, std::size_t index, std::size_t sizes) {
    const double begin = static_cast<double>(index) / static_cast<double>(sizes);
    const double part = 1 / static_cast<double>(sizes);
    const double left = 1 / static_cast<double>(sizes - index);
    const std::optional<Moment> until = after(left);
    const std::string name = fmt::format("{} accelerators: ", size.accelerators);

    Scenario scenario = scenario_;
    ORRERY_TRY(scenario.cluster, part_of(scenario_.cluster, size.accelerators));
    SearchOptions options = options_;
    options.top = std::max(kMostPlans, options_.top);
    options.deadline = after(left * kShareOfSearch);
    options.progress = [&](double fraction, const std::string& best) {
      report(begin + part * kShareOfSearch * fraction, name + best);
    };
    ORRERY_TRY(const SearchResult found, search(scenario, question_.space, options, catalog_));
    size.considered = found.considered;
    size.simulated = found.evaluated + found.improved;
    out_.interrupted |= found.interrupted;
    if (found.plans.empty()) {
      size.no_run = found.interrupted ? "not reached" : "no plan fits in memory";
      return {};
    }
    const auto sampled_so_far = [&](double share) {
      report(begin + part * (kShareOfSearch + (1 - kShareOfSearch) * share),
             name + "the distribution of steps");
    };
    ORRERY_TRY(const std::vector<Sampled> best, sample(size, found, until, sampled_so_far));
    return rank(size, found, best);
  }

  // The plans of the shortest p95, in this order.
  Result<std::vector<Sampled>> sample(SearchedSize& size, const SearchResult& found,
                                      std::optional<Moment> until, const Progressed& progressed) {
    const auto shown = static_cast<std::size_t>(std::max(1, options_.top));
    std::vector<Sampled> all;
    const auto end = [&] {
      if (all.size() < shown) return found.plans.end();
      return std::ranges::upper_bound(found.plans, all[shown - 1].step.p95.value, {},
                                      &Estimate::step_time);
    };
    const auto times_of = [&](const Estimate& plan, std::int64_t samples) -> Result<StepTimes> {
      StepQuestion question = question_.run.step;
      question.samples = samples;
      ORRERY_TRY(const PredictedStep step, predict(found.winner->priced, plan.plan));
      return sampled_step_times(step, plan.step_time, question, catalog_, options_.threads);
    };
    auto plan = found.plans.begin();
    for (; plan < end(); ++plan) {
      if (!all.empty() && stopped(until)) {
        out_.interrupted = true;
        break;
      }
      ++size.sampled;
      progressed(static_cast<double>(size.sampled) /
                 static_cast<double>(end() - found.plans.begin()));
      if (all.size() >= shown) {
        ORRERY_TRY(const StepTimes some, times_of(*plan, kSearchedSamples / 10));
        if (some.p95.low > all[shown - 1].step.p95.value) continue;
      }
      ORRERY_TRY(const StepTimes times, times_of(*plan, kSearchedSamples));
      const Sampled one{*plan, times};
      all.insert(std::ranges::upper_bound(all, one, shorter), one);
    }
    const bool has_all = static_cast<int>(found.plans.size()) < std::max(kMostPlans, options_.top);
    size.proven = !found.interrupted && plan >= end() && (plan < found.plans.end() || has_all);
    return all;
  }

  // Forecasts the best ones, and the one of the shortest step.
  Result<void> rank(const SearchedSize& size, const SearchResult& found,
                    const std::vector<Sampled>& sampled) {
    const Estimate& front = found.plans.front();
    shortest_ = std::min(shortest_.value_or(front.step_time), front.step_time);
    const auto shown =
        std::min(sampled.size(), static_cast<std::size_t>(std::max(1, options_.top)));
    for (std::size_t i = 0; i < shown; ++i) {
      ORRERY_TRY(RankedRun run, ranked(size, found, sampled[i]));
      const auto place = std::ranges::upper_bound(
          out_.runs, run, [&](const RankedRun& a, const RankedRun& b) { return better(a, b); });
      if (place == out_.runs.begin()) {
        ORRERY_TRY(PredictedStep step, predict(found.winner->priced, run.plan.plan));
        out_.winner = std::make_shared<PredictedStep>(std::move(step));
        const Seconds high = run.step.p95.high;
        out_.as_good = std::ranges::count_if(
            sampled, [&](const Sampled& s) { return s.step.p95.value <= high; });
      }
      out_.runs.insert(place, std::move(run));
    }
    if (front.training.global_batch != out_.runs.front().plan.training.global_batch) {
      return bad_input("the batch is not stated, and sizes of the run have other batches",
                       "global_batch", "write --global-batch");
    }
    if (out_.fastest && out_.fastest->plan.step_time <= front.step_time) return {};
    const auto first = std::ranges::find(
        sampled, front.plan, [](const Sampled& s) -> const Plan& { return s.plan.plan; });
    ORRERY_TRY(out_.fastest, ranked(size, found, *first));
    return {};
  }

  Result<RankedRun> ranked(const SearchedSize& size, const SearchResult& found,
                           const Sampled& sampled) const {
    RankedRun out{.plan = sampled.plan, .step = sampled.step};
    RunQuestion question = question_.run;
    question.step_at = StepOfRun::p95;
    question.step.samples = kSearchedSamples;
    question.runs = kSearchedRuns;
    if (!out_.length_given) {
      question.steps = static_cast<std::int64_t>(std::ceil(kUsualRun / out.step.p95.value));
    }
    if (question.spares) {
      const std::int64_t left = scenario_.cluster.accelerators - size.accelerators;
      *question.spares += left / scenario_.cluster.accelerators_per_node;
    }
    out.spares = question.spares;
    ORRERY_TRY(PredictedStep step, predict(found.winner->priced, sampled.plan.plan));
    step.defaults = sampled.plan.assumed;
    if (!found.schedules_line.empty()) step.defaults.push_back(found.schedules_line);
    ORRERY_TRY(
        out.run,
        forecast(step, sampled.plan, question, std::nullopt, catalog_,
                 {.threads = options_.threads, .knobs = false, .sampled_step = sampled.step}));
    return out;
  }

  const Scenario& scenario_;
  const RunSearchQuestion& question_;
  const SearchOptions& options_;
  const Catalog& catalog_;
  RunSearchResult out_;
  std::optional<Seconds> shortest_;  // step, also of sizes that have no run
};

// What can be refused before anything is searched.
Result<void> check_run_search(const RunSearchQuestion& q, const Scenario& scenario,
                              const Catalog& catalog) {
  const bool length = has_length(q.run);
  if (!length && q.objective != RunObjective::goodput) {
    return bad_input("the length of the run is not given", "forecast.tokens",
                     "write --tokens 15.6T, or --steps 100000");
  }
  if (!q.run.step.slow.empty()) {
    return bad_input("slow nodes of a stage, and plans whose stages differ", "forecast.step.slow",
                     "leave them out; orrery forecast has them for one plan");
  }
  if (has_phases(q.run)) {
    return bad_input("phases, and plans that are ranked by a single step",
                     q.run.batch_ramp ? "forecast.batch_ramp" : "forecast.phases",
                     "leave them out; orrery forecast has them for one plan");
  }
  if (q.run.elastic) {
    return bad_input("an elastic run, and plans whose replicas differ", "forecast.elastic",
                     "leave it out; orrery forecast has it for one plan");
  }
  RunQuestion run = q.run;
  if (!length) run.steps = 1;
  ORRERY_TRY(const auto price, check_run(run, scenario.cluster, catalog));
  if (!price && q.objective == RunObjective::cost) {
    return bad_input("the catalog has no price of " + accelerators_in_words(scenario.cluster),
                     "forecast.price", "write --price 2.95$/h");
  }
  ORRERY_RETURN_IF_ERROR(variability_of(q.run.step, catalog));
  if (q.sizes.size() > kMostSizes) {
    return bad_input(fmt::format("{} sizes of the run", q.sizes.size()), "--gpus",
                     fmt::format("write {} or fewer", kMostSizes));
  }
  for (const std::int64_t size : q.sizes) {
    if (auto part = part_of(scenario.cluster, size); !part) return fail(at("--gpus", part.error()));
  }
  return {};
}

}  // namespace

double RankedRun::goodput() const {
  const Training& training = plan.training;
  return static_cast<double>(training.global_batch) *
         static_cast<double>(training.sequence_length) / step.p95.value.value() * run.ettr.mean;
}

double figure(RunObjective objective, const RankedRun& run) {
  if (objective == RunObjective::goodput) return run.goodput();
  if (objective == RunObjective::cost) return run.run.cost(run.run.wall.mean).value();
  return run.run.wall.p95.value.value();
}

Result<RunSearchResult> search_runs(const Scenario& scenario, const RunSearchQuestion& question,
                                    const SearchOptions& options, const Catalog& catalog) {
  ORRERY_RETURN_IF_ERROR(check_run_search(question, scenario, catalog));
  std::vector<std::int64_t> sizes = question.sizes;
  if (sizes.empty()) sizes.push_back(scenario.cluster.accelerators);
  std::ranges::sort(sizes, std::greater());
  const auto repeated = std::ranges::unique(sizes);
  sizes.erase(repeated.begin(), repeated.end());
  return RunSearch(scenario, question, options, catalog).run(std::move(sizes));
}

}  // namespace orrery
