// The heuristic of ZB-V: the order depends on the times. One run of it:
//   1. The first microbatch goes down and up again. On the way up, every device fills its wait with
//      more forwards of chunk 0, which all devices above it run too.
//   2. Forwards of the two chunks in turn equalize the warm-up counts of neighbours.
//   3. 2 m rounds: one B and one F on every device that has one, chunk 1 first if its input exists.
//      W run before them while memory is short and as long as they fit into the wait, and one more
//      if the wait would make this device the one with the largest bubble.
//   4. The remaining W.
// It runs with and without that additional W before B of chunk 0 and before F, and again with the
// resulting bubbles as limits, as long as the largest shrinks. The shortest span is kept (among
// equals the shortest makespan).
//
// Source: arXiv 2401.10241. Not modelled: contention of transfers while choosing
// (they count as latency there; execute() has it). Cost: 4 to about 20 passes of O(p m).
#include "schedule/zb_v_orders.h"

#include <algorithm>

namespace orrery {
namespace {

constexpr double kNotYet = -1;

class Heuristic {
 public:
  struct Settings {
    bool fill_before_forward = false;
    bool fill_before_backward = false;
    std::vector<double> allowed;  // bubble by device; empty: none known
  };

  Heuristic(const OrderProblem& problem, const Settings& settings)
      : problem_(problem),
        settings_(settings),
        p_(problem.devices()),
        m_(problem.shape.microbatches),
        devices_(p_),
        largest_allowed_(settings.allowed.empty() ? 0
                                                  : *std::ranges::max_element(settings.allowed)) {
    for (Device& d : devices_) {
      for (auto& kind : d.end) {
        for (auto& chunk : kind) chunk.assign(problem.microbatches(), kNotYet);
      }
    }
  }

  // False: this memory is too small for it.
  bool run() {
    first_microbatch();
    even_warm_up();
    for (int round = 0; round < 2 * m_ && possible_; ++round) {
      backwards();
      forwards();
    }
    for (std::size_t i = 0; i < p_; ++i) {
      while (possible_ && pending(i)) put_weight(i);
      possible_ &= devices_[i].order.size() == 6 * problem_.microbatches();
    }
    return possible_;
  }

  [[nodiscard]] PassOrders orders() const {
    PassOrders out;
    for (const Device& d : devices_) out.push_back(d.order);
    return out;
  }
  [[nodiscard]] std::vector<double> bubbles() const {
    std::vector<double> out;
    for (const Device& d : devices_) out.push_back(d.bubble);
    return out;
  }

 private:
  struct Device {
    int count[3][2] = {};           // by kind and chunk
    std::vector<double> end[2][2];  // of F and B, by chunk and microbatch
    double now = 0, memory = 0, bubble = 0;
    std::size_t weights_done = 0;
    std::vector<std::uint8_t> weights;  // chunk of every W in the order of their B
    std::vector<OrderedPass> order;
  };

  bool pending(std::size_t i) { return devices_[i].weights_done < devices_[i].weights.size(); }
  [[nodiscard]] double time(std::size_t i, PassKind kind, std::size_t chunk) const {
    return problem_.time[static_cast<std::size_t>(kind)][problem_.stage_of(i, chunk)];
  }
  [[nodiscard]] double change(std::size_t i, PassKind kind, std::size_t chunk) const {
    return problem_.change(problem_.stage_of(i, chunk), kind);
  }
  [[nodiscard]] bool fits(std::size_t i, double more) const {
    return devices_[i].memory + more <= problem_.limit[i] * (1 + 1e-12);
  }
  // Leg 0 goes down the devices, leg 1 comes back up; a backward begins where its forward ended.
  static std::size_t chunk_of(PassKind kind, std::size_t leg) {
    return kind == PassKind::forward ? leg : 1 - leg;
  }
  // When the input of the next F or B of this leg is here; kNever if that is not known yet or it
  // comes from no other device.
  double arrival(std::size_t i, PassKind kind, std::size_t leg) {
    const int j = devices_[i].count[static_cast<std::size_t>(kind)][leg];
    if ((leg == 0 ? i == 0 : i + 1 == p_) || j >= m_) return kNotYet;
    const std::size_t from = leg == 0 ? i - 1 : i + 1;
    const double end = end_of(from, kind, leg, j);
    return end < 0 ? kNotYet : end + problem_.hop(std::min(i, from));
  }
  double end_of(std::size_t i, PassKind kind, std::size_t leg, int j) {
    return devices_[i].end[static_cast<std::size_t>(kind)][leg][static_cast<std::size_t>(j)];
  }

  void put(std::size_t i, PassKind kind, std::size_t leg) {
    Device& d = devices_[i];
    const auto k = static_cast<std::size_t>(kind);
    const std::size_t chunk = chunk_of(kind, leg);
    const int j = d.count[k][leg];
    if (!possible_ || j >= m_ || !fits(i, change(i, kind, chunk))) {
      possible_ = false;
      return;
    }
    double start = d.now;
    if (kind != PassKind::weight_gradient) {
      if (leg == 0 ? i > 0 : i + 1 < p_) {
        const double here = arrival(i, kind, leg);
        possible_ &= here != kNotYet;
        start = std::max(start, here);
      }
      // The legs of one microbatch on one device: F down, F up, B down, B up.
      if (kind == PassKind::input_gradient || leg == 1) {
        const double before = leg == 1 ? end_of(i, kind, 0, j) : end_of(i, PassKind::forward, 1, j);
        possible_ &= before != kNotYet;
        start = std::max(start, before);
      }
    }
    if (!d.order.empty()) d.bubble += start - d.now;
    d.now = start + time(i, kind, chunk);
    d.memory += change(i, kind, chunk);
    if (kind != PassKind::weight_gradient) d.end[k][leg][static_cast<std::size_t>(j)] = d.now;
    if (kind == PassKind::input_gradient) d.weights.push_back(static_cast<std::uint8_t>(leg));
    ++d.count[k][leg];
    d.order.push_back({kind, static_cast<std::uint8_t>(chunk)});
  }
  void put_weight(std::size_t i) {
    put(i, PassKind::weight_gradient, devices_[i].weights[devices_[i].weights_done]);
    ++devices_[i].weights_done;
  }
  [[nodiscard]] double next_weight_time(std::size_t i) {
    return time(i, PassKind::weight_gradient,
                chunk_of(PassKind::weight_gradient, devices_[i].weights[devices_[i].weights_done]));
  }

