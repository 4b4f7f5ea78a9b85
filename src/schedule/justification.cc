#include "schedule/justification.h"

#include <algorithm>
#include <cstdint>

namespace orrery {
namespace {

enum class Towards { left, right };

// Times run against the clock when justifying to the right: what ended last begins first.
class Justifier {
 public:
  explicit Justifier(const OrderProblem& problem)
      : problem_(problem),
        stages_(problem.stages()),
        microbatches_(problem.microbatches()),
        start_(3 * stages_ * microbatches_) {
    operations_.reserve(start_.size());
    for (std::uint32_t kind = 0; kind < 3; ++kind) {
      for (std::size_t s = 0; s < stages_; ++s) {
        for (std::size_t j = 0; j < microbatches_; ++j) {
          operations_.push_back({problem.time[kind][s], kind, static_cast<std::uint32_t>(s),
                                 static_cast<std::uint32_t>(j)});
        }
      }
    }
    for (std::size_t s = 0; s < stages_; ++s) hop_.push_back(problem.hop(s));
  }

  // From the starts in `times`; towards the right, from those of the pass before.
  void read(const PassOrders& orders, const PassTimes& times) {
    for_each_pass(
        problem_, orders,
        [&](std::size_t d, std::size_t i, OrderedPass pass, std::size_t s, std::size_t j) {
          start_[id(static_cast<std::size_t>(pass.kind), s, j)] = times.start[d][i];
        });
  }

  void run(Towards towards) {
    towards_ = towards;
    const std::size_t n = start_.size();
    // Turn the clock: a pass [start, end] becomes [-end, -start].
    if (towards == Towards::right) turn();
    sequence_.resize(n);
    for (std::uint32_t op = 0; op < n; ++op) sequence_[op] = {start_[op], op};
    // Ties as the dependencies run.
    std::ranges::sort(sequence_, [&](const Begun& a, const Begun& b) {
      return a.start != b.start         ? a.start < b.start
             : towards == Towards::left ? before(a.op, b.op)
                                        : before(b.op, a.op);
    });
    lines_.resize(problem_.devices());
    for (auto& line : lines_) line.clear();
    for (const Begun& begun : sequence_) place(begun.op);
    if (towards == Towards::right) turn();
  }

  [[nodiscard]] PassOrders orders() const {
    PassOrders out(lines_.size());
    for (std::size_t d = 0; d < lines_.size(); ++d) {
      out[d].reserve(lines_[d].size());
      for (const Entry& e : lines_[d]) out[d].push_back(e.pass);
      if (towards_ == Towards::right) std::ranges::reverse(out[d]);
    }
    return out;
  }

 private:
  struct Operation {
    double time;
    std::uint32_t kind, stage, microbatch;
  };
  struct Begun {
    double start;
    std::uint32_t op;
  };
  struct Entry {
    double start, end;
    double level;  // memory held after it
    OrderedPass pass;
  };

  [[nodiscard]] std::size_t id(std::size_t kind, std::size_t s, std::size_t j) const {
    return (kind * stages_ + s) * microbatches_ + j;
  }
  [[nodiscard]] double time(std::size_t op) const { return operations_[op].time; }
  void turn() {
    for (std::size_t op = 0; op < start_.size(); ++op) start_[op] = -(start_[op] + time(op));
  }

  // Whether a stands before b where both start at once: passes of no time, by microbatch and stage.
  [[nodiscard]] bool before(std::uint32_t a, std::uint32_t b) const {
    const Operation& x = operations_[a];
    const Operation& y = operations_[b];
    if (x.kind != y.kind) return x.kind < y.kind;
    if (x.stage != y.stage) return x.kind == 0 ? x.stage < y.stage : x.stage > y.stage;
    return a < b;
  }

