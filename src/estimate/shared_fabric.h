// Several training jobs on one fabric: how much each is slowed down by its neighbours, and which two
// slow each other most.
//
//   fabric: meta-h100-24k-roce:1024
//   jobs:
//     - {name: a, model: llama-3.1-8b, plan: {tp: 2}, accelerators: 256}
//     - {name: b, model: llama-3.1-8b, plan: {tp: 2}, accelerators: 256, first: 256, every: 2}
//
// A job is a specification (estimate/spec.h) without a cluster, and where it lies: its nodes are
// every `every`-th one from accelerator `first` on, in one site or several. Its step is predicted on
// its part of the fabric (part_of, cluster/cluster.h), so that where sites differ each has its own
// prices; its communications are then flows between the accelerators it has (fabric_simulation.h).
// All jobs repeat their steps from the same moment until every one has done kSharedSteps.
//
//   slow-down = mean time of its steps beside the others / the same alone
//
// Left out: what a scheduler would do about it, jobs that come and go, storage traffic.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "catalog/catalog.h"
#include "document/fields.h"
#include "estimate/fabric_simulation.h"
#include "estimate/spec.h"

namespace orrery {

inline constexpr int kSharedSteps = 5;
inline constexpr std::size_t kMostSharedJobs = 16;

struct JobPlacement {
  std::string name;
  std::int64_t accelerators = 0;
  std::int64_t first = 0;  // accelerator
  std::int64_t every = 1;  // node
};
Fields<JobPlacement> fields_of(const JobPlacement*);

struct DescribedJob {
  JobPlacement placement;
  std::vector<std::uint32_t> accelerators;  // of every rank
  Spec spec;
};

struct DescribedJobs {
  Cluster fabric;
  std::vector<DescribedJob> jobs;
};

// Errors: fields that are missing, unknown or of the wrong type; jobs that are none or too many, have
// one name, do not fit the fabric or lie on the same accelerators; those of a specification.
Result<DescribedJobs> read_jobs(const Document& document, const Catalog& catalog);

struct SharedJob {
  JobPlacement placement;
  std::string model;
  Seconds closed;                    // a step by closed forms, on its part of the fabric
  Seconds alone;                     // by flows, on its accelerators
  Seconds shared;                    // beside all others
  std::vector<std::string> assumed;  // by its step, where no plan was stated
  [[nodiscard]] double slow_down() const { return shared / alone; }
};

struct JobPair {
  std::string a, b;
  double slow_a = 1, slow_b = 1;  // each beside the other alone
  std::string level;              // that they share most
};

struct SharedFabric {
  std::string fabric;
  std::vector<SharedJob> jobs;
  std::vector<JobPair> pairs;  // those that slow each other most first
};

// `steps`: of each job, as it was predicted. Errors: those of network_of.
Result<SharedFabric> share_fabric(const DescribedJobs& described,
                                  std::span<const PredictedStep> steps, const Catalog& catalog);

}  // namespace orrery
