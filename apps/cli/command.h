// What every subcommand shares: how it was called, and how it ends.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "measured/run_convention.h"
#include "outcome/result.h"
#include "report/drawing/text_style.h"

namespace orrery::cli {

enum ExitCode : int { done = 0, negative = 1, refused = 2, bug = 70, no_resources = 71 };

struct Common {
  bool json = false;
  int threads = 0;
  bool quiet = false;   // no progress, no drawing of the pipeline
  std::string catalog;  // a directory whose entries lie over the built-in ones
};

// What `estimate` and `search` have in common.
struct Question {
  std::string model;
  std::string cluster;
  std::string plan;
  std::string sequence_length;  // "8192", "8k"; empty: the model's
  std::string global_batch;     // "2048" sequences, "4M" tokens
  std::string workload;
  std::string precision;
  std::string software;               // a profile of the catalog
  std::int64_t adapter_rank = 0;      // of low-rank adapters; 0: everything is trained
  std::string adapt;                  // which products they adapt
  std::vector<std::string> settings;  // "network=2x"
  std::string kernels;                // a file of Python with kernel_time; empty: none
  std::string python;                 // one with objective or constraint, for a search
  bool isolate = false;               // their functions in processes
  std::string emit;                   // a format; the plan is printed in it instead of the report
  std::string html;
  std::string timeline;
  bool expanded = false;
  std::string resolution;   // of images, "1280x720"; empty: the model's
  std::int64_t frames = 0;  // of a video; 0: the model's
};

struct GenerateOptions {
  Question question;
  std::int64_t images = 1;
  std::int64_t steps = 0;             // 0: the model's
  std::string guidance;               // "on", "off"; empty: the model's
  double evaluated = 1;               // share of the steps that a cache leaves
  std::int64_t decoder_ranks = 1;     // that decode a strip each
  std::int64_t displaced_after = -1;  // steps that are not displaced; -1: all
  std::vector<std::string> measured;  // CSV files, in place of a model
};

struct EstimateOptions {
  Question question;
  bool explain = false;
  bool sensitivity = false;  // what more of each resource would gain
  bool traffic = false;      // what each mesh axis sends over each level
  std::string network;       // "flows": communications as flows; empty: closed forms alone
  bool numerics = false;     // what the plan changes against bf16
  std::string by;            // "operator": shares of operators
  std::string chakra;        // a folder for one .et a rank
  std::string chakra_ranks;  // "0-7,16"; empty: all
  std::string graph;         // a file; empty: none
  std::string tokens;        // of a run; empty: the step alone
  std::string price;
};

// Every list is an axis: each of its texts is a list of values and ranges (document/value_list.h).
struct CompareOptions {
  std::vector<std::string> models;
  std::vector<std::string> clusters;
  std::vector<std::string> plans;
  std::vector<std::string> sequence_lengths;
  std::vector<std::string> global_batches;
  std::vector<std::string> workloads;
  std::vector<std::string> precisions;
  std::vector<std::string> software;
  std::vector<std::string> settings;  // each an axis of its own
  std::string tokens;
  std::string price;
  std::string csv;
  std::string html;
};

struct ForecastOptions {
  Question question;  // without a model: the log alone
  // Empty: what the specification says.
  std::string tokens;
  std::string steps;
  std::string failures;
  std::string restart;
  std::string checkpoint;  // "interval=30min,mode=asynchronous,bandwidth=2TB/s"
  std::string spares;
  std::string within;
  std::string budget;
  std::string loss;
  std::string law;
  std::string compute;
  std::string start;  // dates
  std::string by;
  std::string step_at;
  std::string price;
  std::string runs;
  std::string seed;
  std::string variability;
  std::string spread;     // "products.spatial=0.03,communication.correlation=0"
  std::string slow;       // "stage=3,time=1.3"
  std::string slow_node;  // time of the node whose best stage is looked for
  std::string exceeds;
  std::string samples;
  std::string log;             // of faults, in place of `failures`
  std::int64_t log_nodes = 0;  // of its cluster; 0: those that it names
  double log_days = 0;         // 0: until its last event
};

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
  ForecastOptions run;              // those of its options that describe the run
};

struct CheckOptions {
  std::string file;
  std::string cluster;
  std::string collective;  // where the file does not say it
};

// Where embedding tables lie.
struct TablesOptions {
  Question question;
  std::string similarities;  // of features, a CSV file; empty: none
  std::int64_t towers = 0;
  std::string strategy;  // empty: coherent
};

