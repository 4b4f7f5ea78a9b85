// The orrery command: parses the command line, runs one subcommand, maps failures to exit codes.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <span>
#include <system_error>

#include "command.h"
#include "command_documents.h"
#include "compare.h"
#include "document/input_memory.h"
#include "generate.h"
#include "import.h"
#include "number_option.h"
#include "numerics.h"
#include "parallel/parallel_for.h"
#include "parse_error.h"
#include "progress.h"
#include "tables.h"
#include "trace.h"
#include "units/quantity_text.h"
#include "version.h"

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
  app->add_option("--workload", q.workload, "what is run: training, forward (evaluation)");
  app->add_option("--seq", q.sequence_length, "tokens of a sequence: 8192, 8k");
  app->add_option("--global-batch", q.global_batch,
                  "sequences of a step: 2048; or, with k or M, its tokens: 4M");
  app->add_option("--resolution", q.resolution, "of an image model, width x height: 1280x720");
  app->add_option("--frames", q.frames, "of a video")->check(CLI::Range(1, 100'000));
  app->add_option("--precision", q.precision,
                  "of matrix products: bf16, fp16, fp8, mxfp8, nvfp4, tf32, fp32");
  app->add_option("--software", q.software,
                  "the training framework, of orrery catalog software: megatron-core-0.12, ...");
  app->add_option("--adapter-rank", q.adapter_rank,
                  "train low-rank adapters (LoRA) of this rank beside the frozen model")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}));
  app->add_option("--adapted-products", q.adapt, "which products have adapters: attention, all");
  app->add_option("--set", q.settings,
                  "change one setting: network=2x, hbm=1.5x, cluster.levels.0.latency=1us; also "
                  "compute, memory, scale-up, latency")
      ->allow_extra_args(false);
  app->add_option("--kernels", q.kernels,
                  "a file of Python that defines kernel_time(kernel), the seconds of a kernel in "
                  "place of the cost model's, kernel.predicted_s");
  app->add_flag("--isolate", q.isolate,
                "call functions of Python in processes of python3, where a crash is an error and "
                "every module can be imported, instead of interpreters within this one");
  app->add_option("--html", q.html, "write a report with charts to this file");
  app->add_option("--timeline", q.timeline, "write a Chrome/Perfetto timeline to this file");
  app->add_flag("--expanded", q.expanded, "timeline: every operation instead of whole blocks");
}

void add_emit(CLI::App* app, Question& q) {
  app->add_option("--emit", q.emit,
                  "print the plan as a launch file instead: megatron, torchtitan, deepspeed, nemo, "
                  "llm-foundry, megatron-bridge; as a specification: yaml; for --plan: plan");
}

// What describes a run.
void add_run(CLI::App* app, ForecastOptions& f) {
  app->add_option("--tokens", f.tokens, "of the run: 15.6T, 300B");
  app->add_option("--steps", f.steps, "of the run, in place of tokens");
  app->add_option("--failures", f.failures, "failure rates, of orrery catalog failures");
  app->add_option("--restart", f.restart, "restart times, of orrery catalog restarts");
  app->add_option("--checkpoint", f.checkpoint,
                  "interval=30min,mode=asynchronous,bandwidth=2TB/s,...; what is left out is "
                  "computed, the interval is then the best one");
  app->add_option("--spares", f.spares, "nodes that stand ready (default: always another)");
  app->add_option("--price", f.price, "of orrery catalog prices, or 2.95$/h (default: the median)");
}

