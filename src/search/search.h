// The best plans of a joint space, and why they win.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "estimate/estimate.h"

namespace orrery {

// Axes of the space. An empty list means: every value that can be valid for this model and cluster.
struct SearchSpace {
  std::vector<std::int64_t> tp, cp, pp, ep, chunks, micro_batch, zero;
  std::vector<Recompute> recompute;
  std::vector<std::string> schedules;
  std::vector<std::vector<MeshAxis>> placements;
};

struct SearchOptions {
  int top = 10;
  int threads = 0;  // 0: all cores; the result does not depend on it
  std::function<void(double fraction, const std::string& best)> progress;  // may be empty
  const std::atomic<bool>* interrupted = nullptr;  // best so far when it turns true
};

// Why the winner has the value it has on one axis.
struct RunnerUp {
  std::string axis;     // "tp"
  std::string winner;   // "8"
  Estimate best_other;  // the best plan with another value on this axis
  std::string other;    // its value
};

struct NearMiss {  // a faster-looking plan that does not fit
  Plan plan;
  Seconds bound;       // no faster than this
  ByteCount peak_memory = 0;
  ByteCount shortfall = 0;
  int stage = 0;
};

struct SearchResult {
  std::vector<Estimate> plans;   // best first
  std::vector<Estimate> pareto;  // step time against peak memory, fastest first
  std::vector<RunnerUp> runners_up;
  std::vector<NearMiss> near_misses;
  std::int64_t considered = 0;   // shape-valid plans whose memory or bound was computed
  std::int64_t too_large = 0;    // of these: rejected because they do not fit
  std::int64_t bounded = 0;      // of these: rejected by the lower bound
  std::int64_t evaluated = 0;    // of these: simulated
  bool interrupted = false;
  // When nothing fits: the plan that needs least, and by how much it is too large.
  std::vector<NearMiss> least_memory;
};

// `scenario.plan` gives the values of everything the space does not range over.
Result<SearchResult> search(const Scenario& scenario, const SearchSpace& space,
                            const SearchOptions& options, const Catalog& catalog);

}  // namespace orrery
