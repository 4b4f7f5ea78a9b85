#include "search/across_sites.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <utility>

#include "estimate/setting.h"
#include "estimate/traffic.h"
#include "outcome/invariant.h"
#include "plan/site_division.h"

namespace orrery {
namespace {

const std::vector<MeshAxis> kProductionOrder = {MeshAxis::tp, MeshAxis::cp, MeshAxis::pp,
                                                MeshAxis::dp};

// Changes the outermost level, as every site sees it.
template <class Change>
void change_link(Cluster& cluster, Change change) {
  change(cluster.levels);
  for (Site& site : cluster.further_sites) change(site.levels);
}

// The same accelerators where the outermost level is like the one inside it.
Scenario in_one_site(Scenario scenario) {
  change_link(scenario.cluster, [](std::vector<FabricLevel>& levels) {
    FabricLevel& outer = levels.back();
    const FabricLevel& inner = levels[levels.size() - 2];
    const std::int64_t accelerators = outer.accelerators;
    const std::string name = outer.name;
    outer = inner;
    outer.fabric = std::string(fabric_of(inner));
    outer.name = name;
    outer.accelerators = accelerators;
  });
  return scenario;
}

// A space of that plan alone.
SearchSpace only(const Plan& plan, SearchSpace space) {
  space.tp = {plan.tp};
  space.cp = {plan.cp};
  space.pp = {plan.pp};
  space.dp = {plan.dp};
  space.ep = {plan.ep};
  space.chunks = {plan.chunks};
  space.micro_batch = {plan.micro_batch};
  space.zero = {plan.zero};
  space.recompute = {plan.recompute};
  space.recompute_layers = {plan.recompute_layers};
  space.modules = {plan.recompute_modules};
  space.dispatch = {plan.dispatch};
  space.context_parallel = {plan.context_parallel};
  space.schedules = {plan.schedule};
  space.placements = {plan.placement};
  space.table_sharding = {plan.table_sharding};
  space.towers = {plan.towers};
  space.codec = {plan.codec};
  return space;
}

// One thing to choose for the sites: which axes of the space are open, and how its value goes from
// one plan to another.
struct Choice {
  const char* name;
  void (*open)(SearchSpace& space, const SearchSpace& all);
  void (*take)(Plan& to, const Plan& from);
};
template <class T, auto... kMembers>
void copied(T& to, const T& from) {
  ((to.*kMembers = from.*kMembers), ...);
}
constexpr std::array kChoices = {
    Choice{"placement", copied<SearchSpace, &SearchSpace::placements>,
           copied<Plan, &Plan::placement, &Plan::layers, &Plan::site_microbatches,
                  &Plan::site_micro_batch>},
    Choice{"schedule", copied<SearchSpace, &SearchSpace::schedules, &SearchSpace::chunks>,
           copied<Plan, &Plan::schedule, &Plan::chunks, &Plan::layers, &Plan::site_microbatches,
                  &Plan::site_micro_batch>},
    Choice{"micro_batch", copied<SearchSpace, &SearchSpace::micro_batch>,
           copied<Plan, &Plan::micro_batch, &Plan::site_microbatches, &Plan::site_micro_batch>},
    Choice{"zero", copied<SearchSpace, &SearchSpace::zero, &SearchSpace::pipeline_zero>,
           copied<Plan, &Plan::zero>},
    Choice{"recompute",
           copied<SearchSpace, &SearchSpace::recompute, &SearchSpace::recompute_layers,
                  &SearchSpace::modules>,
           copied<Plan, &Plan::recompute, &Plan::recompute_layers, &Plan::recompute_modules>},
    Choice{"degrees",
           copied<SearchSpace, &SearchSpace::tp, &SearchSpace::cp, &SearchSpace::pp,
                  &SearchSpace::dp, &SearchSpace::ep>,
           copied<Plan, &Plan::tp, &Plan::cp, &Plan::pp, &Plan::dp, &Plan::ep, &Plan::etp,
                  &Plan::sequence_parallel, &Plan::layers, &Plan::site_microbatches,
                  &Plan::site_micro_batch>},
};

bool faster(const PlanAcrossSites& a, const PlanAcrossSites& b) {
  return a.estimate.step_time < b.estimate.step_time;
}

class AcrossSearch {
 public:
  AcrossSearch(const Scenario& scenario, SearchSpace space, const SearchOptions& options,
               const Catalog& catalog)
      : scenario_(scenario),
        space_(std::move(space)),
        options_(options),
        catalog_(catalog),
        progress_(options.progress) {
    options_.top = 1;
    options_.all_axes = false;  // what is compared differs on the axes of the space alone
    options_.progress = nullptr;
  }

