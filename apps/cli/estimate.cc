// orrery estimate: one plan, predicted.
#include "estimate/estimate.h"

#include "estimate/step_timeline.h"
#include "estimate_chakra.h"
#include "graph_files.h"
#include "question.h"
#include "report/drawing/pipeline_text.h"
#include "report/plans/estimate_json.h"
#include "report/plans/estimate_text.h"
#include "report_files.h"

namespace orrery::cli {

int estimate_command(const EstimateOptions& options, const Common& common) {
  const auto catalog = open_catalog(common);
  if (!catalog) return refuse(catalog.error());
  const auto spec = ask(options.question, *catalog);
  if (!spec) return refuse(spec.error());
  const Scenario& scenario = spec->scenario;
  const auto predicted = estimate(scenario, *catalog);
  if (!predicted) return refuse(predicted.error());

  const Subject subject = subject_of(scenario);
  const auto files =
      write_report_files(options.question, scenario, *predicted, nullptr, Seconds(0), *catalog);
  if (!files) return refuse(files.error());
  std::vector<std::string> written = *files;
  if (!options.chakra.empty()) {
    const auto chakra =
        write_step_chakra(scenario, *catalog, options.chakra, options.chakra_ranks, common);
    if (!chakra) return refuse(chakra.error());
    written.push_back(*chakra);
  }
  if (!options.graph.empty()) {
    const auto graph = step_graph_file(scenario, *catalog);
    if (!graph) return refuse(graph.error());
    const auto line = write_graph(options.graph, *graph);
    if (!line) return refuse(line.error());
    written.push_back("graph     " + *line);
  }
  if (common.json) {
    Value document = estimate_json(*predicted, subject);
    if (options.explain) document.set("explain", derivations_json(explain(scenario, *predicted)));
    return print(to_json(document));
  }
  const TextStyle style = text_style();
  std::string text = estimate_text(*predicted, subject, style);
  if (predicted->plan.pp > 1 && common.verbosity >= 0) {
    const auto spans = pipeline_spans(scenario, *catalog);
    if (!spans) return refuse(spans.error());
    text += "\n" + pipeline_text(*spans, style);
  }
  if (options.explain) text += "\n" + derivations_text(explain(scenario, *predicted), style);
  for (const std::string& line : written) text += "\n" + line;
  if (!written.empty()) text += "\n";
  return print(text);
}

}  // namespace orrery::cli