void add_forecast(CLI::App* app, ForecastOptions& f) {
  add_question(app, f.question);
  app->get_option("model")->required(false);
  for (const char* file : {"--timeline", "--expanded"}) {
    app->remove_option(app->get_option(file));
  }
  add_run(app, f);
  app->add_option(
      "--loss", f.loss,
      "nats a token to reach, in place of --tokens; without a model: the sizes that do");
  app->add_option("--law", f.law,
                  "of orrery catalog scaling-laws (default: chinchilla-replicated)");
  app->add_option("--compute", f.compute, "without a model: the best size of so many FLOPs: 1e25");
  app->add_option("--within", f.within, "say how likely the run ends by then: 60days");
  app->add_option("--budget", f.budget, "say how likely the run costs no more: 10M$");
  app->add_option("--start", f.start, "date on which the run starts: 2026-12-01");
  app->add_option("--by", f.by, "say how likely the run ends before this date: 2027-03-01");
  app->add_option("--step-at", f.step_at,
                  "every step of the run takes: predicted, or the mean or p95 of its distribution "
                  "(default: predicted; with --slow, --spread or --variability: mean)");
  app->add_option("--runs", f.runs, "to simulate (default: 10000)");
  app->add_option("--seed", f.seed, "of the random numbers (default: 1)");
  app->add_option("--variability", f.variability,
                  "of the step's operations, of orrery catalog variability or a file of orrery "
                  "trace spreads (default: prism)");
  app->add_option("--spread", f.spread, "over it: products.spatial=0.03,...");
  app->add_option("--slow", f.slow, "a slow node: stage=3,time=1.3,nodes=1");
  app->add_option("--slow-node", f.slow_node,
                  "find the best stage for a node that takes so many times as long (default: 1.2)");
  app->add_option("--exceeds", f.exceeds, "say how likely a step takes longer: 7s");
  app->add_option("--samples", f.samples, "of a step (default: 10000)");
  CLI::Option* log = app->add_option(
      "--log", f.log,
      "a log of faults, JSON or CSV: its rates in place of --failures; without a model, the fit");
  app->add_option("--log-nodes", f.log_nodes,
                  "nodes of its cluster; without a model: those it names")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{10'000'000}))
      ->needs(log);
  app->add_option("--log-days", f.log_days, "that it covers (default: until its last event)")
      ->check(number_within(1, 36525))
      ->needs(log);
  app->footer(
      "Examples:\n"
      "  orrery forecast llama-3.1-405b --on h100-sxm:16384 --plan tp=8,pp=16,chunks=8 --seq 8192 "
      "--global-batch 2048 --tokens 15.6T --failures meta-rsc-1 --within 90days\n"
      "  orrery forecast llama-3.1-405b --on h100-sxm:16384 --plan tp=8,pp=16,chunks=8 --seq 8192 "
      "--global-batch 2048\n"
      "  orrery forecast --loss 1.9 --compute 1e25\n"
      "  orrery forecast --log faults.json --log-nodes 400");
}

void add_fleet(CLI::App* app, FleetOptions& f) {
  app->add_option("mix", f.subject,
                  "of orrery catalog job-mixes, or a specification in YAML (default: meta-rsc-1)");
  app->add_option("--jobs", f.jobs,
                  "a CSV list of jobs in place of drawn ones: submit,gpus,duration,priority,p95; "
                  "times in seconds");
  app->add_option("--nodes", f.nodes, "of the cluster; jobs grow with it");
  app->add_option("--gpus-per-node", f.gpus_per_node, "of the cluster");
  app->add_option("--days", f.days, "to simulate (default: 30; of a list, until all jobs end)");
  app->add_option("--scheduler", f.scheduler,
                  "fifo, priority, shortest, srtf or deadline (default: priority)");
  app->add_option("--estimates", f.estimates,
                  "what the scheduler knows of run times: mean or p95 (default: mean)");
  app->add_option("--failures", f.failures, "failure rates, of orrery catalog failures, or none");
  app->add_option("--restart", f.restart, "restart times, of orrery catalog restarts");
  app->add_option("--checkpoint", f.checkpoint, "work between two checkpoints: 30min");
  app->add_option("--seeds", f.seeds, "simulations (default: 5)");
  app->add_option("--seed", f.seed, "of the random numbers (default: 1)");
  app->add_flag("--compare", f.compare, "every scheduler, with mean and with p95 estimates");
  app->footer(
      "Examples:\n"
      "  orrery fleet meta-rsc-1\n"
      "  orrery fleet meta-rsc-2 --nodes 160 --compare\n"
      "  orrery fleet --jobs jobs.csv --nodes 64 --scheduler fifo");
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
  app->add_option(
         "--time-limit", s.time_limit,
         "auto, compare: stop after this many seconds, compare after the schedule it is at; "
         "auto takes at most 60 without it")
      ->check(number_within(0.001, 1e6));
  app->footer(
      "Examples:\n"
      "  orrery schedule list\n"
      "  orrery schedule interleaved_1f1b --stages 4 --microbatches 8 --chunks 2\n"
      "  orrery schedule 1f1b --stages 8 --microbatches 24 --times "
      "f=18.522ms,b=18.086ms,w=9.337ms,comm=0.601ms\n"
      "  orrery schedule compare --stages 8 --microbatches 32 --memory-limit 8");
}

void add_network(CLI::App* app, NetworkOptions& n) {
  app->add_option("cluster", n.cluster, "a name, or a file: as for estimate")->required();
  app->footer("Example:\n  orrery network meta-h100-24k-roce:2048");
}

