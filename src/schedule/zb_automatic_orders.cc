// The automatic scheduler of zero-bubble pipelines.
//
//   1. Warm-up. F of the first microbatch on all devices. From the last device to the first, as
//      many more F as memory allows and as fit before the first gradient arrives (optionally one
//      more, which does not fit), on every device fewer than on the previous one. Then the first B
//      on all.
//   2. A round for every further microbatch: first F, on each device whose successor has one too;
//      then B from the last device to the first. Before either, W run while memory is short and
//      as long as they fit into the wait, and one more if the device would otherwise wait longest
//      of all (or always, if greedy). A device that is two F ahead of its successor may skip one if
//      its gradient then arrives sooner.
//   3. The remaining W.
//
// The three choices (overrun, skip, greedy) make eight orders; the one with the shortest span is
// kept, among equals the one with the shortest makespan. Source: arXiv 2401.10241, which refines
// the order with an integer program; synthesis/ does that here. Not modelled while choosing:
// contention of transfers. Cost: 8 x O(p m).
#include "schedule/zb_automatic_orders.h"

#include <algorithm>

namespace orrery {
namespace {

struct Choices {
  bool overrun = false, leave_out = false, greedy = false;
};

class Scheduler {
 public:
  Scheduler(const OrderProblem& problem, const Choices& choices)
      : problem_(problem),
        choices_(choices),
        devices_(problem.devices()),
        p_(problem.devices()),
        m_(problem.shape.microbatches) {
    for (Device& d : devices_) {
      for (auto& end : d.end) end.reserve(static_cast<std::size_t>(m_));
    }
  }

  PassOrders run() {
    warm_up();
    while (possible_ && devices_[0].count[1] < m_) round();
    PassOrders out;
    for (std::size_t i = 0; i < p_ && possible_; ++i) {
      while (possible_ && pending(i)) put(i, kW);
      out.push_back(devices_[i].order);
    }
    return possible_ ? out : PassOrders();
  }

 private:
  static constexpr PassKind kF = PassKind::forward;
  static constexpr PassKind kB = PassKind::input_gradient;
  static constexpr PassKind kW = PassKind::weight_gradient;

  struct Device {
    int count[3] = {0, 0, 0};
    std::vector<double> end[2];
    double now = 0, memory = 0, bubble = 0;
    std::vector<OrderedPass> order;
  };

  [[nodiscard]] bool pending(std::size_t i) const {
    return devices_[i].count[2] < devices_[i].count[1];
  }
  [[nodiscard]] double time(std::size_t i, PassKind kind) const {
    return problem_.time[static_cast<std::size_t>(kind)][i];
  }
  [[nodiscard]] double hop(std::size_t boundary) const { return problem_.hop(boundary); }
  [[nodiscard]] bool fits(std::size_t i, PassKind kind, double more = 0) const {
    return devices_[i].memory + more + problem_.change(i, kind) <= problem_.limit[i] * (1 + 1e-12);
  }
  // When the input of the next F or B is here.
  double arrival(std::size_t i, PassKind kind) {
    const auto j = static_cast<std::size_t>(devices_[i].count[static_cast<std::size_t>(kind)]);
    if (kind == kF) return i == 0 ? 0 : devices_[i - 1].end[0][j] + hop(i - 1);
    const double own = devices_[i].end[0][j];
    return i + 1 == p_ ? own : std::max(own, devices_[i + 1].end[1][j] + hop(i));
  }

  void put(std::size_t i, PassKind kind) {
    Device& d = devices_[i];
    const auto k = static_cast<std::size_t>(kind);
    possible_ &= fits(i, kind);
    const double start = kind == kW ? d.now : std::max(d.now, arrival(i, kind));
    if (!d.order.empty()) d.bubble += start - d.now;
    d.now = start + time(i, kind);
    if (kind != kW) d.end[k].push_back(d.now);
    d.memory += problem_.change(i, kind);
    ++d.count[k];
    d.order.push_back({kind, 0});
  }

