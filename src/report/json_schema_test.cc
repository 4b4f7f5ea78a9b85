// The documents of --json against docs/schema/: a checker of the part of JSON Schema 2020-12 that
// those files use (type, const, enum, minimum, maximum, properties, required, additionalProperties,
// items, anyOf, $ref to $defs). Every schema there lists all keys, so that a document that passes
// has exactly the documented keys. Also: the files that are made of tables of keys are up to date.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "compare/step_work.h"
#include "document/value.h"
#include "report/documents.h"
#include "report/forecasts/forecast_reports.h"
#include "report/plans/plan_comparison.h"
#include "report/plans/plan_reports.h"
#include "report/plans/sample_estimate.h"
#include "report/schedules/schedule_report.h"
#include "report/traces/sample_analysis.h"
#include "report/traces/trace_reports.h"
#include "report/written_documents.h"
#include "validate/validation.h"
#include "whatif/edit_language.h"

namespace orrery {
namespace {

Value schema(const std::string& name) {
  const std::string path = std::string(ORRERY_SOURCE_DIR) + "/docs/schema/" + name;
  const auto document = read_document(path);
  EXPECT_TRUE(document.has_value()) << path;
  return document ? document->root : Value();
}

bool is_a(const Value& v, const std::string& type) {
  switch (v.kind()) {
    case Value::Kind::null:
      return type == "null";
    case Value::Kind::boolean:
      return type == "boolean";
    case Value::Kind::text:
      return type == "string";
    case Value::Kind::list:
      return type == "array";
    case Value::Kind::map:
      return type == "object";
    case Value::Kind::number:
      return type == "number" ||
             (type == "integer" && v.scalar_text().find_first_of(".eE") == std::string::npos);
  }
  return false;
}

double number(const Value& v) { return std::strtod(v.scalar_text().c_str(), nullptr); }

class Checker {
 public:
  explicit Checker(const Value& root) : root_(root) {}

  std::vector<std::string> problems(const Value& v) {
    check(v, root_, "$");
    return problems_;
  }

 private:
  void complain(const std::string& place, const std::string& what) {
    problems_.push_back(place + ": " + what);
  }

  void check(const Value& v, const Value& rule, const std::string& place) {
    if (const Value* reference = rule.find("$ref")) {
      const std::string name = reference->scalar_text().substr(std::string("#/$defs/").size());
      const Value* definition = root_.find("$defs")->find(name);
      if (definition == nullptr) return complain(place, "no definition of " + name);
      return check(v, *definition, place);
    }
    if (const Value* choices = rule.find("anyOf")) {
      for (const Value& choice : choices->items()) {
        Checker one(root_);
        one.check(v, choice, place);
        if (one.problems_.empty()) return;
      }
      return complain(place, "is none of the choices");
    }
    if (const Value* type = rule.find("type")) {
      bool right = type->kind() == Value::Kind::text && is_a(v, type->scalar_text());
      for (const Value& one : type->items()) right = right || is_a(v, one.scalar_text());
      if (!right) complain(place, "is of another type");
    }
    if (const Value* only = rule.find("const")) {
      if (v.scalar_text() != only->scalar_text()) complain(place, "is " + v.scalar_text());
    }
    if (const Value* names = rule.find("enum")) {
      const auto& items = names->items();
      const bool known = std::any_of(items.begin(), items.end(), [&](const Value& name) {
        return name.scalar_text() == v.scalar_text();
      });
      if (!known) complain(place, "is none of the names: " + v.scalar_text());
    }
    const bool counted = v.kind() == Value::Kind::number;
    if (const Value* least = rule.find("minimum"); least != nullptr && counted) {
      if (number(v) < number(*least)) complain(place, "is too small");
    }
    if (const Value* most = rule.find("maximum"); most != nullptr && counted) {
      if (number(v) > number(*most)) complain(place, "is too large");
    }
    if (const Value* items = rule.find("items")) {
      for (const Value& item : v.items()) check(item, *items, place + "[]");
    }
    if (v.kind() == Value::Kind::map) check_map(v, rule, place);
  }

