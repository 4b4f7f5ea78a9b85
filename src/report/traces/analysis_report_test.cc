#include <gmock/gmock.h>

#include <map>

#include "report/traces/analysis_tables.h"
#include "report/traces/recorded_style.h"
#include "report/traces/sample_analysis.h"
#include "report/traces/trace_reports.h"
#include "trace/hand_made_trace.h"

namespace orrery {

Value sample_analysis_json(const std::string& files) {
  const auto run = read_run({ORRERY_SOURCE_DIR "/validation/traces/" + files});
  EXPECT_TRUE(run) << run.error().text();
  const auto analysis = analyze(*run, Catalog::built_in());
  EXPECT_TRUE(analysis) << analysis.error().text();
  return analysis_json(*run, *analysis, *step_paths(run->ranks));
}

namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kFolder = ORRERY_SOURCE_DIR "/validation/traces/megatron-lm-fork/tp2/";

const std::string kTorchrec =
    ORRERY_SOURCE_DIR "/validation/traces/torchrec/sst_long_a2a_optimizer_4/";

struct Analyzed {
  RecordedRun run;
  RunAnalysis analysis;
  std::vector<StepPath> paths;
};

Analyzed two_ranks() {
  auto run = read_run({kFolder + "kineto_rank0.json.gz", kFolder + "kineto_rank1.json.gz"});
  EXPECT_TRUE(run) << run.error().text();
  auto analysis = analyze(*run, Catalog::built_in());
  EXPECT_TRUE(analysis) << analysis.error().text();
  auto paths = *step_paths(run->ranks);
  return {.run = std::move(*run), .analysis = std::move(*analysis), .paths = std::move(paths)};
}

// Also where another process had the device for a part of it.
TEST(RecordedParts, HaveTheTurnsOfAnotherProcessBesideWaitsForTheHost) {
  TemporalBreakdown b = {.window = {.start = 0, .end = 100}};
  b.compute_ns = 20;
  b.idle = {.host_wait_ns = 70, .kernel_wait_ns = 0, .other_ns = 10, .other_process_ns = 45};
  std::int64_t sum = 0;
  std::map<std::string_view, std::int64_t> parts;
  for (const RecordedPart& part : parts_of(b)) {
    sum += part.ns;
    parts[part.key] = part.ns;
  }
  EXPECT_EQ(sum, b.total_ns());
  EXPECT_EQ(parts["idle_host_wait"], 25);
  EXPECT_EQ(parts["idle_other_process"], 45);
}

TEST(RecordedParts, AddUpToTheWindow) {
  const Analyzed two = two_ranks();
  for (const RankAnalysis& rank : two.analysis.ranks) {
    std::int64_t sum = 0;
    for (const RecordedPart& part : parts_of(rank.whole)) sum += part.ns;
    EXPECT_EQ(sum, rank.whole.total_ns());
  }
}

// Kernels that differ in template arguments are shown under one name, in one row.
TEST(StepPathText, HasARowForEachShownName) {
  StepPath path;
  path.length_ns = 100'000;
  path.operations = 4;
  path.names = {{"host work", PathBound::host, 0, 1, 50'000},
                {"void apply<int>(int)", PathBound::compute, 0, 1, 30'000},
                {"void apply<float>(float)", PathBound::compute, 0, 2, 20'000}};
  const std::string text = step_path_text(path, 12, {});
  EXPECT_EQ(text.find("apply"), text.rfind("apply")) << text;
  EXPECT_THAT(text, HasSubstr("50.0 us"));
  EXPECT_THAT(text, Not(HasSubstr("30.0 us")));
}

TEST(ShortName, LeavesArgumentsAndTemplateArgumentsOut) {
  EXPECT_EQ(short_name("void at::native::vectorized_elementwise_kernel<4, at::native::(anonymous "
                       "namespace)::F, int>(int, float)"),
            "at::native::vectorized_elementwise_kernel");
  EXPECT_EQ(short_name("void (anonymous namespace)::softmax_warp<float>(float*)"), "softmax_warp");
  EXPECT_EQ(short_name("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)"),
            "ncclDevKernel_AllReduce_Sum_f32_RING_LL");
  EXPECT_EQ(short_name("Memcpy DtoH (Device -> Pinned)"), "Memcpy DtoH (Device -> Pinned)");
  EXPECT_EQ(short_name("<unknown>"), "<unknown>");
  EXPECT_EQ(short_name(""), "");
}

TEST(AnalysisText, NeverTakesMoreCellsThanTheTerminalHas) {
  const Analyzed two = two_ranks();
  for (const int width : {60, 100, 160}) {
    const std::string text =
        analysis_text(two.run, two.analysis, {.paths = two.paths}, {.width = width});
    std::size_t from = 0;
    while (from < text.size()) {
      const std::size_t to = text.find('\n', from);
      if (text[from] == ' ' && text.substr(from, to - from).find("--rows") == std::string::npos &&
          text.substr(from, to - from).find("ranks,") == std::string::npos) {
        EXPECT_LE(display_width(text.substr(from, to - from)), width)
            << text.substr(from, to - from);
      }
      from = to + 1;
    }
  }
}

// A column only where there is anything to say; the tile and the legend of the page likewise.
TEST(AnalysisReports, NameTheTurnsOfAnotherProcessWhereThereAreAny) {
  Analyzed two = two_ranks();
  const AnalysisView view = {.rank = 0, .paths = two.paths};
  const auto text = [&] { return analysis_text(two.run, two.analysis, view, TextStyle()); };
  const auto page = [&] { return analysis_html(two.run, two.analysis, view); };
  EXPECT_THAT(text(), Not(HasSubstr("idle: host  other process")));
  EXPECT_THAT(page(), Not(HasSubstr("another process has the device")));
  for (StepAnalysis& step : two.analysis.ranks[0].steps) {
    step.parts.idle.other_process_ns = step.parts.idle.host_wait_ns / 2;
  }
  EXPECT_THAT(text(), HasSubstr("idle: host  other process"));
  EXPECT_THAT(page(), HasSubstr("idle: another process has the device"));
}

TEST(AnalysisText, NamesOfCollectivesStayWhole) {
  auto run = read_run(
      {ORRERY_SOURCE_DIR "/validation/traces/TraceLens/mi300/resnet_act_checkpoint.json.gz"});
  ASSERT_TRUE(run) << run.error().text();
  const auto analysis = analyze(*run, Catalog::built_in());
  ASSERT_TRUE(analysis);
  for (const int width : {80, 100}) {
    const std::string text = analysis_text(*run, *analysis, {}, {.width = width});
    EXPECT_THAT(text, HasSubstr("  collective "));
    EXPECT_THAT(text, HasSubstr("  all-reduce "));
    EXPECT_THAT(text, HasSubstr("  bus bandwidth "));
  }
}

TEST(AnalysisText, ShowsAsManyRowsAsAskedFor) {
  const Analyzed two = two_ranks();
  const std::string few =
      analysis_text(two.run, two.analysis, {.rank = 1, .rows = 2, .paths = two.paths}, {});
  const std::string many =
      analysis_text(two.run, two.analysis, {.rank = 1, .rows = 100000, .paths = two.paths}, {});
  EXPECT_THAT(few, HasSubstr("--rows shows more"));
  EXPECT_THAT(many, Not(HasSubstr("--rows shows more")));
  EXPECT_THAT(few, HasSubstr("Critical path  rank 1"));
}

TEST(AnalysisJson, HoldsWhatTheTextSays) {
  const Analyzed two = two_ranks();
  const Value document = analysis_json(two.run, two.analysis);
  EXPECT_EQ(document.find("kind")->scalar_text(), "trace_analysis");
  ASSERT_EQ(document.find("ranks")->items().size(), 2U);
  const Value& rank = document.find("ranks")->items()[1];
  double sum = 0;
  for (const auto& [name, part] : rank.find("breakdown_s")->members()) {
    sum += std::stod(part.scalar_text());
  }
  EXPECT_NEAR(sum, std::stod(rank.find("total_s")->scalar_text()), 1e-12);
  EXPECT_EQ(rank.find("steps")->items().size(), 1U);
  const Value& communication = *document.find("communication");
  EXPECT_EQ(communication.find("matched")->scalar_text(), "13");
  // Rank 1 waited in all of them, for rank 0.
  const std::vector<Value>& ranks = communication.find("ranks")->items();
  EXPECT_EQ(ranks[0].find("arrived_last")->scalar_text(), "13");
  EXPECT_EQ(ranks[0].find("caused_waiting_s")->scalar_text(),
            ranks[1].find("waiting_s")->scalar_text());
}

TEST(AnalysisHtml, IsOnePageThatLoadsNothing) {
  const Analyzed two = two_ranks();
  const std::string page = analysis_html(two.run, two.analysis, {.paths = two.paths});
  for (const char* part :
       {"Where the time of the device went", "The devices over time", "Communication",
        "Kernels over all ranks", "Over time", "Operators by device time", "Critical path",
        "Sections and modules", "class=\"finding\"", "class=\"tile\"", "<svg class=\"chart\""}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
  EXPECT_THAT(page, Not(HasSubstr("src=")));
  EXPECT_THAT(page, Not(HasSubstr("http")));
  EXPECT_EQ(page, analysis_html(two.run, two.analysis, {.paths = two.paths}));
}

TEST(AnalysisHtml, HasAHeatMapWhereRanksHaveSeveralSteps) {
  auto run = read_run({kTorchrec + "kineto_rank0.json.gz", kTorchrec + "kineto_rank1.json.gz"});
  ASSERT_TRUE(run) << run.error().text();
  const auto analysis = analyze(*run, Catalog::built_in());
  ASSERT_TRUE(analysis);
  const std::string page = analysis_html(*run, *analysis, {});
  EXPECT_THAT(page, HasSubstr("Exposed communication of every rank and step"));
  EXPECT_THAT(page, Not(HasSubstr("nan")));
}

TEST(FindingText, SaysWhoIsWaitedForAndWhatToTry) {
  const Analyzed two = two_ranks();
  const std::vector<Finding> found = findings(two.analysis);
  ASSERT_FALSE(found.empty());
  bool waiting = false;
  for (const Finding& one : found) {
    const FindingText text = finding_text(two.run, two.analysis, one);
    EXPECT_FALSE(text.title.empty());
    EXPECT_FALSE(text.advice.empty());
    if (one.kind != FindingKind::waiting) continue;
    waiting = true;
    EXPECT_THAT(text.detail, HasSubstr("Rank 0 arrives last 13 times of 13"));
    EXPECT_THAT(text.detail, HasSubstr("causes 100.0 % of the waiting"));
    EXPECT_THAT(text.advice, HasSubstr("--no-stragglers"));
  }
  EXPECT_TRUE(waiting);
  EXPECT_THAT(headline_text(two.analysis), HasSubstr("A step takes 60.7 ms"));
}

TEST(AnalysisText, BeginsWithWhatCostsTheMost) {
  const Analyzed two = two_ranks();
  const std::string text = analysis_text(two.run, two.analysis, {}, {});
  const std::size_t costs = text.find("What costs the most");
  ASSERT_NE(costs, std::string::npos);
  EXPECT_LT(costs, text.find("Where the time of the device went"));
  EXPECT_EQ(text.find("Sequences of kernels"), std::string::npos);
  const std::string more =
      analysis_text(two.run, two.analysis, {.rank = 0, .rows = 3, .more = MoreTables::all}, {});
  for (const char* part : {"Kernels over all ranks", "Work alone and together",
                           "Sections and modules", "Gaps of streams", "Launches that stand out"}) {
    EXPECT_THAT(more, HasSubstr(part));
  }
}

// Recordings that hold hardly anything: no number that is none, in any of the three forms.
TEST(AnalysisReports, OfAlmostNothingHaveNoNumberThatIsNone) {
  std::vector<HandMadeTrace> made(6);
  made[1].kernel("gemm", 7, 5, 5, 1);  // of no length, without a call
  made[2].kernel("ncclDevKernel_AllReduce", 7, 5, 50, 1);
  made[3].step(1, 10, 10);  // of no length
  made[3].kernel("gemm", 7, 10, 20, 1);
  made[4].step(1, 0, 100);  // the work lies outside of it
  made[4].call(90, 95, 1);
  made[4].kernel("gemm", 7, 200, 300, 1);
  made[5].call(0, 5, 1, "cudaMemsetAsync");
  made[5].add(EventKind::fill, "Memset (Device)", made[5].stream(7), 3, 4, 1);
  for (HandMadeTrace& one : made) {
    std::vector<RecordedTrace> traces;
    traces.push_back(std::move(one.trace));
    const auto run = make_run(std::move(traces));
    ASSERT_TRUE(run) << run.error().text();
    for (const BreakdownPreset preset :
         {BreakdownPreset::orrery, BreakdownPreset::hta, BreakdownPreset::tracelens}) {
      AnalysisOptions options;
      options.preset = preset;
      options.accelerator = "h100-sxm";
      const auto analysis = analyze(*run, Catalog::built_in(), options);
      ASSERT_TRUE(analysis) << analysis.error().text();
      const AnalysisView view = {.rank = 0, .rows = 9, .more = MoreTables::all};
      for (const std::string& text :
           {analysis_text(*run, *analysis, view, {}), to_json(analysis_json(*run, *analysis)),
            analysis_html(*run, *analysis, view)}) {
        EXPECT_THAT(text, Not(HasSubstr("nan ")));
        EXPECT_THAT(text, Not(HasSubstr("inf ")));
        EXPECT_THAT(text, Not(HasSubstr("nan%")));
        EXPECT_THAT(text, Not(HasSubstr(": nan")));
        EXPECT_THAT(text, Not(HasSubstr("=\"nan")));
      }
    }
  }
}

TEST(AnalysisHtml, NamesOfARecordingNeverBecomeMarkup) {
  Analyzed two = two_ranks();
  two.analysis.ranks[0].device = "<script>alert(1)</script>";
  two.analysis.communication.rows[0].group = "<img>";
  const std::string page = analysis_html(two.run, two.analysis, {.paths = two.paths});
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(page, Not(HasSubstr("<img>")));
}

}  // namespace
}  // namespace orrery
