// orrery search: the best plan of a space.
#include "search/search.h"

#include <chrono>

#include "estimate/step_timeline.h"
#include "heap.h"
#include "progress.h"
#include "question.h"
#include "report/drawing/pipeline_text.h"
#include "report/plans/plans_json.h"
#include "report/plans/search_text.h"
#include "report_files.h"
#include "schedule/schedule.h"

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

// Of the best plan.
Result<std::vector<std::string>> write_files(const Question& question, const SearchResult& found,
                                             Seconds elapsed) {
  const PredictedStep& winner = *found.winner;
  const auto write = [&](const SimulatedStep& drawn) {
    return write_report_files(question, winner, drawn, found.plans.front(), &found, elapsed);
  };
  if (!question.expanded || question.timeline.empty()) return write(winner.folded);
  ORRERY_TRY(const SimulatedStep expanded, simulated(winner.costs, Folding::expanded));
  return write(expanded);
}

}  // namespace

Result<int> search_command(const SearchCommandOptions& options, const Common& common) {
  ORRERY_TRY(const auto catalog, open_catalog(common));
  ORRERY_TRY(const auto spec, ask(options.question, catalog));

  const auto space = space_of(spec, options.schedules);
  if (!space) return fail(at("--schedules", space.error()));

  const auto begin = std::chrono::steady_clock::now();
  Result<SearchResult> found = bad_input("");
  {
    Progress progress(!common.quiet,
                      options.time_limit > 0 ? Seconds(options.time_limit) : Progress::kWithoutEnd);
    SearchOptions search_options;
    search_options.top = options.top;
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
    found = search(spec.scenario, *space, search_options, catalog);
  }
  if (!found) return fail(found.error());
  const Seconds elapsed(
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  const Subject subject = subject_of(spec.scenario);

  std::vector<std::string> files;
  if (found->winner) {
    ORRERY_TRY(files, write_files(options.question, *found, elapsed));
  }
  const int code = found->plans.empty() ? ExitCode::negative : ExitCode::done;
  if (common.json) {
    const int printed = print(to_json(search_json(*found, subject, elapsed)));
    return printed == ExitCode::done ? code : printed;
  }
  const TextStyle style = text_style();
  std::string text = search_text(*found, subject, elapsed, style);
  if (found->winner && found->winner->plan().pp > 1 && !common.quiet) {
    text += "\n" + pipeline_text(pipeline_spans(*found->winner), style);
  }
  for (const std::string& line : files) text += "\n" + line;
  if (!files.empty()) text += "\n";
  const int printed = print(text);
  return printed == ExitCode::done ? code : printed;
}

}  // namespace orrery::cli
