// The orrery command: parses the command line, runs one subcommand, maps failures to exit codes.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>

#include "command.h"
#include "number_option.h"
#include "outcome/invariant.h"
#include "outcome/nearest_name.h"
#include "signals.h"
#include "trace.h"

namespace orrery::cli {
namespace {

void add_question(CLI::App* app, Question& q) {
  app->add_option(
         "model", q.model,
         "a catalog name, a Hugging Face config.json, a model or specification in YAML, or - "
         "for standard input")
      ->required();
  app->add_option("--on", q.cluster,
                  "the cluster: h100-sxm:1024, a name from the catalog, or a YAML file");
  app->add_option("--plan", q.plan, "the plan: tp=8,pp=16,micro_batch=1,...");
  app->add_option("--seq", q.sequence_length, "tokens of a sequence")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000}));
  app->add_option("--global-batch", q.global_batch, "sequences of a step")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000'000}));
  app->add_option("--precision", q.precision, "of matrix products: bf16, fp16, fp8, mxfp8, nvfp4");
  app->add_option("--software", q.software,
                  "the training framework, of orrery catalog software: megatron-core-0.12, ...");
  app->add_option("--adapter-rank", q.adapter_rank,
                  "train low-rank adapters (LoRA) of this rank beside the frozen model")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}));
  app->add_option("--adapted-products", q.adapt, "which products have adapters: attention, all");
  app->add_option("--html", q.html, "write a report with charts to this file");
  app->add_option("--timeline", q.timeline, "write a Chrome/Perfetto timeline to this file");
  app->add_flag("--expanded", q.expanded, "timeline: every operation instead of whole blocks");
}