  void check_map(const Value& v, const Value& rule, const std::string& place) {
    const Value* properties = rule.find("properties");
    if (properties == nullptr) return complain(place, "no properties are documented");
    if (const Value* required = rule.find("required")) {
      for (const Value& key : required->items()) {
        if (v.find(key.scalar_text()) == nullptr) complain(place, "lacks " + key.scalar_text());
      }
    }
    for (const auto& [key, member] : v.members()) {
      const Value* documented = properties->find(key);
      if (documented == nullptr) {
        complain(place, "has an undocumented key " + key);
      } else {
        check(member, *documented, place + "." + key);
      }
    }
  }

  const Value& root_;
  std::vector<std::string> problems_;
};

// What a schema says of the keys of a map: nothing else is allowed, and everything has a
// description.
void expect_closed(const Value& rule, const std::string& place) {
  if (rule.kind() == Value::Kind::list) {
    for (const Value& item : rule.items()) expect_closed(item, place);
    return;
  }
  if (rule.kind() != Value::Kind::map) return;
  if (const Value* properties = rule.find("properties")) {
    const Value* others = rule.find("additionalProperties");
    EXPECT_TRUE(others != nullptr && others->scalar_text() == "false") << place;
    for (const auto& [key, member] : properties->members()) {
      EXPECT_TRUE(member.find("description") != nullptr || member.find("$ref") != nullptr)
          << place << "." << key << " has no description";
      expect_closed(member, place + "." + key);
    }
    return;
  }
  for (const auto& [key, member] : rule.members()) expect_closed(member, place + "." + key);
}

Estimate with_empty_figures() {
  Estimate e = sample_estimate();
  e.mfu = std::numeric_limits<double>::quiet_NaN();
  e.stages.clear();
  e.assumed.clear();
  e.plan.layers = {8, 8, 7};
  e.plan.context_parallel = ContextParallel::ring;
  e.training.gradients = NumberFormat::bf16;
  return e;
}

HealthyRun priced_run() {
  HealthyRun out;
  out.tokens = 1e12;
  out.price = DollarsPerSecond(0.001);
  out.price_name = "a price";
  out.power = Watts(700);
  out.carbon = 400;
  return out;
}

TEST(JsonSchema, EstimateHasExactlyTheDocumentedKeys) {
  const Value rules = schema("estimate-1.json");
  EXPECT_THAT(Checker(rules).problems(estimate_json(sample_estimate(), sample_subject())),
              testing::IsEmpty());
  StepFlows flows;
  flows.axes.emplace_back();
  OperatorShares operators;
  operators.operators.emplace_back();
  operators.attention.emplace_back();
  const Value explained =
      estimate_json(with_empty_figures(), sample_subject(),
                    {.explained = {{{"mfu", "a / b", "1 / 2", "50 %", "a paper"}}},
                     .sensitivity = {{{"network", Seconds(1), 0.1}}},
                     .traffic = {{{{"tensor", {Bytes(1)}}}, {{"nvlink", Bytes(1), 0.5}}}},
                     .flows = flows,
                     .numerics = {{{{"gradients"}}, {{}}}},
                     .run = priced_run(),
                     .operators = operators});
  EXPECT_THAT(Checker(rules).problems(explained), testing::IsEmpty());
}

TEST(JsonSchema, PlanComparisonHasExactlyTheDocumentedKeys) {
  const Value rules = schema("compare-1.json");
  expect_closed(rules, "compare-1.json");
  PlanComparison comparison;
  for (const char* axis : {"model", "on", "plan", "workload", "software", "set", "set"}) {
    comparison.axes.push_back({axis, 1});
  }
  comparison.cells.resize(3);
  for (ComparedCell& cell : comparison.cells) cell.values.assign(7, "a value");
  comparison.cells[0].estimate = sample_estimate();
  comparison.cells[0].run = priced_run();
  comparison.cells[1].estimate = with_empty_figures();
  comparison.cells[2].refused = "why";
  EXPECT_THAT(Checker(rules).problems(plan_comparison_json(comparison)), testing::IsEmpty());
}

TEST(JsonSchema, ForecastHasExactlyTheDocumentedKeys) {
  const Value rules = schema("forecast-1.json");
  RunForecast never;
  never.mean_time_to_failure = Seconds(std::numeric_limits<double>::infinity());
  RunForecast all = never;
  all.tokens = 1e12;
  all.mean_time_to_failure = Seconds(3600);
  all.levels = {{.every = 10}};
  all.within = Seconds(86400);
  all.price = DollarsPerSecond(0.001);
  all.power = Watts(700);
  all.carbon = 400;
  all.phases.resize(2);
  all.loss.emplace().law = "kaplan";
  all.loss->cheapest = {1e9, 1e9, 2};
  all.budget = Dollars(1e6);
  all.knobs = {{"half the failures", 0.9, Seconds(3)}};
  all.assumed = {"a sentence"};
  for (const RunForecast& run : {never, all}) {
    EXPECT_THAT(Checker(rules).problems(forecast_json(run, sample_subject())), testing::IsEmpty());
  }
  const auto log =
      read_fault_log(ORRERY_SOURCE_DIR "/validation/faults/infinitehbd-faults-days-0-175.json");
  ASSERT_TRUE(log) << log.error().text();
  FaultFit fitted = *fit(*log, {});
  EXPECT_THAT(Checker(schema("forecast-log-1.json")).problems(fault_fit_json(fitted)),
              testing::IsEmpty());
  fitted.repairs.clear();
  fitted.rates.repair = std::nullopt;
  const Value unknown = fault_fit_json(fitted);
  EXPECT_THAT(Checker(schema("forecast-log-1.json")).problems(unknown), testing::IsEmpty());
  for (const char* key : {"repair_p10_s", "repair_p50_s", "repair_p90_s", "repair_mean_s"}) {
    EXPECT_EQ(unknown.find(key)->kind(), Value::Kind::null) << key;
  }
}

TEST(JsonSchema, StepDistributionHasExactlyTheDocumentedKeys) {
  StepDistribution all;
  all.exceeds = Seconds(7);
  all.tail = {{VaryingWork::tp, 0.01}};
  all.slow_stages = {{3, 1.1}};
  all.fewer = {{1, Seconds(6), Seconds(7)}};
  all.coded = {{1, Seconds(11), Seconds(12)}};
  all.moments_p50 = Seconds(6);
  all.moments_p95 = Seconds(7);
  all.assumed = {"a sentence"};
  for (const StepDistribution& distribution : {StepDistribution{}, all}) {
    EXPECT_THAT(Checker(schema("forecast-step-1.json"))
                    .problems(step_distribution_json(distribution, sample_subject())),
                testing::IsEmpty());
  }
}

TEST(JsonSchema, SearchHasExactlyTheDocumentedKeys) {
  const Value rules = schema("search-1.json");
  SearchResult nothing_fits;
  nothing_fits.least_memory = sample_search_result().near_misses;
  for (const SearchResult& r : {sample_search_result(), nothing_fits}) {
    EXPECT_THAT(Checker(rules).problems(search_json(r, sample_subject(), Seconds(3.2))),
                testing::IsEmpty());
    SearchExtras extras;
    extras.sites.emplace();
    extras.sites->one_axis.emplace_back();
    extras.sites->together.emplace();
    extras.sites->changes.emplace_back();
    extras.numerics.emplace();
    extras.runs.emplace(r.plans.size(), priced_run());
    EXPECT_THAT(Checker(rules).problems(search_json(r, sample_subject(), Seconds(3.2), extras)),
                testing::IsEmpty());
  }
}

TEST(JsonSchema, TraceInfoHasExactlyTheDocumentedKeys) {
  const Value rules = schema("trace-info-1.json");
  const std::string traces = ORRERY_SOURCE_DIR "/validation/traces/";
  for (const char* files : {"torchrec/sst_long_a2a_optimizer_2", "ao/ref_ep_moe_fwd.json.gz",
                            "HolisticTraceAnalysis/call_stack/backward_thread.json.gz"}) {
    const auto run = read_run({traces + files});
    ASSERT_TRUE(run) << run.error().text();
    EXPECT_THAT(Checker(rules).problems(trace_info_json(*run)), testing::IsEmpty()) << files;
  }
  const auto linked = read_run({traces + "HolisticTraceAnalysis/execution_trace"});
  ASSERT_TRUE(linked) << linked.error().text();
  const auto timeline =
      read_contents(traces + "StragglerAnalysis/timeline-ST.json.gz", kOperationTimeline);
  ASSERT_TRUE(timeline) << timeline.error().text();
  EXPECT_THAT(Checker(rules).problems(trace_info_json(*linked, {*timeline})), testing::IsEmpty());
}

TEST(JsonSchema, TraceAnalysisHasExactlyTheDocumentedKeys) {
  const Value rules = schema("trace-analyze-1.json");
  expect_closed(rules, "trace-analyze-1.json");
  for (const char* files :
       {"torchrec/sst_long_a2a_optimizer_2", "ao/ref_ep_moe_fwd.json.gz",
        "TraceLens/mi300/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
        "HolisticTraceAnalysis/cpu_only/rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz"}) {
    EXPECT_THAT(Checker(rules).problems(sample_analysis_json(files)), testing::IsEmpty()) << files;
  }
}

TEST(JsonSchema, TraceReplayHasExactlyTheDocumentedKeys) {
  const Value rules = schema("trace-replay-1.json");
  const std::string traces = ORRERY_SOURCE_DIR "/validation/traces/";
  for (const char* files : {"torchrec/sst_long_a2a_optimizer", "ao/ref_ep_moe_fwd.json.gz"}) {
    const auto run = read_run({traces + files});
    ASSERT_TRUE(run) << run.error().text();
    const auto graph = graph_from_run(run->ranks);
    ASSERT_TRUE(graph) << graph.error().text();
    const Value document = replay_json(replay(run->ranks, graph->graph), *graph, run->ranks);
    EXPECT_THAT(Checker(rules).problems(document), testing::IsEmpty()) << files;
  }
  const auto timeline = read_operation_timeline(traces + "StragglerAnalysis/timeline-ST.json.gz");
  ASSERT_TRUE(timeline) << timeline.error().text();
  const auto operations = replay_operations(*timeline);
  ASSERT_TRUE(operations) << operations.error().text();
  EXPECT_THAT(Checker(schema("trace-replay-operations-1.json"))
                  .problems(operation_replay_json(*operations)),
              testing::IsEmpty());
}

TEST(JsonSchema, TraceWhatIfHasExactlyTheDocumentedKeys) {
  const Value rules = schema("trace-whatif-1.json");
  expect_closed(rules, "trace-whatif-1.json");
  const auto run = read_run({ORRERY_SOURCE_DIR "/validation/traces/megatron-lm-fork/tp2"});
  ASSERT_TRUE(run) << run.error().text();
  const auto graph = graph_from_run(run->ranks);
  ASSERT_TRUE(graph) << graph.error().text();
  for (const char* text :
       {"", "even; scale host by 2", "pp 2 microbatches 4 send 1MB link 1GB/s"}) {
    const auto edits = parse_edits(text, "edits");
    ASSERT_TRUE(edits) << edits.error().text();
    const auto answer = what_if(run->ranks, graph->graph, *edits, Catalog::built_in());
    ASSERT_TRUE(answer) << answer.error().text();
    EXPECT_THAT(Checker(rules).problems(whatif_json(*answer)), testing::IsEmpty()) << text;
  }
  const Value slow = schema("trace-whatif-stragglers-1.json");
  expect_closed(slow, "trace-whatif-stragglers-1.json");
  const auto found = stragglers(run->ranks, graph->graph);
  ASSERT_TRUE(found) << found.error().text();
  EXPECT_THAT(Checker(slow).problems(stragglers_json(*found)), testing::IsEmpty());
}

TEST(JsonSchema, TraceDiffHasExactlyTheDocumentedKeys) {
  const Value rules = schema("trace-diff-1.json");
  expect_closed(rules, "trace-diff-1.json");
  const std::string traces = ORRERY_SOURCE_DIR "/validation/traces/";
  const auto profile = [&](const char* files) {
    const auto run = read_run({traces + files});
    EXPECT_TRUE(run) << run.error().text();
    auto profiled = step_profile(run->ranks);
    EXPECT_TRUE(profiled) << profiled.error().text();
    return std::move(*profiled);
  };
  const Difference two =
      difference(profile("torchrec/sst_long_a2a_optimizer_2"),
                 profile("TraceLens/h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz"));
  EXPECT_THAT(Checker(rules).problems(difference_json(two, {"a", "b"})), testing::IsEmpty());
  Breakdown predicted;
  predicted[Category::feed_forward] = Picoseconds(30e9);
  const Difference one =
      difference(profile_by_work(profile("megatron-lm-fork/tp2")), predicted_profile(predicted));
  EXPECT_THAT(Checker(rules).problems(difference_json(one, {"a", "b", 20, true})),
              testing::IsEmpty());
}

TEST(JsonSchema, TraceSpecHasExactlyTheDocumentedKeys) {
  const Value rules = schema("trace-spec-1.json");
  const std::string traces = ORRERY_SOURCE_DIR "/validation/traces/";
  for (const char* files :
       {"TraceLens/h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz", "ao/ref_ep_moe_fwd.json.gz"}) {
    const auto run = read_run({traces + files});
    ASSERT_TRUE(run) << run.error().text();
    const auto compared = inferred_comparison(run->ranks, Catalog::built_in());
    ASSERT_TRUE(compared) << compared.error().text();
    EXPECT_THAT(Checker(rules).problems(inferred_json(*compared)), testing::IsEmpty()) << files;
  }
}

TEST(JsonSchema, TraceKernelsHasExactlyTheDocumentedKeys) {
  const Value rules = schema("trace-kernels-1.json");
  const std::string traces = ORRERY_SOURCE_DIR "/validation/traces/";
  for (const char* files : {"TraceLens/h100/Qwen_Qwen1.5-0.5B-Chat__1016005.json.gz",
                            "megatron-lm-fork/tp2/kineto_rank0.json.gz"}) {
    const auto run = read_run({traces + files});
    ASSERT_TRUE(run) << run.error().text();
    const auto compared = kernel_comparison(run->ranks, Catalog::built_in());
    ASSERT_TRUE(compared) << compared.error().text();
    EXPECT_THAT(Checker(rules).problems(kernel_json(*compared)), testing::IsEmpty()) << files;
  }
}

TEST(JsonSchema, ReplayOfOtherFilesHasExactlyTheDocumentedKeys) {
  const std::string folder = ORRERY_SOURCE_DIR "/validation/traces/chakra/comm-group-2gpu/";
  const auto run = read_chakra_run({folder + "chakra_trace.0.et", folder + "chakra_trace.1.et"});
  ASSERT_TRUE(run) << run.error().text();
  const auto graph = chakra_graph(*run);
  ASSERT_TRUE(graph) << graph.error().text();
  EXPECT_THAT(Checker(schema("trace-replay-chakra-1.json"))
                  .problems(chakra_replay_json(replay(*run, *graph), *graph, *run)),
              testing::IsEmpty());
  const auto file = read_graph_file(ORRERY_SOURCE_DIR "/tests/seeds/graph_file/two_ranks.json");
  ASSERT_TRUE(file) << file.error().text();
  EXPECT_THAT(Checker(schema("trace-replay-graph-1.json"))
                  .problems(graph_replay_json(replay(*file), *file)),
              testing::IsEmpty());
}

TEST(JsonSchema, ValidateHasExactlyTheDocumentedKeys) {
  const Value rules = schema("validate-1.json");
  RowOutcome estimated;
  estimated.row_id = "a";
  estimated.source_id = "paper";
  estimated.plan = "tp=8";
  estimated.complete = true;
  estimated.predicted = Seconds(1);
  estimated.interval.emplace();
  estimated.measured = Seconds(2);
  estimated.predicted_memory = 7;
  estimated.measured_memory = 8;
  estimated.fits = true;
  estimated.assumed = {"adamw"};
  RowOutcome skipped;
  skipped.row_id = "b";
  skipped.source_id = "paper";
  skipped.skipped_because = "no model";
  EXPECT_THAT(Checker(rules).problems(validation_json(summarised({estimated, skipped}))),
              testing::IsEmpty());
  EXPECT_THAT(Checker(rules).problems(validation_json(summarised({}))), testing::IsEmpty());
}

TEST(JsonSchema, ScheduleHasExactlyTheDocumentedKeys) {
  const Value rules = schema("schedule-1.json");
  for (const Schedule& schedule : schedules()) {
    ScheduleRequest request;
    request.shape = {4, 8, std::max(schedule.chunks, 1)};
    if (!schedule_problems(schedule, request).empty()) continue;
    const auto scaled = scaled_times(*parse_stated_times("f=1:2:1:1,b=1,w=1,offload=1,reload=1"),
                                     request.shape, TimesOf::device);
    request.times = scaled->times;
    auto made = pipeline(schedule, request);
    ASSERT_TRUE(made) << made.error().text();
    const auto run = measured_schedule("any", std::move(*made), scaled->times, scaled->unit,
                                       Sends::asynchronous);
    const auto document = parse_json(schedule_json(*run, {&schedule, 2, 9.5}), "schedule");
    EXPECT_THAT(Checker(rules).problems(document->root), testing::IsEmpty()) << schedule.name;
  }
}

TEST(JsonSchema, SizesHaveExactlyTheDocumentedKeys) {
  const auto answer = sizes_of({.law = "kaplan", .loss = 2, .compute = 1e24}, Catalog::built_in());
  ASSERT_TRUE(answer);
  EXPECT_THAT(Checker(schema("forecast-sizes-1.json")).problems(sizes_json(*answer)),
              testing::IsEmpty());
}

TEST(JsonSchema, ComparisonHasExactlyTheDocumentedKeys) {
  ComparisonRequest request;
  request.devices = 4;
  request.microbatches = 6;
  EXPECT_THAT(Checker(schema("schedule-compare-1.json"))
                  .problems(comparison_json(*compare_schedules(request))),
              testing::IsEmpty());
}

TEST(JsonSchema, CheckerSeesWhatIsWrong) {
  const Value rules = schema("estimate-1.json");
  Value document = estimate_json(sample_estimate(), sample_subject());
  document.set("extra", Value::null());
  document.set("verdict", Value::text("maybe"));
  document.set("gpus", Value::number(0.5));
  document.set("schema_version", Value::number(std::int64_t{2}));
  EXPECT_THAT(Checker(rules).problems(document),
              testing::UnorderedElementsAre(
                  "$: has an undocumented key extra", "$.verdict: is none of the names: maybe",
                  "$.gpus: is of another type", "$.schema_version: is 2"));
}

TEST(JsonSchema, EveryKeyIsDescribedAndNothingElseAllowed) {
  for (const std::string name : {"estimate-1.json", "search-1.json", "validate-1.json"}) {
    expect_closed(schema(name), name);
  }
  for (const DocumentKind& kind : document_kinds()) {
    const std::string name = std::string(kind.name) + ".json";
    expect_closed(schema(name), name);
  }
}

TEST(JsonSchema, FilesMadeOfTablesAreUpToDate) {
  const std::string docs = std::string(ORRERY_SOURCE_DIR) + "/docs/";
  for (const DocumentKind& kind : document_kinds()) {
    const std::string path = docs + "schema/" + std::string(kind.name) + ".json";
    EXPECT_EQ(read_file(path).value_or(""), schema_text(kind)) << path << ": run `make schema`";
  }
  EXPECT_EQ(read_file(docs + "json-keys.md").value_or(""), key_page()) << "run `make schema`";
  EXPECT_EQ(read_file(std::string(ORRERY_SOURCE_DIR) + "/python/orrery/answers.pyi").value_or(""),
            python_stubs())
      << "run `make schema`";
}

// Times are seconds and sizes bytes: the key says so.
TEST(JsonSchema, KeysOfNumbersCarryTheirUnit) {
  for (const DocumentKind& kind : document_kinds()) {
    for (const FieldDescription& field : kind.description().fields) {
      if (field.key.ends_with("_bytes")) {
        EXPECT_THAT(field.shape.kind,
                    testing::AnyOf(ValueShape::Kind::integer, ValueShape::Kind::number))
            << field.key;
      }
      if (field.key.ends_with("_per_s")) {
        EXPECT_EQ(field.shape.kind, ValueShape::Kind::number) << field.key;
      }
      EXPECT_FALSE(field.key.ends_with("_ns") || field.key.ends_with("_ms")) << field.key;
    }
  }
}

}  // namespace
}  // namespace orrery
