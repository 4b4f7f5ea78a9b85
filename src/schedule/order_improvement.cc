#include "schedule/order_improvement.h"

#include <algorithm>
#include <cmath>

#include "schedule/justification.h"
#include "schedule/split_scheduling.h"
#include "schedule/splitmix.h"

namespace orrery {
namespace {

// A span is worth this much of a makespan.
constexpr double kSpanWeight = 0.02;

struct Place {
  std::size_t device, index;
};

class Annealing {
 public:
  Annealing(const OrderProblem& problem, const ImprovementOptions& options, PassOrders orders)
      : problem_(problem),
        options_(options),
        clock_(problem),
        random_(options.seed),
        orders_(std::move(orders)) {}

  PassOrders run() {
    const std::int64_t steps = options_.placements / (problem_.passes() + 1);
    double longest = 0;
    for (const auto& kind : problem_.time) {
      for (const double t : kind) longest = std::max(longest, t);
    }
    measure();
    const double enough = options_.enough.makespan + kSpanWeight * options_.enough.span;
    double cost = cost_;
    PassOrders best = orders_;
    double best_cost = cost;
    trace();
    for (std::int64_t step = 0; step < steps; ++step) {
      if (best_cost <= enough) break;
      if ((step & 255) == 0 && options_.stop && options_.stop()) break;
      const double heat =
          longest * 0.35 * (1 - static_cast<double>(step) / static_cast<double>(steps));
      if (!propose()) continue;
      const bool complete = allowed() && measure();
      if (complete && (cost_ <= cost || random_.unit() < std::exp((cost - cost_) / heat))) {
        cost = cost_;
        trace();
        if (cost < best_cost) {
          best_cost = cost;
          best = orders_;
        }
      } else {
        move(to_, from_);
      }
    }
    return best;
  }

 private:
  bool measure() {
    const PassTimes& t = clock_.run(orders_);
    times_ = &t;
    if (!t.complete) return false;
    cost_ = t.makespan + kSpanWeight * t.span;
    return true;
  }

  // The passes of one critical path.
  void trace() {
    critical_.clear();
    const PassTimes& t = *times_;
    Place at{0, 0};
    double latest = -1;
    for (std::size_t d = 0; d < orders_.size(); ++d) {
      const std::size_t last = orders_[d].size() - 1;
      const double end = t.start[d][last] + time(d, orders_[d][last]);
      if (end > latest) {
        latest = end;
        at = {d, last};
      }
    }
    // Where the k-th pass of a kind and stage stands.
    const std::size_t m = problem_.microbatches();
    const std::size_t stages = problem_.stages();
    where_.resize(3 * stages * m);
    index_.resize(orders_.size());
    for (std::size_t d = 0; d < orders_.size(); ++d) index_[d].resize(orders_[d].size());
    for_each_pass(
        problem_, orders_,
        [&](std::size_t d, std::size_t i, OrderedPass pass, std::size_t s, std::uint32_t j) {
          index_[d][i] = j;
          where_[(static_cast<std::size_t>(pass.kind) * stages + s) * m + j] =
              static_cast<std::uint32_t>(i);
        });
    while (true) {
      critical_.push_back(at);
      const auto [d, i] = at;
      const double start = t.start[d][i];
      if (start <= 0) return;
      const bool by_device = i > 0 && t.start[d][i - 1] + time(d, orders_[d][i - 1]) >= start;
      if (by_device) {
        --at.index;
        continue;
      }
      const OrderedPass pass = orders_[d][i];
      const std::size_t s = stage(d, pass);
      const std::size_t j = index_[d][i];
      const bool up = pass.kind == PassKind::forward;
      if (pass.kind == PassKind::weight_gradient || (up && s == 0)) return;
      if (!up && s + 1 == stages) {  // after the turn, its own forward
        at.index = where_[s * m + j];
        continue;
      }
      const std::size_t from = up ? s - 1 : s + 1;
      at.device = problem_.device[from];
      at.index = where_[(static_cast<std::size_t>(pass.kind) * stages + from) * m + j];
    }
  }

  [[nodiscard]] std::size_t stage(std::size_t d, OrderedPass pass) const {
    return problem_.stage_of(d, pass.chunk);
  }
  [[nodiscard]] double time(std::size_t d, OrderedPass pass) const {
    return problem_.time[static_cast<std::size_t>(pass.kind)][stage(d, pass)];
  }

  // Moves one pass; false if that changes nothing.
  bool propose() {
    Place place{};
    if (random_.below(4) > 0) {
      place = critical_[random_.below(critical_.size())];
    } else {
      place.device = random_.below(orders_.size());
      place.index = random_.below(orders_[place.device].size());
    }
    const auto& order = orders_[place.device];
    const std::size_t reach = 1 + random_.below(random_.below(2) == 0 ? 2 : 8);
    const bool later = random_.below(2) == 0;
    std::size_t to = place.index;
    if (later) {
      to = std::min(order.size() - 1, place.index + reach);
    } else {
      to = place.index >= reach ? place.index - reach : 0;
    }
    // Past its like it would stay where it is: stop there.
    std::size_t end = place.index;
    while (end != to) {
      const std::size_t next = later ? end + 1 : end - 1;
      if (order[next] == order[place.index]) break;
      end = next;
    }
    if (end == place.index) return false;
    from_ = place;
    to_ = {place.device, end};
    move(from_, to_);
    return true;
  }

