// A pipeline schedule: in which order each device works through microbatches and chunks.
//
// A schedule knows stages, microbatches and chunks, nothing of models or clusters. It is one file
// that fills one Schedule, and one line in schedules() that registers it. Everything else (bubbles,
// makespan, memory in flight, drawings) follows from the order, by simulation.
//
// Terms: `devices` p hold `chunks` v virtual stages each, S = p v in all; virtual stage s feeds
// s+1. Dependencies: F(j,s) after F(j,s-1); B(j,s) after F(j,s) and B(j,s+1); W(j,s) after B(j,s).
// A fused backward stands for B and W together.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "outcome/result.h"

namespace orrery {

struct PipelineShape {
  int devices = 1;
  int microbatches = 1;
  int chunks = 1;
  auto operator<=>(const PipelineShape&) const = default;
  [[nodiscard]] int virtual_stages() const { return devices * chunks; }
};

enum class PipelineAction : std::uint8_t { forward, backward, input_gradient, weight_gradient };

struct PipelineOperation {
  PipelineAction action = PipelineAction::forward;
  std::uint16_t chunk = 0;
  std::uint32_t microbatch = 0;
  auto operator<=>(const PipelineOperation&) const = default;
};

struct Schedule {
  std::string_view name;
  // Every reason why the shape cannot be scheduled, in words with the numbers; empty if it can.
  std::vector<std::string> (*problems)(const PipelineShape&);
  // What one device does, in order.
  std::vector<PipelineOperation> (*order)(const PipelineShape&, int device);
  // The virtual stage that is chunk `chunk` of `device`.
  int (*virtual_stage)(const PipelineShape&, int device, int chunk);
  // Microbatches of each chunk whose activations `device` holds at its fullest moment, if all
  // chunks weigh the same. A closed form where there is one (in_flight_by_order is the definition).
  std::vector<int> (*peak_in_flight)(const PipelineShape&, int device);
};

// All schedules, by name.
std::span<const Schedule> schedules();
// Hyphens and underscores are the same. Error: unknown name, with the nearest.
Result<const Schedule*> find_schedule(std::string_view name);

// The definition of peak_in_flight: +1 when a forward begins, -1 when the backward (or weight
// gradient) that frees it ends, along the device's order. O(operations).
std::vector<int> in_flight_by_order(const Schedule& schedule, const PipelineShape& shape,
                                    int device);

struct DeviceOperation {
  std::uint32_t device = 0;
  PipelineOperation operation;
};

// All operations of all devices in one order in which each comes after what it depends on. Error:
// the orders deadlock; the operations that wait for each other are named. O(operations + devices).
Result<std::vector<DeviceOperation>> linear_order(const Schedule& schedule,
                                                  const PipelineShape& shape);

}  // namespace orrery