  // The three step times over this link. Errors: no plan fits.
  Result<VariedLink> gains(std::vector<std::string> values, const Plan& in_one_site) {
    ORRERY_TRY(const SearchResult found, search_of(scenario_, space_));
    AcrossSites of_link;
    ORRERY_RETURN_IF_ERROR(across(in_one_site, of_link));
    const Seconds production = of_link.production.estimate.step_time;
    return VariedLink{
        std::move(values), production,
        of_link.one_axis.empty() ? production : of_link.one_axis.front().estimate.step_time,
        found.plans.empty() ? production : found.plans.front().step_time};
  }

  // Whether a search was ended early, so that better plans may have been missed.
  [[nodiscard]] bool cut_short() const { return cut_short_; }

  // Nothing if the time was over before there was a plan to compare with.
  Result<std::optional<AcrossSites>> run(const SearchResult& found) {
    const std::vector<FabricLevel>& levels = scenario_.cluster.levels;
    AcrossSites out;
    out.level = levels.back().name;
    const std::int64_t site = levels[levels.size() - 2].accelerators;
    out.sites = scenario_.cluster.further_sites.empty()
                    ? (scenario_.cluster.accelerators + site - 1) / site
                    : static_cast<std::int64_t>(site_count(scenario_.cluster));

    ORRERY_TRY(const bool compared, baselines(out));
    if (!compared) return std::optional<AcrossSites>();
    report(0.4);

    ORRERY_TRY(out.best, measured("best", *found.winner));
    out.outermost.push_back(out.best);
    const MeshAxis outermost = outermost_axis(found.winner->plan());
    out.outermost.front().name = to_text(outermost);
    for (const MeshAxis axis : {MeshAxis::pp, MeshAxis::dp, MeshAxis::cp}) {
      SearchSpace space = space_;
      std::erase_if(space.placements, [&](const auto& order) { return order.back() != axis; });
      if (axis == outermost || space.placements.empty()) continue;
      if (axis == MeshAxis::pp) std::erase(space.pp, 1);
      if (axis == MeshAxis::cp) std::erase(space.cp, 1);
      if (space.pp.empty() || space.cp.empty()) continue;
      auto best = best_of(std::string(to_text(axis)), space);
      // An axis that the model or the batch does not allow there is left out.
      if (best && *best) out.outermost.push_back(std::move(**best));
    }
    std::ranges::stable_sort(out.outermost, faster);
    // A search that was cut short may have missed what another has found.
    for (const auto* others : {&out.one_axis, &out.outermost}) {
      for (const PlanAcrossSites& other : *others) {
        if (faster(other, out.best)) out.best = {"best", other.estimate, other.across};
      }
    }
    if (faster(out.production, out.best)) {
      out.best = {"best", out.production.estimate, out.production.across};
    }
    ORRERY_RETURN_IF_ERROR(link(out));
    report(1);
    out.cut_short = cut_short_ || found.interrupted;
    return std::optional(std::move(out));
  }

 private:
  void report(double fraction) const {
    if (progress_) progress_(fraction, "what crosses between the sites");
  }

  Result<PlanAcrossSites> measured(std::string name, const PredictedStep& step) const {
    ORRERY_TRY(const StepTraffic sent, traffic(step));
    return PlanAcrossSites{std::move(name), estimate(step), sent.levels.back().bytes};
  }

  // Each gets a third of what is left of a limited time.
  Result<SearchResult> search_of(const Scenario& scenario, const SearchSpace& space) const {
    SearchOptions options = options_;
    if (options.deadline) {
      const auto now = std::chrono::steady_clock::now();
      options.deadline = now + (*options.deadline - now) / 3;
    }
    auto found = search(scenario, space, options, catalog_);
    cut_short_ = cut_short_ || (found && found->interrupted);
    return found;
  }

  // Nothing where no plan fits.
  Result<std::optional<PlanAcrossSites>> best_of(std::string name, const SearchSpace& space) const {
    ORRERY_TRY(const SearchResult found, search_of(scenario_, space));
    if (!found.winner) return std::optional<PlanAcrossSites>();
    ORRERY_TRY(PlanAcrossSites out, measured(std::move(name), *found.winner));
    return std::optional(std::move(out));
  }

  // False if the time was over before any plan was found.
  Result<bool> baselines(AcrossSites& out) {
    SearchSpace usual = space_;
    usual.placements = {kProductionOrder};
    usual.schedules = {"1f1b", "interleaved_1f1b"};
    ORRERY_TRY(const SearchResult inside, search_of(in_one_site(scenario_), usual));
    if (inside.plans.empty() && inside.interrupted) return false;
    if (inside.plans.empty()) {
      return fail(ErrorCode::unsupported, "no plan with the usual schedules fits in memory",
                  "search", "leave --sites out");
    }
    out.production_in_one_site = inside.plans.front().step_time;
    ORRERY_RETURN_IF_ERROR(across(inside.plans.front().plan, out));
    return true;
  }

