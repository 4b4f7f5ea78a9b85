// orrery network, orrery collective, orrery cluster: the graph of a network, collectives as flows
// through it, and the steps of several jobs on it.
#include "network/network.h"

#include <string>
#include <utility>

#include "command.h"
#include "estimate/shared_fabric.h"
#include "network/collective_comparison.h"
#include "network/msccl.h"
#include "progress.h"
#include "report/network/network_report.h"

namespace orrery::cli {

Result<int> network_command(const NetworkOptions& options, const Common& common) {
  ORRERY_TRY(const auto catalog, open_catalog(common));
  ORRERY_TRY(const auto cluster, parse_cluster(options.cluster, catalog));
  ORRERY_TRY(const auto network, network_of(cluster));
  const NetworkFigures figures = figures_of(network, cluster.name);
  return print(common.json ? to_json(network_json(figures)) : network_text(figures, text_style()));
}

Result<int> collective_command(const CollectiveOptions& options, const Common& common) {
  ORRERY_TRY(const auto catalog, open_catalog(common));
  CollectiveQuestion question;
  ORRERY_TRY(question.kind, at("collective", parse_enum<CollectiveKind>(options.collective)));
  ORRERY_TRY(question.payload, at("--size", parse_bytes(options.size)));
  if (!(question.payload >= Bytes(1) && question.payload <= Bytes(1e15))) {
    return bad_input("'" + options.size + "' is not between 1B and 1PB", "--size");
  }
  if (!options.algorithm.empty()) {
    ORRERY_TRY(question.only, at("--algorithm", parse_enum<ProgramAlgorithm>(options.algorithm)));
  }
  if (!options.program.empty()) {
    ORRERY_TRY(const std::string text, read_file(options.program));
    ORRERY_TRY(question.imported, read_msccl(text, options.program));
  }
  question.ranks = options.ranks;
  question.streams = options.streams;
  ORRERY_TRY(const auto cluster, parse_cluster(options.cluster, catalog));
  Progress progress(!common.quiet);
  ORRERY_TRY(const auto comparison,
             compare_collective(cluster, catalog, question,
                                [&](double share) { progress.show(share, "simulating"); }));
  return print(common.json ? to_json(collective_json(comparison))
                           : collective_text(comparison, text_style()));
}

Result<int> cluster_command(const ClusterOptions& options, const Common& common) {
  ORRERY_TRY(const auto catalog, open_catalog(common));
  ORRERY_TRY(const Document document, read_document(options.jobs));
  ORRERY_TRY(DescribedJobs jobs, read_jobs(document, catalog));
  ORRERY_TRY(const SharedFabric shared, share_fabric(std::move(jobs), catalog));
  return print(common.json ? to_json(shared_fabric_json(shared))
                           : shared_fabric_text(shared, text_style()));
}

}  // namespace orrery::cli
