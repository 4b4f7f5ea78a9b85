// Zero-bubble and V-shaped schedules: published rates, closed forms, laws over random requests.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "document/fields.h"
#include "document/value.h"
#include "schedule/execution.h"
#include "schedule/schedule.h"
#include "schedule/splitmix.h"

namespace orrery {
namespace {

PipelineMeasures measured(const char* name, const ScheduleRequest& request) {
  const auto made = pipeline(**find_schedule(name), request);
  EXPECT_TRUE(made) << (made ? "" : made.error().text());
  const auto run = execute(*made, request.times);
  EXPECT_TRUE(run) << (run ? "" : run.error().text());
  return run->measures;
}

ScheduleRequest request_of(PipelineShape shape, double f, double b, double w, double c = 0) {
  ScheduleRequest out;
  out.shape = shape;
  out.times = equal_times(shape, Picoseconds(f), Picoseconds(b), Picoseconds(w), Picoseconds(c));
  return out;
}

double most(const std::vector<double>& v) { return *std::max_element(v.begin(), v.end()); }

// Published: arXiv 2401.10241 Tables; cost = longest device span, for the 1F1B family and ZB-H1 the
// makespan; rate = (cost - m (F + B + W)) / cost.
double rate(const char* name, const Value& row, double whole, int chunks) {
  const auto number = [&](const char* key) { return *read_real(*row.find(key)); };
  const PipelineShape shape{static_cast<int>(number("p")), static_cast<int>(number("m")), chunks};
  const auto time = [&](const char* key) {
    return std::nearbyint(number(key) * 1e9 * whole / chunks);
  };
  ScheduleRequest request = request_of(shape, time("T_F"), time("T_B"), time("T_W"),
                                       std::nearbyint(number("T_comm") * 1e9));
  const double h = number("h");
  request.times.memory.assign(request.times.stage.size(),
                              {34 * h + 5 * number("a") * number("s"), 32 * h});
  const PipelineMeasures m = measured(name, request);
  const std::string_view n(name);
  const bool by_makespan = n == "1f1b" || n == "interleaved_1f1b" || n == "zb_h1";
  const double cost = (by_makespan ? m.makespan : m.longest_device_span).count();
  const double work = m.busy.front().count();
  return (cost - work) / cost;
}

TEST(ZeroBubble, PublishedRatesToThePrintedDigits) {
  const auto file = read_document(std::string(ORRERY_SOURCE_DIR) +
                                  "/validation/schedules/published_zb_bubble_rates.json");
  ASSERT_TRUE(file) << file.error().text();
  int rows = 0;
  double worst_interleaved = 0;
  for (const char* table : {"per_device", "per_chunk"}) {
    const double whole = table == std::string_view("per_chunk") ? 2 : 1;
    for (const Value& row : file->root.find(table)->items()) {
      const Value& bubble = *row.find("bubble");
      for (const char* name : {"1f1b", "zb_h1", "zb_h2", "zb_1p", "zb_2p", "zb_v"}) {
        if (bubble.find(name) == nullptr) continue;
        const int chunks = name == std::string_view("zb_v") ? 2 : 1;
        const double own = rate(name, row, whole, chunks);
        EXPECT_EQ(std::lround(own * 1e4), std::lround(*read_real(*bubble.find(name)) * 1e4))
            << name << ' ' << own;
        ++rows;
      }
      const int layers = static_cast<int>(*read_real(*row.find("layers")));
      const int p = static_cast<int>(*read_real(*row.find("p")));
      const double own = rate("interleaved_1f1b", row, whole, layers / p);
      worst_interleaved =
          std::max(worst_interleaved, std::abs(own - *read_real(*bubble.find("interleaved_1f1b"))));
    }
  }
  EXPECT_EQ(rows, 8 * 5 + 2 * 4);
  // Interleaved 1F1B of the source runs in a framework with sends of its own.
  EXPECT_LT(worst_interleaved, 0.05);
  RecordProperty("worst_interleaved_difference", std::to_string(worst_interleaved));
}

// strategies of arXiv 2401.10241 with a latency between devices.
TEST(ZeroBubble, ClosedFormsOfHandcraftedSchedules) {
  for (const int p : {2, 4, 8}) {
    for (const int m : {2 * p, 3 * p, 4 * p}) {
      const double f = 1000;
      const double c = 1;
      const PipelineMeasures h1 = measured("zb_h1", request_of({p, m, 1}, f, f, f, c));
      EXPECT_EQ(h1.makespan.count(), m * 3 * f + (p - 1) * f + 4 * (p - 1) * c) << p << ' ' << m;
      const PipelineMeasures h2 = measured("zb_h2", request_of({p, m, 1}, f, f, f, c));
      EXPECT_EQ(h2.longest_device_span.count(), m * 3 * f + 2 * (p - 1) * c) << p << ' ' << m;
      for (const double peak : h1.peak_memory) EXPECT_EQ(peak, p);
      for (const double peak : h2.peak_memory) EXPECT_EQ(peak, 2 * p - 1);
    }
  }
}

TEST(ZeroBubble, VSchedulesHaveNoBubbleAndBalancedMemory) {
  for (const int p : {2, 3, 4, 6, 8}) {
    for (const int m : {2 * p, 3 * p}) {
      const ScheduleRequest request = request_of({p, m, 2}, 1, 1, 1);
      for (const char* name : {"zb_v", "v_zb"}) {
        const PipelineMeasures v = measured(name, request);
        EXPECT_EQ(v.bubble_ratio_span, 0) << name << ' ' << p << ' ' << m;
        EXPECT_LE(most(v.peak_memory), 2 * p);
      }
      // arXiv 2405.15362 Table 1, in halves of a microbatch; idle at most 1.5 and 2 (p - 1) passes.
      const PipelineMeasures half = measured("v_half_stable", request);
      EXPECT_LE(most(half.peak_memory), 2 * ((p + 2) / 2));
      const PipelineMeasures least = measured("v_min_stable", request);
      EXPECT_LE(most(least.peak_memory), 2 * ((p + 4) / 3));
    }
  }
}

TEST(ZeroBubble, ReorderingKeepsMemoryAndShortens) {
  for (const int p : {4, 6, 8}) {
    const ScheduleRequest request = request_of({p, 2 * p, 2}, 1, 1, 1);
    for (const auto& [stable, reordered, idle] :
         {std::tuple{"v_min_stable", "v_min", 2.0}, {"v_half_stable", "v_half", 1.5}}) {
      const PipelineMeasures before = measured(stable, request);
      const PipelineMeasures after = measured(reordered, request);
      EXPECT_LE(after.makespan, before.makespan);
      for (std::size_t d = 0; d < before.peak_memory.size(); ++d) {
        EXPECT_LE(after.peak_memory[d], before.peak_memory[d]);
      }
      // Two passes of a chunk make one of a device.
      EXPECT_LE(after.makespan.count(), 6.0 * 2 * p + 2 * idle * (p - 1)) << reordered << p;
    }
  }
}

TEST(ZeroBubble, EveryRequestGivesEveryPassOnceWithinItsLimit) {
  Splitmix random(23);
  for (int round = 0; round < 8; ++round) {
    const int p = 1 + static_cast<int>(random.below(5));
    const int m = 1 + static_cast<int>(random.below(9));
    for (const char* name : {"zb_h1", "zb_h2", "zb_1p", "zb_2p", "zb_v", "v_min", "v_half", "v_zb",
                             "v_auto", "v_min_stable", "v_half_stable"}) {
      const Schedule& schedule = **find_schedule(name);
      ScheduleRequest request = request_of({p, m, schedule.chunks}, 1, 1, 1);
      for (StageTimes& stage : request.times.stage) {
        stage.forward = Picoseconds(static_cast<double>(1 + random.below(9)));
        stage.input_gradient = Picoseconds(static_cast<double>(1 + random.below(9)));
        stage.weight_gradient = Picoseconds(static_cast<double>(1 + random.below(9)));
      }
      if (schedule.name == "v_auto" || schedule.name == "zb_1p") {
        request.memory_limit =
            static_cast<double>(schedule.chunks) + static_cast<double>(random.below(6));
      }
      const auto made = pipeline(schedule, request);
      ASSERT_TRUE(made) << name << ' ' << made.error().text();
      std::map<std::array<std::size_t, 4>, int> count;
      for (std::size_t d = 0; d < made->order.size(); ++d) {
        for (const PipelineOperation& op : made->order[d]) {
          ++count[{d, op.chunk, op.microbatch, static_cast<std::size_t>(op.action)}];
        }
      }
      EXPECT_EQ(count.size(), static_cast<std::size_t>(3 * p * m * schedule.chunks)) << name;
      const auto run = execute(*made, request.times);
      ASSERT_TRUE(run) << name << ' ' << run.error().text();
      EXPECT_LE(most(run->measures.peak_memory), request.memory_limit) << name;
    }
  }
}

TEST(ZeroBubble, TooLittleMemoryIsNamed) {
  ScheduleRequest request = request_of({4, 8, 2}, 1, 1, 1);
  request.memory_limit = 1;
  EXPECT_EQ(pipeline(**find_schedule("v_auto"), request).error().text(),
            "the memory limit 1 is below the 2 of one microbatch");
  EXPECT_EQ(pipeline(**find_schedule("v_half"), request).error().text(),
            "v_half holds 6 on its fullest device, more than the limit of 1");
  EXPECT_EQ(pipeline(**find_schedule("zb_v"), request).error().text(),
            "zb_v finds no order within a memory limit of 1; v_auto takes any that holds one "
            "microbatch");
}

}  // namespace
}  // namespace orrery
