#include "schedule/order_problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace orrery {
namespace {

constexpr std::size_t kNothing = std::numeric_limits<std::size_t>::max();

}  // namespace

OrderProblem order_problem(const PipelineShape& shape, VirtualStage virtual_stage,
                           const PipelineTimes& times, double limit) {
  OrderProblem out;
  out.shape = shape;
  const auto stages = static_cast<std::size_t>(shape.virtual_stages());
  out.device.resize(stages);
  out.chunk.resize(stages);
  for (int d = 0; d < shape.devices; ++d) {
    for (int c = 0; c < shape.chunks; ++c) {
      const auto s = static_cast<std::uint32_t>(virtual_stage(shape, d, c));
      out.device[s] = static_cast<std::uint32_t>(d);
      out.chunk[s] = static_cast<std::uint32_t>(c);
      out.stage.push_back(s);
    }
  }
  for (std::size_t s = 0; s < stages; ++s) {
    out.time[0].push_back(times.stage[s].forward.count());
    out.time[1].push_back(times.stage[s].input_gradient.count());
    out.time[2].push_back(times.stage[s].weight_gradient.count());
    // Recomputation can make W keep more than F: the larger counts from the start, so that B never
    // needs memory that is not there.
    out.held.push_back(std::max(times.memory_of(s).forward, times.memory_of(s).weight_gradient));
    out.kept.push_back(times.memory_of(s).weight_gradient);
    if (s + 1 == stages) continue;
    out.transfer.push_back(times.transfer_between(out.device[s], out.device[s + 1]).count());
    out.latency.push_back(times.latency_between(out.device[s], out.device[s + 1]).count());
  }
  out.limit.assign(static_cast<std::size_t>(shape.devices), limit);
  return out;
}

PassClock::PassClock(const OrderProblem& problem) : problem_(problem) {
  for (auto& a : arrival_) a.resize(problem.stages() * problem.microbatches());
  done_.resize(3 * problem.stages());
  next_.resize(problem.devices());
  free_.resize(problem.devices());
  first_.resize(problem.devices());
  for (auto& l : link_) l.resize(problem.devices());
  blocked_on_.resize(problem.devices());
  out_.start.resize(problem.devices());
}

const PassTimes& PassClock::run(const PassOrders& orders) {
  std::ranges::fill(done_, 0);
  std::ranges::fill(next_, 0);
  std::ranges::fill(free_, 0);
  for (auto& l : link_) std::ranges::fill(l, 0);
  std::ranges::fill(blocked_on_, kNothing);
  runnable_.clear();
  for (std::size_t d = problem_.devices(); d-- > 0;) {
    runnable_.push_back(d);
    out_.start[d].resize(orders[d].size());
  }
  while (!runnable_.empty()) {
    const std::size_t d = runnable_.back();
    runnable_.pop_back();
    advance(d, orders[d]);
  }
  out_.complete = true;
  out_.makespan = out_.span = 0;
  for (std::size_t d = 0; d < orders.size(); ++d) {
    if (next_[d] < orders[d].size()) {
      out_.complete = false;
      return out_;
    }
    out_.makespan = std::max(out_.makespan, free_[d]);
    out_.span = std::max(out_.span, free_[d] - first_[d]);
  }
  return out_;
}

