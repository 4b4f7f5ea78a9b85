// What travels between the ranks that an edit adds, and over which network.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "catalog/catalog.h"
#include "cluster/cluster.h"
#include "cost/collective/collective_parameters.h"
#include "outcome/result.h"
#include "units/quantity.h"
#include "whatif/edited_run.h"
#include "whatif/training_passes.h"

namespace orrery {

// The recorded accelerator's usual cluster, for groups of ranks that are as far apart as the
// recorded run has ranks; empty levels where the edit says its own link.
struct RecordedNetwork {
  std::string name;  // of the slowest level, and of the accelerator
  std::int64_t apart = 1;
  Cluster cluster;
  CollectiveParameters parameters;

  [[nodiscard]] Seconds send(Bytes volume, std::int64_t ranks) const;
  [[nodiscard]] Seconds all_reduce(Bytes volume, std::int64_t ranks) const;
};
// Errors: an accelerator that is not named or not known, and no link said.
Result<RecordedNetwork> recorded_network(const EditedRun& run, const Edit& edit,
                                         const Catalog& catalog, std::int64_t ranks);

struct StageLink {
  Bytes volume;
  Seconds time;
  std::string assumed;  // a sentence
};

// Of the edit what it says, else from the recording and the catalog (pipeline_edit.cc).
// Errors: what is sent, or over which link, is neither said nor known.
Result<StageLink> stage_link(const EditedRun& run, const TrainingPasses& passes, const Edit& edit,
                             const Catalog& catalog);

// Of every rank the stream most of its kernels run on; kNoLane.
std::vector<std::uint32_t> main_streams(const EditedRun& run);

// The first type of a list as recorded: "c10::BFloat16" of ["c10::BFloat16", ""].
std::string_view first_type(std::string_view types);
// Bytes of an element of that type; 2 where it is not known.
Bytes element_of(std::string_view types);

}  // namespace orrery
