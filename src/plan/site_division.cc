#include "plan/site_division.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "schedule/schedule.h"

namespace orrery {

MeshAxis outermost_axis(const Plan& plan) {
  for (auto axis = plan.placement.rbegin(); axis != plan.placement.rend(); ++axis) {
    if (degree(plan, *axis) > 1) return *axis;
  }
  return MeshAxis::dp;
}

std::vector<std::size_t> device_sites(const Plan& plan, const Cluster& cluster) {
  std::vector<std::size_t> out;
  if (cluster.further_sites.empty() || outermost_axis(plan) != MeshAxis::pp) return out;
  const std::int64_t ranks = cluster.accelerators / plan.pp;
  for (std::size_t site = 0; site < site_count(cluster); ++site) {
    out.insert(out.end(), static_cast<std::size_t>(accelerators_of(cluster, site) / ranks), site);
  }
  return out;
}

std::int64_t replicas_of(const Plan& plan, const Cluster& cluster, std::size_t site) {
  return accelerators_of(cluster, site) / (cluster.accelerators / plan.dp);
}

double sequences_at_once(const Cluster& cluster, const Plan& plan) {
  const auto here = [](const std::vector<std::int64_t>& values, std::size_t site,
                       std::int64_t without) {
    return static_cast<double>(site < values.size() ? values[site] : without);
  };
  double out = 0;
  for (std::size_t site = 0; site < site_count(cluster); ++site) {
    out += static_cast<double>(replicas_of(plan, cluster, site)) *
           here(plan.site_micro_batch, site, plan.micro_batch) *
           here(plan.site_microbatches, site, 1);
  }
  return out;
}

Plan plan_of_site(const Training& training, const Cluster& cluster, const Plan& plan,
                  std::size_t site) {
  Plan out = plan;
  if (!plan.site_microbatches.empty()) out.site_microbatches = {plan.site_microbatches[site]};
  if (plan.site_micro_batch.empty()) return out;
  out.micro_batch = plan.site_micro_batch[site];
  out.site_micro_batch.clear();
  if (!plan.site_microbatches.empty()) return out;
  out.site_microbatches = {training.global_batch /
                           static_cast<std::int64_t>(sequences_at_once(cluster, plan))};
  return out;
}

std::vector<std::string> share_problems(const Cluster& cluster, const Training& training,
                                        const Plan& plan, std::int64_t most) {
  const std::size_t sites = cluster.further_sites.empty() ? 0 : site_count(cluster);
  const auto wrong = [&](const char* name, const std::vector<std::int64_t>& values) -> std::string {
    if (values.empty()) return "";
    if (outermost_axis(plan) != MeshAxis::dp || sites == 0) {
      return fmt::format("{} needs sites that differ, and dp outermost in the placement", name);
    }
    if (values.size() != sites) {
      return fmt::format("{} has {} {}, the cluster has {} sites", name, values.size(),
                         values.size() == 1 ? "value" : "values", sites);
    }
    for (const std::int64_t here : values) {
      if (here < 1 || here > most) return fmt::format("{} {} is outside 1 to {}", name, here, most);
    }
    return "";
  };
  for (std::string problem : {wrong("site_microbatches", plan.site_microbatches),
                              wrong("site_micro_batch", plan.site_micro_batch)}) {
    if (!problem.empty()) return {std::move(problem)};
  }
  if (!plan.site_micro_batch.empty() && plan.micro_batch != 1) {
    return {
        fmt::format("micro_batch {} and site_micro_batch {} both say how many sequences a "
                    "microbatch has: leave "
                    "out one of them",
                    plan.micro_batch, micro_batch_text(plan))};
  }
  const double sequences = sequences_at_once(cluster, plan);
  const auto batch = static_cast<double>(training.global_batch);
  if (!plan.site_microbatches.empty()) {
    if (sequences == batch) return {};
    return {fmt::format("site_microbatches make a batch of {:.0f} sequences, not {}",
                        std::min(sequences, 1e15), training.global_batch)};
  }
  if (std::fmod(batch, sequences) == 0) return {};
  const double below = std::floor(batch / sequences) * sequences;
  return {
      fmt::format("replicas of all sites work on {:.0f} sequences at once, and {} are no multiple "
                  "of it: write a "
                  "global batch of {:.0f}, or site_microbatches as well",
                  sequences, training.global_batch, below > 0 ? below : sequences)};
}

std::vector<std::string> state_division_problems(const Model& model, const Cluster& cluster,
                                                 const Plan& plan) {
  std::vector<std::string> out;
  if (plan.state_division == StateDivision::even) return out;
  if (cluster.further_sites.empty()) {
    return {
        "state_division=by-memory needs sites that differ; ranks that are alike have the most "
        "memory left with state_division=even"};
  }
  if (outermost_axis(plan) != MeshAxis::dp) {
    return {fmt::format(
        "state_division=by-memory needs dp outermost in the placement; this has {} there",
        to_text(outermost_axis(plan)))};
  }
  if (plan.zero == 0) {
    out.emplace_back(
        "state_division=by-memory needs zero=1, 2 or 3: with zero 0 every rank holds all states");
  }
  if (plan.shard_group > 0 || plan.gradient_shard > 0 || plan.weight_shard > 0 ||
      plan.secondary_shard > 0 || plan.quantized_gradients || trains_copies_apart(plan) ||
      plan.gradient_code != GradientCode::none || model.experts > 0) {
    out.emplace_back(
        "state_division=by-memory is modelled for dense models whose states all replicas share: "
        "leave out shard_group, gradient_shard, weight_shard, secondary_shard, "
        "quantized_gradients, gradient_code and local steps, or write state_division=even");
  }
  return out;
}

std::vector<std::string> averaging_problems(const Cluster& cluster, const Plan& plan) {
  if (plan.averaging != Averaging::by_bandwidth) return {};
  if (cluster.further_sites.empty()) {
    return {"averaging=by-bandwidth needs sites that differ; with equal links write averaging=all"};
  }
  if (outermost_axis(plan) != MeshAxis::dp) {
    return {
        fmt::format("averaging=by-bandwidth needs dp outermost in the placement; this has {} there",
                    to_text(outermost_axis(plan)))};
  }
  const bool copies = plan.shard_group > 0 && plan.shard_group < plan.dp * plan.cp;
  if (plan.gradient_code != GradientCode::none || (plan.zero > 0 && !copies)) {
    return {
        "averaging=by-bandwidth needs an all-reduce between sites: write zero=0 or shard_group, "
        "and leave out gradient_code"};
  }
  for (std::size_t site = 0; site < site_count(cluster); ++site) {
    const std::int64_t ranks = replicas_of(plan, cluster, site) * plan.cp;
    if (copies && ranks % plan.shard_group != 0) {
      return {
          fmt::format("averaging=by-bandwidth needs whole copies in each site: shard_group {} does "
                      "not divide the {} replicas (dp x cp) of site {}",
                      plan.shard_group, ranks, name_of(cluster, site))};
    }
    // Members that share a link reduce inside their site (lower/averaging_by_bandwidth.h).
    const std::int64_t members = copies ? ranks / plan.shard_group : ranks;
    if (members == 1) continue;
    return {fmt::format(
        "averaging=by-bandwidth divides all-reduces among sites with one member each; site {} has "
        "{}, which reduce among themselves first: write averaging=all",
        name_of(cluster, site), members)};
  }
  return {};
}

std::vector<std::string> site_problems(const Model& model, const Cluster& cluster,
                                       const Plan& plan) {
  std::vector<std::string> out = state_division_problems(model, cluster, plan);
  for (std::string& problem : averaging_problems(cluster, plan)) out.push_back(std::move(problem));
  if (cluster.further_sites.empty()) return out;
  const MeshAxis axis = outermost_axis(plan);
  if (axis != MeshAxis::pp && axis != MeshAxis::dp) {
    out.push_back(
        fmt::format("{} lies outermost, and sites that differ may divide pp or dp alone: end the "
                    "placement with "
                    "one of them",
                    to_text(axis)));
    return out;
  }
  if (model.tables > 0) {
    out.push_back(model.name +
                  " shares its embedding tables evenly among all ranks, which sites "
                  "that differ do not");
  }
  const bool stages = axis == MeshAxis::pp;
  const std::int64_t ranks = cluster.accelerators / degree(plan, axis);
  for (std::size_t site = 0; site < site_count(cluster); ++site) {
    const std::int64_t here = accelerators_of(cluster, site);
    if (here % ranks != 0) {
      out.push_back(fmt::format("site {} does not hold whole {} of {} ranks",
                                name_of(cluster, site), stages ? "stages" : "replicas", ranks));
      break;
    }
    const std::int64_t pool = here / plan.pp;  // ranks that share the experts of a stage
    const std::int64_t expert = plan.ep * std::max<std::int64_t>(1, plan.etp);
    if (!stages && model.experts > 0 && pool % expert != 0) {
      out.push_back(
          fmt::format("ep {} x etp {} crosses between sites that differ: the {} ranks of a stage "
                      "in site {} must "
                      "be a multiple of it",
                      plan.ep, std::max<std::int64_t>(1, plan.etp), pool, name_of(cluster, site)));
      break;
    }
  }
  const auto schedule = find_schedule(plan.schedule);
  if (stages && schedule && ((*schedule)->routes > 1 || (*schedule)->splits_vocabulary)) {
    out.push_back(fmt::format("{} on sites that differ: {}", plan.schedule,
                              (*schedule)->routes > 1
                                  ? "each of its stages lies on two devices that must be alike"
                                  : "all devices share the vocabulary evenly"));
  }
  return out;
}

}  // namespace orrery
