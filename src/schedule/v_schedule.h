// Orders of V-shaped schedules from building blocks: repeated, squeezed, reordered, improved.
//
// Reordering of arXiv 2405.15362 fills the warm-up and the cool-down, in which the repeated block
// leaves devices idle, without raising the peak memory of any device. This implementation justifies
// the repeated block and list schedules that prefer passes in the order of the block, improves them
// locally, and keeps the one with the shortest makespan, then the shortest span. Deterministic.
#pragma once

#include <cstdint>

#include "outcome/result.h"
#include "schedule/building_block.h"
#include "schedule/schedule.h"

namespace orrery {

// The number of passes that all attempts may place; each attempt places every pass once.
inline constexpr std::int64_t kVScheduleEffort = 32'000'000;
// Slots that V-ZB advances on every device (published/v_blocks.cc).
inline constexpr int kZeroBubbleStep = 5;

// Sets the limit of every device to its memory in the repeated `block`.
void limit_to(OrderProblem& problem, const BuildingBlock& block);

// Error: a device needs more than the schedule of that name may hold.
Result<void> check_limit(std::string_view name, const OrderProblem& problem,
                         const ScheduleRequest& request);

// The best orders found from `block` within the limits. Empty: none fits.
PassOrders reordered(const OrderProblem& problem, const BuildingBlock& block, std::int64_t effort);

// The best orders found from any block within the limits. Empty: none fits.
PassOrders adapted(const OrderProblem& problem, std::int64_t effort);

// The block with the least memory among those that advance by `step` on every device; among equals,
// the one with the shortest makespan when repeated with passes of equal length.
BuildingBlock least_memory_block(const PipelineShape& shape, int step);

// A schedule of one block, within the memory that the block needs on every device. Errors: a limit
// below that, which the error states.
enum class Reorder { yes, no };
Result<Pipeline> block_pipeline(std::string_view name, const ScheduleRequest& request,
                                const BuildingBlock& block, Reorder reorder);

// Two chunks in a V, backwards split, ordered for the times.
constexpr Schedule v_shaped(std::string_view name, std::string_view summary,
                            Result<Pipeline> (*pipeline)(const ScheduleRequest&)) {
  return {.name = name,
          .summary = summary,
          .chunks = 2,
          .splits_backward = true,
          .made_for_times = true,
          .virtual_stage = snake_virtual_stage,
          .pipeline = pipeline};
}

}  // namespace orrery
