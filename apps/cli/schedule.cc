// orrery schedule: a pipeline schedule worked out, drawn and measured; all of them compared; the
// best that can be found.
#include "schedule/schedule.h"

#include <fmt/format.h>

#include <cmath>

#include "command.h"
#include "outcome/nearest_name.h"
#include "outcome/parsed_number.h"
#include "progress.h"
#include "report/drawing/pipeline_picture.h"
#include "report/drawing/png.h"
#include "report/schedules/schedule_report.h"
#include "schedule/measured_schedule.h"
#include "schedule/synthesis/synthesis.h"
#include "trace/perfetto/chrome_json.h"

namespace orrery::cli {
namespace {

struct ScheduleCommandOptions {
  std::string name;  // of a schedule, or: list, compare, auto
  int stages = 0;
  int microbatches = 0;
  int chunks = 0;  // 0: the schedule's own number
  int group = 0;
  std::string times;
  std::string memory_limit;
  bool blocking = false;
  std::string svg;
  std::string png;
  std::string perfetto;
  int width = 0;  // of the terminal drawing; 0: the terminal's
  const CLI::App* app = nullptr;
  double time_limit = 0;  // seconds; 0: 60 of auto, none of compare
};

constexpr int kPngScale = 2;
// Virtual stages a device has when auto may choose: as fine as compare cuts.
constexpr int kFinestCut = 4;

Result<StatedTimes> stated_times(const std::string& text) {
  const bool file =
      text == "-" || text.ends_with(".yaml") || text.ends_with(".yml") || text.ends_with(".json");
  if (!file) return parse_stated_times(text);
  ORRERY_TRY(const Document document, read_document(text));
  return read_stated_times(document);
}

Result<double> memory_limit(const std::string& text) {
  if (text.empty()) return std::numeric_limits<double>::infinity();
  const auto limit = parsed_number<double>(text);
  if (limit && std::isfinite(*limit) && *limit > 0) return *limit;
  return bad_input("'" + text + "' is not a number above 0", "--memory-limit");
}

Result<void> check_counts(const ScheduleCommandOptions& options) {
  const char* missing = options.stages < 1         ? "--stages"
                        : options.microbatches < 1 ? "--microbatches"
                                                   : nullptr;
  if (missing == nullptr) return {};
  return bad_input("is not given", missing, "write --stages 8 --microbatches 32");
}

// What was asked, worked out.
struct Answer {
  MeasuredSchedule schedule;
  const Schedule* registered = nullptr;
  StatedTimes stated;
  double limit = 0;  // 0: none
};

Result<const Schedule*> named(const std::string& name) {
  auto found = find_schedule(name);
  if (found) return found;
  std::vector<std::string> known = {"list", "compare", "auto"};
  for (const Schedule& s : schedules()) known.emplace_back(s.name);
  Error error = found.error();
  error.hint = name_hint(name, known) + "; see orrery schedule list";
  return fail(std::move(error));
}

Result<Answer> one_schedule(const ScheduleCommandOptions& options) {
  Answer out;
  ORRERY_TRY(out.registered, named(options.name));
  ORRERY_RETURN_IF_ERROR(check_counts(options));
  ORRERY_TRY(out.stated, stated_times(options.times));
  ORRERY_TRY(const double limit, memory_limit(options.memory_limit));
  if (std::isfinite(limit)) out.limit = limit;
  ORRERY_TRY(out.schedule, asked_schedule({.name = std::string(out.registered->name),
                                           .stages = options.stages,
                                           .microbatches = options.microbatches,
                                           .chunks = options.chunks,
                                           .group = options.group,
                                           .times = out.stated,
                                           .memory_limit = limit,
                                           .blocking = options.blocking}));
  return out;
}

std::string picture_of(const Answer& answer) {
  const MeasuredSchedule& s = answer.schedule;
  const std::vector<PipelineSpan> spans = pipeline_spans(s);
  PipelinePicture picture;
  picture.title = s.name;
  picture.subtitle = shape_sentence(s.pipeline.shape);
  picture.spans = spans;
  picture.axis = time_axis(s.unit);
  picture.makespan = s.execution.measures.makespan.seconds();
  picture.idle = s.idle;
  picture.memory = s.memory;
  picture.memory_unit = memory_unit(s, !answer.stated.memory.empty());
  picture.memory_limit = answer.limit;
  return pipeline_picture(picture);
}

Result<std::string> write_files(const ScheduleCommandOptions& options, const Answer& answer) {
  const MeasuredSchedule& s = answer.schedule;
  std::string title = s.name + ", " + shape_sentence(s.pipeline.shape);
  if (!s.unit.seconds) title += ", a unit is drawn as " + time_text(s.unit.one.seconds(), {});
  const bool draws = !options.png.empty() || !options.svg.empty();
  std::string picture = draws ? picture_of(answer) : "";
  return write_all(
      {{"png", options.png,
        [&] { return png_of_svg(picture, static_cast<int>(kPictureWidth) * kPngScale); }},
       {"svg", options.svg, [&] { return picture; }},
       {"timeline", options.perfetto, [&] { return chrome_json(timeline_spans(s), title); },
        " (open it in ui.perfetto.dev)"}});
}

// `synthesis` is how the schedule was found, or nullptr.
Result<int> show(const ScheduleCommandOptions& options, const Common& common, const Answer& answer,
                 const SynthesisResult* synthesis, const TextStyle& style) {
  ORRERY_TRY(const auto files, write_files(options, answer));
  if (common.json) {
    ScheduleJsonRemarks remarks{answer.registered, options.group, answer.limit, Value()};
    if (synthesis != nullptr) remarks.synthesis = synthesis_json(*synthesis, answer.schedule.unit);
    return print(schedule_json(answer.schedule, remarks));
  }
  std::string text = schedule_text(
      answer.schedule, {answer.schedule.name, answer.limit, !answer.stated.memory.empty()}, style);
  if (synthesis != nullptr) text += synthesis_text(*synthesis, answer.schedule.unit, style);
  return print(text + files);
}

// Options that are given but mean nothing to list, compare or auto.
Result<void> check_meaning(const ScheduleCommandOptions& o) {
  const auto refuse = [&](bool means, std::initializer_list<const char*> options) -> Result<void> {
    if (means) return {};
    return refuse_given(*o.app, options, "has no effect on schedule " + o.name,
                        "leave it out; see orrery schedule --help");
  };
  const bool lists = o.name == "list";
  const bool draws = !lists && o.name != "compare";
  ORRERY_RETURN_IF_ERROR(refuse(draws, {"--svg", "--png", "--perfetto"}));
  ORRERY_RETURN_IF_ERROR(refuse(draws && o.name != "auto", {"--group"}));
  ORRERY_RETURN_IF_ERROR(refuse(o.name == "auto" || o.name == "compare", {"--time-limit"}));
  return refuse(!lists, {"--chunks", "--memory-limit", "--stages", "--microbatches", "--times"});
}

Result<int> compare(const ScheduleCommandOptions& options, const Common& common,
                    const TextStyle& style) {
  ComparisonRequest request;
  request.devices = options.stages;
  request.microbatches = options.microbatches;
  request.chunks = options.chunks;
  request.sends = options.blocking ? Sends::blocking : Sends::asynchronous;
  ORRERY_RETURN_IF_ERROR(check_counts(options));
  ORRERY_TRY(request.times, stated_times(options.times));
  ORRERY_TRY(request.memory_limit, memory_limit(options.memory_limit));
  Result<Comparison> comparison = bad_input("");
  {
    Progress progress(!common.quiet,
                      options.time_limit > 0 ? Seconds(options.time_limit) : Progress::kWithoutEnd);
    request.progress = [&](double share, std::string_view schedule) {
      progress.show(share, "measuring " + std::string(schedule));
      return !progress.over();
    };
    comparison = compare_schedules(request);
  }
  if (!comparison) return fail(comparison.error());
  return print(common.json ? to_json(comparison_json(*comparison))
                           : comparison_text(*comparison, style));
}

Result<int> synthesise_best(const ScheduleCommandOptions& options, const Common& common,
                            const TextStyle& style) {
  ORRERY_RETURN_IF_ERROR(check_counts(options));
  Answer answer;
  ORRERY_TRY(answer.stated, stated_times(options.times));
  ORRERY_TRY(const auto limit, memory_limit(options.memory_limit));
  if (options.blocking) {
    return unsupported("auto finds schedules for asynchronous sends only", "--blocking",
                       "orrery schedule compare --blocking");
  }
  SynthesisRequest request;
  request.shape = {options.stages, options.microbatches,
                   options.chunks > 0 ? options.chunks : kFinestCut};
  request.memory_limit = limit;
  ORRERY_TRY(auto scaled, scaled_times(answer.stated, request.shape, TimesOf::device));
  request.times = std::move(scaled.times);
  request.cut = [&](int chunks) {
    PipelineShape shape = request.shape;
    shape.chunks = chunks;
    auto coarser = scaled_times(answer.stated, shape, TimesOf::device, scaled.unit.one);
    return coarser ? std::move(coarser->times) : PipelineTimes{};
  };

  Result<SynthesisResult> found = bad_input("");
  {
    SynthesisOptions how;
    if (options.time_limit > 0) how.time_limit = Seconds(options.time_limit);
    Progress progress(!common.quiet, how.time_limit);
    std::stop_source stop;
    how.stop = stop.get_token();
    how.progress = [&](const SynthesisProgress& p) {
      if (Progress::interrupted()) stop.request_stop();
      const TimeAxis axis = time_axis(scaled.unit);
      progress.show(fmt::format("at least {}, so far {}: {}",
                                time_text(p.lower_bound.seconds(), axis),
                                time_text(p.makespan.seconds(), axis), p.best));
    };
    found = synthesise(request, how);
  }
  if (!found) return fail(found.error());
  // The limit was of a device's share; what is shown counts as schedule NAME does.
  PipelineTimes times = found->times;
  answer.limit = std::isfinite(limit) ? limit : 0;
  if (answer.stated.memory.empty() && answer.stated.weight_memory.empty()) {
    times.memory.clear();
    answer.limit *= found->pipeline.shape.chunks;
  }
  ORRERY_TRY(answer.schedule,
             measured_schedule("auto: " + found->winner, found->pipeline, std::move(times),
                               scaled.unit, Sends::asynchronous));
  return show(options, common, answer, &*found, style);
}

Result<int> schedule_named(const ScheduleCommandOptions& options, const Common& common) {
  TextStyle style = text_style();
  if (options.width > 0) style.width = options.width;
  ORRERY_RETURN_IF_ERROR(check_meaning(options));
  if (options.name == "list") {
    return print(common.json ? to_json(schedule_list_json()) : schedule_list_text(style));
  }
  if (options.name == "compare") return compare(options, common, style);
  if (options.name == "auto") return synthesise_best(options, common, style);
  ORRERY_TRY(const auto answer, one_schedule(options));
  return show(options, common, answer, nullptr, style);
}

}  // namespace

Command schedule_command(CLI::App& orrery) {
  auto [app, o] = subcommand<ScheduleCommandOptions>(
      orrery, "schedule", "work out, draw, compare and synthesise pipeline schedules");
  o->app = app;
  const CLI::Range any_count(1, 1'000'000'000);
  app->add_option("name", o->name,
                  "a schedule, or: list (all of them), compare (all of them measured), auto (the "
                  "best that can be found)")
      ->required();
  app->add_option("--stages", o->stages, "devices of the pipeline")->check(any_count);
  app->add_option("--microbatches", o->microbatches, "of a step")->check(any_count);
  app->add_option("--chunks", o->chunks, "virtual stages a device")->check(any_count);
  app->add_option("--group", o->group, "microbatches that pass a chunk together")->check(any_count);
  app->add_option("--times", o->times,
                  "f=1,b=1,w=1,comm=0 or with units f=18.5ms,...; f=1:2:1:1 for stages that "
                  "differ; or a YAML or JSON file. Of one operation on one virtual stage; to "
                  "compare and auto, of a device's share of a microbatch");
  app->add_option("--memory-limit", o->memory_limit,
                  "the most a device may hold: microbatches of one virtual stage; to compare and "
                  "auto, of a device's share");
  app->add_flag("--blocking", o->blocking, "sends stop the sender and the receiver");
  app->add_option("--svg", o->svg, "write the picture to this file");
  app->add_option("--png", o->png, "write the picture to this file");
  app->add_option("--perfetto", o->perfetto, "write a Chrome/Perfetto timeline to this file");
  app->add_option("--width", o->width, "characters of a line")->check(CLI::Range(40, 1000));
  app->add_option(
         "--time-limit", o->time_limit,
         "auto, compare: stop after this many seconds, compare after the schedule it is at; "
         "auto takes at most 60 without it")
      ->check(number_within(0.001, 1e6));
  app->footer(
      "Examples:\n"
      "  orrery schedule list\n"
      "  orrery schedule interleaved_1f1b --stages 4 --microbatches 8 --chunks 2\n"
      "  orrery schedule 1f1b --stages 8 --microbatches 24 --times "
      "f=18.522ms,b=18.086ms,w=9.337ms,comm=0.601ms\n"
      "  orrery schedule compare --stages 8 --microbatches 32 --memory-limit 8");
  return command(app, o, schedule_named);
}

}  // namespace orrery::cli
