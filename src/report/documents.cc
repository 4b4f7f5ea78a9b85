#include "report/documents.h"

#include <array>
#include <vector>

#include "document/results.h"
#include "report/collectives/collective_report.h"
#include "report/fleet/fleet_report.h"
#include "report/forecasts/forecast_json.h"
#include "report/forecasts/run_search_report.h"
#include "report/forecasts/sizes_report.h"
#include "report/forecasts/step_report.h"
#include "report/network/network_report.h"
#include "report/numerics/adam_report.h"
#include "report/numerics/checkpoint_report.h"
#include "report/numerics/deviation_report.h"
#include "report/numerics/training_report.h"
#include "report/numerics/vector_report.h"
#include "report/plans/generation_report.h"
#include "report/plans/launch_report.h"
#include "report/plans/plan_comparison.h"
#include "report/plans/plans_json.h"
#include "report/plans/table_placement_report.h"
#include "report/plans/tower_report.h"
#include "report/schedules/comparison_report.h"
#include "report/traces/analysis_report.h"
#include "report/traces/difference_report.h"
#include "report/traces/graph_replay_report.h"
#include "report/traces/kernel_report.h"
#include "report/traces/replay_report.h"
#include "report/traces/spreads_report.h"
#include "report/traces/whatif_report.h"

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
  static constexpr std::array kKinds = {
      DocumentKind{"error-1", "any command with --json that is refused", &description_of<Error>},
      DocumentKind{"estimate-1", "orrery estimate --json", &estimate_document},
      DocumentKind{"generate-1", "orrery generate --json", &generation_document},
      DocumentKind{"generate-measured-1", "orrery generate --measured --json",
                   &generation_errors_document},
      DocumentKind{"search-1", "orrery search --json", &search_document},
      DocumentKind{"search-run-1", "orrery search --objective --json", &run_search_document},
      DocumentKind{"compare-1", "orrery compare --json", &plan_comparison_document},
      DocumentKind{"forecast-1", "orrery forecast --json", &forecast_document},
      DocumentKind{"forecast-step-1", "orrery forecast --json without tokens or steps",
                   &step_distribution_document},
      DocumentKind{"forecast-log-1", "orrery forecast --log --json without a model",
                   &fault_fit_document},
      DocumentKind{"import-1", "orrery import --json", &launch_document},
      DocumentKind{"tables-1", "orrery tables --json", &placement_document},
      DocumentKind{"towers-1", "orrery tables --similarities --json", &towers_document},
      DocumentKind{"check-1", "orrery check --json", &collectives_document},
      DocumentKind{"network-1", "orrery network --json", &network_document},
      DocumentKind{"collective-1", "orrery collective --json", &collective_document},
      DocumentKind{"cluster-1", "orrery cluster --json", &shared_fabric_document},
      DocumentKind{"fleet-1", "orrery fleet --json", &fleet_document},
      DocumentKind{"numerics-1", "orrery numerics attention, gemm, allreduce and quantize --json",
                   &deviation_document},
      DocumentKind{"numerics-compare-1", "orrery numerics compare --json", &checkpoint_document},
      DocumentKind{"numerics-train-1", "orrery numerics train --json", &training_document},
      DocumentKind{"numerics-adam-1", "orrery numerics adam --json", &adam_document},
      DocumentKind{"numerics-vectors-1", "orrery numerics vectors --json", &vector_document},
      DocumentKind{"forecast-sizes-1", "orrery forecast --loss or --compute --json without a model",
                   &sizes_document},
      DocumentKind{"schedule-compare-1", "orrery schedule compare --json", &comparison_document},
      DocumentKind{"trace-analyze-1", "orrery trace analyze --json", &analysis_document},
      DocumentKind{"trace-diff-1", "orrery trace diff --json", &difference_document},
      DocumentKind{"trace-kernels-1", "orrery trace kernels --json", &kernel_document},
      DocumentKind{"trace-spreads-1", "orrery trace spreads --json", &spreads_document},
      DocumentKind{"trace-replay-1", "orrery trace replay --json", &replay_document},
      DocumentKind{"trace-replay-operations-1",
                   "orrery trace replay --json of an operation timeline",
                   &operation_replay_document},
      DocumentKind{"trace-replay-chakra-1", "orrery trace replay --json of Chakra traces",
                   &chakra_replay_document},
      DocumentKind{"trace-replay-graph-1", "orrery trace replay --json of a graph file",
                   &graph_replay_document},
      DocumentKind{"trace-whatif-1", "orrery trace whatif --json", &whatif_document},
      DocumentKind{"trace-whatif-stragglers-1", "orrery trace whatif --attribute --json",
                   &stragglers_document},
  };
  return kKinds;
}

std::string schema_text(const DocumentKind& kind) {
  return to_json(json_schema(kind.description(), std::string(kind.command) + ", version 1"));
}

std::string key_page() {
  std::string out =
      "# Keys of the JSON documents\n\n"
      "Every key of the documents that have been described so far, with its meaning. Written by\n"
      "`make schema` from the tables that also write the documents and their\n"
      "[schemas](json-schema.md). A map that several documents share is listed where it first\n"
      "occurs.\n";
  std::vector<const Description*> written;
  for (const DocumentKind& kind : document_kinds()) {
    const Description& document = kind.description();
    out += "\n## `" + std::string(kind.command) + "`\n\n" + document.sentence + "\n\n";
    out += key_tables(document, written);
  }
  return out;
}

}  // namespace orrery
