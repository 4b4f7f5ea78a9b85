// Makespan, bubble, memory and exposed communication of the schedules against the closed forms of
// their papers, over shapes and times.
//
// F, B, W, BW: of one microbatch and one virtual stage. Idle: makespan less what a device works.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "schedule/execution.h"
#include "schedule/in_flight.h"
#include "schedule/schedule.h"
#include "schedules/operations.h"

namespace orrery {
namespace {

struct Times {
  double forward, input, weight;
  [[nodiscard]] double backward() const { return input + weight; }
};

struct Made {
  Pipeline pipeline;
  PipelineMeasures measures;
  [[nodiscard]] double makespan() const { return measures.makespan.count(); }
  [[nodiscard]] double idle(std::size_t d) const { return makespan() - measures.busy[d].count(); }
  [[nodiscard]] double peak(std::size_t d) const { return peak_in_flight(pipeline, d).memory; }
};

Made run(const char* name, const PipelineShape& shape, Times t, double latency = 0, int group = 0) {
  ScheduleRequest r;
  r.shape = shape;
  r.group = group;
  r.times = equal_times(shape, Picoseconds(t.forward), Picoseconds(t.input), Picoseconds(t.weight),
                        Picoseconds(latency));
  Pipeline p = *pipeline(**find_schedule(name), r);
  PipelineMeasures measures = execute(p, r.times)->measures;
  return {std::move(p), std::move(measures)};
}

std::string at(const char* name, const PipelineShape& s) {
  return std::string(name) + " p=" + std::to_string(s.devices) +
         " m=" + std::to_string(s.microbatches) + " v=" + std::to_string(s.chunks);
}

constexpr Times kTimes[] = {{1, 1, 1}, {1, 1, 0}, {10, 11, 10}, {7, 7, 4}, {3, 5, 3}};

TEST(ClosedForms, MakespanOfWholeBackwardsOneWay) {
  for (const Times& t : kTimes) {
    const double both = t.forward + t.backward();
    for (const int p : {1, 2, 3, 4, 7, 8}) {
      for (const int m : {1, 2, 5, 8, 16}) {
        // arXiv 1811.06965; 2007.01045: (m + p-1)(F + BW).
        for (const char* name : {"gpipe", "1f1b", "pipedream"}) {
          EXPECT_EQ(run(name, {p, m, 1}, t).makespan(), (m + p - 1) * both) << at(name, {p, m, 1});
        }
      }
      for (const int units : {1, 2, 4}) {
        for (const int v : {1, 2, 3}) {
          // arXiv 2104.04473, 2211.05953: idle (p-1)(F + BW) of a chunk.
          const PipelineShape shape{p, units * p, v};
          for (const char* name : {"interleaved_1f1b", "breadth_first", "modular_lga"}) {
            EXPECT_EQ(run(name, shape, t).idle(0), (p - 1) * both) << at(name, shape);
          }
        }
      }
    }
  }
}

TEST(ClosedForms, IdleOfBothDirections) {
  for (const Times& t : kTimes) {
    const double backward = t.backward();
    if (backward < t.forward) continue;
    for (const int p : {2, 4, 6, 8, 12}) {
      for (const int units : {1, 2, 3}) {
        // arXiv 2107.06925: (p-2) BW, and (p-2)(BW - F) for each further unit; arXiv
        // 2410.19367 the same with the times of a chunk.
        const double idle = (p - 2) * backward + (units - 1) * (p - 2) * (backward - t.forward);
        EXPECT_EQ(run("chimera", {p, units * p, 1}, t).idle(0), idle) << p << " " << units;
        EXPECT_EQ(run("bitpipe", {p, units * p, 2}, t).idle(0), idle) << p << " " << units;
      }
    }
  }
}

TEST(ClosedForms, MemoryOfBothDirections) {
  for (const int p : {2, 4, 6, 8, 12}) {
    for (const int units : {1, 3}) {
      const Made chimera = run("chimera", {p, units * p, 1}, kTimes[0]);
      const Made bitpipe = run("bitpipe", {p, units * p, 2}, kTimes[0]);
      for (int d = 0; d < p; ++d) {
        const int from_end = std::min(d, p - 1 - d);
        const auto device = static_cast<std::size_t>(d);
        EXPECT_EQ(chimera.peak(device), from_end + p / 2 + 1) << p << " " << d;
        EXPECT_EQ(bitpipe.peak(device), 2 * p - (p / 2 - 1 - from_end)) << p << " " << d;
      }
    }
    for (const int m : {2 * p, 2 * p + 2, 4 * p}) {
      const Made dualpipe = run("dualpipe", {p, m, 1}, kTimes[0]);
      const Made dualpipev = run("dualpipev", {p, m, 2}, kTimes[0]);
      for (std::size_t d = 0; d < static_cast<std::size_t>(p); ++d) {
        EXPECT_EQ(dualpipe.peak(d), p + 1) << p << " " << m;
        EXPECT_EQ(dualpipev.peak(d), 2 * p + 1) << p << " " << m;
      }
    }
  }
}

TEST(ClosedForms, IdleOfPairs) {
  // arXiv 2412.19437 Table 2: (PP/2 - 1)(FB + BW - 3W) on the middle devices, others as much or
  // less; PP the stages of a round trip.
  for (const Times& t : {Times{1, 1, 1}, Times{10, 10, 6}, Times{8, 8, 8}}) {
    const double each = t.forward + 2 * t.backward() - 3 * t.weight;
    for (const int p : {2, 4, 8}) {
      for (const int m : {2 * p, 3 * p, 5 * p}) {
        const auto middle = static_cast<std::size_t>(p / 2);
        EXPECT_EQ(run("dualpipe", {p, m, 1}, t).idle(middle), (0.5 * p - 1) * each)
            << at("dualpipe", {p, m, 1});
        EXPECT_EQ(run("dualpipev", {p, m, 2}, t).idle(static_cast<std::size_t>(p - 1)),
                  (p - 1) * each)
            << at("dualpipev", {p, m, 2});
      }
    }
  }
}

TEST(ClosedForms, HanayoIdlesTwoBackwardsADevice) {
  // arXiv 2308.15762: 2(p-1) BW of a chunk for a unit of p microbatches, whatever the waves.
  for (const Times& t : kTimes) {
    if (t.backward() < t.forward) continue;
    for (const int p : {2, 3, 4, 8}) {
      for (const int waves : {1, 2, 4}) {
        const Made r = run("hanayo", {p, p, 2 * waves}, t);
        EXPECT_EQ(r.idle(0), 2 * (p - 1) * t.backward()) << p << " " << waves;
        for (std::size_t d = 0; d < static_cast<std::size_t>(p); ++d) {
          EXPECT_LE(r.peak(d), 2 * waves * p);
        }
      }
    }
  }
}

TEST(ClosedForms, IdleWithSplitBackwards) {
  const Times one{1, 1, 1};
  for (const int p : {2, 3, 4, 8}) {
    for (const int m : {p, 2 * p, 5 * p}) {
      // arXiv 2405.18047 Table 1.
      EXPECT_EQ(run("2bp_gpipe", {p, m, 1}, one).idle(0), 2 * (p - 1)) << p << " " << m;
      EXPECT_EQ(run("2bp_1f1b", {p, m, 1}, one).idle(0), p - 1) << p << " " << m;
    }
    for (const int units : {1, 2, 3}) {
      for (const int v : {1, 2, 3}) {
        // arXiv 2402.03791: units of 2p-1 or more join without a stall.
        const int u = 2 * p - 1;
        EXPECT_EQ(run("zeropp", {p, units * u, v}, one, 0, u).idle(0), 2 * (p - 1))
            << p << " " << units << " " << v;
      }
    }
  }
}

TEST(ClosedForms, MemoryOfGroups) {
  for (const int p : {2, 4, 8}) {
    for (const int v : {1, 2, 3}) {
      // arXiv 2503.01328: (p/2)(1 + 1/v) microbatches on the first device with g = p/2.
      const Made gis = run("gis", {p, 4 * p, v}, {1, 1, 1}, 0, p / 2);
      EXPECT_EQ(gis.peak(0), p / 2 * (v - 1) + p) << p << " " << v;
      // arXiv 2104.04473: p (1 + (p-1)/(p v)).
      EXPECT_EQ(run("interleaved_1f1b", {p, 4 * p, v}, {1, 1, 1}).peak(0), p * v + p - 1);
      for (std::size_t d = 0; d < static_cast<std::size_t>(p); ++d) {
        const Made full = run("pipeoffload_full", {p, 4 * p, v}, {1, 1, 1});
        const Made half = run("pipeoffload_half", {p, 4 * p, v}, {1, 1, 1});
        EXPECT_LE(full.peak(d), 4) << "copies that take no time";
        EXPECT_LE(half.peak(d), gis.peak(d));
        EXPECT_EQ(full.makespan(), gis.makespan());
        EXPECT_EQ(half.makespan(), gis.makespan());
      }
    }
  }
}

TEST(ClosedForms, MemoryOfTheV) {
  // arXiv 2405.15362: two thirds of 1F1B.
  for (int p = 1; p <= 16; ++p) {
    const Made r = run("1f1b_v", {p, 4 * p, 2}, {1, 1, 1});
    const int thirds = (2 * p + 2) / 3;
    const double peak = 2 * thirds + (p % 3 == 0 ? 2 : 0);
    double most = 0;
    for (std::size_t d = 0; d < static_cast<std::size_t>(p); ++d) {
      most = std::max(most, r.peak(d));
    }
    EXPECT_EQ(most, peak) << p;
  }
}

TEST(ClosedForms, WeightVersionsOfAsynchronousPipelines) {
  EXPECT_EQ(run("pipedream", {4, 8, 1}, {1, 1, 1}).pipeline.weight_versions,
            (std::vector{4, 3, 2, 1}));
  EXPECT_EQ(run("pipedream_2bw", {4, 8, 1}, {1, 1, 1}).pipeline.weight_versions,
            (std::vector{2, 2, 2, 2}));
  const Made r = run("pipelined_backpropagation", {4, 20, 1}, {1, 1, 1});
  EXPECT_EQ(r.pipeline.weight_versions, (std::vector{1, 1, 1, 1}));
  for (std::size_t d = 0; d < 4; ++d) EXPECT_EQ(r.peak(d), 2 * (4 - static_cast<int>(d)) - 1);
}

TEST(ClosedForms, SwarmTendsToTheThroughputOfItsSlowestStage) {
  // arXiv 2301.11913: the sum over the peers of a stage, whatever their speeds.
  ScheduleRequest r;
  r.shape = {12, 4000, 1};
  r.group = 3;
  r.times = equal_times(r.shape, Picoseconds(1000), Picoseconds(1000), Picoseconds(1000));
  const Schedule& swarm = **find_schedule("swarm");
  const auto microbatch = [&] {
    const Pipeline made = *pipeline(swarm, r);
    EXPECT_EQ(made.stages(), 4u);
    return execute(made, r.times)->measures.makespan.count() / r.shape.microbatches;
  };
  EXPECT_NEAR(microbatch(), 1000, 30);
  // Peers of unequal speed: 9 units of speed to share over 4 stages of 3 ms.
  r.times.speed = {1, 1, 1, 1, 0.5, 0.5, 0.5, 0.5, 0.75, 0.75, 0.75, 0.75};
  EXPECT_NEAR(microbatch(), 3000 / (1 + 0.5 + 0.75), 60);
  // The peers move until no stage lags: stage 0 takes twice as long.
  r.times.speed.clear();
  r.times.stage[0].forward = Picoseconds(2000);
  r.times.stage[0].backward = Picoseconds(4000);
  EXPECT_NEAR(microbatch(), 1500, 45);
}

TEST(ClosedForms, SwarmIsOfItsSeed) {
  ScheduleRequest r;
  r.shape = {8, 40, 1};
  const Schedule& swarm = **find_schedule("swarm");
  const Pipeline first = *pipeline(swarm, r);
  EXPECT_EQ(first.order, pipeline(swarm, r)->order);
  r.seed = 1;
  EXPECT_NE(first.order, pipeline(swarm, r)->order);
}

TEST(ClosedForms, VocabularyPassesKeepTheBubbleOf1F1B) {
  // arXiv 2411.05288: a barrier costs one more microbatch in flight and no time.
  for (const int p : {2, 4, 8}) {
    const PipelineShape shape{p, 6 * p, 1};
    ScheduleRequest r;
    r.shape = shape;
    r.times = equal_times(shape, Picoseconds(100), Picoseconds(100), Picoseconds(100));
    VocabularyTimes& v = r.times.vocabulary;
    v.output_layer = v.output_layer_gradient = Picoseconds(30);
    v.input_layer = v.input_layer_gradient = Picoseconds(5);
    v.broadcast = v.first_barrier = v.second_barrier = v.input_reduction = Picoseconds(10);
    const double plain = run("1f1b", shape, {100, 100, 100}).idle(0);
    for (const int barriers : {1, 2}) {
      const Pipeline made = *pipeline(**find_schedule(barriers == 2 ? "vocab_1" : "vocab_2"), r);
      const PipelineMeasures measures = execute(made, r.times)->measures;
      // A microbatch passes the collectives once on its way, at most.
      EXPECT_LE((measures.makespan - measures.busy[0]).count(), plain + 2 * (30 + 10 + 10 + 5))
          << p << " " << barriers;
      EXPECT_EQ(peak_in_flight(made, 0).memory, p + barriers);
    }
  }
}

TEST(ClosedForms, VocabularyPassesOverVHalfCostOneMicrobatchABarrier) {
  // arXiv 2411.05288: no more time but the vocabulary's own and that of a turn at the ends.
  for (const int p : {2, 4}) {
    const PipelineShape shape{p, 6 * p, 2};
    ScheduleRequest r;
    r.shape = shape;
    r.times = equal_times(shape, Picoseconds(100), Picoseconds(100), Picoseconds(100));
    const auto peak = [](const Pipeline& made) {
      double most = 0;
      for (std::size_t d = 0; d < made.order.size(); ++d) {
        most = std::max(most, peak_in_flight(made, d).memory);
      }
      return most;
    };
    const Pipeline plain = *pipeline(**find_schedule("v_half"), r);
    const double idle = execute(plain, r.times)->measures.makespan.count() - 6.0 * 100 * 6 * p;
    VocabularyTimes& v = r.times.vocabulary;
    v.output_layer = v.output_layer_gradient = Picoseconds(30);
    v.input_layer = v.input_layer_gradient = Picoseconds(5);
    v.broadcast = v.first_barrier = v.second_barrier = v.input_reduction = Picoseconds(10);
    for (const int barriers : {1, 2}) {
      const char* name = barriers == 2 ? "v_half_vocab_1" : "v_half_vocab_2";
      const Pipeline made = *pipeline(**find_schedule(name), r);
      const PipelineMeasures measures = execute(made, r.times)->measures;
      // A turn: the broadcast, and for each barrier a pass, a vocabulary pass and a reduction; the
      // passes of the first and the last microbatch wait for nobody's work.
      EXPECT_LE((measures.makespan - measures.busy[0]).count(),
                idle + 10 + barriers * (100 + 30 + 10) + 2 * (5 + 10) + 2 * 70)
          << name << " p=" << p;
      EXPECT_LE(peak(made), peak(plain) + 2 * barriers) << name << " p=" << p;
      EXPECT_EQ(wrong_operations(made), "");
    }
  }
}

// Latency c of every hop adds so many c, if every operation takes 1000 c.
double exposed(const char* name, const PipelineShape& shape) {
  const Times t{1000, 1000, 1000};
  return run(name, shape, t, 1).makespan() - run(name, shape, t).makespan();
}

TEST(ClosedForms, ExposedLatency) {
  for (const int p : {4, 8}) {
    EXPECT_EQ(exposed("hanayo", {p, p, 2}), 5 * p - 6);
    for (const int k : {1, 2, 3}) {
      const int m = k * p;
      const int one = 2 * (p - 1) * k + 2 * (p - 2);
      EXPECT_EQ(exposed("1f1b", {p, m, 1}), one);
      EXPECT_EQ(exposed("2bp_1f1b", {p, m, 1}), one);
      EXPECT_EQ(exposed("gpipe", {p, m, 1}), 2 * (p - 1));
      EXPECT_EQ(exposed("2bp_gpipe", {p, m, 1}), 2 * (p - 1));
      EXPECT_EQ(exposed("chimera", {p, m, 1}), 3 * p - 5 + 2 * (p - 2) * (k - 1));
      EXPECT_EQ(exposed("bitpipe", {p, m, 2}), 5 * p - 7 + (4 * p - 5) * (k - 1));
      EXPECT_EQ(exposed("dualpipe", {p, 2 * m, 1}), 7 * p / 2 - 5 + 2 * (p - 1) * (k - 1));
      EXPECT_EQ(exposed("dualpipev", {p, 2 * m, 2}), 6 * p - 8 + 4 * (p - 1) * (k - 1));
      for (const int v : {2, 4}) {
        EXPECT_EQ(exposed("interleaved_1f1b", {p, m, v}), 2 * (p * v - 1));
        EXPECT_EQ(exposed("breadth_first", {p, m, v}), k == 1 ? 2 * (p * v - 1) : 2 * (p - 1));
      }
    }
  }
}

}  // namespace
}  // namespace orrery
