// orrery trace diff: two recorded runs, aligned by operator, or a run and its prediction, by kind
// of work; what got slower and why.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "compare/difference.h"
#include "compare/step_work.h"
#include "estimate/estimate.h"
#include "estimate/forward_pass.h"
#include "estimate/predicted_step.h"
#include "infer/inferred_comparison.h"
#include "infer/inferred_spec.h"
#include "infer/prediction_gaps.h"
#include "model/transformer/transformer.h"
#include "question.h"
#include "report/drawing/figures.h"
#include "report/traces/trace_reports.h"
#include "trace/recorded_run.h"
#include "trace_files.h"

namespace orrery::cli {
namespace {

struct DiffOptions {
  const CLI::App* app = nullptr;
  TraceFiles files;
  std::vector<std::string> against;
  Question predicted;  // model: empty: two recorded runs
  std::int64_t step = -1;
  std::int64_t rank = -1;
  int rows = 20;
  double fail_above = -1;  // percent
  std::string html;
};

Result<RecordedRun> recorded_run(const std::vector<std::string>& files, const DiffOptions& options,
                                 const Common& common) {
  TraceFiles how_read = options.files;
  how_read.files = files;
  ORRERY_TRY(SeenRun seen, read_seen_as_recorded(how_read, common));
  return std::move(seen.run);
}

// Of one of the runs at least.
Result<void> options_mean_something(const DiffOptions& options,
                                    const std::vector<std::vector<std::string>>& runs) {
  std::vector<TraceSources> sources;
  for (const std::vector<std::string>& files : runs) {
    ORRERY_TRY(TraceSources of_run, trace_sources(files));
    sources.push_back(std::move(of_run));
  }
  return check_scopes(options.files, sources, ChakraUse::as_recording);
}

ProfileOptions profile_options(const DiffOptions& options) {
  ProfileOptions how;
  if (options.step >= 0) how.step = options.step;
  if (options.rank >= 0) how.rank = options.rank;
  return how;
}

Result<StepProfile> profile(const RecordedRun& run, const DiffOptions& options) {
  return step_profile(run.ranks, profile_options(options));
}

// One of two runs.
struct Side {
  StepProfile profile;
  RunSource source = RunSource::profiler;
};

Result<Side> side(const std::vector<std::string>& files, const DiffOptions& options,
                  const Common& common) {
  ORRERY_TRY(const RecordedRun run, recorded_run(files, options, common));
  ORRERY_TRY(StepProfile found, profile(run, options));
  return Side{std::move(found), run.source};
}

std::string run_name(const std::vector<std::string>& files) {
  return files.size() == 1 ? files[0] : fmt::format("{} and {} more", files[0], files.size() - 1);
}

// Whether a backward pass is among the operators.
bool has_backward(const StepProfile& profile) {
  return std::ranges::any_of(profile.lines, [](const ProfileLine& line) {
    return line.context.starts_with("autograd::engine") || line.name.ends_with("Backward") ||
           line.name.ends_with("Backward0") || line.name.ends_with("_backward");
  });
}

Result<int> show(const Difference& d, const DifferenceSubject& subject, const DiffOptions& options,
                 const Common& common) {
  if (!options.html.empty()) {
    ORRERY_RETURN_IF_ERROR(write_file(options.html, difference_html(d, subject)));
  }
  // Of a prediction: the recorded step took longer than it.
  const Seconds expected = subject.predicted ? d.step_second() : d.step_first();
  const Seconds found = subject.predicted ? d.step_first() : d.step_second();
  const bool slower = options.fail_above >= 0 && found > expected * (1 + options.fail_above / 100);
  return answered(common.json ? to_json(difference_json(d, subject))
                              : difference_text(d, subject, text_style()),
                  !slower);
}

// What is predicted, and where the recording is known to be of something else.
std::vector<std::string> prediction_notes(const Training& training, const Model& model,
                                          const RecordedRun& run, const Catalog& catalog) {
  const auto batch = [](const Training& t) {
    return fmt::format("{} {} of {} tokens", grouped(t.global_batch),
                       t.global_batch == 1 ? "sequence" : "sequences", grouped(t.sequence_length));
  };
  const auto layers = [](const Architecture& a) {
    return fmt::format("{} layers of hidden size {}", grouped(a.num_layers), grouped(a.hidden));
  };
  std::vector<std::string> out = {fmt::format("The prediction is of {} a step.", batch(training))};
  const auto inferred = inferred_comparison(run.ranks, catalog);
  if (!inferred || !inferred->spec.complete) return out;
  const InferredSpec& spec = inferred->spec;
  if (spec.training.global_batch != training.global_batch ||
      spec.training.sequence_length != training.sequence_length) {
    out.push_back(fmt::format("Recorded are {}: --seq {} --global-batch {} predicts those.",
                              batch(spec.training), spec.training.sequence_length,
                              spec.training.global_batch));
  }
  const Architecture* predicted = architecture_of(model);
  if (predicted != nullptr && (spec.architecture.num_layers != predicted->num_layers ||
                               spec.architecture.hidden != predicted->hidden)) {
    out.push_back(fmt::format("Another model was recorded: {}; predicted are {}.",
                              layers(spec.architecture), layers(*predicted)));
  }
  const std::string other_model = other_model_warning(*inferred);
  if (!other_model.empty()) out.push_back(other_model);
  return out;
}

Result<int> diff_prediction(const DiffOptions& options, const Common& common) {
  if (!options.against.empty()) {
    return bad_input("cannot be combined with --predicted", "--against",
                     "a run and its prediction, or two runs");
  }
  ORRERY_TRY(const auto catalog, open_catalog(common));
  ORRERY_TRY(const auto spec, ask(options.predicted, catalog));
  ORRERY_RETURN_IF_ERROR(options_mean_something(options, {options.files.files}));
  ORRERY_TRY(const auto run, recorded_run(options.files.files, options, common));
  ORRERY_TRY(const auto recorded, profile(run, options));
  ORRERY_TRY(const auto predicted, predict(spec.scenario, catalog));
  DifferenceSubject subject{.first = run_name(options.files.files),
                            .second = options.predicted.model,
                            .rows = options.rows,
                            .predicted = true,
                            .first_source = run.source};
  subject.notes = prediction_notes(predicted.training(), predicted.model(), run, catalog);
  Breakdown breakdown;
  Unlaunched unlaunched = Unlaunched::of_its_kind;
  if (!has_backward(recorded)) {
    breakdown = forward_breakdown(predicted) * predicted.costs.shape.microbatches;
    subject.second += ", its forward passes, as nothing else is recorded";
    if (unlaunched_is_earlier(run.ranks)) unlaunched = Unlaunched::earlier;
    // What the recording can be seen to lack is not predicted either, as in trace spec.
    if (const auto inferred = inferred_spec(run.ranks, catalog)) {
      if (!inferred->logits) breakdown[Category::logits] = Picoseconds();
      if (!inferred->loss) breakdown[Category::loss] = Picoseconds();
      if (!inferred->logits) subject.second += "; without logits";
    }
  } else {
    breakdown = estimate(predicted).breakdown;
  }
  StepProfile recorded_work = profile_by_work(recorded, unlaunched);
  StepProfile predicted_work = predicted_profile(breakdown);
  fold_untold_work(recorded_work, predicted_work);
  const Difference d = difference(std::move(recorded_work), std::move(predicted_work));
  ComparedIdleTime idle;
  idle.recorded_step = d.step_first();
  idle.launches = step_launches(recorded);
  if (has_backward(recorded)) {
    idle.launching = {spec.scenario.software.name, launching_time(predicted)};
  }
  if (has_calls(run.source)) {  // others hold no launches
    std::vector<std::string> reasons =
        idle_and_waiting_notes(d, run.ranks, idle, profile_options(options));
    std::move(reasons.begin(), reasons.end(), std::back_inserter(subject.notes));
  }
  return show(d, subject, options, common);
}

Result<int> diff_runs(const DiffOptions& options, const Common& common) {
  if (!options.predicted.model.empty()) return diff_prediction(options, common);
  ORRERY_RETURN_IF_ERROR(
      refuse_given(*options.app, {"--on", "--plan", "--seq", "--global-batch"}, "needs --predicted",
                   "two recorded runs need no cluster and no plan; --predicted SPEC compares one "
                   "run with a prediction"));
  std::vector<std::string> first = options.files.files;
  std::vector<std::string> second = options.against;
  if (second.empty()) {
    if (first.size() != 2) {
      return bad_input(
          fmt::format("{} {} given", first.size(), first.size() == 1 ? "file is" : "files are"),
          "trace diff",
          "two files; the first run's files and, behind --against, the second's; or files and "
          "--predicted SPEC");
    }
    second = {first.back()};
    first.pop_back();
  }
  ORRERY_RETURN_IF_ERROR(options_mean_something(options, {first, second}));
  ORRERY_TRY(auto before, side(first, options, common));
  ORRERY_TRY(auto after, side(second, options, common));
  const DifferenceSubject subject{.first = run_name(first),
                                  .second = run_name(second),
                                  .rows = options.rows,
                                  .first_source = before.source,
                                  .second_source = after.source};
  return show(difference(std::move(before.profile), std::move(after.profile)), subject, options,
              common);
}

}  // namespace

Command trace_diff(CLI::App& trace) {
  auto [app, options] = subcommand<DiffOptions>(
      trace, "diff", "two runs, or a run and a prediction: what got slower, and why");
  options->app = app;
  add_trace_files(app, options->files);
  app->add_option("--against", options->against,
                  "the second run: its traces, one a rank, or folders of them");
  app->add_option("--predicted", options->predicted.model,
                  "compare with the prediction of a specification (trace spec --yaml) or model");
  app->add_option("--on", options->predicted.cluster,
                  "with --predicted: the cluster, as for orrery estimate");
  app->add_option("--plan", options->predicted.plan, "with --predicted: the plan, \"tp=8,pp=4\"");
  app->add_option("--seq", options->predicted.sequence_length,
                  "with --predicted: tokens of a sequence");
  app->add_option("--global-batch", options->predicted.global_batch,
                  "with --predicted: sequences of a step, over all ranks");
  const CLI::Range any_number(std::int64_t{0}, std::int64_t{1'000'000'000'000});
  app->add_option("--step", options->step,
                  "only the step marked ProfilerStep#N; otherwise the average of all")
      ->check(any_number);
  app->add_option("--rank", options->rank, "only this rank; otherwise the average of all")
      ->check(any_number);
  app->add_option("--rows", options->rows, "operators to show (20)")->check(CLI::Range(1, 100000));
  app->add_option(
         "--fail-above", options->fail_above,
         "exit with 1 if a step of the second run takes more than so many percent longer, or one "
         "of the recording than predicted")
      ->check(number_within(0, 1e6));
  app->add_option("--html", options->html, "write a page with charts to this file");
  app->footer(
      "Options of every command, as --json, --threads and --catalog: orrery --help\n"
      "\n"
      "Examples:\n"
      "  orrery trace diff "
      "validation/traces/TraceLens/h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz "
      "validation/traces/TraceLens/mi300/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz\n"
      "  orrery trace diff validation/traces/torchrec/sst_long_a2a_optimizer_2 --against "
      "validation/traces/torchrec/sst_long_a2a_optimizer_4\n"
      "  orrery trace spec RUN --yaml spec.yaml; orrery trace diff RUN --predicted spec.yaml");
  return command(app, options, diff_runs);
}

}  // namespace orrery::cli
