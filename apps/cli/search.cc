// orrery search: the best plan of a space, by the time of its step or by what a run delivers.
#include "search/search.h"

#include <chrono>
#include <span>
#include <vector>

#include "document/value_list.h"
#include "estimate/step_timeline.h"
#include "forecast/run_search.h"
#include "outcome/enum_names.h"
#include "outcome/nearest_name.h"
#include "parallel/parallel_for.h"
#include "plan_files.h"
#include "progress.h"
#include "question.h"
#include "report/drawing/pipeline_text.h"
#include "report/forecasts/forecast_reports.h"
#include "report/plans/plan_reports.h"
#include "report/plans/python_functions.h"
#include "search/across_sites.h"
#include "search/stated_space.h"

namespace orrery::cli {
namespace {

struct SearchCommandOptions {
  Question question;
  int top = 0;                         // plans to show; 0: the usual number
  std::vector<std::string> schedules;  // empty: the default ones
  bool all_axes = false;
  std::vector<std::string> axes;    // "local_steps=1,100": fields that are searched as well
  std::vector<std::string> varied;  // "latency=10us,1ms": of the outermost level
  bool sites = false;               // what crosses the outermost level, and against which baselines
  bool numerics = false;            // what the best plan changes against bf16
  double time_limit = 0;            // seconds; 0: none
  std::string objective;            // empty: step-time
  std::vector<std::int64_t> gpus;   // sizes of the run; empty: the whole cluster
  const CLI::App* app = nullptr;
  FieldOptions run;  // those of its options that describe the run
};

// Of the best plan.
Result<std::string> write_files(const Question& question, const PredictedStep& winner,
                                const Estimate& figures, const FoundBy& found) {
  const auto write = [&](const SimulatedStep& drawn) {
    return write_report_files(question, winner, drawn, figures, found);
  };
  if (!question.expanded || question.timeline.empty()) return write(winner.folded);
  ORRERY_TRY(const SimulatedStep expanded, simulated(winner.costs, Folding::expanded));
  return write(expanded);
}

Result<std::vector<LinkVariation>> link_variations(const SearchCommandOptions& options) {
  std::vector<LinkVariation> out;
  for (const std::string& text : options.varied) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      return bad_input("'" + text + "' is not a field of the link and its values", "",
                       "write latency=10us,1ms,10ms or oversubscription=1..16*2");
    }
    ORRERY_TRY(auto values, value_list(std::string_view(text).substr(equals + 1)));
    out.push_back({text.substr(0, equals), std::move(values)});
  }
  return out;
}

// The best plans and sizes of a whole run.
Result<int> search_for_run(const SearchCommandOptions& options, const Common& common,
                           const Catalog& catalog, const Spec& spec, SearchSpace space,
                           const auto& timed) {
  const int usual_top = options.gpus.size() > 1 ? 1 : 3;
  RunSearchQuestion question;
  const auto objective = parse_enum<RunObjective>(options.objective);
  if (!objective) {
    std::vector<std::string> known = {"step-time"};
    for (const auto& run : names_of(RunObjective{})) known.emplace_back(run.name);
    return bad_input(objective.error().message, "--objective", name_hint(options.objective, known));
  }
  question.objective = *objective;
  ORRERY_TRY(question.run, run_question(options.run, spec.forecast));
  question.sizes = options.gpus;
  question.space = std::move(space);
  if (!options.run["price"].empty() && !has_length(question.run)) {
    return bad_input("needs the length of the run", "--price", "write --tokens 15T or --steps N");
  }
  Seconds elapsed;
  ORRERY_TRY(const RunSearchResult found,
             timed(usual_top, elapsed, [&](const SearchOptions& search_options) {
               return search_runs(spec.scenario, question, search_options, catalog);
             }));
  if (!options.question.emit.empty() && found.winner) {
    return emit(options.question.emit, *found.winner, catalog, common);
  }
  const Subject subject = subject_of(spec.scenario);
  std::string files;
  if (found.winner) {
    ORRERY_TRY(files, write_files(options.question, *found.winner, found.runs.front().plan,
                                  {.elapsed = elapsed}));
  }
  if (common.json) {
    return answered(to_json(run_search_json(found, subject, elapsed)), !found.runs.empty());
  }
  return answered(run_search_text(found, subject, elapsed, text_style()) + files,
                  !found.runs.empty());
}

