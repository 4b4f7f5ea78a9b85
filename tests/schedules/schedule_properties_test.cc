// What holds for every schedule, whatever the shape and the times.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "schedule/execution.h"
#include "schedule/in_flight.h"
#include "schedule/schedule.h"
#include "schedules/operations.h"

namespace orrery {
namespace {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  int in(int low, int high) {
    return low + static_cast<int>(engine_() % static_cast<std::uint64_t>(high - low + 1));
  }
  Picoseconds time(int low, int high) { return Picoseconds(in(low, high)); }

 private:
  std::mt19937_64 engine_;
};

// A shape the schedule may have, or not: some ask for multiples.
ScheduleRequest request(const Schedule& schedule, Random& random) {
  ScheduleRequest out;
  out.shape.devices = random.in(1, 9);
  out.shape.chunks = schedule.chunks > 0 ? schedule.chunks : random.in(1, 4);
  out.shape.microbatches =
      random.in(0, 1) == 0 ? random.in(1, 30) : random.in(1, 4) * out.shape.devices;
  if (random.in(0, 2) == 0) out.group = random.in(1, 2 * out.shape.devices);
  return out;
}

void uneven_times(ScheduleRequest& request, Random& random) {
  const int longest = random.in(0, 3) == 0 ? 1000 : 20;
  request.times = equal_times(request.shape, Picoseconds(1), Picoseconds(1), Picoseconds(1));
  for (StageTimes& stage : request.times.stage) {
    stage.forward = random.time(1, longest);
    stage.input_gradient = random.time(1, longest);
    stage.weight_gradient = random.time(1, longest);
    stage.backward = stage.input_gradient + stage.weight_gradient;
    stage.forward_and_backward = stage.forward + stage.backward;
    stage.offload = random.time(0, 10);
    stage.reload = random.time(0, 10);
  }
  for (auto* ways : {&request.times.transfer, &request.times.latency}) {
    if (random.in(0, 1) == 0) continue;
    for (Picoseconds& way : *ways) way = random.time(0, 5);
  }
  VocabularyTimes& v = request.times.vocabulary;
  for (Picoseconds* time :
       {&v.output_layer, &v.output_layer_gradient, &v.input_layer, &v.input_layer_gradient,
        &v.broadcast, &v.first_barrier, &v.second_barrier, &v.input_reduction}) {
    *time = random.time(0, 8);
  }
}

std::string text(const Schedule& schedule, const ScheduleRequest& r) {
  return std::string(schedule.name) + " p=" + std::to_string(r.shape.devices) +
         " m=" + std::to_string(r.shape.microbatches) + " v=" + std::to_string(r.shape.chunks) +
         " group=" + std::to_string(r.group);
}

// A searched order takes thousands of times as long to make as a fixed one: fewer and smaller.
bool searched(const Schedule& schedule) {
  return schedule.made_for_times && schedule.splits_backward;
}
constexpr int kSearchedRequests = 4;
constexpr int kMostSearched = 40;  // devices times microbatches

// Calls visit(schedule, request, pipeline) for random requests that have no problems.
template <class Visit>
void for_random_pipelines(int requests, Visit visit) {
  Random random(3);
  for (const Schedule& schedule : schedules()) {
    int made = 0;
    const int most = searched(schedule) ? std::min(requests, kSearchedRequests) : requests;
    for (int n = 0; n < most; ++n) {
      ScheduleRequest r = request(schedule, random);
      while (searched(schedule) && r.shape.devices * r.shape.microbatches > kMostSearched) {
        r = request(schedule, random);
      }
      uneven_times(r, random);
      if (!schedule_problems(schedule, r).empty()) continue;
      SCOPED_TRACE(text(schedule, r));
      const auto p = pipeline(schedule, r);
      ASSERT_TRUE(p) << p.error().text();
      visit(schedule, r, *p);
      ++made;
    }
    EXPECT_GT(made, 0) << schedule.name << " never met a shape it can have";
  }
}

TEST(ScheduleProperties, EveryOperationOnceAndNoDeadlock) {
  for_random_pipelines(60, [](const Schedule&, const ScheduleRequest&, const Pipeline& p) {
    EXPECT_EQ(wrong_operations(p), "");
    const auto order = linear_order(p);
    ASSERT_TRUE(order) << order.error().text();
    EXPECT_EQ(order->size(), p.operations());
  });
}

TEST(ScheduleProperties, NeverFasterThanItsBusiestDeviceNorThanOneMicrobatch) {
  for_random_pipelines(20, [](const Schedule&, const ScheduleRequest& r, const Pipeline& p) {
    const auto run = execute(p, r.times);
    ASSERT_TRUE(run) << run.error().text();
    const PipelineMeasures& m = run->measures;
    EXPECT_GE(m.makespan, *std::max_element(m.busy.begin(), m.busy.end()));
    Picoseconds through;
    for (std::size_t s = 0; s < p.stages(); ++s) {
      through += r.times.stage[s].forward + r.times.stage[s].input_gradient;
    }
    EXPECT_GE(m.makespan, through);
    EXPECT_GE(m.bubble_ratio, 0);
    EXPECT_LT(m.bubble_ratio, 1);
  });
}

TEST(ScheduleProperties, AnOrderIsNeverFasterWithAnythingSlower) {
  Random random(5);
  for_random_pipelines(12, [&](const Schedule&, const ScheduleRequest& r, const Pipeline& p) {
    PipelineTimes slower = r.times;
    StageTimes& stage = slower.stage[static_cast<std::size_t>(
        random.in(0, static_cast<int>(slower.stage.size()) - 1))];
    stage.forward += random.time(0, 20);
    stage.input_gradient += random.time(0, 20);
    stage.weight_gradient += random.time(0, 20);
    stage.backward += random.time(0, 20);
    stage.forward_and_backward += random.time(0, 20);
    for (Picoseconds& latency : slower.latency) latency += random.time(0, 3);
    EXPECT_GE(execute(p, slower)->measures.makespan, execute(p, r.times)->measures.makespan);
  });
}

TEST(ScheduleProperties, FixedOrdersDoNotDependOnTheTimes) {
  for_random_pipelines(12, [](const Schedule& schedule, ScheduleRequest r, const Pipeline& p) {
    if (schedule.made_for_times) return;
    r.times = PipelineTimes();
    EXPECT_EQ(pipeline(schedule, r)->order, p.order);
  });
}

TEST(ScheduleProperties, TheClosedFormOfMemoryIsThatOfTheOrder) {
  for_random_pipelines(60,
                       [](const Schedule& schedule, const ScheduleRequest& r, const Pipeline& p) {
                         // Closed forms are for the schedule's own group.
                         if (schedule.peak_in_flight == nullptr || r.group > 0) return;
                         for (int d = 0; d < r.shape.devices; ++d) {
                           EXPECT_EQ(schedule.peak_in_flight(r.shape, d),
                                     peak_in_flight(p, static_cast<std::size_t>(d)).held)
                               << "device " << d;
                         }
                       });
}

TEST(ScheduleProperties, SplitBackwardsStandOnlyWhereTheScheduleSaysSo) {
  for_random_pipelines(12, [](const Schedule& schedule, const ScheduleRequest&, const Pipeline& p) {
    EXPECT_EQ(p.chunks_held, p.shape.chunks * schedule.routes);
    EXPECT_EQ(p.vocabulary_barriers > 0, schedule.splits_vocabulary);
    EXPECT_EQ(!p.weight_versions.empty(), schedule.asynchronous);
    for (const auto& device : p.order) {
      for (const PipelineOperation& op : device) {
        if (op.action == PipelineAction::input_gradient ||
            op.action == PipelineAction::weight_gradient) {
          EXPECT_TRUE(schedule.splits_backward);
        }
      }
    }
  });
}

TEST(ScheduleProblems, NameTheNumbers) {
  const auto problem = [](const char* name, PipelineShape shape, int group = 0) {
    ScheduleRequest r;
    r.shape = shape;
    r.group = group;
    std::string all;
    for (const std::string& p : schedule_problems(**find_schedule(name), r)) {
      all += (all.empty() ? "" : "; ") + p;
    }
    return all;
  };
  EXPECT_EQ(problem("chimera", {3, 8, 1}),
            "chimera runs two directions over an even number of devices, not 3");
  EXPECT_EQ(problem("chimera", {4, 6, 1}),
            "chimera passes microbatches in units of one a device: 6 microbatches are not a "
            "multiple of 4");
  EXPECT_EQ(problem("bitpipe", {4, 6, 2}),
            "bitpipe passes microbatches in units of one a device: 6 microbatches are not a "
            "multiple of 4");
  EXPECT_EQ(problem("dualpipe", {4, 7, 1}),
            "dualpipe sends half of the microbatches each way: 7 microbatches are not a multiple "
            "of 2; dualpipe needs two microbatches a device: 7 microbatches are below 8");
  EXPECT_EQ(problem("dualpipev", {4, 7, 2}),
            "dualpipev needs two microbatches a device: 7 microbatches are below 8");
  EXPECT_EQ(problem("hanayo", {4, 4, 3}),
            "hanayo holds two chunks a wave on a device: 3 chunks are not a multiple of 2");
  EXPECT_EQ(problem("gis", {8, 8, 2}, 3),
            "gis passes microbatches in groups of 4 to 8 on 8 devices, not 3");
  EXPECT_EQ(problem("pipedream_2bw", {8, 7, 1}),
            "pipedream_2bw accumulates as many microbatches as devices or more: 7 microbatches "
            "are below 8");
  EXPECT_EQ(problem("1f1b", {8, 3, 1}), "");
  EXPECT_EQ(problem("gpipe", {8, 3, 1}), "");
}

}  // namespace
}  // namespace orrery
