// The golden schedules of validation/schedules (format: its README).
//
// exact_order: every operation of every device, with its start and end. reference_solution:
// dependency-correct, no device above its peak, no longer than the reference. No tolerance.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "document/fields.h"
#include "document/value.h"
#include "schedule/execution.h"
#include "schedule/in_flight.h"
#include "schedule/schedule.h"
#include "schedules/operations.h"

namespace orrery {
namespace {

const std::filesystem::path kFolder =
    std::filesystem::path(ORRERY_SOURCE_DIR) / "validation/schedules";

double number(const Value& v) { return *read_real(v); }
double number(const Value& v, const char* key) { return number(*v.find(key)); }
int whole(const Value& v, const char* key) { return static_cast<int>(number(v, key)); }
std::string text(const Value& v, const char* key) { return v.find(key)->scalar_text(); }

// One unit of the file. A nanosecond, so that nothing is near the rounding of the simulation.
Picoseconds time(double units) { return Picoseconds(units * 1000); }

ScheduleRequest request_of(const Value& golden) {
  ScheduleRequest out;
  out.shape = {whole(golden, "p"), whole(golden, "m"), whole(golden, "v")};
  const Value& times = *golden.find("op_time");
  const auto of = [&](const char* kind) {
    return times.find(kind) == nullptr ? Picoseconds(0) : time(number(times, kind));
  };
  out.times =
      equal_times(out.shape, of("F"), of("B"), of("W"), time(number(golden, "comm_latency")));
  for (StageTimes& stage : out.times.stage) {
    if (times.find("BW") != nullptr) stage.backward = of("BW");
    if (times.find("FB") != nullptr) stage.forward_and_backward = of("FB");
  }
  const Value& parameters = *golden.find("params");
  for (const char* group : {"group", "unit"}) {
    if (parameters.find(group) != nullptr) out.group = whole(parameters, group);
  }
  if (parameters.find("mem_cap_units") != nullptr) {
    out.memory_limit = number(parameters, "mem_cap_units");
  }
  return out;
}

std::vector<int> numbers(const Value& list) {
  std::vector<int> out;
  for (const Value& v : list.items()) out.push_back(static_cast<int>(number(v)));
  return out;
}

// "BW3.2@17-19": kind, microbatch, stage, start and end.
std::string line(const Value& op) {
  const auto& v = op.items();
  const std::string kind = v[0].scalar_text();
  std::string out = kind + v[1].scalar_text() + "." + v[2].scalar_text();
  if (kind == "FB") out += "+" + v[3].scalar_text() + "." + v[4].scalar_text();
  const std::size_t n = v.size();
  return out + "@" + v[n - 2].scalar_text() + "-" + v[n - 1].scalar_text();
}

std::vector<std::vector<std::string>> lines(const Value& golden) {
  std::vector<std::vector<std::string>> out;
  for (const Value& device : golden.find("device_ops")->items()) {
    auto& ops = out.emplace_back();
    for (const Value& op : device.items()) ops.push_back(line(op));
  }
  return out;
}

std::vector<std::vector<std::string>> lines(const Pipeline& pipeline,
                                            const PipelineExecution& run) {
  std::vector<std::vector<std::string>> out(pipeline.order.size());
  for (std::size_t i = 0; i < run.graph.operations.size(); ++i) {
    const std::size_t d = run.graph.operations[i].device;
    const PipelineOperation& op = run.graph.operations[i].operation;
    std::string text = std::string(letters(op.action)) + std::to_string(op.microbatch) + "." +
                       std::to_string(pipeline.stage_of(d, op.chunk));
    if (op.action == PipelineAction::forward_and_backward) {
      text += "+" + std::to_string(op.backward_microbatch) + "." +
              std::to_string(pipeline.stage_of(d, op.backward_chunk));
    }
    const auto units = [](Picoseconds t) { return std::to_string(std::lround(t.count() / 1000)); };
    const NodeIndex node = run.graph.nodes[i];
    out[d].push_back(text + "@" + units(run.timeline.start(run.graph.graph, node)) + "-" +
                     units(run.timeline.end(node)));
  }
  return out;
}

void expect_placement(const Pipeline& pipeline, const Value& golden) {
  const auto direction = numbers(*golden.find("microbatch_direction"));
  const auto& devices = golden.find("stage_device")->items();
  for (std::size_t j = 0; j < direction.size(); ++j) {
    const auto stage_device = numbers(devices[static_cast<std::size_t>(direction[j])]);
    ASSERT_EQ(stage_device.size(), pipeline.stages());
    for (std::size_t s = 0; s < stage_device.size(); ++s) {
      EXPECT_EQ(pipeline.seat(j, s).device, static_cast<std::uint32_t>(stage_device[s]))
          << "microbatch " << j << " stage " << s;
    }
  }
}

void check(const Value& golden, const Schedule& schedule) {
  const ScheduleRequest request = request_of(golden);
  const auto made = pipeline(schedule, request);
  ASSERT_TRUE(made) << made.error().text();
  const auto run = execute(*made, request.times);
  ASSERT_TRUE(run) << run.error().text();
  EXPECT_EQ(wrong_operations(*made), "");
  expect_placement(*made, golden);
  const Value& expected = *golden.find("expected");
  const auto peaks = numbers(*expected.find("peak_units"));
  const Picoseconds makespan = time(number(expected, "makespan"));
  if (text(golden, "mode") == "reference_solution") {
    EXPECT_LE(run->measures.makespan, makespan);
    for (std::size_t d = 0; d < peaks.size(); ++d) {
      EXPECT_LE(peak_in_flight(*made, d).memory, peaks[d]) << "device " << d;
    }
    return;
  }
  const auto golden_lines = lines(golden);
  const auto own = lines(*made, *run);
  for (std::size_t d = 0; d < golden_lines.size(); ++d) EXPECT_EQ(own[d], golden_lines[d]) << d;
  EXPECT_EQ(run->measures.makespan, makespan);
  EXPECT_EQ(run->measures.longest_device_span, time(number(expected, "longest_device_span")));
  EXPECT_NEAR(run->measures.bubble_ratio, number(expected, "bubble_ratio"), 1e-6);
  EXPECT_NEAR(run->measures.bubble_ratio_span, number(expected, "bubble_ratio_span"), 1e-6);
  for (std::size_t d = 0; d < peaks.size(); ++d) {
    EXPECT_EQ(peak_in_flight(*made, d).memory, peaks[d]) << "device " << d;
  }
}

TEST(GoldenSchedules, HoldToTheLastOperation) {
  const auto index = read_document((kFolder / "index.json").string());
  ASSERT_TRUE(index) << index.error().text();
  for (const Value& entry : index->root.items()) {
    const std::string file = text(entry, "file");
    SCOPED_TRACE(file);
    const auto golden = read_document((kFolder / file).string());
    ASSERT_TRUE(golden) << golden.error().text();
    const auto schedule = find_schedule(text(golden->root, "schedule"));
    ASSERT_TRUE(schedule) << schedule.error().text();
    check(golden->root, **schedule);
  }
  EXPECT_EQ(index->root.items().size(), 41u);
}

}  // namespace
}  // namespace orrery