Result<int> search_plans(const SearchCommandOptions& options, const Common& common) {
  ORRERY_TRY(const auto catalog, open_catalog(common));
  ORRERY_TRY(const auto spec, ask(options.question, catalog));

  auto space = stated_space(spec, options.schedules);
  if (!space) return fail(at("--schedules", space.error()));
  ORRERY_RETURN_IF_ERROR(at("--axis", add_axes(*space, options.axes)));
  if (options.sites && space->placements.empty()) space->placements = placements_across_sites();
  auto variations = link_variations(options);
  if (!variations) return fail(at("--vary", variations.error()));
  ORRERY_RETURN_IF_ERROR(varied_scenarios(spec.scenario, *variations));

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
    if (options.numerics) {
      return bad_input("describes the plan with the shortest step", "--numerics",
                       "leave out --objective, or ask orrery estimate of the plan");
    }
    if (!options.question.python.empty()) {
      return bad_input("a function judges steps, and this objective judges whole runs", "--python",
                       "leave out --objective");
    }
    return search_for_run(options, common, catalog, spec, *space, timed);
  }
  ORRERY_RETURN_IF_ERROR(refuse_given(
      *options.app, {"--gpus", "--steps", "--failures", "--restart", "--checkpoint", "--spares"},
      "an option of a run, and the shortest step is searched",
      "write --objective goodput, time-to-train or cost as well"));

  const Subject subject = subject_of(spec.scenario);
  Judge judge;
  if (!options.question.python.empty()) {
    if (options.sites) {
      return bad_input("--sites compares the time of a step", "--python",
                       "leave out --python or --sites");
    }
    if (options.all_axes) {
      return bad_input("cannot be combined with a function that judges plans", "--all-axes",
                       "leave out --all-axes or --python");
    }
    ORRERY_TRY(judge, python_judge(options.question.python, threads_to_use(common.threads),
                                   interpreters(options.question), {}, subject));
  }
  constexpr int kUsualTop = 10;
  Seconds elapsed;
  SearchExtras extras;
  ORRERY_TRY(const SearchResult found, timed(kUsualTop, elapsed, [&](SearchOptions search_options) {
               search_options.judge = judge;
               SearchOptions first = search_options;
               if (options.sites && first.deadline) {  // half is for what crosses between sites
                 const auto now = std::chrono::steady_clock::now();
                 first.deadline = now + (*first.deadline - now) / 2;
               }
               auto result = search(spec.scenario, *space, first, catalog);
               if (!options.sites || !result || !result->winner) return result;
               auto sites = search_across_sites(spec.scenario, *space, *result, search_options,
                                                catalog, std::move(*variations));
               if (!sites) return Result<SearchResult>(fail(sites.error()));
               if (*sites) {
                 extras.sites = std::move(**sites);
               } else {
                 result->interrupted = true;
               }
               return result;
             }));
  if (!options.question.emit.empty() && found.winner) {
    return emit(options.question.emit, *found.winner, catalog, common);
  }
  for (const Estimate& plan : found.plans) {
    ORRERY_TRY(const auto run, run_of(options.run, spec, plan, catalog));
    if (!run) break;
    if (!extras.runs) extras.runs.emplace();
    extras.runs->push_back(*run);
  }
  const std::span<const HealthyRun> shown =
      extras.runs ? *extras.runs : std::span<const HealthyRun>();
  std::string files;
  if (found.winner) {
    ORRERY_TRY(files, write_files(options.question, *found.winner, found.plans.front(),
                                  {.search = &found,
                                   .elapsed = elapsed,
                                   .runs = shown,
                                   .sites = extras.sites ? &*extras.sites : nullptr}));
  }
  const bool fits = !found.plans.empty();
  if (options.numerics && found.winner) {
    ORRERY_TRY(extras.numerics,
               plan_numerics(*found.winner, catalog, threads_to_use(common.threads)));
  }
  if (common.json) return answered(to_json(search_json(found, subject, elapsed, extras)), fits);
  const TextStyle style = text_style();
  std::string text = search_text(found, subject, elapsed, style, shown);
  if (extras.sites) text += across_sites_text(*extras.sites, style);
  if (found.winner && found.winner->plan().pp > 1 && !common.quiet) {
    text += "\n" + pipeline_text(pipeline_spans(*found.winner), style);
  }
  if (extras.numerics) text += numerics_text(*extras.numerics, style);
  return answered(text + files, fits);
}

}  // namespace

