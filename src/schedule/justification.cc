#include "schedule/justification.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

namespace orrery {
namespace {

// Times run against the clock when justifying to the right: what ended last begins first.
class Justifier {
 public:
  enum Towards : std::size_t { left, right };

  explicit Justifier(const OrderProblem& problem)
      : problem_(problem),
        stages_(problem.stages()),
        microbatches_(problem.microbatches()),
        lanes_(3 * stages_),
        start_(lanes_.size() * microbatches_) {
    using enum PassKind;
    for (const PassKind kind : {forward, input_gradient, weight_gradient}) {
      for (std::size_t s = 0; s < stages_; ++s) {
        Lane& lane = lanes_[lane_of(kind, s)];
        lane.time = problem.time[static_cast<std::size_t>(kind)][s];
        lane.change = problem.change(s, kind);
        lane.device = problem.device[s];
        lane.pass = {kind, static_cast<std::uint8_t>(problem.chunk[s])};
      }
    }
    const auto depends = [&](std::size_t after, std::size_t before, double hop) {
      lanes_[after].needs[left].push_back({before, lanes_[before].time, hop});
      lanes_[before].needs[right].push_back({after, lanes_[after].time, hop});
    };
    for (std::size_t s = 0; s < stages_; ++s) {
      const bool last = s + 1 == stages_;
      depends(lane_of(input_gradient, s), lane_of(forward, s), last ? problem.turn : 0);
      depends(lane_of(weight_gradient, s), lane_of(input_gradient, s), 0);
      if (last) break;
      depends(lane_of(forward, s + 1), lane_of(forward, s), problem.hop(s));
      depends(lane_of(input_gradient, s), lane_of(input_gradient, s + 1), problem.hop(s));
    }
  }

  // From the starts in `times`; towards the right, from those of the pass before.
  void read(const PassOrders& orders, const PassTimes& times) {
    for_each_pass(
        problem_, orders,
        [&](std::size_t d, std::size_t i, OrderedPass pass, std::size_t s, std::size_t j) {
          start_[lane_of(pass.kind, s) * microbatches_ + j] = times.start[d][i];
        });
  }

  void run(Towards towards) {
    towards_ = towards;
    // Turn the clock: a pass [start, end] becomes [-end, -start].
    if (towards == right) turn();
    sort_by_start();
    lines_.resize(problem_.devices());
    for (auto& line : lines_) line.clear();
    for (const Begun& begun : sequence_) place(begun);
    if (towards == right) turn();
  }

  [[nodiscard]] PassOrders orders() const {
    PassOrders out(lines_.size());
    for (std::size_t d = 0; d < lines_.size(); ++d) {
      out[d].reserve(lines_[d].size());
      for (const Entry& e : lines_[d]) out[d].push_back(e.pass);
      if (towards_ == right) std::ranges::reverse(out[d]);
    }
    return out;
  }

 private:
  struct Need {
    std::size_t lane;
    double time, hop;  // of that pass, and from one to the other
  };
  // The passes of one kind on one virtual stage, by microbatch.
  struct Lane {
    double time = 0;
    double change = 0;  // of memory
    std::size_t device = 0;
    OrderedPass pass;
    std::array<std::vector<Need>, 2> needs;  // of the same microbatch, by direction
  };
  struct Begun {
    double start;
    std::uint32_t op, lane;
  };
  struct Entry {
    double start, end;
    double level;  // memory held after it
    OrderedPass pass;
  };

  // Every dependency of a microbatch leads to a higher lane: forwards by stage, then input
  // gradients and weight gradients against the stages.
  [[nodiscard]] std::size_t lane_of(PassKind kind, std::size_t s) const {
    return static_cast<std::size_t>(kind) * stages_ +
           (kind == PassKind::forward ? s : stages_ - 1 - s);
  }
  void turn() {
    for (std::size_t lane = 0, op = 0; lane < lanes_.size(); ++lane) {
      for (const std::size_t end = op + microbatches_; op < end; ++op) {
        start_[op] = -(start_[op] + lanes_[lane].time);
      }
    }
  }