void add_schedule(CLI::App* app, ScheduleCommandOptions& s) {
  const CLI::Range any_count(1, 1'000'000'000);
  app->add_option("name", s.name,
                  "a schedule, or: list (all of them), compare (all of them measured), auto (the "
                  "best that can be found)")
      ->required();
  app->add_option("--stages", s.stages, "devices of the pipeline")->check(any_count);
  app->add_option("--microbatches", s.microbatches, "of a step")->check(any_count);
  app->add_option("--chunks", s.chunks, "virtual stages a device")->check(any_count);
  app->add_option("--group", s.group, "microbatches that pass a chunk together")->check(any_count);
  app->add_option("--times", s.times,
                  "f=1,b=1,w=1,comm=0 or with units f=18.5ms,...; f=1:2:1:1 for stages that "
                  "differ; or a YAML or JSON file. Of one operation on one virtual stage; to "
                  "compare and auto, of a device's share of a microbatch");
  app->add_option("--memory-limit", s.memory_limit,
                  "the most a device may hold: microbatches of one virtual stage; to compare and "
                  "auto, of a device's share");
  app->add_flag("--blocking", s.blocking, "sends stop the sender and the receiver");
  app->add_option("--svg", s.svg, "write the picture to this file");
  app->add_option("--png", s.png, "write the picture to this file");
  app->add_option("--perfetto", s.perfetto, "write a Chrome/Perfetto timeline to this file");
  app->add_option("--width", s.width, "characters of a line")->check(CLI::Range(40, 1000));
  app->add_option("--time-limit", s.time_limit, "auto: seconds to search")
      ->check(number_within(0.001, 1e6));
  app->footer(
      "Examples:\n"
      "  orrery schedule list\n"
      "  orrery schedule interleaved_1f1b --stages 4 --microbatches 8 --chunks 2\n"
      "  orrery schedule 1f1b --stages 8 --microbatches 24 --times "
      "f=18.522ms,b=18.086ms,w=9.337ms,comm=0.601ms\n"
      "  orrery schedule compare --stages 8 --microbatches 32 --memory-limit 8");
}

// "unknown command 'estmate' (did you mean 'estimate'?)", or empty if the commands are known. What
// follows a command that has commands of its own is looked up among those.
std::string command_hint(const CLI::App& app, int argc, char** argv) {
  const auto commands_of = [](const CLI::App& level) {
    std::vector<std::string> known;
    for (const CLI::App* command : level.get_subcommands([](const CLI::App*) { return true; })) {
      known.push_back(command->get_name());
    }
    return known;
  };
  const CLI::App* level = &app;
  std::vector<std::string> known = commands_of(app);
  for (int i = 1; i < argc && !known.empty(); ++i) {
    const std::string word = argv[i];
    if (word.starts_with('-')) continue;
    if (std::find(known.begin(), known.end(), word) == known.end()) {
      return "unknown command '" + word + "' (" + name_hint(word, known) + ")";
    }
    level = level->get_subcommand(word);
    known = commands_of(*level);
  }
  if (level == &app || known.empty()) return "";
  return level->get_name() + " needs a command (" + name_hint("", known) + ")";
}

int run(int argc, char** argv) {
  CLI::App app{"Orrery predicts where every kernel, byte and second of a training run goes."};
  app.name("orrery");
  app.require_subcommand(1);
  app.fallthrough();
  app.set_version_flag("--version", "orrery 0.1.0");
  Common common;
  app.add_flag("--json", common.json, "one JSON document on standard output");
  app.add_option("--threads", common.threads, "threads to use; the result does not depend on it")
      ->check(CLI::Range(1, 4096));
  app.add_option("--catalog", common.catalog, "a catalog directory instead of the built-in one");
  app.add_flag("-v", common.verbosity, "say more");
  bool quiet = false;
  app.add_flag("-q", quiet, "say less");

  EstimateOptions estimate;
  CLI::App* estimate_app = app.add_subcommand("estimate", "predict one training step");
  add_question(estimate_app, estimate.question);
  estimate_app->add_flag("--explain", estimate.explain, "show the derivation of every figure");
  CLI::Option* chakra =
      estimate_app->add_option("--chakra", estimate.chakra,
                               "write the step as Chakra traces into this folder, one .et a rank");
  estimate_app
      ->add_option("--chakra-ranks", estimate.chakra_ranks, "of which ranks: 0-7,16 (default: all)")
      ->needs(chakra);
  estimate_app->add_option("--graph", estimate.graph,
                           "write the step's graph, *.graph.json or *.graph.json.gz");
  estimate_app->footer(
      "Example:\n  orrery estimate llama-3.1-405b --on h100-sxm:16384 --seq 8192 --global-batch "
      "2048 "
      "--plan tp=8,pp=16,chunks=8");

  SearchCommandOptions search;
  CLI::App* search_app = app.add_subcommand("search", "find the best plan");
  add_question(search_app, search.question);
  search_app->add_option("--top", search.top, "plans to show")->check(CLI::Range(1, 1000));
  search_app
      ->add_option("--schedules", search.schedules,
                   "pipeline schedules to choose among, 'a,b,c' or 'all' (default: those with a "
                   "maintained implementation)")
      ->delimiter(',');
  search_app->footer(
      "Fields that --plan or the specification states are kept, all others are searched.\n"
      "Example:\n  orrery search llama-3.1-8b --on h100-sxm:64 --seq 8192 --global-batch 128");

  CatalogOptions catalog;
  CLI::App* catalog_app = app.add_subcommand("catalog", "list and show what Orrery knows");
  catalog_app->add_option("kind", catalog.kind,
                          "models, accelerators, nodes, fabrics, clusters, links, prices, ...");
  catalog_app->add_option("name", catalog.name, "one entry");
  catalog_app->footer("Example:\n  orrery catalog accelerators h100-sxm");

  ScheduleCommandOptions schedule;
  CLI::App* schedule_app =
      app.add_subcommand("schedule", "work out, draw, compare and synthesise pipeline schedules");
  add_schedule(schedule_app, schedule);

  ValidateOptions validate;
  CLI::App* validate_app = app.add_subcommand("validate", "predictions against measured runs");
  validate_app->add_option("files", validate.files, "CSV files, or - for standard input");
  validate_app->add_option("--figures", validate.figures, "write the published figures as CSV");
  validate_app->add_option("--markdown", validate.markdown, "write the error tables to this file");
  validate_app->add_option("--as-spec", validate.as_spec,
                           "print this row as a specification for orrery estimate");
  validate_app->add_flag("--rows", validate.all_rows, "print every row");
  validate_app
      ->add_option("--software", validate.software,
                   "profile, of orrery catalog software, of rows whose source and framework are "
                   "unknown")
      ->capture_default_str();
  validate_app->footer("Example:\n  orrery validate validation/measured/torchtitan.csv");

  CalibrateOptions calibrate;
  CLI::App* calibrate_app = app.add_subcommand("calibrate", "cost parameters from measurements");
  calibrate_app->add_option("files", calibrate.files, "CSV files, or - for standard input")
      ->required();
  calibrate_app->add_option("--accelerator", calibrate.accelerator, "only this one");
  calibrate_app->add_flag("--cross-validate", calibrate.cross_validate,
                          "errors on folds that were not fitted as well");
  calibrate_app->add_option("--out", calibrate.out,
                            "write catalog files below this directory: a catalog");
  calibrate_app->add_option("--markdown", calibrate.markdown,
                            "write the error tables to this file");
  calibrate_app->add_option("--date", calibrate.date, "of the fit, YYYY-MM-DD, for the files");
  calibrate_app->footer(
      "Example:\n  orrery calibrate validation/kernels/gemm-measured.csv --accelerator h100-sxm "
      "--cross-validate");

  const TraceSubcommand trace = add_trace(app);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help, --version
    const std::string hint = command_hint(app, argc, argv);
    std::fprintf(
        stderr, "orrery: %s\n",
        hint.empty()
            ? (std::string(e.what()) + " (orrery --help lists commands and options)").c_str()
            : hint.c_str());
    return ExitCode::bad_input;
  }
  if (quiet) common.verbosity = -1;
  if (estimate_app->parsed()) return estimate_command(estimate, common);
  if (search_app->parsed()) return search_command(search, common);
  if (schedule_app->parsed()) return schedule_command(schedule, common);
  if (catalog_app->parsed()) return catalog_command(catalog, common);
  if (calibrate_app->parsed()) return calibrate_command(calibrate, common);
  if (trace.app->parsed()) return trace.run(common);
  return validate_command(validate, common);
}

}  // namespace
}  // namespace orrery::cli

int main(int argc, char** argv) {
  orrery::cli::remove_unfinished_files_on_signals();
  try {
    return orrery::cli::run(argc, argv);
  } catch (const orrery::InvariantError& e) {
    std::fprintf(stderr, "orrery: this is a bug of ours, please report it: %s\n", e.what());
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "orrery: out of memory\n");
  } catch (const std::exception& e) {
    std::fprintf(stderr, "orrery: this is a bug of ours, please report it: %s\n", e.what());
  }
  return orrery::cli::ExitCode::bug;
}
