// What crosses between sites: the best plan for each mesh axis that may lie across them, what
// choosing everything together gains over choosing one thing, and what the link has to carry.
//
// Sites are the units below the outermost fabric level: buildings, regions, or pods of one fabric.
// After ScaleAcross Explorer (arXiv 2605.24326), which chooses placement, schedule, microbatch,
// chunks and network together. Its baselines are not published in detail; here
//
//   production   the best plan for the same accelerators in one site, with the axes in Llama 3's
//                order tp, cp, pp, dp and its schedule 1F1B, interleaved or not (arXiv 2407.21783,
//                section 3.3.2), run across the sites
//   one axis     that plan with one thing chosen for the sites, everything else kept
//   together     the values that each axis alone prefers, combined; absent where they are no plan
//   best         everything chosen jointly
//
// Two definitions of speed-up are given: T_old / T_new - 1 and 1 - T_new / T_old.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "search/search.h"

namespace orrery {

// A plan, and the bytes of one step that leave a site, of one accelerator on average.
struct PlanAcrossSites {
  std::string name;  // "schedule": the axis that was chosen, or lies outermost
  Estimate estimate;
  Bytes across;
};

// The best plan where the link is changed.
struct LinkChange {
  std::string change;  // "half the bandwidth"
  Seconds step_time;
};

// What a sender must keep under way to fill its part of the link: bytes = rate * round trip.
struct LinkNeeds {
  Seconds round_trip;
  BytesPerSecond rate;  // of one accelerator of the best plan while it crosses
  Bytes in_flight;
};

// A field of the outermost level (latency, bandwidth, oversubscription, ...) and the values that it
// takes, as in a cluster file.
struct LinkVariation {
  std::string field;
  std::vector<std::string> values;
};
inline constexpr std::size_t kMostVariedLinks = 400;

// The scenario over each combination of links, the last variation varying fastest. Errors: a field
// or value that the outermost level does not have or allow, a field that is varied twice, more than
// kMostVariedLinks.
Result<std::vector<Scenario>> varied_scenarios(const Scenario& scenario,
                                               const std::vector<LinkVariation>& variations);

// The search across sites again, over another link.
struct VariedLink {
  std::vector<std::string> values;  // one for each variation
  Seconds production;
  Seconds best_alone;  // the best single choice
  Seconds best;
};

struct AcrossSites {
  std::string level;       // the name of the outermost level
  bool cut_short = false;  // by a limit of time: better plans may have been missed
  std::int64_t sites = 1;
  PlanAcrossSites production;
  Seconds production_in_one_site;
  std::vector<PlanAcrossSites> one_axis;  // of the production plan, the fastest first
  std::optional<PlanAcrossSites> together;
  std::vector<PlanAcrossSites> outermost;  // the best plan for each axis, the fastest first
  PlanAcrossSites best;
  std::vector<LinkChange> changes;
  LinkNeeds needs;
  std::vector<LinkVariation> variations;
  std::vector<VariedLink> varied;  // their combinations; fewer if the search was stopped
};

// The orders of the mesh axes that a search across sites tries: tensor parallelism innermost, the
// others in any order.
std::vector<std::vector<MeshAxis>> placements_across_sites();

// `found`: what search() found in that space, at least one plan. A limit of time is divided among the
// searches that this takes; nothing if it, or an interruption, leaves no plan to compare with. Errors: a cluster of one level; no
// plan with the production schedules fits; those of varied_scenarios().
Result<std::optional<AcrossSites>> search_across_sites(const Scenario& scenario,
                                                       const SearchSpace& space,
                                                       const SearchResult& found,
                                                       const SearchOptions& options,
                                                       const Catalog& catalog,
                                                       std::vector<LinkVariation> variations = {});

// Shares of time: T_old / T_new - 1, and 1 - T_new / T_old.
struct SpeedUp {
  double over_new = 0;
  double of_old = 0;
};
SpeedUp speed_up(Seconds before, Seconds after);

}  // namespace orrery