  // Fills `sequence_`. Starts are spread over the whole step, so that with as many buckets as
  // passes little is left to compare.
  void sort_by_start() {
    const std::size_t n = start_.size();
    if (n == 0) return;
    const auto [least, most] = std::ranges::minmax(start_);
    // With one bucket where starts do not differ, or no number says by how much.
    const double each = static_cast<double>(n - 1) / (most - least);
    const bool spread = std::isfinite(each) && std::isfinite(most - least);
    const auto bucket = [spread, each, first = least](double start) {
      return spread ? static_cast<std::size_t>((start - first) * each) : 0;
    };
    bucket_.assign(n + 1, 0);
    for (const double start : start_) ++bucket_[bucket(start)];
    std::partial_sum(bucket_.begin(), bucket_.end(), bucket_.begin());
    sequence_.resize(n);
    for (std::uint32_t lane = 0, op = 0; lane < lanes_.size(); ++lane) {
      for (std::size_t j = 0; j < microbatches_; ++j, ++op) {
        sequence_[--bucket_[bucket(start_[op])]] = {start_[op], op, lane};
      }
    }
    // Every bucket now begins at its number. Passes that start at once, such as those of no time,
    // stand as their dependencies run.
    for (std::size_t b = 0; b < n; ++b) {
      if (bucket_[b + 1] - bucket_[b] < 2) continue;
      const auto at = [&](std::size_t i) {
        return sequence_.begin() + static_cast<std::ptrdiff_t>(bucket_[i]);
      };
      std::sort(at(b), at(b + 1), [this](const Begun& x, const Begun& y) {
        return x.start != y.start ? x.start < y.start
               : towards_ == left ? x.op < y.op
                                  : y.op < x.op;
      });
    }
  }

  // When what the pass needs is there, on the clock of this direction.
  [[nodiscard]] double ready(const Begun& begun) const {
    const Lane& lane = lanes_[begun.lane];
    const std::size_t j = begun.op - begun.lane * microbatches_;
    double at = towards_ == left ? 0 : -1e300;
    if (towards_ == left ? j > 0 : j + 1 < microbatches_) {
      at = start_[towards_ == left ? begun.op - 1 : begun.op + 1] + lane.time;
    }
    for (const Need& need : lane.needs[towards_]) {
      at = std::max(at, start_[need.lane * microbatches_ + j] + need.time + need.hop);
    }
    // Towards the right nothing follows the last one: it stays where it is.
    return at < -1e299 ? begun.start : at;
  }

  void place(const Begun& begun) {
    const Lane& lane = lanes_[begun.lane];
    std::vector<Entry>& line = lines_[lane.device];
    const double change = towards_ == left ? lane.change : -lane.change;
    const double at = ready(begun);
    const double limit = problem_.limit[lane.device] * (1 + 1e-12);
    std::size_t pos = line.size();
    double found = pos == 0 ? at : std::max(at, line.back().end);
    // From the end to earlier gaps, as far as inputs and memory allow.
    for (std::size_t i = line.size(); i-- > 0;) {
      if (change > 0 && line[i].level + change > limit) break;
      const double gap = i == 0 ? at : std::max(at, line[i - 1].end);
      const double level = i == 0 ? 0 : line[i - 1].level;
      if (gap + lane.time <= line[i].start && (change <= 0 || level + change <= limit)) {
        pos = i;
        found = gap;
      }
      if (line[i].start <= at) break;
    }
    const Entry entry{found, found + lane.time, (pos == 0 ? 0 : line[pos - 1].level) + change,
                      lane.pass};
    start_[begun.op] = found;
    for (std::size_t i = pos; i < line.size(); ++i) line[i].level += change;
    line.insert(line.begin() + static_cast<std::ptrdiff_t>(pos), entry);
  }

  const OrderProblem& problem_;
  std::size_t stages_, microbatches_;
  Towards towards_ = left;
  std::vector<Lane> lanes_;
  std::vector<double> start_;  // by lane and microbatch
  std::vector<Begun> sequence_;
  std::vector<std::uint32_t> bucket_;
  std::vector<std::vector<Entry>> lines_;  // by device
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
    if (round > 0) justifier.run(Justifier::right);
    justifier.run(Justifier::left);
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
