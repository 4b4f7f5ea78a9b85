#include "schedule/split_scheduling.h"

#include <algorithm>
#include <limits>
#include <queue>

namespace orrery {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

class ListScheduler {
 public:
  ListScheduler(const OrderProblem& problem, const ListRule& rule)
      : problem_(problem),
        rule_(rule),
        stages_(problem.stages()),
        microbatches_(problem.microbatches()),
        devices_(problem.devices()) {
    for (auto& a : arrival_) a.assign(stages_ * microbatches_, kNever);
    for (auto& c : count_) c.assign(stages_, 0);
  }

  std::optional<PassOrders> run() {
    std::size_t left = 3 * stages_ * microbatches_;
    for (Device& d : devices_) d.order.reserve(3 * problem_.chunks() * microbatches_);
    for (std::size_t d = 0; d < devices_.size(); ++d) look(d);
    while (!queue_.empty()) {
      const Event event = queue_.top();
      queue_.pop();
      Device& device = devices_[event.device];
      if (event.version != device.version) continue;
      start(event.device);
      --left;
    }
    if (left > 0) return std::nullopt;
    PassOrders out;
    for (Device& d : devices_) out.push_back(std::move(d.order));
    return out;
  }

 private:
  struct Device {
    double free = 0, memory = 0, pending = 0;  // pending: what weight gradients to come would free
    double link[2] = {0, 0};
    OrderedPass next;
    double next_start = kNever;
    std::uint32_t version = 0;
    std::vector<OrderedPass> order;
  };
  struct Option {
    OrderedPass pass;
    double start;
    float rank;
  };
  struct Event {
    double at;
    std::uint32_t device, version;
    bool operator<(const Event& o) const { return at != o.at ? at > o.at : device > o.device; }
  };

  int& count(PassKind kind, std::size_t s) { return count_[static_cast<std::size_t>(kind)][s]; }

  // When the next pass of this kind could start, were the device free; kNever if unknown.
  double ready(PassKind kind, std::size_t s) {
    const auto j = static_cast<std::size_t>(count(kind, s));
    if (j >= microbatches_) return kNever;
    if (kind == PassKind::forward) return s == 0 ? 0 : arrival_[0][(s - 1) * microbatches_ + j];
    if (kind == PassKind::weight_gradient) {
      return count(PassKind::input_gradient, s) > static_cast<int>(j) ? 0 : kNever;
    }
    if (count(PassKind::forward, s) <= static_cast<int>(j)) return kNever;
    return s + 1 == stages_ ? arrival_[0][s * microbatches_ + j]
                            : arrival_[1][(s + 1) * microbatches_ + j];
  }

  // Whether memory lets a forward of this stage begin.
  bool admits(std::size_t d, std::size_t s) {
    const Device& device = devices_[d];
    const double limit = problem_.limit[d];
    if (limit == kNever) return true;
    const double slack = limit * 1e-12;
    const double after = device.memory + problem_.held[s];
    if (after > limit + slack) return false;
    double needed = 0;
    for (std::size_t c = problem_.chunks() - 1; c > problem_.chunk[s]; --c) {
      const std::size_t t = problem_.stage_of(d, c);
      if (count(PassKind::forward, t) > count(PassKind::input_gradient, t)) break;
      needed += problem_.held[t];
    }
    return after - device.pending + needed <= limit + slack;
  }

