// One plan of a search space in few bytes, and the enumeration of the space in a fixed order.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "schedule/schedule.h"
#include "search/search.h"

namespace orrery {

// How sites that differ divide the work (lower/division_by_speed.h): evenly, layers or microbatches by
// their speed, or these with microbatches of different sizes.
enum class SiteWork : std::uint8_t { even, by_speed, sized };

struct Candidate {
  std::uint32_t tp = 1, cp = 1, pp = 1, ep = 1, micro_batch = 1;
  std::uint16_t chunks = 1;
  std::uint32_t recompute_layers = 0;
  std::uint8_t schedule = 0;   // index into SearchSpace::schedules
  std::uint8_t placement = 0;  // index into SearchSpace::placements
  std::uint8_t zero = 0;
  std::uint8_t modules = 0;  // with selective recomputation: index into SearchSpace::modules
  ExpertDispatch dispatch = ExpertDispatch::all_to_all;
  Recompute recompute = Recompute::none;
  ContextParallel context_parallel = ContextParallel::all_gather;
  SiteWork sites = SiteWork::even;
  TableSharding table_sharding = TableSharding::automatic;
  VectorCodec codec = VectorCodec::none;
  std::uint32_t towers = 0;
  std::uint32_t further = 0;  // which combination of SearchSpace::further
  // Priced:
  double bound_ps = 0;
  ByteCount peak = 0;        // expected, of the stage with the least room
  ByteCount room = 0;        // what the expected peak leaves there; below 0: it does not fit
  ByteCount least_room = 0;  // what the pessimistic one leaves of any
  std::uint32_t stage = 0;   // with the least room
};

// Whether the bound of `a` is the lower. Ties are broken by everything a candidate is made of, so that
// the order is total.
bool by_bound(const Candidate& a, const Candidate& b);

// The plan a candidate stands for.
Plan plan_of(const Candidate& candidate, const SearchSpace& space, const Plan& base,
             std::int64_t gpus);

// The candidates that share placement, tp, cp and how it is done, pp, ep and how tokens travel or
// tables lie, and micro_batch: one unit of work.
struct CandidateGroup {
  Candidate first;
};
std::vector<CandidateGroup> groups(const SearchSpace& space, const Scenario& scenario);

// The members of a group in order: schedules and chunks, recomputation, ZeRO stage, further axes.
std::vector<Candidate> members(const CandidateGroup& group, const SearchSpace& space,
                               std::int64_t layers);

// The same, and behind them each of them once more by speed where sites differ and nobody stated how
// stages or replicas on them divide the work. Those with the first micro-batch of the space stand for
// microbatches of different sizes as well.
std::vector<Candidate> members_and_divided(const CandidateGroup& group, const SearchSpace& space,
                                           const Scenario& scenario);

// This plan with the work divided so among sites that differ; itself if that is no other plan. For
// recompute=optimal, the cheapest recomputation of each size is tried for all sites, and the
// fastest result is kept: O(sizes^3 x sites).
Plan divided_among_sites(SiteWork work, const Plan& asked, const SearchSpace& space,
                         CostCache& cache);

// Whether a plan that was divided by speed is the even one.
bool divides_evenly(const Plan& plan, const Scenario& scenario);

// Notes the memory of a candidate's step.
void measure(const StepCosts& step, Candidate& candidate);

// Fields of a plan that no axis of the space ranges over, but for those that no search tries.
inline constexpr std::array<std::string_view, 17> kAxesOutsideTheSpace = {
    "context_groups",    "context_placement", "etp",
    "expert_placement",  "gradient_shard",    "group",
    "inner_ring",        "loss_tiles",        "mlp_tiles",
    "overlap",           "prefetch",          "secondary_shard",
    "sequence_parallel", "shard_group",       "ulysses",
    "update_stride",     "weight_shard"};

// What every plan of the space is made from: the scenario's, with the replicas that GPUs leave, and
// without sequence parallelism, unless that is stated, where sums travel beside products.
Plan starting_plan(const Scenario& scenario, const SearchSpace& space);

// Modules that no plan of the space can have: its plans with selective recomputation take them.
std::vector<std::string> module_problems(const Scenario& scenario, const SearchSpace& space);

// A sentence: why not even the simplest plan of the space is valid.
std::string no_valid_plan(const SearchSpace& space, const Scenario& scenario);

// "halves=batch: <reason>": values of further axes that no valid plan of the space has. The reason is
// that of the first plan which is valid with another value, if there is one.
std::vector<std::string> never_tried(const SearchSpace& space, const Scenario& scenario);

// Whether somebody stated that field of the plan ("zero", "overlap.pipeline"; "overlap" for all).
bool is_stated(const SearchSpace& space, std::string_view field);

// Whether the software has a schedule that can be searched; true where it is not known which it has.
bool has_searched_schedule(const SoftwareProfile& software);

// The schedules that a search takes where nobody states any: those of the software, or all where it
// is not known which it has; for software without a pipeline, should somebody state one, 1F1B of both
// kinds. Those that are worked out for the times of every plan take too long, unless there are no
// others.
std::vector<std::string> schedules_to_search(const SoftwareProfile& software);

// "schedules: 1f1b, interleaved_1f1b (those of megatron-core-0.12; --schedules tries others)": why a
// space has its schedules. Empty if they were stated or there is no pipeline.
std::string schedules_line(const SearchSpace& space, const Scenario& scenario);

// Fields of a plan that a search of the space does not vary.
std::vector<std::string> axes_not_searched(const SearchSpace& space, const Scenario& scenario,
                                           bool all_axes);

// A field of the plan that a search tries values of, and the value of a plan as it is shown.
struct PlanAxis {
  std::string name;  // "tp"
  std::function<std::string(const Plan&)> value;
};
std::vector<PlanAxis> plan_axes(const SearchSpace& space);

// The plans that differ from `plan` on one axis that leaves its degrees and microbatch: those outside
// the space, ZeRO, recomputation and schedule. Stated fields stay. Some of them may be invalid.
std::vector<Plan> neighbours(const Plan& plan, const Scenario& scenario, const SearchSpace& space);
// Of these, those that divide sequences, rows or the states of the optimizer otherwise.
void add_sequence_neighbours(const Plan& plan, const Scenario& scenario, const SearchSpace& space,
                             std::vector<Plan>& out);

}  // namespace orrery
