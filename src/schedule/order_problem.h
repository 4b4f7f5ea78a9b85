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

#include <algorithm>
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
  std::vector<std::uint32_t> device, chunk;  // by virtual stage
  std::vector<std::uint32_t> stage;          // [device * chunks + chunk]
  std::vector<double> time[3];               // by kind and virtual stage, in picoseconds
  std::vector<double> transfer, latency;     // between virtual stage s and s + 1
  double turn = 0;                           // from F of the last virtual stage to its B
  std::vector<double> held, kept;            // by virtual stage
  std::vector<double> limit;                 // by device; held memory may not exceed it

  [[nodiscard]] std::size_t devices() const { return limit.size(); }
  [[nodiscard]] std::size_t chunks() const { return static_cast<std::size_t>(shape.chunks); }
  [[nodiscard]] std::size_t stages() const { return device.size(); }
  [[nodiscard]] std::size_t microbatches() const {
    return static_cast<std::size_t>(shape.microbatches);
  }
  [[nodiscard]] std::int64_t passes() const {
    return std::int64_t{3} * shape.virtual_stages() * shape.microbatches;
  }
  [[nodiscard]] std::size_t stage_of(std::size_t d, std::size_t c) const {
    return stage[d * chunks() + c];
  }
  // The way from virtual stage s to the next or back, without waiting for the link.
  [[nodiscard]] double hop(std::size_t s) const {
    return s + 1 == stages() || device[s] == device[s + 1] ? 0 : transfer[s] + latency[s];
  }
  // When what is sent between virtual stage s and the next arrives; the link is busy until `link`.
  [[nodiscard]] double arrival(std::size_t s, double sent, double& link) const {
    if (device[s] == device[s + 1]) return sent;
    if (transfer[s] > 0) sent = link = std::max(link, sent) + transfer[s];
    return sent + latency[s];
  }
  // The change of its device's memory when a pass ends (F: when it begins).
  [[nodiscard]] double change(std::size_t s, PassKind kind) const {
    return kind == PassKind::forward          ? held[s]
           : kind == PassKind::input_gradient ? kept[s] - held[s]
                                              : -kept[s];
  }
  // What one microbatch holds on a device after its forwards.
  [[nodiscard]] double one_microbatch(std::size_t d) const {
    double out = 0;
    for (std::size_t c = 0; c < chunks(); ++c) out += held[stage_of(d, c)];
    return out;
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
  void advance(std::size_t d, const std::vector<OrderedPass>& order);

  const OrderProblem& problem_;
  PassTimes out_;
  std::vector<double> arrival_[2];   // [stage * microbatches + j], where it is needed next
  std::vector<std::uint32_t> done_;  // [(kind * stages) + stage]
  std::vector<std::size_t> next_;    // by device
  std::vector<double> free_, first_, link_[2];
  std::vector<std::size_t> blocked_on_;  // by device: kind * stages + stage of what it waits for
  std::vector<std::size_t> runnable_;
};

// visit(device, place in its order, pass, virtual stage, microbatch) for every pass.
template <class Visit>
void for_each_pass(const OrderProblem& problem, const PassOrders& orders, Visit visit) {
  std::vector<std::uint32_t> count(3 * problem.stages());
  for (std::size_t d = 0; d < orders.size(); ++d) {
    for (std::size_t i = 0; i < orders[d].size(); ++i) {
      const OrderedPass pass = orders[d][i];
      const std::size_t s = problem.stage_of(d, pass.chunk);
      visit(d, i, pass, s, count[static_cast<std::size_t>(pass.kind) * problem.stages() + s]++);
    }
  }
}

// The most memory that the device holds during its order.
double peak_memory(const OrderProblem& problem, std::size_t device,
                   const std::vector<OrderedPass>& order);
// Whether every device keeps its limit, but for rounding.
bool fits(const OrderProblem& problem, const PassOrders& orders);

// Keeps the best of the orders that it is shown, of those that are complete and within the limits:
// with the shortest makespan or span, and of equals with the shortest other one.
enum class Shortest : std::uint8_t { makespan, span };
class BestOrders {
 public:
  BestOrders(const OrderProblem& problem, Shortest first)
      : problem_(problem), first_(first), clock_(problem) {}

  void consider(PassOrders orders);
  [[nodiscard]] const PassOrders& orders() const { return orders_; }
  // Whether nothing better is possible where these are the least.
  [[nodiscard]] bool reaches(double makespan, double span) const {
    return !orders_.empty() && makespan_ <= makespan && span_ <= span;
  }

 private:
  const OrderProblem& problem_;
  Shortest first_;
  PassClock clock_;
  PassOrders orders_;
  double makespan_ = 0, span_ = 0;
};

// The shortest text of the number: "7.5".
std::string memory_text(double memory);

// The passes numbered by microbatch.
Pipeline to_pipeline(const OrderProblem& problem, VirtualStage virtual_stage,
                     const PassOrders& orders);

}  // namespace orrery
