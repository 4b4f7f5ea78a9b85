#include "report_files.h"

#include <cstdio>

#include "estimate/step_timeline.h"
#include "report/plans/html_report.h"
#include "trace/perfetto/chrome_json.h"

namespace orrery::cli {

Result<std::vector<std::string>> write_report_files(const Question& question,
                                                    const PredictedStep& step,
                                                    const SimulatedStep& drawn,
                                                    const Estimate& estimate,
                                                    const FoundBy& found) {
  std::vector<std::string> out;
  const Subject subject = subject_of(step.priced->scenario);
  std::string html;
  std::string timeline;
  if (!question.html.empty()) {
    html = step_html(step, estimate, found);
  }
  if (!question.timeline.empty()) {
    timeline = chrome_json(timeline_spans(drawn), subject.model + " on " + subject.cluster);
  }
  // Both texts exist before the first file does; a failure leaves neither.
  if (!question.html.empty()) {
    ORRERY_RETURN_IF_ERROR(write_file(question.html, html));
    out.push_back("report    " + question.html);
  }
  if (!question.timeline.empty()) {
    if (auto written = write_file(question.timeline, timeline); !written) {
      if (!question.html.empty()) std::remove(question.html.c_str());
      return fail(std::move(written.error()));
    }
    out.push_back("timeline  " + question.timeline + " (open it in ui.perfetto.dev)");
  }
  return out;
}

}  // namespace orrery::cli
