#include "schedule/synthesis/synthesis.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "schedule/justification.h"
#include "schedule/order_improvement.h"
#include "schedule/order_problem.h"
#include "schedule/schedule.h"
#include "schedule/split_scheduling.h"
#include "schedule/synthesis/exact_search.h"
#include "schedule/synthesis/lower_bound.h"
#include "schedule/zb_automatic_orders.h"

namespace orrery {

namespace {

constexpr double kTolerance = 1 + 1e-12;
// Of more passes, orders are made by rules only.
constexpr std::int64_t kMostImproved = 20'000;
constexpr std::int64_t kMostExact = 400;

// Where virtual stages may live if every device holds each of its chunks once.
struct Placement {
  std::string name;
  VirtualStage virtual_stage;
  PipelineTimes times;
  OrderProblem problem;
  PassOrders best;
  double makespan = std::numeric_limits<double>::infinity();
  double bound = 0;
};

// The model in as many chunks a device, and its placements among all.
struct Cut {
  int chunks = 1;
  std::size_t first = 0;
  std::size_t placements = 1;
};

class Synthesis {
 public:
  Synthesis(const SynthesisRequest& request, const SynthesisOptions& options)
      : request_(request), options_(options), begin_(std::chrono::steady_clock::now()) {}

  Result<SynthesisResult> run() {
    if (auto error = wrong_request()) return fail(std::move(*error));
    make_placements();
    for (const Cut& cut : cuts_) published(cut);
    for (const Cut& cut : cuts_) {
      if (found_ && ended()) break;
      for (Placement& placement : of(cut)) {
        if (ended()) break;
        list(placement);
      }
      for (Placement& placement : of(cut)) {
        if (ended()) break;
        improvement(placement, cut);
      }
      exact(cut);
    }
    if (!found_) {
      // Copies to host memory go below one microbatch on every device.
      if (auto error = too_little_memory()) return fail(std::move(*error));
      return fail(ErrorCode::not_found,
                  "no schedule was found within the memory limit of " +
                      memory_text(request_.memory_limit) + " before the search was stopped",
                  "schedule auto");
    }
    finish();
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::optional<Error> wrong_request() const {
    const PipelineShape& shape = request_.shape;
    const auto error = [](std::string message) {
      return Error{ErrorCode::bad_input, std::move(message), "schedule auto", ""};
    };
    if (shape.devices < 1 || shape.microbatches < 1 || shape.chunks < 1) {
      return error("devices, microbatches and chunks must be 1 or more");
    }
    if (3.0 * shape.virtual_stages() * shape.microbatches > kMaxPipelineOperations) {
      return error("more operations than are simulated");
    }
    if (request_.times.stage.size() != static_cast<std::size_t>(shape.virtual_stages())) {
      return error(std::to_string(request_.times.stage.size()) + " stages have times, not the " +
                   std::to_string(shape.virtual_stages()) + " of " + std::to_string(shape.devices) +
                   " devices of " + std::to_string(shape.chunks) + " chunks");
    }
    for (std::size_t s = 0; s < request_.times.stage.size(); ++s) {
      const StageTimes& t = request_.times.stage[s];
      for (const auto& [name, time] :
           {std::pair{"forward", t.forward}, std::pair{"input gradient", t.input_gradient},
            std::pair{"weight gradient", t.weight_gradient}, std::pair{"backward", t.backward}}) {
        if (time <= Picoseconds(0)) {
          return error("the " + std::string(name) + " of stage " + std::to_string(s) +
                       " takes no time; every pass must take some");
        }
      }
    }
    if (!(request_.memory_limit > 0)) {
      return error("the memory limit " + memory_text(request_.memory_limit) + " is not above 0");
    }
    return std::nullopt;
  }

  // One microbatch on every device is the least any schedule holds.
  [[nodiscard]] std::optional<Error> too_little_memory() const {
    double least = std::numeric_limits<double>::infinity();
    for (const Placement& placement : placements_) {
      double here = 0;
      for (std::size_t d = 0; d < placement.problem.devices(); ++d) {
        here = std::max(here, placement.problem.one_microbatch(d));
      }
      least = std::min(least, here);
    }
    if (request_.memory_limit * kTolerance >= least) return std::nullopt;
    return Error{ErrorCode::bad_input,
                 "the memory limit " + memory_text(request_.memory_limit) + " is below the " +
                     memory_text(least) + " that one microbatch holds on its fullest device",
                 "schedule auto",
                 "schedules that copy to host memory may hold less; state what a copy takes, "
                 "offload=..., among the times"};
  }

  bool ended() {
    if (stopped_) return true;
    if (options_.stop.stop_requested()) {
      stopped_ = SynthesisStop::interrupted;
    } else if (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count() >
               options_.time_limit.value()) {
      stopped_ = SynthesisStop::time_limit;
    }
    return stopped_.has_value();
  }

  // The same model in `chunks` pieces a device; without stages where there is no such cut.
  [[nodiscard]] PipelineTimes cut_into(int chunks) const {
    const int finest = request_.shape.chunks;
    if (chunks < finest && request_.cut) return request_.cut(chunks);
    if (finest % chunks != 0) return {};
    return joined_times(request_.times, static_cast<std::size_t>(finest / chunks));
  }

  void make_placements() {
    // A pass names its chunk in a byte; 64 are far beyond any use.
    for (int chunks = 1; chunks <= std::min(request_.shape.chunks, 64); ++chunks) {
      PipelineShape shape = request_.shape;
      shape.chunks = chunks;
      const PipelineTimes times = cut_into(chunks);
      if (times.stage.empty()) continue;
      cuts_.push_back({chunks, placements_.size(), chunks == 1 ? 1U : 2U});
      const auto add = [&](const char* name, VirtualStage virtual_stage) {
        Placement placement{
            name,  virtual_stage,
            times, order_problem(shape, virtual_stage, times, request_.memory_limit),
            {},    std::numeric_limits<double>::infinity(),
            0};
        // A fused backward may take less than its halves.
        OrderProblem fused = placement.problem;
        for (std::size_t s = 0; s < times.stage.size(); ++s) {
          fused.time[2][s] = std::min(
              fused.time[2][s], std::max(0.0, times.stage[s].backward.count() - fused.time[1][s]));
        }
        placement.bound = lower_bound(fused);
        placements_.push_back(std::move(placement));
      };
      add(chunks == 1 ? "a line" : "a loop", loop_virtual_stage);
      if (chunks > 1) add("a V", snake_virtual_stage);
    }
  }

  std::span<Placement> of(const Cut& cut) {
    return std::span(placements_).subspan(cut.first, cut.placements);
  }

  void progress() {
    if (options_.progress && found_) {
      options_.progress({result_.winner, result_.makespan, Picoseconds(bound()), nodes_});
    }
  }

  // Measures and keeps if it is the best; the peak must fit.
  void consider(std::string name, SynthesisMethod method, Pipeline pipeline,
                const PipelineTimes& times, bool listed) {
    SynthesisCandidate candidate;
    candidate.name = name;
    candidate.chunks = pipeline.shape.chunks;
    auto run = execute(pipeline, times);
    if (!run) {
      candidate.reason = run.error().text();
      if (listed) result_.candidates.push_back(std::move(candidate));
      return;
    }
    PipelineMeasures& measures = run->measures;
    candidate.makespan = measures.makespan;
    candidate.peak_memory = *std::ranges::max_element(measures.peak_memory);
    candidate.fits = candidate.peak_memory <= request_.memory_limit * kTolerance;
    if (!candidate.fits) {
      candidate.reason = "holds " + memory_text(candidate.peak_memory) + ", above the limit of " +
                         memory_text(request_.memory_limit);
    } else {
      if (pipeline.routes() == 1 && (!found_once_ || measures.makespan < result_.once.makespan)) {
        found_once_ = true;
        result_.once.makespan = measures.makespan;
        result_.once.winner = name;
      }
      if (better(measures)) {
        found_ = true;
        result_.pipeline = std::move(pipeline);
        result_.times = times;
        result_.makespan = measures.makespan;
        result_.measures = std::move(measures);
        result_.winner = std::move(name);
        result_.method = method;
        progress();
      }
    }
    if (listed) result_.candidates.push_back(std::move(candidate));
  }

  [[nodiscard]] bool better(const PipelineMeasures& measures) const {
    return !found_ || measures.makespan < result_.makespan ||
           (measures.makespan == result_.makespan &&
            measures.longest_device_span < result_.measures.longest_device_span);
  }

  // The orders of a schedule as passes of a placement it has; empty if it has another.
  static PassOrders passes_of(const Pipeline& pipeline, const Placement& placement) {
    if (pipeline.routes() != 1 || pipeline.shape.chunks != placement.problem.shape.chunks ||
        pipeline.vocabulary_barriers > 0) {
      return {};
    }
    if (!std::ranges::equal(pipeline.stage, placement.problem.stage)) return {};
    PassOrders out(pipeline.order.size());
    for (std::size_t d = 0; d < out.size(); ++d) {
      for (const PipelineOperation& op : pipeline.order[d]) {
        const auto chunk = static_cast<std::uint8_t>(op.chunk);
        switch (op.action) {
          case PipelineAction::forward:
            out[d].push_back({PassKind::forward, chunk});
            break;
          case PipelineAction::backward:
            out[d].push_back({PassKind::input_gradient, chunk});
            out[d].push_back({PassKind::weight_gradient, chunk});
            break;
          case PipelineAction::input_gradient:
            out[d].push_back({PassKind::input_gradient, chunk});
            break;
          case PipelineAction::weight_gradient:
            out[d].push_back({PassKind::weight_gradient, chunk});
            break;
          default:
            return {};
        }
      }
    }
    return out;
  }

  // Keeps orders as a start of the placement's own search.
  void start(Placement& placement, PassOrders orders) {
    if (orders.empty()) return;
    PassClock clock(placement.problem);
    const PassTimes& t = clock.run(orders);
    if (!t.complete || t.makespan >= placement.makespan) return;
    if (!fits(placement.problem, orders)) return;
    placement.makespan = t.makespan;
    placement.best = std::move(orders);
  }

  void published(const Cut& cut) {
    for (const Schedule& schedule : schedules()) {
      if (schedule.asynchronous) continue;
      if (schedule.chunks > 0 && schedule.chunks != cut.chunks) continue;
      if (found_ && ended()) return;
      ScheduleRequest request;
      request.shape = request_.shape;
      request.shape.chunks = cut.chunks;
      request.times = of(cut).front().times;
      request.memory_limit = request_.memory_limit;
      auto made = pipeline(schedule, request);
      if (!made) {
        result_.candidates.push_back(
            {std::string(schedule.name), cut.chunks, false, made.error().text(), {}, 0});
        continue;
      }
      if (const auto why = other_machine(*made, request.times)) {
        result_.candidates.push_back({std::string(schedule.name), cut.chunks, false, *why, {}, 0});
        continue;
      }
      for (Placement& placement : of(cut)) {
        PassOrders orders = passes_of(*made, placement);
        if (orders.empty()) continue;
        start(placement, orders);
        guides_.push_back({&placement, std::move(orders)});
      }
      consider(std::string(schedule.name), SynthesisMethod::published_schedule, std::move(*made),
               request.times, true);
    }
  }

  // Schedules whose passes have no times here.
  static std::optional<std::string> other_machine(const Pipeline& pipeline,
                                                  const PipelineTimes& times) {
    if (pipeline.vocabulary_barriers > 0) return "needs times of vocabulary layers";
    for (const auto& order : pipeline.order) {
      for (const PipelineOperation& op : order) {
        if (op.action == PipelineAction::offload &&
            times.stage[pipeline.stage_of(0, op.chunk)].offload <= Picoseconds(0)) {
          return "needs the times of copies to host memory";
        }
      }
    }
    return std::nullopt;
  }

  void list(Placement& placement) {
    const OrderProblem& problem = placement.problem;
    const double before = placement.makespan;
    if (problem.shape.chunks == 1) start(placement, zb_automatic_orders(problem));
    PassClock clock(problem);
    const bool many = problem.passes() > kMostImproved;
    for (const Guide& guide : guides_) {
      if (guide.placement != &placement || many) continue;
      if (ended()) break;
      for (const PassOrders& orders :
           list_schedules(problem, rule_of(problem, guide.orders, clock.run(guide.orders)))) {
        start(placement, justified(problem, orders));
      }
    }
    if (placement.best.empty()) {
      // The rule that needs no example: the furthest microbatch first, backward before forward.
      ListRule rule;
      const std::size_t m = problem.microbatches();
      for (std::size_t kind = 0; kind < 3; ++kind) {
        for (std::size_t s = 0; s < problem.stages(); ++s) {
          for (std::size_t j = 0; j < m; ++j) {
            rule.rank[kind].push_back(static_cast<float>(j) -
                                      static_cast<float>(m) * static_cast<float>(kind % 2));
          }
        }
      }
      if (auto orders = list_schedule(problem, rule)) start(placement, std::move(*orders));
    }
    if (placement.makespan < before) keep(placement, SynthesisMethod::list_scheduling);
  }

  void keep(const Placement& placement, SynthesisMethod method) {
    consider(std::string(to_text(method)) + " on " + placement.name + " of " +
                 std::to_string(placement.problem.shape.chunks) +
                 (placement.problem.shape.chunks == 1 ? " chunk" : " chunks"),
             method, to_pipeline(placement.problem, placement.virtual_stage, placement.best),
             placement.times, false);
  }

  void improvement(Placement& placement, const Cut& cut) {
    const OrderProblem& problem = placement.problem;
    if (placement.best.empty() || problem.passes() > kMostImproved) return;
    const double before = placement.makespan;
    ImprovementOptions options;
    options.placements = options_.placement_budget / static_cast<std::int64_t>(cut.placements);
    options.enough = order_bound(problem);
    options.stop = [&] { return ended(); };
    improve_in_rounds(
        problem, placement.best, options,
        [&] { return placement.makespan <= placement.bound * kTolerance || ended(); },
        [&](const PassOrders& orders) { start(placement, orders); });
    if (placement.makespan < before) keep(placement, SynthesisMethod::local_improvement);
  }

  void exact(const Cut& cut) {
    std::int64_t left = (options_.node_budget - result_.nodes) / 2;
    // The placements that may still hold something better, the loosest bound first.
    std::vector<Placement*> open;
    for (Placement& placement : of(cut)) open.push_back(&placement);
    std::ranges::stable_sort(
        open, [](const Placement* a, const Placement* b) { return a->bound < b->bound; });
    for (std::size_t i = 0; i < open.size(); ++i) {
      Placement& placement = *open[i];
      if (!found_once_ || ended() || left <= 0) return;
      if (placement.bound * kTolerance >= result_.once.makespan.count()) continue;
      if (placement.best.empty() || placement.problem.passes() > kMostExact) continue;
      // Its bound is that of the split problem only where halves are not dearer than the whole.
      const bool halves_cost = std::ranges::any_of(placement.times.stage, [](const StageTimes& t) {
        return t.backward < t.input_gradient + t.weight_gradient;
      });
      ExactOptions options;
      options.node_budget = left / static_cast<std::int64_t>(open.size() - i);
      options.upper = result_.once.makespan.count();
      options.lower = placement.bound;
      options.stop = [&] { return ended(); };
      options.nodes = [&](std::int64_t nodes) {
        nodes_ = nodes;
        progress();
      };
      ExactResult exact = exact_search(placement.problem, options);
      left -= exact.nodes;
      result_.nodes += exact.nodes;
      if (!halves_cost) placement.bound = std::max(placement.bound, exact.lower);
      if (!exact.orders.empty()) {
        start(placement, std::move(exact.orders));
        keep(placement, SynthesisMethod::exact_search);
      }
    }
  }

  // Of all placements that hold each stage once.
  [[nodiscard]] double bound_once() const {
    double out = std::numeric_limits<double>::infinity();
    for (const Placement& placement : placements_) out = std::min(out, placement.bound);
    if (found_once_) out = std::min(out, result_.once.makespan.count());
    return out;
  }
  [[nodiscard]] double bound() const {
    const double once = bound_once();
    return result_.pipeline.routes() > 1 ? std::min(once, bound_of_winner()) : once;
  }

  // Every device of the winner: the way to the first stage it holds, then all it does.
  [[nodiscard]] double bound_of_winner() const {
    const Pipeline& pipeline = result_.pipeline;
    double out = 0;
    for (std::size_t d = 0; d < pipeline.order.size(); ++d) {
      std::size_t first = pipeline.stages();
      for (int c = 0; c < pipeline.chunks_held; ++c) {
        first = std::min(first, pipeline.stage_of(d, static_cast<std::size_t>(c)));
      }
      double way = 0;
      for (std::size_t s = 0; s < first; ++s) way += result_.times.stage[s].forward.count();
      out = std::max(out, way + result_.measures.busy[d].count());
    }
    return out;
  }

  void finish() {
    const auto gap = [](Picoseconds makespan, Picoseconds lower) {
      return makespan.count() / lower.count() - 1;
    };
    result_.lower_bound = std::min(Picoseconds(std::ceil(bound() / kTolerance)), result_.makespan);
    result_.gap = gap(result_.makespan, result_.lower_bound);
    if (found_once_) {
      SynthesisOnce& once = result_.once;
      once.lower_bound = std::min(Picoseconds(std::ceil(bound_once() / kTolerance)), once.makespan);
      once.gap = gap(once.makespan, once.lower_bound);
    }
    result_.stopped = result_.lower_bound >= result_.makespan ? SynthesisStop::proven_best
                      : stopped_                              ? *stopped_
                                                              : SynthesisStop::budget_spent;
  }

  struct Guide {
    Placement* placement;
    PassOrders orders;
  };

  const SynthesisRequest& request_;
  const SynthesisOptions& options_;
  std::chrono::steady_clock::time_point begin_;
  std::optional<SynthesisStop> stopped_;
  std::vector<Cut> cuts_;
  std::vector<Placement> placements_;
  std::vector<Guide> guides_;
  SynthesisResult result_;
  bool found_ = false, found_once_ = false;
  std::int64_t nodes_ = 0;
};

}  // namespace

Result<SynthesisResult> synthesise(const SynthesisRequest& request,
                                   const SynthesisOptions& options) {
  return Synthesis(request, options).run();
}

}  // namespace orrery
