// Drawings and documents of measured schedules: text, pictures, JSON that reads back to the same
// schedule, the comparison.
#include "report/schedules/schedule_report.h"

#include <gmock/gmock.h>

#include <charconv>
#include <sstream>

#include "document/value.h"
#include "report/drawing/drawn_parts.h"
#include "report/drawing/pipeline_picture.h"
#include "report/drawing/png.h"

namespace orrery {
namespace {

using testing::HasSubstr;
using testing::Not;

std::optional<MeasuredSchedule> made(const Schedule& schedule, const PipelineShape& shape,
                                     const char* times = "") {
  ScheduleRequest request;
  request.shape = shape;
  if (!schedule_problems(schedule, request).empty()) return std::nullopt;
  const auto scaled = scaled_times(*parse_stated_times(times), shape, TimesOf::virtual_stage);
  request.times = scaled->times;
  auto order = pipeline(schedule, request);
  if (!order) return std::nullopt;
  auto run = measured_schedule(std::string(schedule.name), std::move(*order), scaled->times,
                               scaled->unit, Sends::asynchronous);
  if (!run) return std::nullopt;
  return std::move(*run);
}

MeasuredSchedule made(const char* name, const PipelineShape& shape, const char* times = "") {
  return *made(**find_schedule(name), shape, times);
}

double number_in(const Value& v) {
  double out = 0;
  const std::string& text = v.scalar_text();
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

// What a document says, put together again as a pipeline of the same placement.
Pipeline read_back(const Value& document, const Pipeline& like) {
  Pipeline out = like;
  const auto& devices = document.find("device_ops")->items();
  for (std::size_t d = 0; d < devices.size(); ++d) {
    out.order[d].clear();
    const auto chunk_of = [&](double stage, std::uint32_t microbatch) {
      const Seat& seat = out.seat(microbatch, static_cast<std::size_t>(stage));
      EXPECT_EQ(seat.device, d);
      return seat.chunk;
    };
    for (const Value& op : devices[d].items()) {
      PipelineOperation read;
      for (int a = 0; a < 11; ++a) {
        if (letters(static_cast<PipelineAction>(a)) == op.items()[0].scalar_text()) {
          read.action = static_cast<PipelineAction>(a);
        }
      }
      read.microbatch = static_cast<std::uint32_t>(number_in(op.items()[1]));
      if (read.action < PipelineAction::output_layer) {
        read.chunk = chunk_of(number_in(op.items()[2]), read.microbatch);
      }
      if (read.action == PipelineAction::forward_and_backward) {
        read.backward_microbatch = static_cast<std::uint32_t>(number_in(op.items()[3]));
        read.backward_chunk = chunk_of(number_in(op.items()[4]), read.backward_microbatch);
      }
      out.order[d].push_back(read);
    }
  }
  return out;
}

// Every schedule's document is read back, worked out again and written again: the same text.
TEST(ScheduleJson, ReadsBackToTheSameSchedule) {
  int documents = 0;
  for (const Schedule& schedule : schedules()) {
    for (const PipelineShape& shape :
         {PipelineShape{4, 8, 1}, PipelineShape{4, 8, 2}, PipelineShape{4, 8, 4}}) {
      const auto run = made(schedule, shape, "f=10,b=11,w=9,comm=1.5,offload=3,reload=3");
      if (!run) continue;
      ++documents;
      const std::string text = schedule_json(*run, {&schedule, 0, 0});
      const auto document = parse_json(text, "schedule");
      ASSERT_TRUE(document) << document.error().text();
      Pipeline again = read_back(document->root, run->pipeline);
      EXPECT_EQ(again.order, run->pipeline.order) << schedule.name;
      const auto rerun = measured_schedule(run->name, std::move(again), run->times, run->unit,
                                           Sends::asynchronous);
      ASSERT_TRUE(rerun) << rerun.error().text();
      EXPECT_EQ(schedule_json(*rerun, {&schedule, 0, 0}), text) << schedule.name;
      EXPECT_EQ(number_in(*document->root.find("expected")->find("makespan")),
                run->unit.of(run->execution.measures.makespan));
    }
  }
  EXPECT_GE(documents, 10);
}

// The published 1F1B of 4 devices and 8 microbatches: F 1, B 2.
TEST(ScheduleJson, HasTheGoldenFields) {
  const MeasuredSchedule run = made("1f1b", {4, 8, 1});
  const auto document = *parse_json(schedule_json(run, {*find_schedule("1f1b"), 0, 0}), "s");
  const auto text = [&](const char* key) { return document.root.find(key)->scalar_text(); };
  EXPECT_EQ(text("schedule"), "1f1b");
  EXPECT_EQ(text("arxiv"), "2007.01045");
  EXPECT_EQ(text("p") + text("m") + text("v") + text("num_stages"), "4814");
  EXPECT_EQ(text("placement"), "linear");
  EXPECT_EQ(text("mode"), "exact_order");
  EXPECT_EQ(document.root.find("op_time")->find("BW")->scalar_text(), "2");
  const Value& expected = *document.root.find("expected");
  EXPECT_EQ(expected.find("makespan")->scalar_text(), "33");
  EXPECT_EQ(expected.find("busy")->items()[0].scalar_text(), "24");
  EXPECT_NEAR(number_in(*expected.find("bubble_ratio")), 0.272727, 1e-6);
  EXPECT_EQ(expected.find("peak_units")->items()[0].scalar_text(), "4");
  const Value& first = document.root.find("device_ops")->items()[0].items()[0];
  EXPECT_EQ(first.items()[0].scalar_text(), "F");
  EXPECT_EQ(first.items()[4].scalar_text(), "1");
}

TEST(ScheduleJson, StagesThatDifferAreLists) {
  const MeasuredSchedule run = made("1f1b", {2, 4, 1}, "f=1:2,b=1,w=1");
  const auto document = *parse_json(schedule_json(run, {}), "s");
  EXPECT_EQ(document.root.find("op_time")->find("F")->items()[1].scalar_text(), "2");
  EXPECT_EQ(document.root.find("arxiv")->kind(), Value::Kind::null);
}

TEST(ScheduleText, SaysWhyDevicesAreIdle) {
  const std::string text = schedule_text(made("1f1b", {4, 8, 1}), {"1f1b"}, {.width = 80});
  EXPECT_THAT(text, HasSubstr("1f1b  4 devices · 8 microbatches"));
  EXPECT_THAT(text, HasSubstr("makespan 33 units · bubble 27.3 %"));
  EXPECT_THAT(text, HasSubstr("fill  drain  dependency"));
  EXPECT_THAT(text, Not(HasSubstr("communication")));
  EXPECT_THAT(text, HasSubstr("all    96    36     6     12          18"));
}

TEST(ScheduleText, NeverExceedsTheWidth) {
  for (const Schedule& schedule : schedules()) {
    const auto run = made(schedule, {8, 32, std::max(schedule.chunks, 2)}, "comm=0.3");
    if (!run) continue;
    for (const int width : {40, 80, 120}) {
      std::istringstream lines(schedule_text(*run, {std::string(schedule.name)}, {.width = width}));
      for (std::string line; std::getline(lines, line);) {
        EXPECT_LE(display_width(line), width) << schedule.name;
      }
    }
  }
}

TEST(ScheduleText, KeepsTheFirstAndLastOfManyDevices) {
  const std::string text = schedule_text(made("1f1b", {64, 64, 1}), {"1f1b"}, {.width = 100});
  EXPECT_THAT(text, HasSubstr("\n       0 "));
  EXPECT_THAT(text, HasSubstr("\n      63 "));
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 120);
}

std::string picture(const MeasuredSchedule& run, double limit = 0) {
  const auto spans = pipeline_spans(run);
  PipelinePicture p;
  p.title = run.name;
  p.subtitle = shape_sentence(run.pipeline.shape);
  p.spans = spans;
  p.axis = time_axis(run.unit);
  p.makespan = run.execution.measures.makespan.seconds();
  p.idle = run.idle;
  p.memory = run.memory;
  p.memory_limit = limit;
  return pipeline_picture(p);
}

TEST(PipelinePicture, DrawsEveryPassOfEverySchedule) {
  for (const Schedule& schedule : schedules()) {
    const auto run = made(schedule, {4, 8, schedule.chunks > 0 ? schedule.chunks : 2});
    if (!run) continue;
    const std::string svg = picture(*run);
    int passes = 0;
    for (const auto& order : run->pipeline.order) {
      for (const PipelineOperation& op : order) {
        const auto d = static_cast<std::size_t>(&order - run->pipeline.order.data());
        if (duration(run->times, run->pipeline, d, op) <= Picoseconds(0)) continue;
        passes += op.action == PipelineAction::forward_and_backward ? 2 : 1;
      }
    }
    EXPECT_EQ(count_of(svg, "<title>"), passes) << schedule.name;
    EXPECT_EQ(count_of(svg, "class=\"curve\""), 4) << schedule.name;
    const auto png = png_of_svg(svg, 560);
    ASSERT_TRUE(png) << schedule.name << ": " << png.error().text();
    EXPECT_GT(png->size(), 5000u);
  }
}

TEST(PipelinePicture, MarksDirectionsPairsAndLimits) {
  EXPECT_THAT(picture(made("chimera", {4, 8, 1})), HasSubstr("opposite direction"));
  EXPECT_THAT(picture(made("dualpipe", {4, 8, 1})), HasSubstr("forward above backward"));
  EXPECT_THAT(picture(made("1f1b", {4, 8, 1}), 3), HasSubstr("class=\"limit\""));
  EXPECT_THAT(picture(made("1f1b", {4, 8, 1})), Not(HasSubstr("opposite direction")));
}

TEST(PipelinePicture, MergesWhatCannotBeSeen) {
  const std::string svg = picture(made("interleaved_1f1b", {64, 256, 4}));
  EXPECT_LT(svg.size(), 12u << 20);
  EXPECT_THAT(svg, HasSubstr("passes too narrow to be seen are merged"));
}

TEST(PipelinePicture, IsEmptyWithoutSpans) { EXPECT_EQ(pipeline_picture({}), ""); }

TEST(ScheduleSpans, TimelineHoldsEveryOperationAndArrows) {
  const MeasuredSchedule run = made("1f1b", {4, 8, 1}, "comm=0.5,transfer=0.25");
  const auto spans = timeline_spans(run);
  int passes = 0;
  int arrows = 0;
  for (const TimelineSpan& span : spans) {
    passes += span.stream == "compute" ? 1 : 0;
    arrows += span.flow_in >= 0 ? 1 : 0;
  }
  EXPECT_EQ(passes, 4 * 8 * 2);
  EXPECT_EQ(arrows, 3 * 8 * 2);  // an activation and a gradient over every boundary
}

TEST(ComparisonReport, ShowsEveryScheduleOnce) {
  ComparisonRequest request;
  request.devices = 4;
  request.microbatches = 12;
  const Comparison c = *compare_schedules(request);
  const std::string text = comparison_text(c, {.width = 120});
  for (const Schedule& schedule : schedules()) {
    EXPECT_THAT(text, HasSubstr(std::string(schedule.name)));
  }
  EXPECT_THAT(text, HasSubstr("fastest"));
  EXPECT_THAT(text, HasSubstr("least memory"));
  const Value json = comparison_json(c);
  EXPECT_EQ(json.find("schedules")->items().size() + json.find("not_possible")->items().size(),
            c.schedules.size());
}

TEST(ComparisonReport, ListsEverySchedule) {
  const std::string text = schedule_list_text({.width = 120});
  for (const Schedule& schedule : schedules()) {
    EXPECT_THAT(text, HasSubstr(std::string(schedule.name)));
  }
  EXPECT_EQ(schedule_list_json().find("schedules")->items().size(), schedules().size());
}

}  // namespace
}  // namespace orrery
