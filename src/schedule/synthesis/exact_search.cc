#include "schedule/synthesis/exact_search.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "schedule/synthesis/lower_bound.h"

namespace orrery {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kSeen = std::size_t{1} << 21U;

enum class Answer { yes, no, unknown };

class Question {
 public:
  Question(const OrderProblem& problem, const ExactOptions& options)
      : problem_(problem),
        options_(options),
        ways_(problem),
        m_(problem.shape.microbatches),
        stages_(problem.stages()) {
    for (std::size_t s = 0; s < stages_; ++s) hop_.push_back(problem.hop(s));
    for (std::size_t d = 0; d < problem.devices(); ++d) {
      const std::size_t first = problem.stage_of(d, 0);
      alike_.push_back(1);
      for (std::size_t c = 1; c < problem.chunks(); ++c) {
        const std::size_t s = problem.stage_of(d, c);
        if (problem.time[2][s] != problem.time[2][first] ||
            problem.kept[s] != problem.kept[first]) {
          alike_.back() = 0;
        }
      }
    }
    seen_.resize(kSeen);
    for (auto& a : arrival_) a.resize(stages_ * problem.microbatches());
    for (auto& c : count_) c.resize(stages_);
    for (auto& e : ends_) e.resize(stages_);
  }

  // Whether an order ends by `target`, within so many nodes.
  Answer ask(double target, std::int64_t budget) {
    target_ = target;
    budget_ = budget;
    nodes_ = 0;
    ++generation_;
    for (auto& c : count_) std::ranges::fill(c, 0);
    devices_.assign(problem_.devices(), {});
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      Device& device = devices_[d];
      double first = kInfinity;
      for (std::size_t c = 0; c < problem_.chunks(); ++c) {
        const std::size_t s = problem_.stage_of(d, c);
        first = std::min(first, ways_.head[s]);
        for (const auto& kind : problem_.time) device.work += m_ * kind[s];
        device.left += 3 * m_;
      }
      device.now = first;
    }
    found_ = false;
    const bool done = search();
    return found_ ? Answer::yes : done ? Answer::no : Answer::unknown;
  }

  [[nodiscard]] std::int64_t nodes() const { return nodes_; }
  [[nodiscard]] PassOrders orders() const {
    PassOrders out;
    for (const Device& d : devices_) out.push_back(d.order);
    return out;
  }

 private:
  // What undoing a pass restores.
  struct State {
    double now = 0;                   // when it decides next
    double memory = 0;                // held
    double work = 0;                  // still to do
    int left = 0;                     // passes still to do
    double before = kInfinity;        // a pass must start before this, or the wait was of no use
    double weight_start = kInfinity;  // of the weight gradient that was last, if one was
    double weight_memory = 0;         // what was held before it
  };
  struct Device : State {
    std::vector<OrderedPass> order;
  };
  struct Seen {
    std::uint64_t key = 0;
    float at = 0;
    std::uint32_t generation = 0;
  };

  int& count(std::size_t kind, std::size_t s) { return count_[kind][s]; }
  double& arrival(std::size_t kind, std::size_t s, int j) {
    return arrival_[kind][s * problem_.microbatches() + static_cast<std::size_t>(j)];
  }
  [[nodiscard]] double time(std::size_t kind, std::size_t s) const {
    return problem_.time[kind][s];
  }
  [[nodiscard]] double limit(std::size_t d) const { return problem_.limit[d] * (1 + 1e-12); }

  // When the next pass of this kind could start by its input; kInfinity: not known yet.
  double input(std::size_t kind, std::size_t s) {
    const int j = count(kind, s);
    if (j >= m_) return kInfinity;
    if (kind == 0) {
      if (s == 0) return 0;
      return count(0, s - 1) > j ? arrival(0, s - 1, j) : kInfinity;
    }
    if (kind == 2) return count(1, s) > j ? 0 : kInfinity;
    if (count(0, s) <= j) return kInfinity;
    if (s + 1 == stages_) return 0;
    return count(1, s + 1) > j ? arrival(1, s + 1, j) : kInfinity;
  }
  bool admits(std::size_t d, std::size_t s) {
    return devices_[d].memory + problem_.held[s] <= limit(d);
  }