  // That plan across the sites, and with one thing chosen for them.
  Result<void> across(const Plan& production, AcrossSites& out) {
    ORRERY_TRY(out.production, of_plan("production", production));

    Plan together = production;
    for (const Choice& choice : kChoices) {
      SearchSpace space = only(production, space_);
      choice.open(space, space_);
      ORRERY_TRY(auto found, best_of(choice.name, space));
      if (!found) continue;
      choice.take(together, found->estimate.plan);
      out.one_axis.push_back(std::move(*found));
    }
    std::ranges::stable_sort(out.one_axis, faster);
    if (auto combined = of_plan("together", together)) {
      if (combined->estimate.verdict != Verdict::does_not_fit) out.together = std::move(*combined);
    }
    return {};
  }

  Result<PlanAcrossSites> of_plan(std::string name, const Plan& plan) const {
    Scenario scenario = scenario_;
    scenario.plan = plan;
    ORRERY_TRY(const PredictedStep step, predict(std::move(scenario), catalog_));
    return measured(std::move(name), step);
  }

  // The best plan when the link is another.
  Result<void> link(AcrossSites& out) const {
    const auto changed = [&](std::string words, auto change) -> Result<void> {
      Scenario scenario = scenario_;
      scenario.plan = out.best.estimate.plan;
      change_link(scenario.cluster,
                  [&](std::vector<FabricLevel>& levels) { change(levels.back()); });
      ORRERY_TRY(const PredictedStep step, predict(std::move(scenario), catalog_));
      out.changes.push_back({std::move(words), step.folded.time.seconds()});
      return {};
    };
    const auto lossy = [](double rate, Recovery recovery) {
      return [=](FabricLevel& l) {
        Transport transport = l.transport.value_or(Transport{});
        transport.packet_drop_rate = rate;
        transport.recovery = recovery;
        l.transport = transport;
      };
    };
    ORRERY_RETURN_IF_ERROR(
        changed("half the bandwidth", [](FabricLevel& l) { l.oversubscription *= 2; }));
    ORRERY_RETURN_IF_ERROR(changed("twice the bandwidth", [](FabricLevel& l) {
      l.oversubscription = std::max(1.0, l.oversubscription / 2);
    }));
    ORRERY_RETURN_IF_ERROR(changed("twice the latency", [](FabricLevel& l) { l.latency *= 2; }));
    ORRERY_RETURN_IF_ERROR(
        changed("ten times the latency", [](FabricLevel& l) { l.latency *= 10; }));
    ORRERY_RETURN_IF_ERROR(
        changed("no losses, any window", [](FabricLevel& l) { l.transport = {}; }));
    ORRERY_RETURN_IF_ERROR(
        changed("losses of 1e-5, selective repeat", lossy(1e-5, Recovery::selective)));
    ORRERY_RETURN_IF_ERROR(changed("losses of 1e-5, go-back-n", lossy(1e-5, Recovery::go_back_n)));

    // Of the slowest site, and of its stages where they alone cross.
    Scenario planned = scenario_;
    planned.plan = out.best.estimate.plan;
    ORRERY_TRY(const PredictedStep best, predict(std::move(planned), catalog_));
    const Cluster& cluster = scenario_.cluster;
    out.needs.round_trip = cluster.levels.back().latency * 2;
    for (std::size_t site = 0; site < site_count(cluster); ++site) {
      const Cluster seen = at_site(cluster, site);
      double crossing = 1;
      for (int i = 0; i < best.costs.shape.devices; ++i) {
        const bool here = best.costs.device_site.empty() ||
                          best.costs.device_site[static_cast<std::size_t>(i)] == site;
        const RankLayout& layout = *best.costs.at(i).layout;
        const auto boundary = static_cast<std::size_t>(i);
        if (outermost_axis(best.plan()) == MeshAxis::pp && here &&
            layout.boundary_level[boundary] + 1 == seen.levels.size()) {
          crossing = layout.boundary_crossing[boundary];
        }
      }
      const BytesPerSecond rate = delivery(seen.levels.back(), crossing).rate;
      out.needs.rate = site == 0 ? rate : std::min(out.needs.rate, rate);
    }
    out.needs.in_flight = out.needs.rate * out.needs.round_trip;
    return {};
  }

