#include "forecast/run_costs.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "cluster/accelerator_noun.h"
#include "cluster/price.h"
#include "estimate/estimate.h"
#include "forecast/each_site.h"

namespace orrery {
namespace {

constexpr Seconds kHourOfCosts{3600};
constexpr DollarsPerSecond kMostPrice{1e6 / 3600};  // of an accelerator; all figures stay finite

struct NamedPrice {
  std::string name;
  DollarsPerSecond price;
};

// The median of the catalog's prices of an accelerator; nothing if there are none.
Result<std::optional<NamedPrice>> median_price(const std::string& accelerator,
                                               const Catalog& catalog) {
  std::vector<NamedPrice> known;
  for (const std::string& name : catalog.names("prices")) {
    ORRERY_TRY(const Price price, load_price(catalog, name));
    if (price.accelerator == accelerator) known.push_back({name, price.price});
  }
  if (known.empty()) return std::nullopt;
  std::ranges::sort(known, {}, &NamedPrice::price);
  return known[(known.size() - 1) / 2];
}

Result<std::optional<NamedPrice>> price_of(const RunQuestion& question,
                                           const std::string& accelerator, const Catalog& catalog) {
  if (question.price.empty()) return median_price(accelerator, catalog);
  if (question.price.find('$') != std::string::npos) {
    ORRERY_TRY(const DollarsPerSecond stated,
               at("forecast.price", parse_dollars_per_second(question.price)));
    if (stated > DollarsPerSecond(0)) return NamedPrice{question.price, stated};
    return bad_input("a price that is not above 0", "forecast.price");
  }
  auto known = load_price(catalog, question.price);
  if (!known) {
    Error error = known.error();
    if (error.code == ErrorCode::not_found) {
      error.hint =
          "write dollars, as in 2.95$/h, or a name of orrery catalog prices; " + error.hint;
    }
    return fail(at("forecast.price", std::move(error)));
  }
  const Price& price = *known;
  if (price.accelerator != accelerator) {
    return bad_input(fmt::format("'{}' is a price of {}, not of {}", question.price,
                                 price.accelerator, accelerator),
                     "forecast.price",
                     "leave it out to take each accelerator's own, or write --price 2.95$/h");
  }
  return NamedPrice{price.name, price.price};
}

}  // namespace

double RunCosts::gpu_hours(Seconds wall_time) const {
  return static_cast<double>(accelerators) * (wall_time / kHourOfCosts);
}
Dollars RunCosts::cost(Seconds wall_time) const {
  return static_cast<double>(accelerators) * (price.value_or(DollarsPerSecond(0)) * wall_time);
}
Joules RunCosts::energy(Seconds wall_time) const {
  return static_cast<double>(accelerators) * (power.value_or(Watts(0)) * wall_time);
}
double RunCosts::carbon_kg(Seconds wall_time) const {
  return energy(wall_time).value() / 3.6e6 * carbon.value_or(0) / 1000;
}

Result<RunCosts> run_costs(const Cluster& cluster, const RunQuestion& question,
                           const Catalog& catalog) {
  RunCosts out;
  out.accelerators = cluster.accelerators;
  out.price = DollarsPerSecond(0);
  out.power = Watts(0);
  out.carbon = question.carbon;
  Result<void> sound;
  std::vector<std::string> names;
  each_site(cluster, [&](const Cluster& part, std::int64_t accelerators) {
    const double share =
        static_cast<double>(accelerators) / static_cast<double>(cluster.accelerators);
    const auto price = price_of(question, part.accelerator.name, catalog);
    if (sound && !price) sound = fail(price.error());
    if (!sound) return;
    if (*price && (*price)->price > kMostPrice) {
      sound = bad_input("a price above 1,000,000 $/h", "forecast.price");
    }
    if (*price && std::ranges::find(names, (*price)->name) == names.end()) {
      names.push_back((*price)->name);
    }
    out.price =
        *price && out.price ? std::optional(*out.price + (*price)->price * share) : std::nullopt;
    const std::optional<Watts>& power = part.accelerator.power;
    out.power = power && out.power ? std::optional(*out.power + *power * (question.pue * share))
                                   : std::nullopt;
  });
  ORRERY_RETURN_IF_ERROR(sound);
  if (out.price) out.price_name = fmt::format("{}", fmt::join(names, " and "));
  return out;
}

Result<HealthyRun> healthy_run(const Estimate& estimate, const Cluster& cluster,
                               const RunQuestion& question, const Catalog& catalog) {
  ORRERY_RETURN_IF_ERROR(check(question));
  if (question.loss) {
    return bad_input("how many tokens reach a loss is a matter of the whole run", "forecast.loss",
                     "write --tokens, or ask orrery forecast");
  }
  if (has_phases(question)) {
    return bad_input("the steps of the phases of a run differ from the one that is predicted",
                     "forecast.phases", "orrery forecast predicts each of them");
  }
  HealthyRun out;
  out.accelerator = accelerator_noun(cluster);
  ORRERY_TRY(static_cast<RunCosts&>(out), run_costs(cluster, question, catalog));
  if (question.steps) {
    out.steps = *question.steps;
  } else {
    ORRERY_TRY(out.tokens, parse_tokens(question.tokens));
    const double of_step = static_cast<double>(estimate.training.global_batch) *
                           static_cast<double>(estimate.training.sequence_length);
    out.steps = static_cast<std::int64_t>(std::ceil(*out.tokens / of_step));
  }
  out.wall = static_cast<double>(out.steps) * estimate.step_time;
  return out;
}

}  // namespace orrery