  // True: everything below this node has been looked at (or an order was found).
  bool search() {
    if (++nodes_ > budget_) return false;
    if ((nodes_ & 0x3fff) == 0) {
      if (options_.stop && options_.stop()) budget_ = 0;
      if (budget_ == 0) return false;
    }
    std::size_t d = devices_.size();
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      if (devices_[i].left > 0 && (d == devices_.size() || devices_[i].now < devices_[d].now))
        d = i;
    }
    if (d == devices_.size()) {
      found_ = true;
      return true;
    }
    if (!may_end() || seen(d)) return true;
    return branch(d);
  }

  bool branch(std::size_t d) {
    const double now = devices_[d].now;
    const bool memory_matters = limit(d) != kInfinity;
    double fits_before = devices_[d].before;
    bool whole = true;
    bool weight_done = false;
    // Input gradients of the deepest stage first, then forwards, then weight gradients.
    for (const std::size_t kind : {1U, 0U, 2U}) {
      for (std::size_t c = problem_.chunks(); c-- > 0;) {
        const std::size_t s = problem_.stage_of(d, c);
        const double in = input(kind, s);
        if (in > now) continue;
        if (kind == 0 && !admits(d, s)) continue;
        if (kind != 0 || !memory_matters || problem_.chunks() == 1) {
          fits_before = std::min(fits_before, now + time(kind, s));
        }
        if (kind == 2) {
          if (weight_done && alike_[d] != 0) continue;
          weight_done = true;
        } else if (devices_[d].weight_start != kInfinity && in <= devices_[d].weight_start) {
          // It could have gone before the weight gradient.
          if (kind == 1 || devices_[d].weight_memory + problem_.held[s] <= limit(d)) continue;
        }
        if (now >= devices_[d].before) continue;
        whole &= start(d, kind, s, c);
        if (found_) return true;
        if (budget_ == 0 || nodes_ > budget_) return false;
      }
    }
    // Waiting until something may have come.
    double until = kInfinity;
    for (std::size_t c = 0; c < problem_.chunks(); ++c) {
      const std::size_t s = problem_.stage_of(d, c);
      for (const std::size_t kind : {0U, 1U}) {
        if (count(kind, s) >= m_) continue;
        const double in = input(kind, s);
        if (in != kInfinity) {
          if (in > now) until = std::min(until, in);
          continue;
        }
        // Not known: no sooner than its producer can do it.
        if (kind == 0 ? s == 0 : s + 1 == stages_) continue;
        const std::size_t from = kind == 0 ? s - 1 : s + 1;
        const std::size_t other = problem_.device[from];
        if (other == d) continue;
        until = std::min(until,
                         std::max(devices_[other].now + time(kind, from) + hop_[std::min(s, from)],
                                  now + time(kind, from)));
      }
    }
    if (until == kInfinity || until >= fits_before) return whole;
    const double fits_before_now = devices_[d].before;
    devices_[d].now = until;
    devices_[d].before = fits_before;
    whole &= search();
    if (found_) return true;
    devices_[d].now = now;
    devices_[d].before = fits_before_now;
    return whole;
  }

  bool start(std::size_t d, std::size_t kind, std::size_t s, std::size_t c) {
    Device& device = devices_[d];
    const State was = static_cast<const State&>(device);  // without its order
    const double now = device.now;
    const int j = count(kind, s)++;
    device.memory += problem_.change(s, static_cast<PassKind>(kind));
    device.work -= time(kind, s);
    --device.left;
    device.now = now + time(kind, s);
    device.before = kInfinity;
    device.weight_start = kind == 2 ? now : kInfinity;
    device.weight_memory = was.memory;
    device.order.push_back({static_cast<PassKind>(kind), static_cast<std::uint8_t>(c)});
    if (kind == 0 && s + 1 < stages_) arrival(0, s, j) = device.now + hop_[s];
    if (kind == 1 && s > 0) arrival(1, s, j) = device.now + hop_[s - 1];
    const bool whole = search();
    if (found_) return true;
    device.order.pop_back();
    static_cast<State&>(device) = was;
    --count(kind, s);
    return whole;
  }

  // Bounds of what is left, all before the target.
  bool may_end() {
    // Earliest end of the next F and B of every stage.
    double next_forward = 0;
    for (std::size_t s = 0; s < stages_; ++s) {
      const Device& device = devices_[problem_.device[s]];
      if (count(0, s) >= m_) {
        ends_[0][s] = kInfinity;
        next_forward = kInfinity;
        continue;
      }
      double in = input(0, s);
      if (in == kInfinity) in = next_forward + hop_[s - 1];
      next_forward = std::max(device.now, in) + time(0, s);
      ends_[0][s] = next_forward;
    }
    double next_gradient = 0;
    for (std::size_t s = stages_; s-- > 0;) {
      const Device& device = devices_[problem_.device[s]];
      if (count(1, s) >= m_) {
        ends_[1][s] = kInfinity;
        next_gradient = kInfinity;
        continue;
      }
      double in = input(1, s);
      if (in == kInfinity) {
        in = count(0, s) <= count(1, s) ? ends_[0][s] : 0;
        if (s + 1 < stages_ && count(1, s + 1) <= count(1, s)) {
          in = std::max(in, next_gradient + hop_[s]);
        }
      }
      next_gradient = std::max(device.now, in) + time(1, s);
      ends_[1][s] = next_gradient;
    }
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      if (devices_[d].left > 0 && !device_may_end(d)) return false;
    }
    return true;
  }

  bool device_may_end(std::size_t d) {
    const Device& device = devices_[d];
    // When it can begin its next pass.
    double begin = kInfinity;
    for (std::size_t c = 0; c < problem_.chunks(); ++c) {
      const std::size_t s = problem_.stage_of(d, c);
      if (count(2, s) < count(1, s)) begin = device.now;
      if (ends_[0][s] != kInfinity && admits(d, s))
        begin = std::min(begin, ends_[0][s] - time(0, s));
      if (ends_[1][s] != kInfinity) begin = std::min(begin, ends_[1][s] - time(1, s));
    }
    if (begin + device.work > target_) return false;
    double forwards = 0;
    for (std::size_t c = 0; c < problem_.chunks(); ++c) {
      const std::size_t s = problem_.stage_of(d, c);
      const double back = ways_.back[s];
      const int left = m_ - count(0, s);
      forwards += left * time(0, s);
      // The last F of this stage, its round trip, and the way back.
      if (left > 0 && begin + forwards + ways_.trip[s] - time(0, s) + back > target_) return false;
      if (left > 0 && !memory_may_end(d, s, begin)) return false;
      const int gradients = m_ - count(1, s);
      if (gradients == 0) continue;
      double before = forwards + gradients * time(1, s);
      for (std::size_t later = c + 1; later < problem_.chunks(); ++later) {
        const std::size_t t = problem_.stage_of(d, later);
        before += (m_ - count(0, t)) * time(0, t) + (m_ - count(1, t)) * time(1, t);
      }
      if (begin + before + back > target_) return false;
      if (ends_[1][s] + (gradients - 1) * time(1, s) + back > target_) return false;
    }
    return true;
  }

  // Forwards of a stage that must wait for gradients of those in flight.
  bool memory_may_end(std::size_t d, std::size_t s, double begin) {
    if (limit(d) == kInfinity || problem_.held[s] <= 0) return true;
    const auto most = static_cast<int>(std::floor(limit(d) / problem_.held[s]));
    const int in_flight = count(0, s) - count(1, s);
    const int waiting = m_ - count(0, s) - (most - in_flight);
    if (waiting <= 0) return true;
    const int rounds = (waiting + most - 1) / most;
    // The first of them begins after the next gradient of those in flight, or of those to come.
    const double released = in_flight > 0 ? ends_[1][s] : begin + ways_.trip[s];
    return released + rounds * ways_.trip[s] + ways_.back[s] <= target_;
  }

  bool seen(std::size_t first) {
    const double now = devices_[first].now;
    std::uint64_t key = 0x51ed270b7a2c9f3dULL;
    const auto mix = [&](std::uint64_t v) {
      key ^= v + 0x9e3779b97f4a7c15ULL + (key << 12U) + (key >> 4U);
      key *= 0xff51afd7ed558ccdULL;
      key ^= key >> 32U;
    };
    const auto mix_time = [&](double t) {
      mix(std::bit_cast<std::uint64_t>(t == kInfinity ? -1.0 : std::max(0.0, t - now)));
    };
    for (std::size_t s = 0; s < stages_; ++s) {
      mix(static_cast<std::uint64_t>(count(0, s)) | static_cast<std::uint64_t>(count(1, s)) << 20U |
          static_cast<std::uint64_t>(count(2, s)) << 40U);
      if (s + 1 < stages_) {
        for (int j = count(0, s + 1); j < count(0, s); ++j) mix_time(arrival(0, s, j));
        for (int j = count(1, s); j < count(1, s + 1); ++j) mix_time(arrival(1, s + 1, j));
      }
    }
    for (const Device& device : devices_) {
      mix_time(device.now);
      mix_time(device.before);
      // Whether the last weight gradient began before what is here now could tell apart.
      mix(device.weight_start == kInfinity
              ? 1
              : std::bit_cast<std::uint64_t>(device.weight_start - now));
    }
    mix(first);
    Seen& entry = seen_[key % kSeen];
    if (entry.generation == generation_ && entry.key == key &&
        static_cast<double>(entry.at) <= now) {
      return true;
    }
    // Rounded up, so that the stored time is never earlier than the true one.
    entry = {key, std::nextafter(static_cast<float>(now), std::numeric_limits<float>::infinity()),
             generation_};
    return false;
  }

  const OrderProblem& problem_;
  const ExactOptions& options_;
  Ways ways_;
  int m_;
  std::size_t stages_;
  std::vector<double> hop_;
  std::vector<char> alike_;  // by device: weight gradients of all chunks take and free the same
  std::vector<double> arrival_[2];
  std::vector<int> count_[3];
  std::vector<Device> devices_;
  std::vector<double> ends_[2];  // earliest of the next F and B of every stage
  std::vector<Seen> seen_;
  std::uint32_t generation_ = 0;
  double target_ = 0;
  std::int64_t budget_ = 0, nodes_ = 0;
  bool found_ = false;
};

