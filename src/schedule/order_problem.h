// The input of a search over orders, and a fast simulation of one order.
//
// There is one route, and the backward is split into input gradient B and weight gradient W.
// Microbatches are alike, so on every device the passes of one kind and chunk can run in the order
// of microbatches, and an order is a list of (kind, chunk) for every device. (In any other
// schedule, give the k-th pass of each kind the k-th microbatch: every dependency still holds.)
//
// Times follow execution.h: a pass starts when its device is free and its input has arrived; a link
// is occupied for `transfer` in the order of sending, and the input arrives `latency` later.
// Memory: F allocates `held`, of which `kept` remains after B until the end of W. Checked in:
// order_problem_test.cc (equal to execute()). O(passes), thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schedule/pipeline.h"
#include "schedule/pipeline_times.h"
#include "schedule/placement.h"

namespace orrery {

enum class PassKind : std::uint8_t { forward, input_gradient, weight_gradient };

struct OrderedPass {
  PassKind kind = PassKind::forward;
  std::uint8_t chunk = 0;
  auto operator<=>(const OrderedPass&) const = default;
};

using PassOrders = std::vector<std::vector<OrderedPass>>;  // by device

struct OrderProblem {
  PipelineShape shape;
  std::vector<int> device, chunk;         // by virtual stage
  std::vector<int> stage;                 // [device * chunks + chunk]
  std::vector<double> time[3];            // by kind and virtual stage, in picoseconds
  std::vector<double> transfer, latency;  // between virtual stage s and s + 1
  double turn = 0;                        // from F of the last virtual stage to its B
  std::vector<double> held, kept;         // by virtual stage
  std::vector<double> limit;              // by device; held memory may not exceed it

  [[nodiscard]] int stages() const { return shape.devices * shape.chunks; }
  [[nodiscard]] int stage_of(int d, int c) const {
    return stage[static_cast<std::size_t>(d) * static_cast<std::size_t>(shape.chunks) +
                 static_cast<std::size_t>(c)];
  }
  // The change of its device's memory when a pass ends (F: when it begins).
  [[nodiscard]] double change(int s, PassKind kind) const {
    const auto i = static_cast<std::size_t>(s);
    return kind == PassKind::forward          ? held[i]
           : kind == PassKind::input_gradient ? kept[i] - held[i]
                                              : -kept[i];
  }
};

using VirtualStage = int (*)(const PipelineShape&, int device, int chunk);

// `limit` for every device.
OrderProblem order_problem(const PipelineShape& shape, VirtualStage virtual_stage,
                           const PipelineTimes& times, double limit);

struct PassTimes {
  bool complete = false;  // false: the order deadlocks
  double makespan = 0;
  double span = 0;                         // longest from a device's first start to its last end
  std::vector<std::vector<double>> start;  // by device and index in its order
};

// Times many orders of one problem without allocating.
class PassClock {
 public:
  explicit PassClock(const OrderProblem& problem);

  const PassTimes& run(const PassOrders& orders);

 private:
  void advance(int d, const std::vector<OrderedPass>& order);

  const OrderProblem& problem_;
  std::size_t microbatches_;
  PassTimes out_;
  std::vector<double> arrival_[2];  // [stage * microbatches + j], where it is needed next
  std::vector<int> done_;           // [(kind * stages) + stage]
  std::vector<std::size_t> next_;   // by device
  std::vector<double> free_, first_, link_[2];
  std::vector<int> blocked_on_;  // by device: kind * stages + stage of its next pass; -1: none
  std::vector<int> runnable_;
};

double peak_memory(const OrderProblem& problem, int device, const std::vector<OrderedPass>& order);

// The shortest text of the number: "7.5".
std::string memory_text(double memory);

// The passes numbered by microbatch.
Pipeline to_pipeline(const OrderProblem& problem, VirtualStage virtual_stage,
                     const PassOrders& orders);

}  // namespace orrery
