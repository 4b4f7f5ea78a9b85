#include "search/candidate.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <set>
#include <tuple>

#include "lower/stage_memory.h"
#include "model/recommendation/recommendation.h"
#include "plan/overlap_rules.h"
#include "plan/plan_rules.h"
#include "plan/site_division.h"
#include "schedule/schedule.h"

namespace orrery {
namespace {

std::vector<std::int64_t> divisors(std::int64_t n, std::int64_t most) {
  std::vector<std::int64_t> out;
  for (std::int64_t d = 1; d <= std::min(n, most); ++d) {
    if (n % d == 0) out.push_back(d);
  }
  return out;
}

std::vector<std::int64_t> powers_of_two(std::int64_t most) {
  std::vector<std::int64_t> out;
  for (std::int64_t v = 1; v <= most; v *= 2) out.push_back(v);
  return out;
}

}  // namespace

SearchSpace default_space(const Scenario& scenario, SearchSpace space) {
  const Model& model = scenario.model;
  const std::int64_t gpus = scenario.cluster.accelerators;
  const auto layers = static_cast<std::int64_t>(model.layers.size());
  if (space.tp.empty()) {
    space.tp = divisors(model.tensor_parts, 2 * scenario.cluster.levels.front().accelerators);
  }
  if (space.cp.empty()) {
    space.cp = powers_of_two(std::max<std::int64_t>(1, scenario.training.sequence_length / 1024));
  }
  if (space.pp.empty()) {
    // Software without a pipeline has one stage, unless somebody names schedules or chunks.
    const bool one = space.schedules.empty() && !has_searched_schedule(scenario.software) &&
                     std::ranges::none_of(space.chunks, [](std::int64_t c) { return c > 1; });
    space.pp = divisors(gpus, one ? 1 : layers);
  }
  if (space.ep.empty()) {
    space.ep = model.experts > 0 ? divisors(model.experts, gpus) : std::vector<std::int64_t>{1};
    // Tables are shared by all ranks, or by groups of whole nodes that hold the same.
    if (model.tables > 0) {
      space.ep = divisors(gpus, gpus);
      std::erase_if(space.ep, [&](std::int64_t ep) {
        return ep < gpus && ep % scenario.cluster.accelerators_per_node != 0;
      });
    }
  }
  if (space.micro_batch.empty()) {
    space.micro_batch = powers_of_two(16);
    if (model.tables > 0) {
      // The samples of a replica, at once or in a few parts.
      space.micro_batch.clear();
      for (const std::int64_t parts : {1, 2, 4}) {
        for (const std::int64_t tp : space.tp) {
          const std::int64_t replicas = gpus / tp;
          const std::int64_t batch = scenario.training.global_batch;
          if (replicas > 0 && batch % (replicas * parts) == 0) {
            space.micro_batch.push_back(batch / (replicas * parts));
          }
        }
      }
      std::ranges::sort(space.micro_batch);
      const auto twice = std::ranges::unique(space.micro_batch);
      space.micro_batch.erase(twice.begin(), twice.end());
      if (space.micro_batch.empty()) space.micro_batch = {1};
    }
  }
  if (space.zero.empty()) {
    space.zero = {0, 1, 2, 3};
    space.pipeline_zero = scenario.software.pipeline_zero;
  }
  if (space.recompute.empty()) {
    space.recompute = {Recompute::none, Recompute::selective, Recompute::full};
  }
  if (space.modules.empty()) {
    space.modules = {scenario.plan.recompute_modules};
    if (scenario.plan.recompute_modules.empty()) {
      // What Megatron-Core discards and makes again, which costs little, with and without
      // attention.
      std::vector<RecomputeModule> cheap;
      for (const RecomputeModule m :
           {RecomputeModule::layernorm, RecomputeModule::mla_up_proj, RecomputeModule::moe_act}) {
        if (missing_for(m, model).empty()) cheap.push_back(m);
      }
      space.modules.push_back(cheap);
      cheap.insert(cheap.begin(), RecomputeModule::core_attn);
      space.modules.push_back(std::move(cheap));
    }
  }
  // An axis that every search has, with the values that somebody asked for.
  const auto asked = std::ranges::find(space.further, "dispatch", &FurtherAxis::field);
  if (asked != space.further.end()) {
    space.dispatch.clear();
    for (const Plan& value : asked->values) space.dispatch.push_back(value.dispatch);
    space.further.erase(asked);
  }
  if (space.dispatch.empty()) {
    space.dispatch = {ExpertDispatch::all_to_all};
    if (model.experts > 0) space.dispatch.push_back(ExpertDispatch::deduplicated);
  }
  if (space.context_parallel.empty()) {
    space.context_parallel = {ContextParallel::all_gather, ContextParallel::ring,
                              ContextParallel::all_to_all};
  }
  const Recommender* tables = recommender_of(model);
  if (space.table_sharding.empty()) {
    space.table_sharding = {TableSharding::automatic};
    if (tables != nullptr) {
      space.table_sharding = {TableSharding::automatic, TableSharding::table,
                              TableSharding::column,    TableSharding::row,
                              TableSharding::table_row, TableSharding::data};
    }
  }
  if (space.towers.empty()) {
    space.towers = {model.towers};
    for (const std::int64_t ep : space.ep) {
      const std::int64_t towers = ep / scenario.cluster.levels.front().accelerators;
      if (tables != nullptr && model.towers == 0 && towers > 1) space.towers.push_back(towers);
    }
  }
  if (space.codec.empty()) {
    space.codec = {VectorCodec::none};
    if (tables != nullptr && tables->lossy) space.codec.push_back(VectorCodec::best);
  }
  if (space.schedules.empty()) space.schedules = schedules_to_search(scenario.software);
  if (space.placements.empty()) {
    space.placements = {{MeshAxis::tp, MeshAxis::cp, MeshAxis::dp, MeshAxis::pp},
                        {MeshAxis::tp, MeshAxis::cp, MeshAxis::pp, MeshAxis::dp}};
  }
  return space;
}

bool is_stated(const SearchSpace& space, std::string_view field) {
  return std::ranges::find(space.stated, field) != space.stated.end();
}

Plan starting_plan(const Scenario& scenario, const SearchSpace& space) {
  Plan plan = scenario.plan;
  plan.dp = 0;
  if (!is_stated(space, "sequence_parallel") && hides_sums(scenario.model, plan)) {
    plan.sequence_parallel = false;
  }
  return plan;
}

bool by_bound(const Candidate& a, const Candidate& b) {
  const auto key = [](const Candidate& c) {
    return std::tuple(c.bound_ps, c.peak, c.placement, c.tp, c.cp, c.pp, c.ep, c.micro_batch,
                      c.context_parallel, c.dispatch, c.table_sharding, c.towers, c.codec,
                      c.schedule, c.chunks, c.recompute, c.recompute_layers, c.modules, c.zero,
                      c.sites, c.further);
  };
  return key(a) < key(b);
}

Plan plan_of(const Candidate& c, const SearchSpace& space, const Plan& base, std::int64_t gpus) {
  Plan plan = base;
  set_combination(space.further, c.further, plan);
  plan.tp = c.tp;
  plan.cp = c.cp;
  plan.pp = c.pp;
  plan.ep = c.ep;
  plan.dp = gpus / (plan.tp * plan.cp * plan.pp);
  if (plan.etp == 0) plan.etp = c.ep > 1 ? 1 : c.tp;
  plan.sequence_parallel = plan.sequence_parallel && c.tp > 1;
  plan.context_parallel = c.context_parallel;
  plan.micro_batch = c.micro_batch;
  plan.chunks = c.chunks;
  plan.recompute = c.recompute;
  plan.recompute_modules.clear();
  if (c.recompute == Recompute::selective) plan.recompute_modules = space.modules[c.modules];
  plan.dispatch = c.dispatch;
  plan.table_sharding = c.table_sharding;
  plan.towers = c.towers;
  plan.codec = c.codec;
  plan.recompute_layers = c.recompute_layers;
  plan.schedule = space.schedules[c.schedule];
  // On one device all schedules do the same work; 1F1B keeps the least in memory.
  if (c.pp == 1) plan.schedule = "1f1b";
  plan.placement = space.placements[c.placement];
  plan.zero = c.zero;
  return plan;
}

namespace {

// Whether an earlier placement puts the axes of more than one rank in the same order.
bool repeats_a_placement(const std::vector<std::vector<MeshAxis>>& placements, std::size_t index,
                         const Plan& plan) {
  const auto order = [&](const std::vector<MeshAxis>& placement) {
    std::vector<MeshAxis> out;
    std::ranges::copy_if(placement, std::back_inserter(out),
                         [&](MeshAxis a) { return degree(plan, a) > 1; });
    return out;
  };
  if (index == 0) return false;
  const std::vector<MeshAxis> own = order(placements[index]);
  return std::any_of(placements.begin(), placements.begin() + static_cast<std::ptrdiff_t>(index),
                     [&](const auto& earlier) { return order(earlier) == own; });
}

// `c` with each way in which tables may lie; of towers that nobody stated, one on each node. In a
// tower all rows are those of the tower.
void add_ways_of_tables(std::vector<CandidateGroup>& out, Candidate c, const SearchSpace& space,
                        const Scenario& scenario) {
  const std::int64_t node = scenario.cluster.levels.front().accelerators;
  for (const std::int64_t towers : space.towers) {
    if (towers > 1 && !is_stated(space, "towers") && scenario.model.towers == 0 &&
        c.ep != towers * node) {
      continue;
    }
    c.towers = static_cast<std::uint32_t>(towers);
    for (const TableSharding sharding : space.table_sharding) {
      const bool repeats = sharding == TableSharding::row && space.table_sharding.size() > 1;
      if (towers > 1 && repeats) continue;
      c.table_sharding = sharding;
      for (const VectorCodec codec : space.codec) {
        c.codec = codec;
        out.push_back({c});
      }
    }
  }
}

}  // namespace

std::vector<CandidateGroup> groups(const SearchSpace& space, const Scenario& scenario) {
  const std::int64_t gpus = scenario.cluster.accelerators;
  std::vector<CandidateGroup> out;
  Plan degrees;
  for (std::size_t placement = 0; placement < space.placements.size(); ++placement) {
    for (const std::int64_t tp : space.tp) {
      for (const std::int64_t cp : space.cp) {
        for (const std::int64_t pp : space.pp) {
          if (tp < 1 || cp < 1 || pp < 1 || tp > gpus || cp > gpus / tp || pp > gpus / (tp * cp) ||
              gpus % (tp * cp * pp) != 0) {
            continue;
          }
          const std::int64_t dp = gpus / (tp * cp * pp);
          if (!space.dp.empty() &&
              std::find(space.dp.begin(), space.dp.end(), dp) == space.dp.end()) {
            continue;
          }
          degrees.tp = tp;
          degrees.cp = cp;
          degrees.pp = pp;
          degrees.dp = dp;
          if (repeats_a_placement(space.placements, placement, degrees)) continue;
          for (const std::int64_t ep : space.ep) {
            for (const std::int64_t micro_batch : space.micro_batch) {
              if (micro_batch < 1 || ep < 1) continue;
              if (scenario.plan.site_microbatches.empty() &&
                  scenario.plan.site_micro_batch.empty() &&
                  scenario.training.global_batch % (dp * micro_batch) != 0) {
                continue;
              }
              Candidate c;
              c.tp = static_cast<std::uint32_t>(tp);
              c.cp = static_cast<std::uint32_t>(cp);
              c.pp = static_cast<std::uint32_t>(pp);
              c.ep = static_cast<std::uint32_t>(ep);
              c.micro_batch = static_cast<std::uint32_t>(micro_batch);
              c.placement = static_cast<std::uint8_t>(placement);
              for (const ContextParallel kind : space.context_parallel) {
                c.context_parallel = kind;
                for (const ExpertDispatch dispatch : space.dispatch) {
                  c.dispatch = dispatch;
                  add_ways_of_tables(out, c, space, scenario);
                  if (ep == 1) break;  // no token travels
                }
                if (cp == 1) break;  // nothing travels
              }
            }
          }
        }
      }
    }
  }
  return out;
}

std::vector<Candidate> members(const CandidateGroup& group, const SearchSpace& space,
                               std::int64_t layers) {
  std::vector<Candidate> out;
  const std::int64_t pp = group.first.pp;
  Plan degrees;
  degrees.tp = group.first.tp;
  degrees.cp = group.first.cp;
  degrees.pp = pp;
  degrees.ep = group.first.ep;
  std::vector<std::int64_t> chunk_counts = space.chunks;
  if (chunk_counts.empty()) {
    // One count for every distinct number of layers in the largest virtual stage.
    std::set<std::int64_t> seen;
    for (std::int64_t v = 1; v * pp <= layers + 2; ++v) {
      if (seen.insert((layers + v * pp - 1) / (v * pp)).second) chunk_counts.push_back(v);
    }
  }
  for (std::size_t schedule = 0; schedule < space.schedules.size(); ++schedule) {
    const auto known = find_schedule(space.schedules[schedule]);
    if (pp == 1 && schedule > 0) break;  // plan_of makes the same plan of all
    // A schedule has its own number of chunks, or any above one: with one it is another schedule.
    const std::int64_t fixed = known && pp > 1 ? (*known)->chunks : 1;
    const std::vector<std::int64_t> own = {fixed};
    const bool stated = space.chunks.empty() || std::find(space.chunks.begin(), space.chunks.end(),
                                                          fixed) != space.chunks.end();
    for (const std::int64_t chunks : fixed > 0 && stated ? own : chunk_counts) {
      if (chunks < 1 || chunks * pp > layers + 2) continue;
      if (pp > 1 && (fixed > 0 ? chunks != fixed : chunks == 1)) continue;
      if (pp == 1 && chunks > 1) continue;
      const std::int64_t held = (layers + chunks * pp - 1) / (chunks * pp);
      for (const Recompute recompute : space.recompute) {
        std::vector<std::int64_t> counts = {0};
        if (recompute == Recompute::full && !space.recompute_layers.empty()) {
          counts = space.recompute_layers;
        } else if (recompute == Recompute::full) {
          for (const std::int64_t part : {held / 4, held / 2, 3 * held / 4}) {
            if (part > 0 && std::find(counts.begin(), counts.end(), part) == counts.end()) {
              counts.push_back(part);
            }
          }
        }
        const std::size_t sets = recompute == Recompute::selective ? space.modules.size() : 1;
        for (std::size_t k = 0; k < counts.size() * sets; ++k) {
          for (const std::int64_t zero : space.zero) {
            if (pp > 1 && zero > space.pipeline_zero) continue;
            Candidate c = group.first;
            c.schedule = static_cast<std::uint8_t>(schedule);
            c.chunks = static_cast<std::uint16_t>(chunks);
            c.recompute = recompute;
            c.recompute_layers = static_cast<std::uint32_t>(counts[k / sets]);
            c.modules = static_cast<std::uint8_t>(k % sets);
            c.zero = static_cast<std::uint8_t>(zero);
            for (std::size_t f = 0; f < combinations(space.further); ++f) {
              if (repeats(space.further, f, degrees)) continue;
              c.further = static_cast<std::uint32_t>(f);
              out.push_back(c);
            }
          }
        }
      }
    }
  }
  return out;
}

void measure(const StepCosts& step, Candidate& c) {
  for (int device = 0; device < step.shape.devices; ++device) {
    const MemoryRoom m = memory_room(step, device);
    if (device == 0 || m.least < c.least_room) c.least_room = m.least;
    if (device == 0 || m.left() < c.room) {
      c.room = m.left();
      c.peak = m.memory.peak;
      c.stage = static_cast<std::uint32_t>(device);
    }
  }
}

std::vector<PlanAxis> plan_axes(const SearchSpace& space) {
  std::vector<PlanAxis> axes = {
      {"tp", [](const Plan& p) { return std::to_string(p.tp); }},
      {"cp", [](const Plan& p) { return std::to_string(p.cp); }},
      {"context_parallel", [](const Plan& p) { return std::string(to_text(p.context_parallel)); }},
      {"pp", [](const Plan& p) { return std::to_string(p.pp); }},
      {"ep", [](const Plan& p) { return std::to_string(p.ep); }},
      {"dispatch", [](const Plan& p) { return std::string(to_text(p.dispatch)); }},
      {"table_sharding", [](const Plan& p) { return std::string(to_text(p.table_sharding)); }},
      {"towers", [](const Plan& p) { return std::to_string(p.towers); }},
      {"codec", [](const Plan& p) { return std::string(to_text(p.codec)); }},
      {"dp", [](const Plan& p) { return std::to_string(p.dp); }},
      {"schedule", [](const Plan& p) { return p.schedule; }},
      {"chunks", [](const Plan& p) { return std::to_string(p.chunks); }},
      {"micro_batch", micro_batch_text},
      {"recompute",
       [](const Plan& p) {
         return std::string(to_text(p.recompute)) +
                (p.recompute_layers > 0 ? ":" + std::to_string(p.recompute_layers) : "") +
                (p.recompute_modules.empty() ? "" : ":" + to_text(p.recompute_modules));
       }},
      {"zero", [](const Plan& p) { return std::to_string(p.zero); }},
      {"placement",
       [](const Plan& p) {
         std::string out;
         for (const MeshAxis a : p.placement) {
           out += (out.empty() ? "" : "+") + std::string(to_text(a));
         }
         return out;
       }},
  };
  for (const FurtherAxis& axis : space.further) {
    axes.push_back({axis.field, [&axis](const Plan& p) { return value_on(axis, p); }});
  }
  return axes;
}

std::vector<Plan> neighbours(const Plan& plan, const Scenario& scenario, const SearchSpace& space) {
  std::vector<Plan> out;
  const auto free = [&](std::string_view field) { return !is_stated(space, field); };
  const auto with = [&](auto change) {
    Plan other = plan;
    change(other);
    if (!(other == plan)) out.push_back(std::move(other));
  };
  if (free("zero")) {
    for (std::int64_t zero = 0; zero <= (plan.pp > 1 ? space.pipeline_zero : 3); ++zero) {
      with([&](Plan& p) { p.zero = zero; });
    }
  }
  if (free("recompute")) {
    for (const Recompute recompute : space.recompute) {
      with([&](Plan& p) {
        p.recompute = recompute;
        p.recompute_modules.clear();
        if (recompute == Recompute::selective) p.recompute_modules = space.modules.front();
        if (recompute != Recompute::full && free("recompute_layers")) p.recompute_layers = 0;
      });
    }
  }
  if (free("recompute") && free("recompute_modules") && free("recompute_layers")) {
    with([](Plan& p) {
      p.recompute = Recompute::optimal;
      p.recompute_modules.clear();
      p.recompute_layers = 0;
    });
  }
  if (free("etp") && plan.ep > 1) {
    for (const std::int64_t etp : divisors(plan.tp, plan.tp)) with([&](Plan& p) { p.etp = etp; });
  }
  if (free("expert_placement") && plan.ep > 1 &&
      (!scenario.training.expert_load.tokens.empty() ||
       scenario.training.expert_load.power_law > 0)) {
    with([](Plan& p) { p.expert_placement = ExpertPlacement::balanced; });
  }
  if (free("sequence_parallel") && plan.tp > 1) {
    with([](Plan& p) { p.sequence_parallel = !p.sequence_parallel; });
  }
  constexpr std::array<std::pair<std::string_view, bool Overlap::*>, 8> kParts = {
      {{"overlap.gradient_reduction", &Overlap::gradient_reduction},
       {"overlap.parameter_gather", &Overlap::parameter_gather},
       {"overlap.tensor_parallel", &Overlap::tensor_parallel},
       {"overlap.pipeline", &Overlap::pipeline},
       {"overlap.expert", &Overlap::expert},
       {"overlap.expert_batches", &Overlap::expert_batches},
       {"overlap.optimizer", &Overlap::optimizer},
       {"overlap.host_update", &Overlap::host_update}}};
  for (const auto& [field, part] : kParts) {
    if (!free("overlap") || !free(field)) continue;
    // What the software cannot do is no choice.
    if (part == &Overlap::pipeline && scenario.software.transfers == PipelineTransfers::blocking) {
      continue;
    }
    with([part = part](Plan& p) { p.overlap.*part = !(p.overlap.*part); });
  }
  if (free("ulysses") && plan.cp > 1 && plan.context_parallel != ContextParallel::all_to_all) {
    for (const std::int64_t heads : divisors(plan.cp, plan.cp)) {
      // What then means nothing takes its default, unless it is stated.
      const bool no_ring = heads == plan.cp;
      if (no_ring && !free("context_balance")) continue;
      if ((no_ring || heads == 1) && !free("context_placement")) continue;
      with([&](Plan& p) {
        p.ulysses = heads;
        if (no_ring) p.context_balance = ContextBalance::zigzag;
        if (no_ring || heads == 1) p.context_placement = ContextPlacement::head_first;
      });
    }
  }
  if (free("context_placement") && head_ranks(plan) > 1 && ring_ranks(plan) > 1) {
    with([](Plan& p) {
      const bool heads = p.context_placement == ContextPlacement::head_first;
      p.context_placement = heads ? ContextPlacement::context_first : ContextPlacement::head_first;
    });
  }
  if (free("prefetch") && plan.zero == 3) {
    for (const std::int64_t blocks : {1, 2, 4}) with([&](Plan& p) { p.prefetch = blocks; });
  }
  if (free("update_stride") && plan.offload_optimizer == Offload::cpu) {
    for (const std::int64_t stride : {0, 2, 3, 4}) with([&](Plan& p) { p.update_stride = stride; });
  }
  add_sequence_neighbours(plan, scenario, space, out);
  if (free("secondary_shard") && plan.zero == 3 && plan.pp == 1) {
    for (const std::int64_t ranks :
         {std::int64_t{0}, std::min(plan.dp * plan.cp, scenario.cluster.accelerators_per_node)}) {
      with([&](Plan& p) { p.secondary_shard = ranks; });
    }
  }
  if (free("shard_group") && plan.zero > 0) {
    with([](Plan& p) { p.shard_group = 0; });
    for (const std::int64_t ranks : powers_of_two(plan.dp * plan.cp / 2)) {
      if (ranks > 1) with([&](Plan& p) { p.shard_group = ranks; });
    }
  }
  if (free("group") && plan.chunks > 1) {
    with([](Plan& p) { p.group = 0; });
    int fewest = std::numeric_limits<int>::max();  // of a replica of any site
    for (std::size_t site = 0; site < site_count(scenario.cluster); ++site) {
      const Plan own = plan_of_site(scenario.training, scenario.cluster, plan, site);
      fewest = std::min(fewest, microbatches(scenario.training, own));
    }
    for (const std::int64_t times : powers_of_two(fewest / plan.pp)) {
      with([&](Plan& p) { p.group = times * plan.pp; });
    }
  }
  if (free("recompute_modules") && plan.recompute == Recompute::selective) {
    for (const auto& [module, name] : names_of(RecomputeModule{})) {
      with([&free, module = module](Plan& p) {
        std::vector<RecomputeModule>& all = p.recompute_modules;
        if (all.empty()) all = {RecomputeModule::core_attn};
        if (std::erase(all, module) == 0) all.push_back(module);
        if (all.empty() && free("recompute")) p.recompute = Recompute::none;
        std::sort(all.begin(), all.end());
      });
    }
  }
  if (free("recompute_layers") && plan.recompute != Recompute::none) {
    for (const std::int64_t step : {-1, 1}) {
      with([&](Plan& p) {
        p.recompute_layers = std::max<std::int64_t>(0, p.recompute_layers + step);
      });
    }
  }
  if (free("schedule") && plan.pp > 1) {
    for (const Schedule& s : schedules()) {
      if (!can_be_searched(s) || !has_schedule(scenario.software, s.name)) continue;
      if (!free("chunks") && s.chunks > 0 && s.chunks != plan.chunks) continue;
      with([&](Plan& p) {
        p.schedule = s.name;
        if (s.chunks > 0) p.chunks = s.chunks;
      });
    }
  }
  return out;
}

std::vector<std::string> module_problems(const Scenario& scenario, const SearchSpace& space) {
  Plan plan = scenario.plan;
  plan.recompute = std::ranges::find(space.recompute, Recompute::selective) != space.recompute.end()
                       ? Recompute::selective
                       : space.recompute.front();
  return recompute_module_problems(scenario.model, plan);
}

std::vector<std::string> axes_not_searched(const SearchSpace& space, const Scenario& scenario,
                                           bool all_axes) {
  std::vector<std::string> out = {"attention", "layers"};
  if (!all_axes) out.insert(out.end(), kAxesOutsideTheSpace.begin(), kAxesOutsideTheSpace.end());
  if (scenario.model.experts == 0) {
    std::erase(out, "etp");
    std::erase(out, "expert_placement");
  }
  if (scenario.plan.offload_optimizer != Offload::cpu) std::erase(out, "update_stride");
  if (!scenario.cluster.further_sites.empty()) std::erase(out, "layers");  // evenly and by speed
  std::erase_if(out, [&](const std::string& field) {
    return is_stated(space, field) ||
           std::ranges::find(space.further, field, &FurtherAxis::field) != space.further.end();
  });
  return out;
}

}  // namespace orrery
