#include "schedule/v_schedule.h"

#include <algorithm>

#include "schedule/justification.h"
#include "schedule/order_improvement.h"
#include "schedule/split_scheduling.h"
#include "schedule/zb_v_orders.h"

namespace orrery {
namespace {

// Of more passes, fewer ways are tried.
constexpr std::int64_t kManyPasses = 50'000;

bool reached(const BestOrders& best, const OrderBound& bound) {
  return best.reaches(bound.makespan, bound.span);
}

// Ranks as the slots of the repeated block.
ListRule rule_of(const OrderProblem& problem, const std::vector<std::vector<SlottedPass>>& slots) {
  PassTimes times;
  for (const auto& device : slots) {
    auto& start = times.start.emplace_back();
    for (const SlottedPass& pass : device) start.push_back(pass.slot);
  }
  return rule_of(problem, orders_of(slots), times);
}

void improve_best(BestOrders& best, const OrderProblem& problem, std::int64_t effort) {
  constexpr std::int64_t kMostPasses = 20'000;  // of more, moving one at a time changes too little
  if (problem.passes() > kMostPasses || best.orders().empty()) return;
  ImprovementOptions options;
  options.placements = effort;
  options.enough = order_bound(problem);
  improve_in_rounds(
      problem, best.orders(), options, [&] { return reached(best, options.enough); },
      [&](const PassOrders& orders) { best.consider(orders); });
}

void consider_block(BestOrders& best, const OrderProblem& problem, const BuildingBlock& block,
                    int rounds) {
  const auto slots = repeated(block, problem.shape.microbatches);
  const PassOrders stable = orders_of(slots);
  if (fits(problem, stable)) {
    best.consider(stable);
    best.consider(justified(problem, stable, rounds));
  }
  const bool many = problem.passes() > kManyPasses;
  const ListVariants variants = many ? ListVariants::first : ListVariants::all;
  for (const PassOrders& orders : list_schedules(problem, rule_of(problem, slots), variants)) {
    best.consider(justified(problem, orders, rounds));
  }
}

int rounds_for(const OrderProblem& problem) { return problem.passes() > kManyPasses ? 1 : 12; }

}  // namespace

void limit_to(OrderProblem& problem, const BuildingBlock& block) {
  const PassOrders stable = orders_of(repeated(block, problem.shape.microbatches));
  for (std::size_t d = 0; d < stable.size(); ++d) {
    problem.limit[d] = peak_memory(problem, d, stable[d]);
  }
}

Result<void> check_limit(std::string_view name, const OrderProblem& problem,
                         const ScheduleRequest& request) {
  const double needed = *std::ranges::max_element(problem.limit);
  if (needed <= request.memory_limit * (1 + 1e-12)) return {};
  return bad_input(std::string(name) + " holds " + memory_text(needed) +
                   " on its fullest device, more than the limit of " +
                   memory_text(request.memory_limit));
}

PassOrders reordered(const OrderProblem& problem, const BuildingBlock& block, std::int64_t effort) {
  BestOrders best(problem, Shortest::makespan);
  best.consider(zb_v_orders(problem));
  consider_block(best, problem, block, rounds_for(problem));
  improve_best(best, problem, effort);
  return best.orders();
}

PassOrders adapted(const OrderProblem& problem, std::int64_t effort) {
  // Blocks are compared on as many microbatches as fill the pipeline, by their own squeezed length
  // in the real times.
  const OrderBound bound = order_bound(problem);
  BestOrders best(problem, Shortest::makespan);
  best.consider(zb_v_orders(problem));
  if (reached(best, bound)) return best.orders();
  OrderProblem few = problem;
  few.shape.microbatches = std::min(problem.shape.microbatches, 2 * problem.shape.devices + 2);
  PassClock clock(few);
  struct Candidate {
    double makespan;
    std::size_t index;
    auto operator<=>(const Candidate&) const = default;
  };
  const std::vector<BuildingBlock> blocks = all_blocks(problem.shape.devices);
  std::vector<Candidate> fitting;
  const auto tries =
      static_cast<std::size_t>(std::max<std::int64_t>(24, effort / (4 * few.passes())));
  const std::size_t stride = std::max<std::size_t>(1, blocks.size() / tries);
  for (std::size_t i = 0; i < blocks.size(); i += stride) {
    const PassOrders stable = orders_of(repeated(blocks[i], few.shape.microbatches));
    if (fits(few, stable)) fitting.push_back({clock.run(stable).makespan, i});
  }
  std::ranges::sort(fitting);
  // A block costs about three justified orders.
  const auto kept =
      static_cast<std::size_t>(std::clamp<std::int64_t>(effort / (30 * problem.passes()), 1, 40));
  if (fitting.size() > kept) fitting.resize(kept);
  for (const Candidate& c : fitting) {
    consider_block(best, problem, blocks[c.index], rounds_for(problem));
    if (reached(best, bound)) break;
  }
  if (fitting.empty()) consider_block(best, problem, v_min_block(problem.shape.devices), 2);
  improve_best(best, problem, effort);
  return best.orders();
}

BuildingBlock least_memory_block(const PipelineShape& shape, int step) {
  const PipelineShape few{shape.devices, std::min(shape.microbatches, 2 * shape.devices + 2), 2};
  const Picoseconds unit(1);
  const OrderProblem problem =
      order_problem(few, snake_virtual_stage, equal_times(few, unit, unit, unit), 0);
  PassClock clock(problem);
  BuildingBlock best;
  std::pair<double, double> least;
  for_each_first_device([&](BlockRule rule) {
    rule.step = rule.late_step = step;
    rule.turn = shape.devices - 1;
    const auto one = block(shape.devices, rule);
    if (!one) return;
    const PassOrders stable = orders_of(repeated(*one, few.microbatches));
    double peak = 0;
    for (std::size_t d = 0; d < stable.size(); ++d) {
      peak = std::max(peak, peak_memory(problem, d, stable[d]));
    }
    const std::pair now{peak, clock.run(stable).makespan};
    if (best.empty() || now < least) {
      best = *one;
      least = now;
    }
  });
  return best;
}

Result<Pipeline> block_pipeline(std::string_view name, const ScheduleRequest& request,
                                const BuildingBlock& block, Reorder reorder) {
  OrderProblem problem =
      order_problem(request.shape, snake_virtual_stage, times_or_unit(request), 0);
  limit_to(problem, block);
  ORRERY_RETURN_IF_ERROR(check_limit(name, problem, request));
  return to_pipeline(problem, snake_virtual_stage,
                     reorder == Reorder::yes
                         ? reordered(problem, block, kVScheduleEffort / 16)
                         : orders_of(repeated(block, request.shape.microbatches)));
}

}  // namespace orrery