void add_collective(CLI::App* app, CollectiveOptions& c) {
  app->add_option("collective", c.collective,
                  "all_reduce, all_gather, reduce_scatter, all_to_all, broadcast")
      ->required();
  app->add_option("--size", c.size, "the payload, as nccl-tests count it: 1GiB")->required();
  app->add_option("--on", c.cluster, "the cluster: h100-sxm:64, or as for estimate")->required();
  app->add_option("--ranks", c.ranks, "the first so many accelerators (default: all)")
      ->check(CLI::Range(std::int64_t{2}, std::int64_t{1'000'000}));
  app->add_option("--algorithm", c.algorithm, "only this one: ring, double_tree, ...");
  app->add_option("--program", c.program, "an algorithm file of MSCCL (XML) beside them");
  app->add_option("--streams", c.streams, "hashed paths of two GPUs")->check(CLI::Range(1U, 1024U));
  app->footer("Example:\n  orrery collective all_reduce --size 1GiB --on h100-sxm:64");
}

int run(int argc, char** argv) {
  CLI::App app{"Orrery predicts where every kernel, byte and second of a training run goes."};
  app.name("orrery");
  app.require_subcommand(1);
  app.fallthrough();
  app.set_version_flag("--version", version_text());
  Common common;
  app.add_flag("--json", common.json, "one JSON document on standard output");
  app.add_option("--threads", common.threads, "threads to use; the result does not depend on it")
      ->check(CLI::Range(1, 4096));
  app.add_option("--catalog", common.catalog,
                 "a directory of entries over those of the built-in catalog");
  std::string input_limit;
  app.add_option("--max-input", input_limit,
                 "memory that an input may take beyond 128 bytes for each byte of its file "
                 "(default: 1GiB)");
  app.add_flag("-q", common.quiet, "no progress, and no drawing of the pipeline");
  std::string shell;
  app.add_option("--completion", shell, "print the completion of a shell: bash, zsh, fish");
  std::string manual;
  app.add_option("--manual", manual, "write manual pages into this folder");
  OutputChoice output;
  app.add_option("--color", output.colour, "colour text: auto (on a terminal), always, never")
      ->check(CLI::IsMember({"auto", "always", "never"}));

  EstimateOptions estimate;
  CLI::App* estimate_app = app.add_subcommand("estimate", "predict one training step");
  add_question(estimate_app, estimate.question);
  add_emit(estimate_app, estimate.question);
  estimate_app->add_flag("--explain", estimate.explain, "show the derivation of every figure");
  estimate_app->add_flag("--sensitivity", estimate.sensitivity,
                         "what 10 % more of each resource would gain");
  estimate_app->add_flag("--traffic", estimate.traffic,
                         "how much each mesh axis sends over each level of the network");
  estimate_app
      ->add_option("--network", estimate.network,
                   "closed-form (the default), or flows: also simulate communications as flows")
      ->check(CLI::IsMember({"closed-form", "flows"}));
  const char* numerics_help =
      "what the plan changes against bf16, and the step time and deviation of every format";
  estimate_app->add_flag("--numerics", estimate.numerics, numerics_help);
  CLI::Option* chakra =
      estimate_app->add_option("--chakra", estimate.chakra,
                               "write the step as Chakra traces into this folder, one .et a rank");
  estimate_app
      ->add_option("--chakra-ranks", estimate.chakra_ranks, "of which ranks: 0-7,16 (default: all)")
      ->needs(chakra);
  estimate_app->add_option("--graph", estimate.graph,
                           "write the step's graph, *.graph.json or *.graph.json.gz");
  estimate_app->add_option("--by", estimate.by, "operator: the time of each operator")
      ->check(CLI::IsMember({"operator"}));
  add_healthy_run(estimate_app, estimate.tokens, estimate.price);
  estimate_app->footer(
      "Example:\n  orrery estimate llama-3.1-405b --on h100-sxm:16384 --seq 8192 --global-batch "
      "2048 "
      "--plan tp=8,pp=16,chunks=8");

  SearchCommandOptions search;
  CLI::App* search_app = app.add_subcommand("search", "find the best plan");
  add_question(search_app, search.question);
  add_emit(search_app, search.question);
  search_app
      ->add_option("--top", search.top,
                   "plans to show (default: 10; of a run 3, or the best one of each size)")
      ->check(CLI::Range(1, 1000));
  search_app
      ->add_option("--schedules", search.schedules,
                   "pipeline schedules to choose among, 'a,b,c' or 'all' (default: those with a "
                   "maintained implementation)")
      ->delimiter(',');
  search_app->add_flag(
      "--all-axes", search.all_axes,
      "also vary, on the best plans, what a search does not try by default: overlap, HSDP groups, "
      "single recomputed modules, every schedule and more");
  search_app
      ->add_option("--axis", search.axes,
                   "also search this field of the plan, with its usual values or those given: "
                   "gradient_code, local_steps=1,100, overlap.tensor_parallel; given twice, every "
                   "combination")
      ->allow_extra_args(false);
  CLI::Option* sites = search_app->add_flag(
      "--sites", search.sites,
      "of several sites: every order of the mesh axes, which axis crosses between the sites, "
      "against a plan made for one site and against choosing one thing alone");
  search_app
      ->add_option(
          "--vary", search.varied,
          "with --sites: also over other links between the sites, "
          "latency=10us,1ms,10ms or oversubscription=1..16*2; given twice, every combination")
      ->allow_extra_args(false)
      ->needs(sites);
  search_app
      ->add_option("--time-limit", search.time_limit,
                   "stop after this many seconds and print the best plans so far")
      ->check(number_within(0.001, 1e6));
  search_app->add_flag("--numerics", search.numerics, numerics_help);
  search_app->add_option("--objective", search.objective,
                         "what is best: step-time (the default), or of a whole run with its "
                         "failures: goodput, time-to-train, cost");
  search_app->add_option("--python", search.question.python,
                         "a file of Python that defines objective(step), which is minimised in "
                         "place of the step time, or constraint(step), or both; step has the keys "
                         "of estimate --json");
  search_app
      ->add_option("--gpus", search.gpus,
                   "sizes of the run to choose among: 1024,2048 (default: the whole cluster)")
      ->delimiter(',');
  add_run(search_app, search.run);
  search_app->footer(
      "Fields that --plan or the specification states are kept, all others are searched.\n"
      "Example:\n  orrery search llama-3.1-8b --on h100-sxm:64 --seq 8192 --global-batch 128");

  CompareOptions compare;
  CLI::App* compare_app = app.add_subcommand(
      "compare", "models, clusters, plans and batches side by side: every combination");
  add_compare(compare_app, compare);

  ForecastOptions forecast;
  CLI::App* forecast_app =
      app.add_subcommand("forecast", "a whole training run: days, failures, cost, and how likely");
  add_forecast(forecast_app, forecast);

  ImportOptions import;
  CLI::App* import_app =
      app.add_subcommand("import", "launch files of a training framework as a specification");
  add_import(import_app, import);

  CheckOptions check;
  CLI::App* check_app =
      app.add_subcommand("check", "results of nccl-tests: is this network what it should be?");
  check_app->add_option("file", check.file, "what nccl-tests or rccl-tests printed, or -")
      ->required();
  check_app->add_option("--on", check.cluster, "the cluster: h100-sxm:16, or as for estimate")
      ->required();
  check_app->add_option("--collective", check.collective,
                        "where the file does not say it: all_reduce, all_gather, ...");
  check_app->footer("Example:\n  orrery check all-reduce.txt --on h100-sxm:32");
  NetworkOptions network;
  CLI::App* network_app =
      app.add_subcommand("network", "the network of a cluster as a graph: links, bisection, paths");
  add_network(network_app, network);
  CollectiveOptions one_collective;
  CLI::App* collective_app = app.add_subcommand(
      "collective", "a collective by every algorithm: closed form and simulated flows");
  add_collective(collective_app, one_collective);
  ClusterOptions shared;
  CLI::App* cluster_app =
      app.add_subcommand("cluster", "several jobs on one fabric: how they slow each other down");
  cluster_app->add_option("jobs", shared.jobs, "a YAML file with the fabric and its jobs, or -")
      ->required();
  cluster_app->footer("Example:\n  orrery cluster examples/three-jobs.yaml");
  FleetOptions fleet;
  CLI::App* fleet_app =
      app.add_subcommand("fleet", "a shared cluster: many jobs, a scheduler, failures");
  add_fleet(fleet_app, fleet);

  CatalogOptions catalog;
  CLI::App* catalog_app = app.add_subcommand("catalog", "list and show what Orrery knows");
  catalog_app->add_option(
      "kind", catalog.kind,
      "models, accelerators, nodes, fabrics, clusters, links, prices, failures, ...");
  catalog_app->add_option("name", catalog.name,
                          "one entry; of models also a Hugging Face config.json");
  catalog_app->footer(
      "Examples:\n  orrery catalog accelerators h100-sxm\n  orrery catalog models ./config.json");

  ScheduleCommandOptions schedule;
  CLI::App* schedule_app =
      app.add_subcommand("schedule", "work out, draw, compare and synthesise pipeline schedules");
  add_schedule(schedule_app, schedule);

  GenerateOptions generate;
  CLI::App* generate_app =
      app.add_subcommand("generate", "predict how long an image or a video takes");
  add_question(generate_app, generate.question);
  add_generate(generate_app, generate);

  ValidateOptions validate;
  CLI::App* validate_app = app.add_subcommand("validate", "predictions against measured runs");
  validate_app->add_option("files", validate.files, "CSV files, or - for standard input");
  validate_app->add_option("--figures", validate.figures, "write the published figures as CSV");
  validate_app->add_option("--markdown", validate.markdown, "write the error tables to this file");
  validate_app->add_option("--strategies", validate.strategies,
                           "write what papers claim of strategies beside predictions to this file");
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
  const NumericsCommand numerics = add_numerics(app);

  TablesOptions tables;
  CLI::App* tables_app = app.add_subcommand(
      "tables", "where the embedding tables of a recommendation model lie, and why");
  add_tables(tables_app, tables);

  // These two need no command.
  const auto wants = [&](std::string_view option) {
    return std::any_of(argv + 1, argv + argc, [&](std::string_view word) {
      return word == option || word.starts_with(std::string(option) + "=");
    });
  };
  if (wants("--completion") || wants("--manual")) app.require_subcommand(0);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    const std::span<char*> words(argv, static_cast<std::size_t>(argc));
    const bool answers = e.get_exit_code() == 0;  // --help, --version
    if (answers && all_commands_known(app, words)) return app.exit(e);
    const auto is_json = [](const char* word) { return std::string_view(word) == "--json"; };
    choose_output({.json = std::ranges::any_of(words, is_json)});
    return refuse(parse_error(app, e, words));
  }
  output.json = common.json;
  choose_output(output);
  usual_threads() = common.threads;
  const Result<int> ended = [&]() -> Result<int> {
    if (!input_limit.empty()) {
      ORRERY_TRY(const Bytes bytes, at("--max-input", parse_bytes(input_limit)));
      if (bytes.value() < 1 || bytes.value() > 1e15) {
        return bad_input("'" + input_limit + "' is not between 1B and 1PB", "--max-input");
      }
      input_memory() = static_cast<std::uint64_t>(bytes.value());
    }
    if (!shell.empty()) {
      ORRERY_TRY(const std::string script, completion_script(app, shell));
      return print(script);
    }
    if (!manual.empty()) {
      ORRERY_RETURN_IF_ERROR(write_manual_pages(app, manual));
      return ExitCode::done;
    }
    if (estimate_app->parsed()) return estimate_command(estimate, common);
    if (generate_app->parsed()) return generate_command(generate, common);
    if (search_app->parsed()) return search_command(search, common);
    if (compare_app->parsed()) return compare_command(compare, common);
    if (forecast_app->parsed()) return forecast_command(forecast, common);
    if (network_app->parsed()) return network_command(network, common);
    if (collective_app->parsed()) return collective_command(one_collective, common);
    if (cluster_app->parsed()) return cluster_command(shared, common);
    if (fleet_app->parsed()) return fleet_command(fleet, common);
    if (schedule_app->parsed()) return schedule_command(schedule, common);
    if (import_app->parsed()) return import_command(import, common);
    if (tables_app->parsed()) return tables_command(tables, common);
    if (check_app->parsed()) return check_command(check, common);
    if (catalog_app->parsed()) return catalog_command(catalog, common);
    if (calibrate_app->parsed()) return calibrate_command(calibrate, common);
    if (trace.app->parsed()) return trace.run(common);
    if (numerics.app->parsed()) return numerics.run(common);
    return validate_command(validate, common);
  }();
  return ended ? *ended : refuse(ended.error());
}

}  // namespace
}  // namespace orrery::cli

int main(int argc, char** argv) {
  using orrery::ErrorCode;
  using orrery::cli::ExitCode;
  orrery::cli::remove_unfinished_files_on_signals();
  const auto fail = [](const char* message, const char* hint, ExitCode code) {
    try {
      return orrery::cli::refuse({ErrorCode::io, message, "", hint}, code);
    } catch (const std::bad_alloc&) {  // not even for the message
      std::fprintf(stderr, "orrery: %s\n", message);
      return static_cast<int>(code);
    }
  };
  try {
    return orrery::cli::run(argc, argv);
  } catch (const std::bad_alloc&) {
    return fail("out of memory", "the machine, or a limit such as ulimit -v, refuses more",
                ExitCode::no_resources);
  } catch (const std::filesystem::filesystem_error& e) {
    return fail(e.what(), "", ExitCode::refused);
  } catch (const std::system_error& e) {
    return fail(e.what(), "the machine, or a limit such as ulimit -u, refuses it",
                ExitCode::no_resources);
  } catch (const std::exception& e) {
    return fail(e.what(), "this is a bug of ours, please report it", ExitCode::bug);
  }
}