  void move(Place from, Place to) {
    auto& order = orders_[from.device];
    const auto at = [&](std::size_t i) { return order.begin() + static_cast<std::ptrdiff_t>(i); };
    if (from.index < to.index) {
      std::rotate(at(from.index), at(from.index + 1), at(to.index + 1));
    } else {
      std::rotate(at(to.index), at(from.index), at(from.index + 1));
    }
  }

  // F before B before W of every microbatch on the moved device, and its memory.
  bool allowed() {
    const auto& order = orders_[to_.device];
    const std::size_t chunks = problem_.chunks();
    count_.assign(3 * chunks, 0);
    double memory = 0;
    const double limit = problem_.limit[to_.device] * (1 + 1e-12);
    const std::size_t last = std::max(from_.index, to_.index);
    for (std::size_t i = 0; i <= last; ++i) {
      const OrderedPass pass = order[i];
      const auto kind = static_cast<std::size_t>(pass.kind);
      const std::size_t n = ++count_[kind * chunks + pass.chunk];
      if (kind > 0 && n > count_[(kind - 1) * chunks + pass.chunk]) return false;
      memory += problem_.change(stage(to_.device, pass), pass.kind);
      if (memory > limit) return false;
    }
    return true;
  }

  const OrderProblem& problem_;
  const ImprovementOptions& options_;
  PassClock clock_;
  Splitmix random_;
  PassOrders orders_;
  const PassTimes* times_ = nullptr;
  double cost_ = 0;
  Place from_{}, to_{};
  std::vector<Place> critical_;
  std::vector<std::size_t> count_;
  std::vector<std::uint32_t> where_;
  std::vector<std::vector<std::uint32_t>> index_;
};

}  // namespace

// Every device: the way to its first pass, then all its work.
OrderBound order_bound(const OrderProblem& problem) {
  OrderBound out;
  double way = 0;
  std::vector<char> reached(problem.devices());
  for (std::size_t s = 0; s < problem.stages(); ++s) {
    const std::size_t d = problem.device[s];
    if (reached[d] == 0) {
      reached[d] = 1;
      double work = 0;
      for (std::size_t c = 0; c < problem.chunks(); ++c) {
        for (const auto& kind : problem.time) work += kind[problem.stage_of(d, c)];
      }
      work *= problem.shape.microbatches;
      out.span = std::max(out.span, work);
      out.makespan = std::max(out.makespan, way + work);
    }
    way += problem.time[0][s] + problem.hop(s);
  }
  return out;
}

PassOrders improve(const OrderProblem& problem, PassOrders orders,
                   const ImprovementOptions& options) {
  return Annealing(problem, options, std::move(orders)).run();
}

PassOrders perturbed(const OrderProblem& problem, PassOrders orders,
                     const ImprovementOptions& options) {
  Splitmix random(options.seed);
  PassClock clock(problem);
  const auto cost = [&](const PassOrders& of) {
    const PassTimes& t = clock.run(of);
    return t.makespan + kSpanWeight * t.span;
  };
  double least = cost(orders);
  const double enough = options.enough.makespan + kSpanWeight * options.enough.span;
  double longest = 0;
  for (const auto& kind : problem.time) longest = std::max(longest, kind.front());
  // A list schedule and a justification cost about as much as 250 placements of every pass.
  for (std::int64_t left = options.placements / (250 * problem.passes()); left > 0; --left) {
    if (least <= enough || (options.stop && options.stop())) break;
    const PassTimes& times = clock.run(orders);
    const double middle = random.unit() * times.makespan;
    const double width = (0.05 + 0.3 * random.unit()) * times.makespan;
    ListRule rule = rule_of(problem, orders, times);
    const double noise = 12 * random.unit() * longest;
    for (auto& kind : rule.rank) {
      for (float& rank : kind) {
        if (std::abs(rank - middle) > width) continue;
        rank += static_cast<float>(noise * (random.unit() + random.unit() - 1));
      }
    }
    rule.patience = random.below(3) == 0 ? 0 : 2 * longest * random.unit();
    rule.weights_fill = random.below(2) == 0;
    auto tried = list_schedule(problem, rule);
    if (!tried) continue;
    *tried = justified(problem, *tried);
    const double now = cost(*tried);
    if (now > least) continue;
    least = now;
    orders = std::move(*tried);
  }
  return orders;
}

void improve_in_rounds(const OrderProblem& problem, PassOrders orders, ImprovementOptions options,
                       const std::function<bool()>& done,
                       const std::function<void(const PassOrders&)>& consider) {
  constexpr std::uint64_t kRounds = 8;
  options.placements /= 2 * static_cast<std::int64_t>(kRounds);
  for (options.seed = 1; options.seed <= kRounds && !done(); ++options.seed) {
    orders = perturbed(problem, std::move(orders), options);
    consider(orders);
    orders = justified(problem, improve(problem, std::move(orders), options));
    consider(orders);
  }
}

}  // namespace orrery
