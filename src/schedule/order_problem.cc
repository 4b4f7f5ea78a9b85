#include "schedule/order_problem.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace orrery {

OrderProblem order_problem(const PipelineShape& shape, VirtualStage virtual_stage,
                           const PipelineTimes& times, double limit) {
  OrderProblem out;
  out.shape = shape;
  const auto stages = static_cast<std::size_t>(shape.virtual_stages());
  out.device.resize(stages);
  out.chunk.resize(stages);
  out.stage.resize(stages);
  for (int d = 0; d < shape.devices; ++d) {
    for (int c = 0; c < shape.chunks; ++c) {
      const int s = virtual_stage(shape, d, c);
      out.device[static_cast<std::size_t>(s)] = d;
      out.chunk[static_cast<std::size_t>(s)] = c;
      out.stage[static_cast<std::size_t>(d) * static_cast<std::size_t>(shape.chunks) +
                static_cast<std::size_t>(c)] = s;
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
    const auto a = static_cast<std::size_t>(out.device[s]);
    const auto b = static_cast<std::size_t>(out.device[s + 1]);
    out.transfer.push_back(times.transfer_between(a, b).count());
    out.latency.push_back(times.latency_between(a, b).count());
  }
  out.limit.assign(static_cast<std::size_t>(shape.devices), limit);
  return out;
}

PassClock::PassClock(const OrderProblem& problem)
    : problem_(problem), microbatches_(static_cast<std::size_t>(problem.shape.microbatches)) {
  const auto stages = static_cast<std::size_t>(problem.stages());
  const auto devices = static_cast<std::size_t>(problem.shape.devices);
  for (auto& a : arrival_) a.resize(stages * microbatches_);
  done_.resize(3 * stages);
  next_.resize(devices);
  free_.resize(devices);
  first_.resize(devices);
  for (auto& l : link_) l.resize(devices);
  blocked_on_.resize(devices);
  out_.start.resize(devices);
}

const PassTimes& PassClock::run(const PassOrders& orders) {
  std::fill(done_.begin(), done_.end(), 0);
  std::fill(next_.begin(), next_.end(), 0);
  std::fill(free_.begin(), free_.end(), 0);
  for (auto& l : link_) std::fill(l.begin(), l.end(), 0);
  std::fill(blocked_on_.begin(), blocked_on_.end(), -1);
  runnable_.clear();
  for (int d = problem_.shape.devices; d-- > 0;) {
    runnable_.push_back(d);
    out_.start[static_cast<std::size_t>(d)].resize(orders[static_cast<std::size_t>(d)].size());
  }
  while (!runnable_.empty()) {
    const int d = runnable_.back();
    runnable_.pop_back();
    advance(d, orders[static_cast<std::size_t>(d)]);
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

void PassClock::advance(int device, const std::vector<OrderedPass>& order) {
  const auto d = static_cast<std::size_t>(device);
  const int stages = problem_.stages();
  const auto done = [&](PassKind kind, int s) -> int& {
    return done_[static_cast<std::size_t>(kind) * static_cast<std::size_t>(stages) +
                 static_cast<std::size_t>(s)];
  };
  const auto arrival = [&](std::size_t kind, int s, int j) -> double& {
    return arrival_[kind]
                   [static_cast<std::size_t>(s) * microbatches_ + static_cast<std::size_t>(j)];
  };
  // What device waits for is marked by the event's producer stage, so that it is woken there.
  const auto wake = [&](PassKind kind, int s, int to) {
    const auto t = static_cast<std::size_t>(to);
    if (blocked_on_[t] != static_cast<int>(kind) * stages + s) return;
    blocked_on_[t] = -1;
    runnable_.push_back(to);
  };
  for (; next_[d] < order.size(); ++next_[d]) {
    const OrderedPass pass = order[next_[d]];
    const int s = problem_.stage_of(device, pass.chunk);
    const auto i = static_cast<std::size_t>(s);
    const int j = done(pass.kind, s);
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
    const double end = start + problem_.time[static_cast<std::size_t>(pass.kind)][i];
    free_[d] = end;
    ++done(pass.kind, s);
    if (pass.kind == PassKind::weight_gradient) continue;
    const bool up = pass.kind == PassKind::forward;
    const std::size_t kind = up ? 0 : 1;
    if (up && s + 1 == stages) arrival(0, s, j) = end + problem_.turn;
    if (up ? s + 1 == stages : s == 0) continue;
    const std::size_t boundary = up ? i : i - 1;
    const int to = problem_.device[up ? i + 1 : i - 1];
    double arrived = end;
    if (to != device) {
      if (problem_.transfer[boundary] > 0) {
        double& link = link_[kind][d];
        link = std::max(link, end) + problem_.transfer[boundary];
        arrived = link;
      }
      arrived += problem_.latency[boundary];
    }
    arrival(kind, s, j) = arrived;
    if (to != device) wake(pass.kind, s, to);
  }
}

double peak_memory(const OrderProblem& problem, int device, const std::vector<OrderedPass>& order) {
  double held = 0;
  double peak = 0;
  for (const OrderedPass pass : order) {
    held += problem.change(problem.stage_of(device, pass.chunk), pass.kind);
    peak = std::max(peak, held);
  }
  return peak;
}

std::string memory_text(double memory) {
  std::array<char, 32> out{};
  const auto end =
      std::to_chars(out.data(), out.data() + out.size(), memory, std::chars_format::general, 6);
  return {out.data(), end.ptr};
}

Pipeline to_pipeline(const OrderProblem& problem, VirtualStage virtual_stage,
                     const PassOrders& orders) {
  Pipeline out = placed(problem.shape, 1, virtual_stage);
  const auto chunks = static_cast<std::size_t>(problem.shape.chunks);
  for (std::size_t d = 0; d < orders.size(); ++d) {
    std::vector<std::uint32_t> count(3 * chunks);
    out.order[d].reserve(orders[d].size());
    for (const OrderedPass pass : orders[d]) {
      const PipelineAction action = pass.kind == PassKind::forward ? PipelineAction::forward
                                    : pass.kind == PassKind::input_gradient
                                        ? PipelineAction::input_gradient
                                        : PipelineAction::weight_gradient;
      out.order[d].push_back({action, pass.chunk,
                              count[static_cast<std::size_t>(pass.kind) * chunks + pass.chunk]++, 0,
                              0});
    }
  }
  return out;
}

}  // namespace orrery