// All ends are sums of these, so makespans differ by this much or not at all.
double grain(const OrderProblem& problem) {
  std::int64_t out = 0;
  const auto take = [&](double t) { out = std::gcd(out, static_cast<std::int64_t>(t)); };
  for (const auto& kind : problem.time) std::ranges::for_each(kind, take);
  std::ranges::for_each(problem.transfer, take);
  std::ranges::for_each(problem.latency, take);
  return std::max<double>(1, static_cast<double>(out));
}

}  // namespace

ExactResult exact_search(const OrderProblem& problem, const ExactOptions& options) {
  ExactResult out;
  const double unit = grain(problem);
  double lower = std::ceil(options.lower / unit - 1e-9) * unit;
  double upper = options.upper;
  Question question(problem, options);
  PassClock clock(problem);
  const auto ended = [&] {
    return lower >= upper || out.nodes >= options.node_budget || (options.stop && options.stop());
  };
  // False: nothing more is to be learned this way.
  const auto ask = [&](double target, std::int64_t budget) {
    const Answer answer = question.ask(target, budget);
    out.nodes += question.nodes();
    if (options.nodes) options.nodes(out.nodes);
    if (answer == Answer::no) lower = target + unit;
    if (answer == Answer::yes) {
      PassOrders orders = question.orders();
      const PassTimes& t = clock.run(orders);
      if (!t.complete || t.makespan >= upper) return false;  // contended transfers delayed it
      upper = t.makespan;
      out.orders = std::move(orders);
    }
    return answer != Answer::unknown;
  };
  // Halving, each question with a part of the budget; below one that stayed open.
  double ceiling = upper - unit;  // the largest time worth asking about
  while (!ended() && ceiling >= lower) {
    const double middle = lower + std::floor((ceiling - lower) / 2 / unit) * unit;
    if (!ask(middle, (options.node_budget - out.nodes + 3) / 4)) ceiling = middle - unit;
    ceiling = std::min(ceiling, upper - unit);
  }
  // What is left of the budget goes to the next times up, a hundredth of the distance at once.
  while (!ended()) {
    const double step = std::floor((upper - lower) / 100 / unit) * unit;
    if (!ask(std::min(lower + step, upper - unit), options.node_budget - out.nodes)) break;
  }
  out.lower = std::min(lower, upper);
  return out;
}

}  // namespace orrery
