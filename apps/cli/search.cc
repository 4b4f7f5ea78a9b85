// orrery search: the best plan of a space, by the time of its step or by what a run delivers.
#include "search/search.h"

#include <array>
#include <chrono>

#include "estimate/step_timeline.h"
#include "forecast/run_search.h"
#include "heap.h"
#include "progress.h"
#include "question.h"
#include "report/drawing/pipeline_text.h"
#include "report/forecasts/run_search_report.h"
#include "report/plans/across_sites_text.h"
#include "report/plans/plans_json.h"
#include "report/plans/search_text.h"
#include "report_files.h"
#include "schedule/schedule.h"
#include "search/across_sites.h"

namespace orrery::cli {
namespace {

// Fields that are stated are kept: their axis has one value.
Result<SearchSpace> space_of(const Spec& spec, const std::vector<std::string>& named) {
  SearchSpace space;
  space.stated = spec.stated;
  if (!named.empty()) space.stated.emplace_back("schedule");
  for (const std::string& name : named) {
    if (name == "all") {
      for (const Schedule& s : schedules()) {
        if (!s.asynchronous && s.virtual_stage != nullptr) space.schedules.emplace_back(s.name);
      }
      continue;
    }
    ORRERY_TRY(const Schedule* schedule, find_schedule(name));
    space.schedules.emplace_back(schedule->name);
  }
  const Plan& plan = spec.scenario.plan;
  for (const std::string& field : spec.stated) {
    if (field == "tp") space.tp = {plan.tp};
    if (field == "cp") space.cp = {plan.cp};
    if (field == "pp") space.pp = {plan.pp};
    if (field == "dp" && plan.dp > 0) space.dp = {plan.dp};
    if (field == "recompute_layers") space.recompute_layers = {plan.recompute_layers};
    if (field == "ep") space.ep = {plan.ep};
    if (field == "chunks") space.chunks = {plan.chunks};
    if (field == "micro_batch") space.micro_batch = {plan.micro_batch};
    if (field == "zero") space.zero = {plan.zero};
    if (field == "recompute") space.recompute = {plan.recompute};
    // Modules are of selective recomputation alone.
    if (field == "recompute_modules" && space.recompute.empty()) {
      space.recompute = {Recompute::selective};
      space.stated.emplace_back("recompute");
    }
    if (field == "dispatch") space.dispatch = {plan.dispatch};
    if (field == "context_parallel") space.context_parallel = {plan.context_parallel};
    if (field == "schedule") space.schedules = {plan.schedule};
    if (field == "placement") space.placements = {plan.placement};
  }
  return space;
}

// Of the best plan; `found` is the search for the shortest step, or nullptr.
Result<std::vector<std::string>> write_files(const Question& question, const PredictedStep& winner,
                                             const Estimate& figures, const SearchResult* found,
                                             Seconds elapsed) {
  const auto write = [&](const SimulatedStep& drawn) {
    return write_report_files(question, winner, drawn, figures, found, elapsed);
  };
  if (!question.expanded || question.timeline.empty()) return write(winner.folded);
  ORRERY_TRY(const SimulatedStep expanded, simulated(winner.costs, Folding::expanded));
  return write(expanded);
}

// What has no effect on the shortest step.
Result<void> check_objective(const SearchCommandOptions& o) {
  const auto of_run =
      std::to_array<std::pair<const char*, bool>>({{"--gpus", !o.gpus.empty()},
                                                   {"--tokens", !o.run.tokens.empty()},
                                                   {"--steps", !o.run.steps.empty()},
                                                   {"--failures", !o.run.failures.empty()},
                                                   {"--restart", !o.run.restart.empty()},
                                                   {"--checkpoint", !o.run.checkpoint.empty()},
                                                   {"--spares", !o.run.spares.empty()},
                                                   {"--price", !o.run.price.empty()}});
  for (const auto& [option, given] : of_run) {
    if (!given) continue;
    return bad_input("an option of a run, and the shortest step is searched", option,
                     "write --objective goodput, time-to-train or cost as well");
  }
  return {};
}

// Prints an answer and gives the exit code.
int answered(const std::string& answer, bool found) {
  const int printed = print(answer);
  return printed != ExitCode::done ? printed : found ? ExitCode::done : ExitCode::negative;
}

std::string text_of(const std::vector<std::string>& files) {
  std::string out;
  for (const std::string& line : files) out += "\n" + line;
  return out.empty() ? out : out + "\n";
}

// The best plans and sizes of a whole run.
Result<int> search_for_run(const SearchCommandOptions& options, const Common& common,
                           const Catalog& catalog, const Spec& spec, SearchSpace space,
                           const auto& timed) {
  const int usual_top = options.gpus.size() > 1 ? 1 : 3;
  RunSearchQuestion question;
  ORRERY_TRY(question.objective, at("--objective", parse_enum<RunObjective>(options.objective)));
  ORRERY_TRY(question.run, run_question(options.run, spec.forecast));
  question.sizes = options.gpus;
  question.space = std::move(space);
  if (!options.run.price.empty() && !has_length(question.run)) {
    return bad_input("a price, and the length of the run is not given", "--price",
                     "write --tokens 15T or --steps N");
  }
  Seconds elapsed;
  ORRERY_TRY(const RunSearchResult found,
             timed(usual_top, elapsed, [&](const SearchOptions& search_options) {
               return search_runs(spec.scenario, question, search_options, catalog);
             }));
  const Subject subject = subject_of(spec.scenario);
  std::vector<std::string> files;
  if (found.winner) {
    ORRERY_TRY(files, write_files(options.question, *found.winner, found.runs.front().plan, nullptr,
                                  elapsed));
  }
  if (common.json) {
    return answered(to_json(run_search_json(found, subject, elapsed)), !found.runs.empty());
  }
  return answered(run_search_text(found, subject, elapsed, text_style()) + text_of(files),
                  !found.runs.empty());
}

}  // namespace

Result<int> search_command(const SearchCommandOptions& options, const Common& common) {
  ORRERY_TRY(const auto catalog, open_catalog(common));
  ORRERY_TRY(const auto spec, ask(options.question, catalog));

  auto space = space_of(spec, options.schedules);
  if (!space) return fail(at("--schedules", space.error()));
  if (options.sites && space->placements.empty()) space->placements = placements_across_sites();

  // Searches with progress and within the limit of time.
  const auto timed = [&](int usual_top, Seconds& elapsed, const auto& find) {
    const auto begin = std::chrono::steady_clock::now();
    Progress progress(!common.quiet,
                      options.time_limit > 0 ? Seconds(options.time_limit) : Progress::kWithoutEnd);
    SearchOptions search_options;
    search_options.top = options.top > 0 ? options.top : usual_top;
    search_options.threads = common.threads;
    search_options.all_axes = options.all_axes;
    if (options.time_limit > 0) {
      search_options.deadline = begin + std::chrono::duration_cast<std::chrono::nanoseconds>(
                                            std::chrono::duration<double>(options.time_limit));
    }
    search_options.interrupted = &Progress::interrupted();
    search_options.progress = [&](double fraction, const std::string& best) {
      progress.show(fraction, best);
    };
    keep_freed_memory();
    auto found = find(search_options);
    elapsed = progress.elapsed();
    return found;
  };
  if (!options.objective.empty() && options.objective != "step-time") {
    if (options.sites) {
      return bad_input("--sites compares the time of a step", "--objective",
                       "leave out --objective or --sites");
    }
    return search_for_run(options, common, catalog, spec, *space, timed);
  }
  ORRERY_RETURN_IF_ERROR(check_objective(options));

  constexpr int kUsualTop = 10;
  Seconds elapsed;
  std::optional<AcrossSites> across;
  ORRERY_TRY(
      const SearchResult found, timed(kUsualTop, elapsed, [&](const SearchOptions& search_options) {
        auto result = search(spec.scenario, *space, search_options, catalog);
        if (!options.sites || !result || !result->winner) return result;
        auto sites = search_across_sites(spec.scenario, *space, *result, search_options, catalog);
        if (!sites) return Result<SearchResult>(fail(sites.error()));
        if (*sites) {
          across = std::move(**sites);
        } else {
          result->interrupted = true;
        }
        return result;
      }));
  const Subject subject = subject_of(spec.scenario);

  std::vector<std::string> files;
  if (found.winner) {
    ORRERY_TRY(files,
               write_files(options.question, *found.winner, found.plans.front(), &found, elapsed));
  }
  const bool fits = !found.plans.empty();
  if (common.json) return answered(to_json(search_json(found, subject, elapsed, across)), fits);
  const TextStyle style = text_style();
  std::string text = search_text(found, subject, elapsed, style);
  if (across) text += across_sites_text(*across, style);
  if (found.winner && found.winner->plan().pp > 1 && !common.quiet) {
    text += "\n" + pipeline_text(pipeline_spans(*found.winner), style);
  }
  return answered(text + text_of(files), fits);
}

}  // namespace orrery::cli
