// What a person asks, read: a model by name or file, a cluster, a specification file.
//
//   model: llama-3.1-405b            # catalog name | a Hugging Face config.json | inline fields
//   cluster: {name: meta-h100-24k-roce, gpus: 16384}   # or "h100-sxm:16384"
//   image: {height: 720, width: 1280, frames: 129}   # of an image model
//   software: megatron-core-0.12     # a profile of the catalog, or its fields; has a default
//   workload: training              # or another of model/workload.h; training is the default
//   training: {sequence_length: 8192, global_batch: 2048, precision: bf16}
//   plan:                            # anything left out has a default, or is searched
//     tp: 8
//     pp: {degree: 16, schedule: interleaved_1f1b, chunks: 8}
//     dp: {sharding: zero-2}
//
// `plan` may also be the text form, "tp=8,pp=16,chunks=8".
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "estimate/scenario.h"

namespace orrery {

// A catalog name, or the path ("-": standard input) of a Hugging Face config.json or of our own
// YAML. Errors: unknown name (nearest named), unreadable or invalid file.
Result<Model> load_model(const std::string& name_or_path, const Catalog& catalog);

// A model's own YAML, which may have a `base` in the catalog, or a Hugging Face config.json.
Result<Model> read_based_model(Document document, const Catalog& catalog);

struct Spec {
  Scenario scenario;
  // Plan fields the specification states ("tp", "schedule"): a search keeps these.
  std::vector<std::string> stated;
  // The section of that name, which forecast/run_question.h reads; null if there is none.
  Value forecast;
};

// True for a document that has a `model` field of its own: a specification, not a model.
bool is_spec(const Document& document);

// `cluster` replaces the one of the document if not empty. Errors: unknown or missing fields, with
// file and line.
Result<Spec> read_spec(const Document& document, std::string_view cluster, const Catalog& catalog);

// The specification that read_spec() reads as this scenario: everything is in it, apart from a
// profile that the catalog has.
Value specification(const Scenario& scenario, const Catalog& catalog);

// States a plan over the one that the specification has: its fields, nested or not, or its text
// form ("tp=8,pp=16"). `name` is what the document is called in messages.
Result<void> state_plan(Spec& spec, const Value& plan, const std::string& name);

// What stands between a specification that was read and a prediction: the software that is usual on
// the accelerator, if none is stated; changed settings (estimate/setting.h), in order; what
// the software decides of the plan. Errors: those of settings.
Result<void> complete(Spec& spec, std::span<const std::string> settings, const Catalog& catalog);

// Makes a profile that of the scenario, as stated. A framework whose transfers between stages block
// sets the plan's, unless the specification states its overlap.
void choose_software(Spec& spec, SoftwareProfile software);

// Gives a plan that states no ZeRO stage or no attention kernel that of the software.
void complete_by_software(Spec& spec);

}  // namespace orrery