  // When what `op` needs is there, on the clock of this direction.
  [[nodiscard]] double ready(std::size_t op) const {
    const std::size_t kind = operations_[op].kind;
    const std::size_t s = operations_[op].stage;
    const std::size_t j = operations_[op].microbatch;
    double at = -1e300;
    const auto after = [&](std::size_t other, double hop) {
      at = std::max(at, start_[other] + time(other) + hop);
    };
    if (towards_ == Towards::left) {
      at = 0;
      if (j > 0) after(op - 1, 0);
      if (kind == 0 && s > 0) after(id(0, s - 1, j), hop_[s - 1]);
      if (kind == 1) {
        after(id(0, s, j), s + 1 == stages_ ? problem_.turn : 0);
        if (s + 1 < stages_) after(id(1, s + 1, j), hop_[s]);
      }
      if (kind == 2) after(id(1, s, j), 0);
    } else {
      if (j + 1 < microbatches_) after(op + 1, 0);
      if (kind == 0) {
        if (s + 1 < stages_) after(id(0, s + 1, j), hop_[s]);
        after(id(1, s, j), s + 1 == stages_ ? problem_.turn : 0);
      }
      if (kind == 1) {
        after(id(2, s, j), 0);
        if (s > 0) after(id(1, s - 1, j), hop_[s - 1]);
      }
    }
    return at;
  }

  void place(std::uint32_t op) {
    const std::size_t s = operations_[op].stage;
    const auto kind = static_cast<PassKind>(operations_[op].kind);
    const std::size_t d = problem_.device[s];
    std::vector<Entry>& line = lines_[d];
    const double length = time(op);
    double change = problem_.change(s, kind);
    if (towards_ == Towards::right) change = -change;
    double at = ready(op);
    if (at < -1e299) at = start_[op];  // towards the right nothing follows: it stays where it is
    const double limit = problem_.limit[d] * (1 + 1e-12);
    std::size_t pos = line.size();
    double found = pos == 0 ? at : std::max(at, line.back().end);
    // From the end to earlier gaps, as far as inputs and memory allow.
    for (std::size_t i = line.size(); i-- > 0;) {
      if (change > 0 && line[i].level + change > limit) break;
      const double gap = i == 0 ? at : std::max(at, line[i - 1].end);
      const double level = i == 0 ? 0 : line[i - 1].level;
      if (gap + length <= line[i].start && (change <= 0 || level + change <= limit)) {
        pos = i;
        found = gap;
      }
      if (line[i].start <= at) break;
    }
    const Entry entry{found,
                      found + length,
                      (pos == 0 ? 0 : line[pos - 1].level) + change,
                      {kind, static_cast<std::uint8_t>(problem_.chunk[s])}};
    start_[op] = found;
    for (std::size_t i = pos; i < line.size(); ++i) line[i].level += change;
    line.insert(line.begin() + static_cast<std::ptrdiff_t>(pos), entry);
  }

  const OrderProblem& problem_;
  std::size_t stages_, microbatches_;
  Towards towards_ = Towards::left;
  std::vector<double> start_;  // by kind, stage and microbatch
  std::vector<double> hop_;
  std::vector<Operation> operations_;  // by the same
  std::vector<Begun> sequence_;
  std::vector<std::vector<Entry>> lines_;
};

}  // namespace

PassOrders justified(const OrderProblem& problem, const PassOrders& orders, int rounds) {
  PassClock clock(problem);
  Justifier justifier(problem);
  double makespan = 0;
  {
    const PassTimes& times = clock.run(orders);
    makespan = times.makespan;
    justifier.read(orders, times);
  }
  PassOrders best = orders;
  int idle = 0;
  for (int round = 0; round < rounds && idle < 2; ++round) {
    if (round > 0) justifier.run(Towards::right);
    justifier.run(Towards::left);
    PassOrders now = justifier.orders();
    const PassTimes& times = clock.run(now);
    if (!times.complete) break;
    justifier.read(now, times);
    ++idle;
    if (times.makespan < makespan) {
      makespan = times.makespan;
      best = std::move(now);
      idle = 0;
    }
  }
  return best;
}

}  // namespace orrery
