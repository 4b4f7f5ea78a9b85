// orrery trace diff: two recorded runs, aligned by operator; what got slower and why.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "compare/difference.h"
#include "report/difference_report.h"
#include "report/figures.h"
#include "trace.h"
#include "trace/recorded_run.h"

namespace orrery::cli {
namespace {

struct DiffOptions {
  std::vector<std::string> files;
  std::vector<std::string> against;
  std::int64_t step = -1;
  std::int64_t rank = -1;
  int rows = 20;
  double fail_above = -1;  // percent
  bool partial = false;
};

Result<StepProfile> profile(const std::vector<std::string>& files, const DiffOptions& options) {
  RunOptions run_options;
  if (options.partial) run_options.kineto.incomplete = Incomplete::use_what_is_whole;
  ORRERY_TRY(const RecordedRun run, read_run(files, run_options));
  ProfileOptions how;
  if (options.step >= 0) how.step = options.step;
  if (options.rank >= 0) how.rank = options.rank;
  return step_profile(run.ranks, how);
}

std::string run_name(const std::vector<std::string>& files) {
  return files.size() == 1 ? files[0] : fmt::format("{} and {} more", files[0], files.size() - 1);
}

int diff(const DiffOptions& options, const Common& common) {
  std::vector<std::string> first = options.files;
  std::vector<std::string> second = options.against;
  if (second.empty()) {
    if (first.size() != 2) {
      return refuse(
          {ErrorCode::bad_input,
           fmt::format("{} {} given", first.size(), first.size() == 1 ? "file is" : "files are"),
           "trace diff",
           "two files, or the first run's files and, behind --against, the second's"});
    }
    second = {first.back()};
    first.pop_back();
  }
  auto before = profile(first, options);
  if (!before) return refuse(before.error());
  auto after = profile(second, options);
  if (!after) return refuse(after.error());
  const Difference d = difference(std::move(*before), std::move(*after));
  const DifferenceSubject subject{run_name(first), run_name(second), options.rows};
  const int printed = print(common.json ? to_json(difference_json(d, subject))
                                        : difference_text(d, subject, text_style()));
  if (printed != ExitCode::done) return printed;
  const bool slower =
      options.fail_above >= 0 && d.step_second() > d.step_first() * (1 + options.fail_above / 100);
  return slower ? ExitCode::negative : ExitCode::done;
}

}  // namespace

TraceSubcommand trace_diff(CLI::App& trace) {
  CLI::App* app =
      trace.add_subcommand("diff", "two runs aligned by operator: what got slower, and why");
  auto options = std::make_shared<DiffOptions>();
  app->add_option("files", options->files, "two traces; or, with --against, all of the first run")
      ->required();
  app->add_option("--against", options->against, "the traces of the second run");
  const CLI::Range any_number(std::int64_t{0}, std::int64_t{1'000'000'000'000});
  app->add_option("--step", options->step, "only the step of this number (ProfilerStep#N)")
      ->check(any_number);
  app->add_option("--rank", options->rank, "only this rank")->check(any_number);
  app->add_option("--rows", options->rows, "operators to show")->check(CLI::Range(1, 100000));
  app->add_option("--fail-above", options->fail_above,
                  "exit with 1 if the second run's step takes more than this many percent longer")
      ->check(CLI::Range(0.0, 1e6));
  app->add_flag("--partial", options->partial, "use what is whole of truncated files");
  app->footer(
      "Examples:\n"
      "  orrery trace diff "
      "validation/traces/TraceLens/h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz "
      "validation/traces/TraceLens/mi300/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz\n"
      "  orrery trace diff validation/traces/torchrec/sst_long_a2a_optimizer_2 --against "
      "validation/traces/torchrec/sst_long_a2a_optimizer_4");
  return TraceSubcommand{app, [options](const Common& common) { return diff(*options, common); }};
}

}  // namespace orrery::cli
