// orrery check: the results of nccl-tests beside what a cluster should give.
#include <algorithm>
#include <optional>

#include "check/collective_check.h"
#include "check/collective_results.h"
#include "command.h"
#include "document/value.h"
#include "report/collectives/collective_report.h"

namespace orrery::cli {
namespace {

struct CheckOptions {
  std::string file;
  std::string cluster;
  std::string collective;  // where the file does not say it
};

Result<int> check_results(const CheckOptions& options, const Common& common) {
  ORRERY_TRY(const auto catalog, open_catalog(common));
  std::optional<CollectiveKind> stated;
  if (!options.collective.empty()) {
    ORRERY_TRY(stated, at("--collective", parse_enum<CollectiveKind>(options.collective)));
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
  return answered(
      common.json ? to_json(collectives_json(checked)) : collectives_text(checked, text_style()),
      std::ranges::none_of(checked.tests, &CollectiveCheck::sick));
}

}  // namespace

Command check_command(CLI::App& orrery) {
  CLI::App* app =
      orrery.add_subcommand("check", "results of nccl-tests: is this network what it should be?");
  auto o = std::make_shared<CheckOptions>();
  app->add_option("file", o->file, "what nccl-tests or rccl-tests printed, or -")->required();
  app->add_option("--on", o->cluster, "the cluster: h100-sxm:16, or as for estimate")->required();
  app->add_option("--collective", o->collective,
                  "where the file does not say it: all_reduce, all_gather, ...");
  app->footer("Example:\n  orrery check all-reduce.txt --on h100-sxm:32");
  return command(app, o, check_results);
}

}  // namespace orrery::cli
