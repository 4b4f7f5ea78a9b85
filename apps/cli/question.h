// From what was typed to a specification (estimate/spec.h) of what is predicted, and to the run
// that is made of its step.
#pragma once

#include <optional>
#include <string>

#include "command.h"
#include "estimate/predicted_step.h"
#include "estimate/spec.h"
#include "field_options.h"
#include "forecast/run_costs.h"
#include "forecast/run_question.h"
#include "python/user_functions.h"

namespace orrery::cli {

// What is predicted: what `estimate`, `search`, `forecast` and `generate` have in common.
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

void add_question(CLI::App* app, Question& question);

// Where functions of Python are called.
inline Interpreters interpreters(const Question& q) {
  return q.isolate ? Interpreters::in_processes : Interpreters::in_threads;
}

Result<Spec> ask(const Question& question, const Catalog& catalog);

// The options of a run that `forecast` and `search` share, and what they and the section `forecast`
// of a specification ask; options that a command lacks are taken as not given.
void add_run(CLI::App* app, FieldOptions& options);
Result<RunQuestion> run_question(const FieldOptions& options, const Value& section);
// --tokens and --price: the run of so many tokens made of the estimated step if nothing fails;
// nothing where no tokens are given. Prices and powers are those of the section `forecast`, or
// --price.
void add_healthy_run(CLI::App* app, FieldOptions& options);
Result<std::optional<HealthyRun>> run_of(const FieldOptions& options, const Spec& spec,
                                         const Estimate& estimate, const Catalog& catalog);

}  // namespace orrery::cli