  void first_microbatch() {
    for (std::size_t i = 0; i < p_; ++i) put(i, PassKind::forward, 0);
    for (std::size_t i = p_; i-- > 0 && possible_;) {
      if (i + 1 < p_) {
        const double back = arrival(i, PassKind::forward, 1);
        // Two more for the microbatch itself, two a device above.
        while (possible_ && devices_[i].count[0][0] < m_ &&
               fits(i, change(i, PassKind::forward, 0) * static_cast<double>(2 + 2 * i)) &&
               devices_[i].now + time(i, PassKind::forward, 0) <= back) {
          for (std::size_t above = 0; above <= i; ++above) put(above, PassKind::forward, 0);
        }
      }
      put(i, PassKind::forward, 1);
    }
  }

  void even_warm_up() {
    std::size_t leg = 0;
    for (std::size_t i = 1; i < p_; ++i) {
      const auto behind = [&] {
        const auto& own = devices_[i].count[0];
        const auto& before = devices_[i - 1].count[0];
        return own[0] + own[1] < before[0] + before[1] || (own[1] <= before[1] && before[1] < m_);
      };
      while (possible_ && behind()) {
        for (std::size_t j = p_; j-- > i;) {
          if (devices_[j].count[0][leg] < m_) put(j, PassKind::forward, leg);
        }
        leg = 1 - leg;
      }
    }
  }

  // W that fit before the input arrives, and one more if waiting would make this device the worst.
  void fill(std::size_t i, double arrives, bool one_more) {
    if (arrives == kNotYet) return;
    while (possible_ && pending(i) && arrives >= devices_[i].now + next_weight_time(i))
      put_weight(i);
    if (possible_ && pending(i) && one_more &&
        arrives - devices_[i].now > largest_bubble(i) - devices_[i].bubble) {
      put_weight(i);
    }
  }

  double largest_bubble(std::size_t i) {
    double out = 0;
    for (const Device& d : devices_) out = std::max(out, d.bubble);
    if (!settings_.allowed.empty()) out = std::max(out, largest_allowed_ - settings_.allowed[i]);
    return out;
  }

  // The leg whose B is next on this device.
  std::size_t backward_leg(std::size_t i) {
    const auto& done = devices_[i].count[1];
    if (done[1] >= done[0]) return 0;
    if (i + 1 == p_ || done[0] >= m_) return 1;
    return arrival(i, PassKind::input_gradient, 1) != kNotYet ? 1 : 0;
  }

  void backwards() {
    std::vector<std::size_t> legs;
    for (std::size_t i = 0; i < p_; ++i) legs.push_back(backward_leg(i));
    const auto one = [&](std::size_t i, std::size_t leg) {
      if (!possible_ || legs[i] != leg) return;
      make_room(i, PassKind::input_gradient, leg);
      fill(i, arrival(i, PassKind::input_gradient, leg),
           leg == 1 || settings_.fill_before_backward);
      put(i, PassKind::input_gradient, leg);
    };
    for (std::size_t i = p_; i-- > 0;) one(i, 1);
    for (std::size_t i = 0; i < p_; ++i) one(i, 0);
  }

  void make_room(std::size_t i, PassKind kind, std::size_t leg) {
    while (possible_ && pending(i) && !fits(i, change(i, kind, chunk_of(kind, leg)))) put_weight(i);
  }

  void forwards() {
    for (std::size_t i = 0; i < p_ && possible_; ++i) {
      const auto& done = devices_[i].count[0];
      if (done[1] >= m_) continue;
      const bool comes_back = i + 1 == p_ || arrival(i, PassKind::forward, 1) != kNotYet;
      const bool comes_down =
          done[0] < m_ && (i == 0 || arrival(i, PassKind::forward, 0) != kNotYet);
      const bool back = done[1] < done[0] && comes_back;
      if (!back && done[1] < done[0] && !comes_down) continue;
      const std::size_t leg = back ? 1 : 0;
      make_room(i, PassKind::forward, leg);
      fill(i, arrival(i, PassKind::forward, leg), settings_.fill_before_forward);
      put(i, PassKind::forward, leg);
    }
  }

  const OrderProblem& problem_;
  const Settings& settings_;
  std::size_t p_;
  int m_;
  std::vector<Device> devices_;
  double largest_allowed_;
  bool possible_ = true;
};

}  // namespace

PassOrders zb_v_orders(const OrderProblem& problem) {
  BestOrders best(problem, Shortest::span);
  for (const bool forward : {true, false}) {
    for (const bool backward : {true, false}) {
      Heuristic::Settings settings{forward, backward, {}};
      double largest = std::numeric_limits<double>::infinity();
      while (true) {
        Heuristic heuristic(problem, settings);
        if (!heuristic.run()) break;
        best.consider(heuristic.orders());
        settings.allowed = heuristic.bubbles();
        const double now = *std::ranges::max_element(settings.allowed);
        if (now >= largest) break;
        largest = now;
      }
    }
  }
  return best.orders();
}

}  // namespace orrery
