#include "estimate/shared_fabric.h"

#include <algorithm>
#include <array>
#include <optional>

#include "estimate/spec.h"
#include "outcome/nearest_name.h"

namespace orrery {

Fields<JobPlacement> fields_of(const JobPlacement*) {
  return Fields<JobPlacement>("job")
      .required<&JobPlacement::name>("identifier")
      .required<&JobPlacement::accelerators>("that it has")
      .optional<&JobPlacement::first>("its first accelerator of the fabric")
      .optional<&JobPlacement::every>("it has every n-th node");
}

namespace {

Failure refused(const Document& document, const Value& value, std::string message,
                std::string hint) {
  return bad_input(std::move(message), document.name + ": line " + std::to_string(value.line()),
                   std::move(hint));
}

// The first accelerator of every node, and the number of accelerators.
std::vector<std::uint32_t> nodes_of(const Cluster& fabric) {
  std::vector<std::uint32_t> out;
  std::int64_t a = 0;
  for (std::size_t s = 0; s < site_count(fabric); ++s) {
    const std::int64_t end = a + accelerators_of(fabric, s);
    const std::int64_t node = at_site(fabric, s).accelerators_per_node;
    for (; a < end; a += node) {
      out.push_back(static_cast<std::uint32_t>(a));
    }
    a = end;
  }
  out.push_back(static_cast<std::uint32_t>(fabric.accelerators));
  return out;
}

Result<std::vector<std::uint32_t>> accelerators_of(const JobPlacement& p, const Cluster& fabric,
                                                   const std::vector<std::uint32_t>& nodes) {
  if (p.accelerators < 1 || p.first < 0 || p.every < 1 || p.accelerators > fabric.accelerators ||
      p.first >= fabric.accelerators || p.every > fabric.accelerators) {
    return bad_input("job '" + p.name + "' does not lie on the " +
                         std::to_string(fabric.accelerators) + " accelerators of " + fabric.name,
                     "", "`accelerators` and `every` from 1, `first` from 0");
  }
  const auto next =
      static_cast<std::size_t>(std::ranges::upper_bound(nodes, p.first) - nodes.begin());
  if (nodes[next - 1] != p.first) {
    return bad_input(
        "job '" + p.name + "' begins inside a node", "",
        "a node begins at `first: " + std::to_string(nodes[next - 1]) + "`" +
            (next + 1 < nodes.size() ? ", the next at " + std::to_string(nodes[next]) : ""));
  }
  const auto wanted = static_cast<std::size_t>(p.accelerators);
  std::vector<std::uint32_t> out;
  for (std::size_t node = next - 1; node + 1 < nodes.size() && out.size() < wanted;
       node += static_cast<std::size_t>(p.every)) {
    for (std::uint32_t a = nodes[node]; a < nodes[node + 1] && out.size() < wanted; ++a) {
      out.push_back(a);
    }
  }
  if (out.size() < wanted) {
    return bad_input("job '" + p.name + "' needs " + std::to_string(wanted) +
                         " accelerators, but only " + std::to_string(out.size()) +
                         " are left from `first` on",
                     "", "fewer accelerators, or a smaller `first` or `every`");
  }
  return out;
}

Result<DescribedJob> described_job(const Document& document, const Value& item,
                                   const Cluster& fabric, const std::vector<std::uint32_t>& nodes,
                                   const Catalog& catalog) {
  static constexpr std::array<std::string_view, 4> kPlacement = {"name", "accelerators", "first",
                                                                 "every"};
  static const std::vector<std::string> kKnown = {
      "name", "accelerators", "first",    "every",    "model",    "training",
      "plan", "software",     "adapters", "workload", "forecast", "image"};
  if (item.kind() != Value::Kind::map) {
    return refused(document, item, "a job that is no map", "name, model, accelerators, plan, ...");
  }
  Value placement = Value::map();
  Value spec = Value::map();
  for (const auto& [key, value] : item.members()) {
    if (key != "cluster" && std::ranges::find(kKnown, key) == kKnown.end()) {
      return refused(document, value, "unknown field '" + key + "' in job", name_hint(key, kKnown));
    }
    const bool places = std::ranges::find(kPlacement, key) != kPlacement.end();
    (places ? placement : spec).append_member(key, value);
  }
  DescribedJob out;
  ORRERY_TRY(out.placement, read<JobPlacement>(Document{document.name, placement}));
  if (spec.find("model") == nullptr) {
    return refused(document, item, "job '" + out.placement.name + "' has no model",
                   "write `model: llama-3.1-8b`, as in a specification");
  }
  const std::string where =
      document.name + ": line " + std::to_string(item.line()) + ": " + out.placement.name;
  if (spec.find("cluster") != nullptr) {
    return refused(document, item, "job '" + out.placement.name + "' has a cluster of its own",
                   "leave it out: the job lies on the fabric");
  }
  ORRERY_TRY(out.accelerators, at(where, accelerators_of(out.placement, fabric, nodes)));
  ORRERY_TRY(const Cluster part, at(where, part_of(fabric, out.accelerators)));
  spec.append_member("cluster", Codec<Cluster>::write(part));
  ORRERY_TRY(out.spec, at("job '" + out.placement.name + "'",
                          read_spec(Document{document.name, spec}, "", catalog)));
  ORRERY_RETURN_IF_ERROR(complete(out.spec, {}, catalog));
  return out;
}

// That of the busiest links among those that flows of both use; empty: none.
std::string shared_level(const std::vector<StepFlows>& both) {
  std::string level;
  double most = 0;
  for (std::size_t r = 0; r < both[0].used.size(); ++r) {
    const double a = both[0].used[r].busy;
    const double b = both[1].used[r].busy;
    if (a > 0 && b > 0 && a + b > most * (1 + 1e-9)) {
      most = a + b;
      level = both[0].used[r].level;
    }
  }
  return level;
}

}  // namespace

Result<DescribedJobs> read_jobs(const Document& document, const Catalog& catalog) {
  const Value& root = document.root;
  const Value* name = root.kind() == Value::Kind::map ? root.find("fabric") : nullptr;
  const Value* listed = root.kind() == Value::Kind::map ? root.find("jobs") : nullptr;
  if (name == nullptr || !name->is_scalar() || listed == nullptr ||
      listed->kind() != Value::Kind::list || root.members().size() != 2) {
    return refused(document, root, "no list of jobs on a fabric",
                   "write `fabric: h100-sxm:1024` and `jobs: [...]`, and nothing else");
  }
  if (listed->items().empty() || listed->items().size() > kMostSharedJobs) {
    return refused(document, *listed, std::to_string(listed->items().size()) + " jobs",
                   "from 1 to " + std::to_string(kMostSharedJobs));
  }
  DescribedJobs out;
  ORRERY_TRY(out.fabric,
             at(document.name + ": fabric", parse_cluster(name->scalar_text(), catalog)));
  const std::vector<std::uint32_t> nodes = nodes_of(out.fabric);
  std::vector<std::optional<std::size_t>> owner(static_cast<std::size_t>(out.fabric.accelerators));
  for (const Value& item : listed->items()) {
    ORRERY_TRY(DescribedJob job, described_job(document, item, out.fabric, nodes, catalog));
    for (const DescribedJob& other : out.jobs) {
      if (other.placement.name == job.placement.name) {
        return refused(document, item, "two jobs are called '" + job.placement.name + "'",
                       "give each a name of its own");
      }
    }
    for (const std::uint32_t a : job.accelerators) {
      if (owner[a]) {
        return refused(document, item,
                       "jobs '" + out.jobs[*owner[a]].placement.name + "' and '" +
                           job.placement.name + "' both have accelerator " + std::to_string(a),
                       "give each a `first` behind the others");
      }
      owner[a] = out.jobs.size();
    }
    out.jobs.push_back(std::move(job));
  }
  return out;
}

Result<SharedFabric> share_fabric(const DescribedJobs& described,
                                  std::span<const PredictedStep> steps, const Catalog& catalog) {
  ORRERY_TRY(const CostContext context, cost_context(described.fabric, catalog));
  const Cluster fabric = with_levels(context.cluster, [&](std::size_t s, const auto& first) {
    return s == 0 ? first : context.further_sites[s - 1].cluster.levels;
  });
  std::vector<StepOnFabric> all;
  for (std::size_t j = 0; j < steps.size(); ++j) {
    all.push_back({&steps[j], described.jobs[j].accelerators});
  }
  const auto simulate_jobs = [&](std::initializer_list<std::size_t> chosen) {
    std::vector<StepOnFabric> on;
    for (const std::size_t j : chosen) on.push_back(all[j]);
    return simulate_on_fabric(fabric, on, kSharedSteps);
  };
  SharedFabric out;
  out.fabric = described.fabric.name;
  for (std::size_t j = 0; j < steps.size(); ++j) {
    ORRERY_TRY(const std::vector<StepFlows> alone, simulate_jobs({j}));
    const DescribedJob& job = described.jobs[j];
    out.jobs.push_back({job.placement, steps[j].model().name, alone[0].closed, alone[0].time,
                        alone[0].time,
                        job.spec.stated.empty() ? steps[j].defaults : std::vector<std::string>()});
  }
  ORRERY_TRY(const std::vector<StepFlows> together, simulate_on_fabric(fabric, all, kSharedSteps));
  for (std::size_t j = 0; j < steps.size(); ++j) out.jobs[j].shared = together[j].time;
  for (std::size_t a = 0; a < steps.size(); ++a) {
    for (std::size_t b = a + 1; b < steps.size(); ++b) {
      ORRERY_TRY(const std::vector<StepFlows> both, simulate_jobs({a, b}));
      out.pairs.push_back({out.jobs[a].placement.name, out.jobs[b].placement.name,
                           both[0].time / out.jobs[a].alone, both[1].time / out.jobs[b].alone,
                           shared_level(both)});
    }
  }
  std::ranges::stable_sort(out.pairs, std::ranges::greater(),
                           [](const JobPair& p) { return std::max(p.slow_a, p.slow_b); });
  return out;
}

}  // namespace orrery