Command search_command(CLI::App& orrery) {
  auto [app, o] = subcommand<SearchCommandOptions>(orrery, "search", "find the best plan");
  o->app = app;
  add_question(app, o->question);
  add_emit(app, o->question);
  app->add_option("--top", o->top,
                  "plans to show (default: 10; of a run 3, or the best one of each size)")
      ->check(CLI::Range(1, 1000));
  app->add_option("--schedules", o->schedules,
                  "pipeline schedules to choose among, 'a,b,c' or 'all' (default: those that the "
                  "software has)")
      ->delimiter(',');
  app->add_flag(
      "--all-axes", o->all_axes,
      "also vary, on the best plans, what a search does not try by default: overlap, HSDP groups, "
      "single recomputed modules and more");
  app->add_option("--axis", o->axes,
                  "also search this field of the plan, with its usual values or those given: "
                  "gradient_code, local_steps=1,100, overlap.tensor_parallel; given twice, every "
                  "combination")
      ->allow_extra_args(false);
  CLI::Option* sites = app->add_flag(
      "--sites", o->sites,
      "of several sites: every order of the mesh axes, which axis crosses between the sites, "
      "against a plan made for one site and against choosing one thing alone");
  app->add_option(
         "--vary", o->varied,
         "with --sites: also over other links between the sites, "
         "latency=10us,1ms,10ms or oversubscription=1..16*2; given twice, every combination")
      ->allow_extra_args(false)
      ->needs(sites);
  app->add_option("--time-limit", o->time_limit,
                  "stop after this many seconds and print the best plans so far")
      ->check(number_within(0.001, 1e6));
  app->add_flag("--numerics", o->numerics, kNumericsHelp);
  app->add_option("--objective", o->objective,
                  "what is best: step-time (the default), or of a whole run with its "
                  "failures: goodput, time-to-train, cost");
  app->add_option("--python", o->question.python,
                  "a file of Python that defines objective(step), which is minimised in "
                  "place of the step time, or constraint(step), or both; step has the keys "
                  "of estimate --json");
  app->add_option("--gpus", o->gpus,
                  "sizes of the run to choose among: 1024,2048 (default: the whole cluster)")
      ->delimiter(',');
  add_run(app, o->run);
  show_under(app, "Extent of the search",
             {"--top", "--time-limit", "--schedules", "--all-axes", "--axis", "--python"});
  show_under(app, "Several sites", {"--sites", "--vary"});
  show_under(app, "A whole run",
             {"--objective", "--gpus", "--tokens", "--steps", "--failures", "--restart",
              "--checkpoint", "--spares", "--price"});
  show_under(app, "Files", {"--emit"});
  app->footer(
      "Fields that --plan or the specification states are kept, all others are searched.\n"
      "Example:\n  orrery search llama-3.1-8b --on h100-sxm:64 --seq 8192 --global-batch 128");

  return command(app, o, search_plans);
}

}  // namespace orrery::cli