  void warm_up() {
    for (std::size_t i = 0; i < p_; ++i) put(i, kF);
    // More forwards of each device, on its own clock.
    std::vector<int> more(devices_.size());
    double gradient = 0;  // end of the first B on the device after
    for (std::size_t i = p_; i-- > 0;) {
      int& n = more[i];
      double now = devices_[i].now;
      if (i + 1 < p_) {
        const double comes = gradient + hop(i);
        const double f = time(i, kF);
        while (n + 1 < m_ && fits(i, kF, n * problem_.held[i]) &&
               (choices_.overrun ? now < comes : now + f <= comes)) {
          now += f;
          ++n;
        }
        now = std::max(now, comes);
      }
      gradient = now + time(i, kB);
    }
    // Every device has more than the next, or its successor takes fewer.
    for (std::size_t i = 1; i < p_; ++i) more[i] = std::max(0, std::min(more[i], more[i - 1] - 1));
    for (std::size_t i = 0; i < p_; ++i) {
      for (int n = more[i]; n > 0; --n) put(i, kF);
    }
    for (std::size_t i = p_; i-- > 0;) put(i, kB);
  }

  double largest_bubble() {
    double out = 0;
    for (const Device& d : devices_) out = std::max(out, d.bubble);
    return out;
  }

  void fill(std::size_t i, PassKind kind) {
    while (possible_ && pending(i) && !fits(i, kind)) put(i, kW);
    if (!possible_) return;
    const double comes = arrival(i, kind);
    while (pending(i) && devices_[i].now + time(i, kW) <= comes) put(i, kW);
    const double gap = comes - devices_[i].now;
    if (pending(i) && gap > 0 && (choices_.greedy || gap > largest_bubble() - devices_[i].bubble)) {
      put(i, kW);
    }
  }

  // Whether device i leaves out its F for the gradient that comes from its successor.
  bool leaves_out(std::size_t i) {
    Device& d = devices_[i];
    if (!choices_.leave_out || i + 1 >= p_ || d.count[0] < devices_[i + 1].count[0] + 2)
      return false;
    if (d.count[1] >= d.count[0]) return false;
    Device& next = devices_[i + 1];
    const double comes =
        next.now + (next.count[0] < m_ ? time(i + 1, kF) : 0) + time(i + 1, kB) + hop(i);
    double done = d.now + time(i, kF);
    double memory = 0;
    for (int w = d.count[2]; w < d.count[1] && !fits(i, kF, memory); ++w) {
      done += time(i, kW);
      memory += problem_.change(i, kW);
    }
    if (done <= comes) return false;
    // What of the wait no W would fill.
    const double weights = (d.count[1] - d.count[2]) * time(i, kW);
    return comes - d.now - weights <= largest_bubble() - d.bubble;
  }

  void round() {
    std::vector<char> forward(devices_.size());
    for (std::size_t i = p_; i-- > 0;) {
      const bool behind = i + 1 == p_ || forward[i + 1] != 0 || devices_[i + 1].count[0] >= m_;
      forward[i] = devices_[i].count[0] < m_ && behind && !leaves_out(i) ? 1 : 0;
    }
    for (std::size_t i = 0; i < p_ && possible_; ++i) {
      if (forward[i] == 0) continue;
      if (i > 0 && devices_[i - 1].count[0] <= devices_[i].count[0]) continue;
      fill(i, kF);
      if (possible_) put(i, kF);
    }
    for (std::size_t i = p_; i-- > 0 && possible_;) {
      if (devices_[i].count[1] >= m_) continue;
      if (devices_[i].count[1] >= devices_[i].count[0]) {
        possible_ = false;
        return;
      }
      fill(i, kB);
      if (possible_) put(i, kB);
    }
  }

  const OrderProblem& problem_;
  Choices choices_;
  std::vector<Device> devices_;
  std::size_t p_;
  int m_;
  bool possible_ = true;
};

}  // namespace

PassOrders zb_automatic_orders(const OrderProblem& problem) {
  BestOrders best(problem, Shortest::span);
  for (int choice = 0; choice < 8; ++choice) {
    best.consider(
        Scheduler(problem, {(choice & 1) != 0, (choice & 2) != 0, (choice & 4) != 0}).run());
  }
  return best.orders();
}

}  // namespace orrery
