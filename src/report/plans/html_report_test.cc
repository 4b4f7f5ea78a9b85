#include <gmock/gmock.h>

#include <set>
#include <string_view>

#include "report/drawing/html_page.h"
#include "report/drawing/pipeline_lanes.h"
#include "report/drawing/plot_svg.h"
#include "report/drawing/svg_chart.h"
#include "report/plans/plan_reports.h"
#include "report/plans/sample_estimate.h"

namespace orrery {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::vector<Derivation> kDerivations = {
    {"mfu", "model FLOPs / (step time x GPUs x peak)", "1 < 2 & 3", "40.4 %", "arXiv 2204.02311"}};

std::string page(const Subject& subject = sample_subject()) {
  const Estimate e = sample_estimate();
  const SearchResult r = sample_search_result();
  const std::vector<PipelineSpan> spans = sample_pipeline(4, 8);
  return html_report({.subject = subject,
                      .estimate = &e,
                      .pipeline = spans,
                      .derivations = kDerivations,
                      .found = {.search = &r, .elapsed = Seconds(3.2)},
                      .operators = {{.name = "attention.core",
                                     .category = Category::attention_core,
                                     .count = 2,
                                     .time = Seconds(1e-3),
                                     .time_share = 0.25,
                                     .flops_share = 0.1}}});
}

// Everything but <style> and <script>, whose content is not markup.
std::string markup(std::string html) {
  for (const std::string tag : {"style", "script"}) {
    const std::size_t begin = html.find("<" + tag + ">");
    const std::size_t end = html.find("</" + tag + ">", begin);
    EXPECT_NE(end, std::string::npos);
    html.erase(begin, end + tag.size() + 3 - begin);
  }
  return html;
}

std::string unbalanced(std::string_view html) {
  static const std::set<std::string_view> kVoid = {"meta", "br", "wbr", "input", "!doctype"};
  std::vector<std::string> open;
  while (true) {
    const std::size_t begin = html.find('<');
    if (begin == std::string_view::npos) break;
    // Quoted attributes hold no '<' or '>': html_text escapes them.
    const std::size_t end = html.find('>', begin);
    if (end == std::string_view::npos) return "a tag has no end";
    std::string_view tag = html.substr(begin + 1, end - begin - 1);
    html.remove_prefix(end + 1);
    if (tag.find('<') != std::string_view::npos) return "a tag holds '<': " + std::string(tag);
    const bool closes = tag.starts_with('/');
    if (closes) tag.remove_prefix(1);
    const std::string name(tag.substr(0, tag.find_first_of(" \n")));
    if (kVoid.contains(name)) continue;
    if (!closes) {
      open.push_back(name);
    } else if (open.empty() || open.back() != name) {
      return "</" + name + "> closes " + (open.empty() ? "nothing" : open.back());
    } else {
      open.pop_back();
    }
  }
  return open.empty() ? "" : "<" + open.back() + "> is never closed";
}

TEST(HtmlReport, IsBalanced) { EXPECT_EQ(unbalanced(markup(page())), ""); }

TEST(HtmlReport, LoadsNothing) {
  const std::string html = page();
  for (const char* reference :
       {"http:", "https:", "src=", "href=\"h", "href=\"/", "@import", "url(", "//cdn"}) {
    EXPECT_THAT(html, Not(HasSubstr(reference)));
  }
}

TEST(HtmlReport, HasEverySection) {
  const std::string html = page();
  for (const char* title : {"Where the time goes", "Operators", "attention.core", "Memory",
                            "Pipeline", "Stages", "Best plans", "Why it won",
                            "Step time against memory", "Would have been faster, but does not fit",
                            "Derivations", "Assumed", "80.0 GiB capacity", "100.0 %"}) {
    EXPECT_THAT(html, HasSubstr(title));
  }
}

TEST(HtmlReport, BeginsWithWhatWasAskedFor) {
  const std::string html = page();
  EXPECT_LT(html.find("<h2>Best plans"), html.find("<div class=\"tiles\">"));
  EXPECT_LT(html.find("<div class=\"tiles\">"), html.find("<h2>Why it won"));
  EXPECT_THAT(html, HasSubstr("<code>--plan tp=8,pp=16,dp=128,chunks=4,zero=1</code>"));
  EXPECT_THAT(html, HasSubstr("406 B parameters · 2.68 TFLOP a token"));
  EXPECT_THAT(html,
              HasSubstr("<p class=\"interval\"><b>90 % in 7.20 s to 8.80 s</b> interval from"));
  EXPECT_THAT(html, HasSubstr("<a href=\"#where-the-time-goes\">"));
  EXPECT_THAT(html, HasSubstr("<section id=\"where-the-time-goes\">"));
  EXPECT_EQ(html_link("Absent", html), "");
}

TEST(HtmlReport, TextFromOutsideIsNeverMarkup) {
  const std::string html =
      page({"<script>alert(1)</script>", "\" onmouseover=\"alert(2) </title>"});
  EXPECT_THAT(html, Not(HasSubstr("<script>alert(1)")));
  EXPECT_THAT(html, HasSubstr("&lt;script&gt;alert(1)&lt;/script&gt;"));
  EXPECT_THAT(html, Not(HasSubstr("\" onmouseover=\"")));
  EXPECT_THAT(html, HasSubstr("1 &lt; 2 &amp; 3"));
  EXPECT_EQ(unbalanced(markup(html)), "");
  EXPECT_EQ(html_text("a\x1b<'\">&"), "a\uFFFD&lt;&#39;&quot;&gt;&amp;");
}

TEST(HtmlReport, NeedsOnlyAnEstimate) {
  const Estimate e = sample_estimate();
  const std::string html = html_report({.subject = sample_subject(), .estimate = &e});
  EXPECT_EQ(unbalanced(markup(html)), "");
  EXPECT_THAT(html, Not(HasSubstr("Best plans")));
  EXPECT_THAT(html, Not(HasSubstr("<h2>Pipeline")));
  const Estimate empty;
  EXPECT_EQ(unbalanced(markup(html_report({.subject = {"m", "c"}, .estimate = &empty}))), "");
}

TEST(HtmlReport, SaysThatNothingFits) {
  const Estimate e = sample_estimate();
  SearchResult r;
  r.least_memory = sample_search_result().near_misses;
  const std::string html =
      html_report({.subject = sample_subject(), .estimate = &e, .found = {.search = &r}});
  EXPECT_THAT(html, HasSubstr("No plan fits"));
  EXPECT_EQ(unbalanced(markup(html)), "");
}

int rectangles(const std::string& svg) {
  int n = 0;
  for (std::size_t at = svg.find("data-tip"); at != std::string::npos;
       at = svg.find("data-tip", at + 1)) {
    ++n;
  }
  return n;
}

TEST(PipelineSvg, DrawsEveryPassWhereThereIsRoom) {
  const PipelineDrawing drawing = pipeline_svg(sample_pipeline(4, 8), 3);
  EXPECT_EQ(rectangles(drawing.svg), 4 * 8 * 2);
  EXPECT_EQ(drawing.remark, "");
  EXPECT_EQ(unbalanced(drawing.svg), "");
}

TEST(PipelineSvg, NeverDrawsMoreThanAllowedAndKeepsTheCriticalStage) {
  const PipelineDrawing drawing = pipeline_svg(sample_pipeline(64, 200), 37, 2000);
  EXPECT_LE(rectangles(drawing.svg), 2000);
  EXPECT_THAT(drawing.svg, HasSubstr("strong\" x=\"34\""));
  for (const char* stage : {">0</text>", ">37</text>", ">63</text>"}) {
    EXPECT_THAT(drawing.svg, HasSubstr(stage));
  }
  EXPECT_THAT(drawing.remark, HasSubstr("of 64 stages are drawn"));
}

TEST(PipelineSvg, LeavesOutTransfersFirst) {
  std::vector<PipelineSpan> spans = sample_pipeline(4, 8);
  for (int i = 0; i < 8; ++i) {
    spans.push_back({.stage = 0,
                     .chunk = 0,
                     .microbatch = i,
                     .kind = PipelineSpan::Kind::transfer,
                     .start = Seconds(i),
                     .end = Seconds(i + 0.5)});
  }
  EXPECT_EQ(rectangles(pipeline_svg(spans, 0, 72).svg), 72);
  const PipelineDrawing drawing = pipeline_svg(spans, 0, 71);
  EXPECT_EQ(rectangles(drawing.svg), 64);
  EXPECT_EQ(drawing.remark, "transfers are left out");
}

TEST(PipelineSvg, IsEmptyWithoutTime) {
  EXPECT_EQ(pipeline_svg({}, 0).svg, "");
  const PipelineSpan nothing;
  EXPECT_EQ(pipeline_svg({&nothing, 1}, 0).svg, "");
}

TEST(SvgChart, StepsAreOneTwoOrFive) {
  EXPECT_DOUBLE_EQ(nice_step(80, 5), 20);
  EXPECT_DOUBLE_EQ(nice_step(100, 5), 20);
  EXPECT_DOUBLE_EQ(nice_step(101, 5), 50);
  EXPECT_DOUBLE_EQ(nice_step(0.24, 5), 0.05);
  EXPECT_DOUBLE_EQ(nice_step(0, 5), 1);
}

TEST(SvgChart, PartsOfAStackedBarFillIt) {
  const std::vector<ChartSegment> parts = {{"bubble", 3, "bubble", "3"}, {"host", 1, "", "1"}};
  const std::string svg = stacked_bar_svg(parts);
  EXPECT_THAT(svg, HasSubstr(R"(class="c-bubble" x="0" y="0" width="808.5")"));  // 3/4 - gap
  EXPECT_THAT(svg, HasSubstr(R"(class="c-host" x="810" y="0" width="268.5")"));
  EXPECT_EQ(unbalanced(svg), "");
}

TEST(SvgChart, OnePointAndNoColumnsAreCharts) {
  Plot plot{
      .name = "", .x = linear_axis("", 0, 10, 5), .y = linear_axis("", 0, 10, 5), .curves = {}};
  EXPECT_EQ(unbalanced(plot_svg(plot)), "");
  plot.points = {{.x = 5, .y = 5, .label = "", .tip = "t"}};
  EXPECT_EQ(unbalanced(plot_svg(plot)), "");
  EXPECT_EQ(unbalanced(column_chart_svg({})), "");
}

}  // namespace
}  // namespace orrery
