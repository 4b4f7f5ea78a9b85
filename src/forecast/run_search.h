// The plan and the number of accelerators that are best for a whole run, by what it delivers in
// spite of failures, not by the step of healthy machines that are all alike.
//
//   goodput        tokens of a step / p95 of its distribution x mean ETTR     the most
//   time-to-train  p95 of the wall-clock time                                 the least
//   cost           mean dollars                                               the least
//
// Every step of the run takes the p95 of its distribution (step_distribution.h): nineteen of twenty
// draws of machines and moment are at least as fast.
//
// Which plans are looked at. At one size the failures, the restarts and the checkpoints are the same
// for all plans, so that a run is the worse the longer its step takes, and the best plan is the one
// of the shortest p95. The median of the distribution is the predicted step, which is therefore no
// longer than p95. search() gives the plans by their predicted step, exactly; they are sampled in
// this order until the next one's predicted step exceeds the p95 of the worst one that is shown:
// no plan left out can be better. Where the list ends before that, `proven` is false. Of a plan, a
// tenth of the samples is drawn first, and the others unless p95 is then above that of the worst one
// shown, with 97.5 % confidence (run_spread.h).
//
// All on the same random numbers. Left out: the price of spares, the time of changing the size;
// phases and elastic runs, in which a shorter step of the plan may not make a better run.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "forecast/run_forecast.h"
#include "search/search.h"

namespace orrery {

inline constexpr std::int64_t kSearchedSamples = 1000;  // of a step

enum class RunObjective { goodput, time_to_train, cost };
template <>
inline constexpr char kWordSeparator<RunObjective> = '-';  // "time-to-train"

struct RunSearchQuestion {
  RunObjective objective = RunObjective::goodput;
  std::vector<std::int64_t> sizes;  // accelerators of the run; empty: the whole cluster
  // Where spares are stated, the nodes that a smaller run leaves join them. Without a length, a run
  // of 30 days.
  RunQuestion run;
  SearchSpace space;
};

struct RankedRun {
  Estimate plan;
  StepTimes step;
  RunForecast run = {};                     // whose steps take p95
  std::optional<std::int64_t> spares = {};  // nodes; none: there is always another one

  [[nodiscard]] double goodput() const;  // tokens a second of wall-clock time
};

// A size of the run.
struct SearchedSize {
  std::int64_t accelerators = 0;
  std::int64_t considered = 0;  // plans, as in SearchResult
  std::int64_t simulated = 0;
  std::int64_t sampled = 0;  // of these: their steps were drawn
  bool proven = false;       // no plan that was not sampled is better
  std::string no_run = {};   // why there is none; empty: there is
};

struct RunSearchResult {
  RunObjective objective = RunObjective::goodput;
  bool length_given = false;
  std::vector<RankedRun> runs;       // best first, the best ones of every size
  std::optional<RankedRun> fastest;  // of the shortest predicted step, if its size has a run
  std::int64_t as_good = 0;          // plans of the winner's size within the interval of its p95
  std::vector<SearchedSize> sizes;   // largest first
  std::shared_ptr<const PredictedStep> winner;  // none if nothing fits
  bool interrupted = false;
};

// Of a run by the objective: tokens a second, seconds, or dollars.
double figure(RunObjective objective, const RankedRun& run);

// `options.top`: runs to give of every size. Errors: as search() and forecast(); sizes that the
// cluster does not have; a cost without a length or a price; slow nodes of a stage, which other
// plans do not have; phases and elastic runs.
Result<RunSearchResult> search_runs(const Scenario& scenario, const RunSearchQuestion& question,
                                    const SearchOptions& options, const Catalog& catalog);

}  // namespace orrery
