#include <gmock/gmock.h>

#include "compare/step_work.h"
#include "replay/graph_from_run.h"
#include "report/traces/trace_reports.h"
#include "trace/published_traces.h"
#include "trace/recorded_run.h"
#include "whatif/edit_language.h"

namespace orrery {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Answered {
  RecordedRun run;
  RunGraph graph;
  WhatIf answer;
};

Answered answered(const std::string& files, std::string_view text) {
  auto run = read_run({kTraces + files});
  EXPECT_TRUE(run) << run.error().text();
  auto graph = graph_from_run(run->ranks);
  EXPECT_TRUE(graph) << graph.error().text();
  const auto edits = parse_edits(text, "edits");
  EXPECT_TRUE(edits) << edits.error().text();
  auto answer = what_if(run->ranks, graph->graph, *edits, Catalog::built_in());
  EXPECT_TRUE(answer) << answer.error().text();
  return {std::move(*run), std::move(graph->graph), std::move(*answer)};
}

void expect_self_contained(const std::string& page) {
  EXPECT_THAT(page, Not(HasSubstr("src=")));
  EXPECT_THAT(page, Not(HasSubstr("http")));
  EXPECT_THAT(page, Not(HasSubstr("nan")));
}

TEST(WhatIfHtml, ShowsTheRunBeforeAndAfter) {
  const Answered a = answered("megatron-lm-fork/tp2", "even; scale host by 0.5");
  const std::string page = whatif_html(a.run.ranks, a.graph, a.answer);
  for (const char* part :
       {"Step after", "Step before", "Waiting for ranks", "scale host by 0.5", "Assumed: between",
        "Steps, before and after", "The devices over time, before", "The devices over time, after",
        "<svg class=\"chart\""}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
  expect_self_contained(page);
  EXPECT_EQ(page, whatif_html(a.run.ranks, a.graph, a.answer));
}

TEST(WhatIfHtml, HasABandForEveryStage) {
  const Answered a = answered("megatron-lm-fork/tp2", "pp 2 microbatches 4 send 1MB link 1GB/s");
  const std::string page = whatif_html(a.run.ranks, a.graph, a.answer);
  for (const char* part : {"rank 0, stage 1", "rank 1, stage 0"}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
}

TEST(WhatIfHtml, OfARunWithoutAnAccelerator) {
  const Answered a =
      answered("HolisticTraceAnalysis/cpu_only/rank-34.Jul_15_10_52_41.1074.pt.trace.json.gz", "");
  const std::string page = whatif_html(a.run.ranks, a.graph, a.answer);
  EXPECT_THAT(page, HasSubstr("A recorded run"));
  expect_self_contained(page);
}

TEST(WhatIfText, SmallChangesAreTimes) {
  // 0.0 % would not say which way it went.
  const Answered a = answered("megatron-lm-fork/tp2", "bandwidth by 2");
  EXPECT_THAT(whatif_text(a.answer, {}), Not(HasSubstr(": -0.0 %")));
}

TEST(DifferenceHtml, ShowsBothRunsAndEscapesTheirNames) {
  const auto run = read_run({kTraces + "torchrec/sst_long_a2a_optimizer_2/kineto_rank0.json.gz"});
  ASSERT_TRUE(run) << run.error().text();
  const auto first = step_profile(run->ranks);
  ASSERT_TRUE(first) << first.error().text();
  StepProfile second = *first;
  second.lines[0].name = "<script>alert(1)</script>";
  second.lines[0].times.owned_ns += 1'000'000;
  second.step_ns += 1'000'000;
  const std::string page = difference_html(difference(*first, second), {"<img>", "second"});
  for (const char* part : {"Where a step goes", "Operators", "class=\"tile\"", "&lt;img&gt;"}) {
    EXPECT_THAT(page, HasSubstr(part));
  }
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  expect_self_contained(page);
  Breakdown predicted;
  predicted[Category::feed_forward] = Picoseconds(30e9);
  const std::string beside = difference_html(
      difference(profile_by_work(*first), predicted_profile(predicted)), {"a", "b", 20, true});
  EXPECT_THAT(beside, HasSubstr("Kinds of work"));
  EXPECT_THAT(beside, HasSubstr("Predicted step"));
}

}  // namespace
}  // namespace orrery
