// From the launch files of a training framework to a specification, and back.
//
// Import accounts for every flag: it is used, irrelevant to time and memory, or not understood. What
// the files leave unsaid is the framework's default where its table knows it, and said otherwise.
// Emission writes what the table can express, imports that again, and lists every field of plan and
// training that did not come back the same: so nothing is lost unsaid, in either direction.
//
// Left out: data, checkpoints, learning rates, evaluation; what a framework computes from its
// environment.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "catalog/catalog.h"
#include "estimate/scenario.h"
#include "launch/launch_files.h"
#include "plan/plan.h"

namespace orrery {

enum class FlagUse { used, irrelevant, not_understood };

struct AccountedFlag {
  LaunchFlag flag;
  FlagUse use = FlagUse::not_understood;
  std::string what;  // the fields that it sets, or why it sets none
};

struct LaunchQuestion {
  std::vector<LaunchFile> files;
  std::string framework;  // of catalog launch; empty: the one that knows most flags
  std::string cluster;    // "h100-sxm:64", or "h100-sxm" where the files state the number of GPUs
  std::string model;      // of the catalog, or a path, in place of what the files say
};

struct ImportedLaunch {
  std::string framework;
  std::string title;
  std::string software;
  std::string model;  // its name
  std::vector<AccountedFlag> flags;
  std::vector<std::string> unsaid;  // what the files do not say, in sentences
  Plan plan;
  Training training;
  Value specification;  // for orrery estimate; without a cluster if none is known
};

// Errors: no table knows a flag; a model or vocabulary that is not said; a value that the field does
// not take; a cluster that cannot be read.
Result<ImportedLaunch> import_launch(const LaunchQuestion& question, const Catalog& catalog);

struct EmittedLaunch {
  LaunchFlags flags;
  std::string text;
  std::vector<std::string> not_expressed;  // "plan.placement = tp cp pp dp"
  std::vector<std::string> to_add;         // what the file needs and Orrery does not know
};

// The frameworks of catalog launch, and their other names.
std::vector<std::string> framework_names(const Catalog& catalog);

// `scenario` holds a completed plan. `framework`: of catalog launch. Errors: an unknown framework; an
// accelerator whose usual software is another; a schedule that its software does not have; a
// refusal of its table; degrees, layers, schedule or recomputation that its files do not express.
Result<EmittedLaunch> emitted_launch(const Scenario& scenario, std::string_view framework,
                                     const Catalog& catalog);

// The plan with what has no effect at its default: sequence parallelism of one rank, overlap of
// transfers that do not exist, and so on.
Plan without_idle_fields(Plan plan);

}  // namespace orrery
