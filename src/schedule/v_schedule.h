// Orders of V-shaped schedules from building blocks: repeated, squeezed, reordered, improved.
//
// Reordering of arXiv 2405.15362 fills the warm-up and the cool-down, where the repeated block
// leaves devices idle, without raising what any device holds. This implementation justifies the
// repeated block and list schedules that prefer passes in the order of the block, improves them
// locally, and keeps the least makespan, of equal ones the least span. Deterministic.
#pragma once

#include <cstdint>

#include "outcome/result.h"
#include "schedule/building_block.h"
#include "schedule/schedule.h"

namespace orrery {

// The number of passes that all tries may place; each try places every pass once.
inline constexpr std::int64_t kVScheduleEffort = 32'000'000;

// Sets the limit of every device to what it holds when `block` repeats.
void limit_to(OrderProblem& problem, const BuildingBlock& block);

// The best orders found from `block` within the limits. Empty: none fits.
PassOrders reordered(const OrderProblem& problem, const BuildingBlock& block, std::int64_t effort);

// The best orders found from any block within the limits. Empty: none fits.
PassOrders adapted(const OrderProblem& problem, std::int64_t effort);

// Of the blocks that advance by `step` on every device: least memory, then first to end when
// repeated and squeezed with passes of equal length.
BuildingBlock least_memory_block(const PipelineShape& shape, int step);

// A schedule of one block, in the memory the block holds on every device. Errors: a limit below
// that, which is named.
enum class Reorder { yes, no };
Result<Pipeline> block_pipeline(std::string_view name, const ScheduleRequest& request,
                                const BuildingBlock& block, Reorder reorder);

}  // namespace orrery