void PassClock::advance(std::size_t d, const std::vector<OrderedPass>& order) {
  const std::size_t stages = problem_.stages();
  const auto done = [&](PassKind kind, std::size_t s) -> std::uint32_t& {
    return done_[static_cast<std::size_t>(kind) * stages + s];
  };
  const auto arrival = [&](std::size_t kind, std::size_t s, std::size_t j) -> double& {
    return arrival_[kind][s * problem_.microbatches() + j];
  };
  // What device waits for is marked by the event's producer stage, so that it is woken there.
  const auto wake = [&](PassKind kind, std::size_t s, std::size_t to) {
    if (blocked_on_[to] != static_cast<std::size_t>(kind) * stages + s) return;
    blocked_on_[to] = kNothing;
    runnable_.push_back(to);
  };
  for (; next_[d] < order.size(); ++next_[d]) {
    const OrderedPass pass = order[next_[d]];
    const std::size_t s = problem_.stage_of(d, pass.chunk);
    const std::size_t j = done(pass.kind, s);
    double start = free_[d];
    if (pass.kind == PassKind::forward) {
      if (s > 0) {
        if (done(PassKind::forward, s - 1) <= j) {
          blocked_on_[d] = s - 1;
          return;
        }
        start = std::max(start, arrival(0, s - 1, j));
      }
    } else if (pass.kind == PassKind::input_gradient) {
      // Its own forward is on this device: if it is not done, it stands later in the order.
      if (done(PassKind::forward, s) <= j) return;
      if (s + 1 < stages) {
        if (done(PassKind::input_gradient, s + 1) <= j) {
          blocked_on_[d] = stages + s + 1;
          return;
        }
        start = std::max(start, arrival(1, s + 1, j));
      } else {
        start = std::max(start, arrival(0, s, j));
      }
    } else if (done(PassKind::input_gradient, s) <= j) {
      return;
    }
    if (next_[d] == 0) first_[d] = start;
    out_.start[d][next_[d]] = start;
    const double end = start + problem_.time[static_cast<std::size_t>(pass.kind)][s];
    free_[d] = end;
    ++done(pass.kind, s);
    if (pass.kind == PassKind::weight_gradient) continue;
    const bool up = pass.kind == PassKind::forward;
    const std::size_t kind = up ? 0 : 1;
    if (up && s + 1 == stages) arrival(0, s, j) = end + problem_.turn;
    if (up ? s + 1 == stages : s == 0) continue;
    const std::size_t boundary = up ? s : s - 1;
    const std::size_t to = problem_.device[up ? s + 1 : s - 1];
    arrival(kind, s, j) = problem_.arrival(boundary, end, link_[kind][d]);
    if (to != d) wake(pass.kind, s, to);
  }
}

double peak_memory(const OrderProblem& problem, std::size_t device,
                   const std::vector<OrderedPass>& order) {
  double held = 0;
  double peak = 0;
  for (const OrderedPass pass : order) {
    held += problem.change(problem.stage_of(device, pass.chunk), pass.kind);
    peak = std::max(peak, held);
  }
  return peak;
}

bool fits(const OrderProblem& problem, const PassOrders& orders) {
  for (std::size_t d = 0; d < orders.size(); ++d) {
    if (peak_memory(problem, d, orders[d]) > problem.limit[d] * (1 + 1e-12)) return false;
  }
  return true;
}

void BestOrders::consider(PassOrders orders) {
  if (orders.empty()) return;
  const PassTimes& t = clock_.run(orders);
  if (!t.complete) return;
  const auto key = [&](double makespan, double span) {
    return first_ == Shortest::makespan ? std::pair(makespan, span) : std::pair(span, makespan);
  };
  if (!orders_.empty() && key(t.makespan, t.span) >= key(makespan_, span_)) return;
  if (!fits(problem_, orders)) return;
  makespan_ = t.makespan;
  span_ = t.span;
  orders_ = std::move(orders);
}

std::string memory_text(double memory) { return fmt::format("{:.6g}", memory); }

Pipeline to_pipeline(const OrderProblem& problem, VirtualStage virtual_stage,
                     const PassOrders& orders) {
  static constexpr std::array kActions = {PipelineAction::forward, PipelineAction::input_gradient,
                                          PipelineAction::weight_gradient};
  Pipeline out = placed(problem.shape, 1, virtual_stage);
  for (std::size_t d = 0; d < orders.size(); ++d) out.order[d].reserve(orders[d].size());
  for_each_pass(
      problem, orders,
      [&](std::size_t d, std::size_t, OrderedPass pass, std::size_t, std::uint32_t j) {
        out.order[d].push_back({kActions[static_cast<std::size_t>(pass.kind)], pass.chunk, j});
      });
  return out;
}

}  // namespace orrery