struct NetworkOptions {
  std::string cluster;
};

struct CollectiveOptions {
  std::string collective;
  std::string size;
  std::string cluster;
  std::int64_t ranks = 0;  // 0: all
  std::string algorithm;   // empty: every one
  std::string program;     // a file of MSCCL; empty: none
  std::uint32_t streams = 1;
};

struct ClusterOptions {
  std::string jobs;  // a file
};

struct ImportOptions {
  std::vector<std::string> files;
  std::string framework;  // of orrery catalog launch; empty: recognised
  std::string cluster;
  std::string model;
  std::string yaml;  // a file for the specification; empty: none
};

struct FleetOptions {
  std::string subject;  // a mix of the catalog or a specification; empty: the usual mix
  // Empty: what the specification says.
  std::string jobs;
  std::string nodes;
  std::string gpus_per_node;
  std::string days;
  std::string scheduler;
  std::string estimates;
  std::string failures;
  std::string restart;
  std::string checkpoint;
  std::string seeds;
  std::string seed;
  bool compare = false;
};

struct CatalogOptions {
  std::string kind;
  std::string name;
};

struct ScheduleCommandOptions {
  std::string name;  // of a schedule, or: list, compare, auto
  int stages = 0;
  int microbatches = 0;
  int chunks = 0;  // 0: the schedule's own number
  int group = 0;
  std::string times;
  std::string memory_limit;
  bool blocking = false;
  std::string svg;
  std::string png;
  std::string perfetto;
  int width = 0;          // of the terminal drawing; 0: the terminal's
  double time_limit = 0;  // seconds; 0: 60 of auto, none of compare
};

struct ValidateOptions {
  std::vector<std::string> files;
  std::string markdown;
  std::string figures;
  std::string strategies;                // the page about them that is written
  std::string as_spec;                   // row whose specification is printed instead
  std::string software{kUsualSoftware};  // of rows whose source and framework are unknown
  bool all_rows = false;
};

struct CalibrateOptions {
  std::vector<std::string> files;
  std::string accelerator;
  std::string out;
  std::string markdown;
  std::string date;
  bool cross_validate = false;
};

// Each gives the exit code.
Result<int> estimate_command(const EstimateOptions& options, const Common& common);
Result<int> generate_command(const GenerateOptions& options, const Common& common);
Result<int> search_command(const SearchCommandOptions& options, const Common& common);
Result<int> compare_command(const CompareOptions& options, const Common& common);
Result<int> forecast_command(const ForecastOptions& options, const Common& common);
Result<int> import_command(const ImportOptions& options, const Common& common);
Result<int> check_command(const CheckOptions& options, const Common& common);
Result<int> network_command(const NetworkOptions& options, const Common& common);
Result<int> collective_command(const CollectiveOptions& options, const Common& common);
Result<int> cluster_command(const ClusterOptions& options, const Common& common);
Result<int> fleet_command(const FleetOptions& options, const Common& common);
Result<int> tables_command(const TablesOptions& options, const Common& common);
Result<int> catalog_command(const CatalogOptions& options, const Common& common);
Result<int> schedule_command(const ScheduleCommandOptions& options, const Common& common);
Result<int> validate_command(const ValidateOptions& options, const Common& common);
Result<int> calibrate_command(const CalibrateOptions& options, const Common& common);

// How answers are written; what the command line says of it.
struct OutputChoice {
  bool json = false;
  std::string colour = "auto";  // always, never; auto: on a terminal
};
void choose_output(OutputChoice choice);

// To standard error, as "orrery: text".
void say(const std::string& text);
// Says "where: message (hint)" and gives the exit code; with --json, standard output gets the error
// as a document as well.
int refuse(const Error& error, ExitCode code = ExitCode::refused);
// To standard output, checked: a full disk is an error. Where the locale's characters are not UTF-8
// (LC_ALL, LC_CTYPE or LANG names another set), text is drawn with ASCII; JSON stays as it is.
int print(const std::string& text);

// Width and colour of standard output, from --color, COLUMNS, the terminal, NO_COLOR and
// CLICOLOR_FORCE. What is no terminal and has no COLUMNS cuts nothing.
TextStyle text_style();

// The built-in catalog below the entries of --catalog, $ORRERY_CATALOG (empty: none) or
// ~/.config/orrery/catalog ($XDG_CONFIG_HOME in place of ~/.config), of the first that there is.
Result<Catalog> open_catalog(const Common& common);

}  // namespace orrery::cli