  void look(std::size_t d) {
    Device& device = devices_[d];
    ++device.version;
    double earliest = kNever;
    OrderedPass weight;
    float weight_rank = std::numeric_limits<float>::infinity();
    bool has_weight = false;
    options_.clear();
    for (std::size_t c = 0; c < problem_.chunks(); ++c) {
      const std::size_t s = problem_.stage_of(d, c);
      for (const PassKind kind :
           {PassKind::forward, PassKind::input_gradient, PassKind::weight_gradient}) {
        const double at = ready(kind, s);
        if (at == kNever) continue;
        if (kind == PassKind::forward && !admits(d, s)) continue;
        const OrderedPass pass{kind, static_cast<std::uint8_t>(c)};
        const float rank = rule_.rank[static_cast<std::size_t>(kind)]
                                     [s * microbatches_ + static_cast<std::size_t>(count(kind, s))];
        if (kind == PassKind::weight_gradient && rule_.weights_fill) {
          if (rank < weight_rank) {
            weight_rank = rank;
            weight = pass;
          }
          has_weight = true;
          continue;
        }
        const double start = std::max(device.free, at);
        options_.push_back({pass, start, rank});
        earliest = std::min(earliest, start);
      }
    }
    if (has_weight) {
      const std::size_t s = problem_.stage_of(d, weight.chunk);
      if (options_.empty() ||
          (earliest > device.free && device.free + problem_.time[2][s] <= earliest)) {
        return choose(d, weight, device.free);
      }
    }
    if (options_.empty()) {
      device.next_start = kNever;
      return;
    }
    const Option* best = nullptr;
    for (const Option& option : options_) {
      if (option.start > earliest + rule_.patience) continue;
      if (best == nullptr || option.rank < best->rank) best = &option;
    }
    choose(d, best->pass, best->start);
  }

  void choose(std::size_t d, OrderedPass pass, double start) {
    Device& device = devices_[d];
    device.next = pass;
    device.next_start = start;
    queue_.push({start, static_cast<std::uint32_t>(d), device.version});
  }

  void start(std::size_t d) {
    Device& device = devices_[d];
    const OrderedPass pass = device.next;
    const std::size_t s = problem_.stage_of(d, pass.chunk);
    const auto kind = static_cast<std::size_t>(pass.kind);
    const auto j = static_cast<std::size_t>(count_[kind][s]++);
    device.order.push_back(pass);
    const double end = device.next_start + problem_.time[kind][s];
    device.free = end;
    device.memory += problem_.change(s, pass.kind);
    if (pass.kind == PassKind::input_gradient) device.pending += problem_.kept[s];
    if (pass.kind == PassKind::weight_gradient) device.pending -= problem_.kept[s];
    const bool up = pass.kind == PassKind::forward;
    if (up && s + 1 == stages_) arrival_[0][s * microbatches_ + j] = end + problem_.turn;
    if (pass.kind != PassKind::weight_gradient && (up ? s + 1 < stages_ : s > 0)) {
      const std::size_t boundary = up ? s : s - 1;
      const std::size_t to = problem_.device[up ? s + 1 : s - 1];
      arrival_[up ? 0 : 1][s * microbatches_ + j] =
          problem_.arrival(boundary, end, device.link[up ? 0 : 1]);
      if (to != d) look(to);
    }
    look(d);
  }

  const OrderProblem& problem_;
  const ListRule& rule_;
  std::size_t stages_, microbatches_;
  std::vector<double> arrival_[2];
  std::vector<int> count_[3];
  std::vector<Device> devices_;
  std::vector<Option> options_;
  std::priority_queue<Event> queue_;
};

}  // namespace

std::optional<PassOrders> list_schedule(const OrderProblem& problem, const ListRule& rule) {
  return ListScheduler(problem, rule).run();
}

std::vector<PassOrders> list_schedules(const OrderProblem& problem, ListRule rule,
                                       ListVariants variants) {
  std::vector<PassOrders> out;
  for (const double patience : {0.0, 1.0}) {
    rule.patience = patience * problem.time[0].front();
    for (const bool fill : {true, false}) {
      if (variants == ListVariants::first && (patience > 0 || !fill)) continue;
      rule.weights_fill = fill;
      if (auto orders = list_schedule(problem, rule)) out.push_back(std::move(*orders));
    }
  }
  return out;
}

ListRule rule_of(const OrderProblem& problem, const PassOrders& orders, const PassTimes& times) {
  ListRule out;
  const std::size_t m = problem.microbatches();
  for (auto& rank : out.rank) rank.resize(problem.stages() * m);
  for_each_pass(problem, orders,
                [&](std::size_t d, std::size_t i, OrderedPass pass, std::size_t s, std::size_t j) {
                  out.rank[static_cast<std::size_t>(pass.kind)][s * m + j] =
                      static_cast<float>(times.start[d][i]);
                });
  return out;
}

}  // namespace orrery
