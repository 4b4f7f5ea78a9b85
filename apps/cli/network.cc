// orrery network, orrery collective, orrery cluster: the graph of a network, collectives as flows
// through it, and the steps of several jobs on it.
#include "network/network.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "check/collective_check.h"
#include "check/collective_results.h"
#include "command.h"
#include "document/value.h"
#include "estimate/shared_fabric.h"
#include "network/collective_comparison.h"
#include "network/msccl.h"
#include "progress.h"
#include "report/network/network_report.h"
#include "search/default_step.h"

namespace orrery::cli {
namespace {

struct NetworkOptions {
  std::string cluster;
};

struct CollectiveOptions {
  std::string collective;
  std::string size;
  std::string cluster;
  std::int64_t ranks = 0;  // 0: all
  std::string algorithm;   // empty: every one
  std::string program;     // a file of MSCCL; empty: none
  std::uint32_t streams = 1;
};

struct ClusterOptions {
  std::string jobs;  // a file
};

Result<int> describe_network(const NetworkOptions& options, const Common& common) {
  ORRERY_TRY(const auto catalog, open_catalog(common));
  ORRERY_TRY(const auto cluster, parse_cluster(options.cluster, catalog));
  ORRERY_TRY(const auto network, network_of(cluster));
  const NetworkFigures figures = figures_of(network, cluster.name);
  return print(common.json ? to_json(network_json(figures)) : network_text(figures, text_style()));
}

Result<int> compare_algorithms(const CollectiveOptions& options, const Common& common) {
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

Result<int> share_cluster(const ClusterOptions& options, const Common& common) {
  ORRERY_TRY(const auto catalog, open_catalog(common));
  ORRERY_TRY(const Document document, read_document(options.jobs));
  ORRERY_TRY(const DescribedJobs jobs, read_jobs(document, catalog));
  std::vector<PredictedStep> steps;
  for (const DescribedJob& job : jobs.jobs) {
    ORRERY_TRY(PredictedStep step,
               at(job.placement.name, default_step(job.spec, catalog, common.threads)));
    steps.push_back(std::move(step));
  }
  ORRERY_TRY(const SharedFabric shared, share_fabric(jobs, steps, catalog));
  return print(common.json ? to_json(shared_fabric_json(shared))
                           : shared_fabric_text(shared, text_style()));
}

}  // namespace

Command network_command(CLI::App& orrery) {
  auto [app, o] = subcommand<NetworkOptions>(
      orrery, "network", "the network of a cluster as a graph: links, bisection, paths");
  app->add_option("cluster", o->cluster, "a name, or a file: as for estimate")->required();
  app->footer("Example:\n  orrery network meta-h100-24k-roce:2048");
  return command(app, o, describe_network);
}

Command collective_command(CLI::App& orrery) {
  auto [app, o] = subcommand<CollectiveOptions>(
      orrery, "collective", "a collective by every algorithm: closed form and simulated flows");
  app->add_option("collective", o->collective,
                  "all_reduce, all_gather, reduce_scatter, all_to_all, broadcast")
      ->required();
  app->add_option("--size", o->size, "the payload, as nccl-tests count it: 1GiB")->required();
  app->add_option("--on", o->cluster, "the cluster: h100-sxm:64, or as for estimate")->required();
  app->add_option("--ranks", o->ranks, "the first so many accelerators (default: all)")
      ->check(CLI::Range(std::int64_t{2}, std::int64_t{1'000'000}));
  app->add_option("--algorithm", o->algorithm, "only this one: ring, double_tree, ...");
  app->add_option("--program", o->program, "an algorithm file of MSCCL (XML) beside them");
  app->add_option("--streams", o->streams, "hashed paths of two GPUs")
      ->check(CLI::Range(1U, 1024U));
  app->footer("Example:\n  orrery collective all_reduce --size 1GiB --on h100-sxm:64");
  return command(app, o, compare_algorithms);
}

Command cluster_command(CLI::App& orrery) {
  auto [app, o] = subcommand<ClusterOptions>(
      orrery, "cluster", "several jobs on one fabric: how they slow each other down");
  app->add_option("jobs", o->jobs, "a YAML file with the fabric and its jobs, or -")->required();
  app->footer("Example:\n  orrery cluster examples/three-jobs.yaml");
  return command(app, o, share_cluster);
}

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
  auto [app, o] = subcommand<CheckOptions>(
      orrery, "check", "results of nccl-tests: is this network what it should be?");
  app->add_option("file", o->file, "what nccl-tests or rccl-tests printed, or -")->required();
  app->add_option("--on", o->cluster, "the cluster: h100-sxm:16, or as for estimate")->required();
  app->add_option("--collective", o->collective,
                  "where the file does not say it: all_reduce, all_gather, ...");
  app->footer("Example:\n  orrery check all-reduce.txt --on h100-sxm:32");
  return command(app, o, check_results);
}

}  // namespace orrery::cli
