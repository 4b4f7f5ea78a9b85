// orrery check: the results of nccl-tests beside what a cluster should give.
#include <algorithm>
#include <optional>

#include "check/collective_check.h"
#include "check/collective_results.h"
#include "command.h"
#include "document/value.h"
#include "report/collectives/collective_report.h"

namespace orrery::cli {

Result<int> check_command(const CheckOptions& options, const Common& common) {
  ORRERY_TRY(const auto catalog, open_catalog(common));
  std::optional<CollectiveKind> stated;
  if (!options.collective.empty()) {
    auto kind = parse_enum<CollectiveKind>(options.collective);
    if (!kind) return fail(at("--collective", kind.error()));
    stated = *kind;
  }
  ORRERY_TRY(const auto text, read_file(options.file));
  ORRERY_TRY(const auto tests,
             parse_collective_results(text, options.file == "-" ? "standard input" : options.file,
                                      stated));
  ORRERY_TRY(const auto cluster, parse_cluster(options.cluster, catalog));
  CheckedCollectives checked{cluster.name, {}};
  for (const CollectiveResults& results : tests) {
    ORRERY_TRY(auto one, check(results, cluster, catalog));
    checked.tests.push_back(std::move(one));
  }
  const int printed = print(common.json ? to_json(collectives_json(checked))
                                        : collectives_text(checked, text_style()));
  if (printed != ExitCode::done) return printed;
  return std::ranges::any_of(checked.tests, &CollectiveCheck::sick) ? ExitCode::negative
                                                                    : ExitCode::done;
}

}  // namespace orrery::cli
