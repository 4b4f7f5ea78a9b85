// The figures of validation/traces/metrics.json, which an independent program computed.
#include <gmock/gmock.h>

#include "analyze/kernel_table.h"
#include "analyze/steps.h"
#include "analyze/temporal_breakdown.h"
#include "document/value.h"
#include "trace/hand_made_trace.h"
#include "trace/kineto/kineto.h"
#include "trace/published_traces.h"
#include "trace/read_one_rank.h"

namespace orrery {
namespace {

double number(const Value& entry, const char* key) {
  return std::stod(entry.find(key)->scalar_text());
}
std::int64_t whole(const Value& entry, const char* key) {
  return std::stoll(entry.find(key)->scalar_text());
}

// The file rounds to microseconds.
constexpr double kRounding = 0.0006;

void compare_whole(const RecordedTrace& trace, const LaunchLinks& links,
                   const std::vector<WorkKind>& kinds, const Value& entry) {
  std::int64_t kernels = 0;
  std::int64_t communication = 0;
  std::int64_t memory = 0;
  std::int64_t with_call = 0;
  std::int64_t with_arguments = 0;
  std::int64_t sum_ns = 0;
  for (std::size_t e = 0; e < trace.size(); ++e) {
    if (kinds[e] == WorkKind::none) continue;
    if (links.call[e] != kNoEvent) ++with_call;
    if (trace.kind[e] != EventKind::kernel) {
      ++memory;
      continue;
    }
    ++kernels;
    sum_ns += trace.duration_ns[e];
    if (kinds[e] != WorkKind::communication) continue;
    ++communication;
    if (trace.communication[e] != kNoDetails &&
        trace.communications[trace.communication[e]].collective != 0) {
      ++with_arguments;
    }
  }
  EXPECT_EQ(kernels, whole(entry, "n_kernels"));
  EXPECT_EQ(communication, whole(entry, "n_comm"));
  EXPECT_EQ(memory, whole(entry, "n_mem"));
  EXPECT_EQ(with_arguments, whole(entry, "nccl_args"));
  EXPECT_NEAR(ms(sum_ns), number(entry, "kernel_sum_ms"), kRounding);
  if (kernels + memory > 0) {
    EXPECT_NEAR(static_cast<double>(with_call) / static_cast<double>(kernels + memory),
                number(entry, "corr_cov"), 0.00006);
  }
  EXPECT_EQ(stream_table(trace, links, kinds).size(),
            static_cast<std::size_t>(whole(entry, "n_streams")));

  const DeviceWork work = device_work(trace, kinds);
  EXPECT_NEAR(ms(length(work.kernels())), number(entry, "kernel_busy_ms"), kRounding);
  EXPECT_NEAR(ms(length(work.all())), number(entry, "gpu_busy_ms"), kRounding);

  const TemporalBreakdown parts = temporal_breakdown(trace, links, BreakdownPreset::orrery);
  EXPECT_NEAR(ms(parts.total_ns()), number(entry, "gpu_span_ms"), kRounding);
  EXPECT_NEAR(ms(parts.compute_ns), number(entry, "compute_busy_ms"), kRounding);
  EXPECT_NEAR(ms(parts.communication_ns), number(entry, "comm_busy_ms"), kRounding);
  EXPECT_NEAR(ms(parts.exposed_communication_ns), number(entry, "exposed_comm_ms"), kRounding);
  EXPECT_NEAR(ms(parts.busy_ns()), number(entry, "gpu_busy_ms"), kRounding);
  EXPECT_EQ(parts.compute_ns + parts.exposed_communication_ns + parts.exposed_copy_ns +
                parts.idle.total_ns(),
            parts.total_ns());
}

void compare_steps(const RecordedTrace& trace, const LaunchLinks& links,
                   const std::vector<WorkKind>& kinds, const Value& entry) {
  const std::vector<RecordedStep> steps = recorded_steps(trace);
  const std::vector<Value>& published = entry.find("per_step")->items();
  ASSERT_EQ(steps.size(), published.size());
  std::vector<Interval> windows;
  windows.reserve(steps.size());
  for (const RecordedStep& step : steps) windows.push_back(step.window);
  const std::vector<TemporalBreakdown> parts = temporal_breakdowns(trace, links, kinds, windows);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Value& step = published[i];
    EXPECT_EQ("#" + std::to_string(steps[i].number), step.find("step")->scalar_text());
    EXPECT_NEAR(ms(parts[i].total_ns()), number(step, "wall_ms"), kRounding);
    EXPECT_NEAR(ms(parts[i].communication_ns), number(step, "comm_busy_ms"), kRounding);
    EXPECT_NEAR(ms(parts[i].exposed_communication_ns), number(step, "exposed_comm_ms"), kRounding);
    EXPECT_NEAR(ms(parts[i].compute_ns + parts[i].exposed_communication_ns),
                number(step, "kernel_busy_ms"), kRounding);
  }
}

TEST(PublishedFigures, HoldForEveryRecordedRun) {
  const auto metrics = read_document(kTraces + "metrics.json");
  ASSERT_TRUE(metrics) << metrics.error().text();
  int compared = 0;
  KinetoOptions options;
  options.python_functions = PythonFunctions::leave_out;
  for (const auto& [name, entry] : metrics->root.members()) {
    if (entry.find("kernel_busy_ms") == nullptr) continue;
    SCOPED_TRACE(name);
    const auto trace = read_kineto(kTraces + name, options);
    ASSERT_TRUE(trace) << trace.error().text();
    const LaunchLinks links = launch_links(*trace);
    const std::vector<WorkKind> kinds = work_kinds(*trace);
    compare_whole(*trace, links, kinds, entry);
    compare_steps(*trace, links, kinds, entry);
    ++compared;
  }
  EXPECT_GE(compared, 50);
}

}  // namespace
}  // namespace orrery
