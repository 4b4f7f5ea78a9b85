#include "report/documents.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "document/results.h"
#include "report/fleet/fleet_report.h"
#include "report/forecasts/forecast_reports.h"
#include "report/network/network_report.h"
#include "report/numerics/numerics_report.h"
#include "report/plans/plan_comparison.h"
#include "report/plans/plan_reports.h"
#include "report/plans/table_placement_report.h"
#include "report/schedules/schedule_report.h"
#include "report/traces/trace_reports.h"

namespace orrery {

template <>
inline constexpr auto kResults<Error> = table<Error>(
    "error", "Why there is no answer.", schema_version<1>(),
    constant("kind", "of document", "error"),
    field<&Error::message>("what is wrong, with the value that is"),
    field<&Error::where>("the file, line, key or option; empty: nowhere in particular"),
    field<&Error::hint>("what to write instead; may be empty"));

Value error_json(const Error& error) { return answer(error); }

std::span<const DocumentKind> document_kinds() {
  static constexpr auto kKinds = std::to_array<DocumentKind>(
      {{"error-1", "any command with --json that is refused", &description_of<Error>},
       {"estimate-1", "orrery estimate --json", &estimate_document},
       {"generate-1", "orrery generate --json", &generation_document},
       {"generate-measured-1", "orrery generate --measured --json", &generation_errors_document},
       {"search-1", "orrery search --json", &search_document},
       {"search-run-1", "orrery search --objective --json", &run_search_document},
       {"compare-1", "orrery compare --json", &plan_comparison_document},
       {"forecast-1", "orrery forecast --json", &forecast_document},
       {"forecast-step-1", "orrery forecast --json without tokens or steps",
        &step_distribution_document},
       {"forecast-log-1", "orrery forecast --log --json without a model", &fault_fit_document},
       {"import-1", "orrery import --json", &launch_document},
       {"tables-1", "orrery tables --json", &placement_document},
       {"towers-1", "orrery tables --similarities --json", &towers_document},
       {"check-1", "orrery check --json", &collectives_document},
       {"network-1", "orrery network --json", &network_document},
       {"collective-1", "orrery collective --json", &collective_document},
       {"cluster-1", "orrery cluster --json", &shared_fabric_document},
       {"fleet-1", "orrery fleet --json", &fleet_document},
       {"numerics-1", "orrery numerics attention, gemm, allreduce and quantize --json",
        &deviation_document},
       {"numerics-compare-1", "orrery numerics compare --json", &checkpoint_document},
       {"numerics-train-1", "orrery numerics train --json", &training_document},
       {"numerics-adam-1", "orrery numerics adam --json", &adam_document},
       {"numerics-vectors-1", "orrery numerics vectors --json", &vector_document},
       {"forecast-sizes-1", "orrery forecast --loss or --compute --json without a model",
        &sizes_document},
       {"schedule-compare-1", "orrery schedule compare --json", &comparison_document},
       {"trace-analyze-1", "orrery trace analyze --json", &analysis_document},
       {"trace-diff-1", "orrery trace diff --json", &difference_document},
       {"trace-kernels-1", "orrery trace kernels --json", &kernel_document},
       {"trace-spreads-1", "orrery trace spreads --json", &spreads_document},
       {"trace-replay-1", "orrery trace replay --json", &replay_document},
       {"trace-replay-operations-1", "orrery trace replay --json of an operation timeline",
        &operation_replay_document},
       {"trace-replay-chakra-1", "orrery trace replay --json of Chakra traces",
        &chakra_replay_document},
       {"trace-replay-graph-1", "orrery trace replay --json of a graph file",
        &graph_replay_document},
       {"trace-whatif-1", "orrery trace whatif --json", &whatif_document},
       {"trace-whatif-stragglers-1", "orrery trace whatif --attribute --json",
        &stragglers_document}});
  return kKinds;
}

namespace {

// "near_miss", "estimate document", "trace-replay" -> "NearMiss", "EstimateDocument",
// "TraceReplay".
std::string upper_camel(std::string_view words) {
  std::string out;
  bool begin = true;
  for (const char c : words) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) {
      begin = true;
      continue;
    }
    out += begin ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    begin = false;
  }
  return out;
}

struct Naming {
  std::vector<AnswerClass> classes;
  std::vector<const Description*> met;

  bool taken(const std::string& name) const {
    return std::ranges::find(classes, name, &AnswerClass::name) != classes.end();
  }

  void shape(const ValueShape& of, const std::string& document, const std::string& otherwise) {
    if (of.kind == ValueShape::Kind::list && !of.item.empty()) {
      shape(of.item[0], document, otherwise);
    }
    if (of.kind == ValueShape::Kind::map) map(of.map(), document, otherwise);
  }

  void map(const Description& of, const std::string& document, const std::string& otherwise) {
    if (std::ranges::any_of(met, [&](const Description* m) { return same_map(*m, of); })) return;
    met.push_back(&of);
    std::string name = of.name.empty() ? otherwise : upper_camel(of.name);
    for (const FieldDescription& field : of.fields) {
      shape(field.shape, document, name + upper_camel(field.key));
    }
    if (taken(name)) name = document + name;
    for (int i = 2; taken(name); ++i)
      name = fmt::format("{}{}{}", document, upper_camel(of.name), i);
    classes.push_back({std::move(name), &of});
  }
};

}  // namespace

const std::vector<AnswerClass>& answer_classes() {
  static const std::vector<AnswerClass> kClasses = [] {
    Naming naming;
    for (const DocumentKind& kind : document_kinds()) {
      const std::string document = upper_camel(kind.name.substr(0, kind.name.rfind('-')));
      naming.map(kind.description(), document, document);
    }
    return naming.classes;
  }();
  return kClasses;
}

const AnswerClass* answer_class(const Description& map) {
  for (const AnswerClass& one : answer_classes()) {
    if (same_map(*one.description, map)) return &one;
  }
  return nullptr;
}

}  // namespace orrery