  const Scenario& scenario_;
  SearchSpace space_;
  SearchOptions options_;
  const Catalog& catalog_;
  std::function<void(double, const std::string&)> progress_;
  mutable bool cut_short_ = false;
};

// Whether a search is to end early.
bool stopped(const SearchOptions& options) {
  return (options.interrupted != nullptr && options.interrupted->load()) ||
         (options.deadline && std::chrono::steady_clock::now() >= *options.deadline);
}

}  // namespace

Result<std::vector<Scenario>> varied_scenarios(const Scenario& scenario,
                                               const std::vector<LinkVariation>& variations) {
  std::vector<Scenario> out = {scenario};
  // Sites that differ may have different numbers of levels, but the link has one name.
  const std::vector<FabricLevel>& levels = scenario.cluster.levels;
  const std::string link = scenario.cluster.further_sites.empty()
                               ? std::to_string(levels.size() - 1)
                               : levels.back().name;
  for (auto v = variations.begin(); v != variations.end(); ++v) {
    const std::string where = "--vary " + v->field;
    if (std::find_if(variations.begin(), v,
                     [&](const LinkVariation& before) { return before.field == v->field; }) != v) {
      return bad_input("is varied twice", where, "write one list of values");
    }
    if (out.size() * v->values.size() > kMostVariedLinks) {
      return unsupported("more than " + std::to_string(kMostVariedLinks) + " links", where,
                         "shorten a list");
    }
    std::vector<Scenario> next;
    for (const Scenario& before : out) {
      for (const std::string& value : v->values) {
        Scenario& varied = next.emplace_back(before);
        const auto changed =
            change(varied, fmt::format("cluster.levels.{}.{}={}", link, v->field, value));
        if (changed) continue;
        Error error = changed.error();
        error.where = where;
        return fail(std::move(error));
      }
    }
    out = std::move(next);
  }
  return out;
}

namespace {

// Until the search is to end.
Result<void> vary_link(const Scenario& scenario, const SearchSpace& space, SearchOptions options,
                       const Catalog& catalog, AcrossSites& out) {
  ORRERY_TRY(const std::vector<Scenario> links, varied_scenarios(scenario, out.variations));
  const auto progress = std::exchange(options.progress, nullptr);
  for (std::size_t i = 0; i < links.size(); ++i) {
    if (progress) {
      progress(static_cast<double>(i) / static_cast<double>(links.size()),
               "other links between the sites");
    }
    std::vector<std::string> values(out.variations.size());
    for (std::size_t v = values.size(), rest = i; v-- > 0;) {
      const std::vector<std::string>& all = out.variations[v].values;
      values[v] = all[rest % all.size()];
      rest /= all.size();
    }
    AcrossSearch over_link(links[i], space, options, catalog);
    auto link = over_link.gains(std::move(values), out.production.estimate.plan);
    if (over_link.cut_short() || stopped(options)) return {};
    if (!link) return fail(link.error());
    out.varied.push_back(*std::move(link));
  }
  return {};
}

}  // namespace

std::vector<std::vector<MeshAxis>> placements_across_sites() {
  std::vector<std::vector<MeshAxis>> out;
  std::vector<MeshAxis> rest = {MeshAxis::cp, MeshAxis::pp, MeshAxis::dp};
  std::ranges::sort(rest);
  do {
    out.push_back({MeshAxis::tp});
    out.back().insert(out.back().end(), rest.begin(), rest.end());
  } while (std::ranges::next_permutation(rest).found);
  return out;
}

SpeedUp speed_up(Seconds before, Seconds after) { return {before / after - 1, 1 - after / before}; }

Result<std::optional<AcrossSites>> search_across_sites(
    const Scenario& scenario, const SearchSpace& space, const SearchResult& found,
    const SearchOptions& options, const Catalog& catalog, std::vector<LinkVariation> variations) {
  ORRERY_INVARIANT(found.winner != nullptr);
  if (scenario.cluster.levels.size() < 2) {
    return bad_input("all of " + scenario.cluster.name + " is one scale-up domain", "--sites",
                     "a cluster of several sites, such as h100-sxm:1024+h100-sxm:1024@metro-pair");
  }
  if (stopped(options)) return std::optional<AcrossSites>();
  Scenario sized = scenario;  // with the sequence length and the batch that the search settled on
  sized.training = found.winner->training();
  const SearchSpace all = default_space(sized, space);
  ORRERY_TRY(auto out, AcrossSearch(sized, all, options, catalog).run(found));
  if (out && !variations.empty()) {
    out->variations = std::move(variations);
    ORRERY_RETURN_IF_ERROR(vary_link(sized, all, options, catalog, *out));
  }
  return out;
}

}  // namespace orrery
